"""The dialog of one mark: what is not touched stays as it was to the last digit, what makes no sense is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QDialogButtonBox, QLabel, QPushButton

from analysis.annotation import Annotation, Review
from analysis.recording import Channel
from analysis.vocabulary import score_vocabulary
from app.appearance import apply_theme
from app.dialogs.mark import MarkDialog
from app.edit_words import edit_label

MARK = Annotation(
    12.345678,
    3.2109876,
    "Seizure",
    ("F7", "T7"),
    0.123456,
    "file",
    (("side", "left"), ("n/a", "")),
    7,
    Review("accepted", "AB", "2026-03-04T09:00:00Z", "fast", "Epileptic-seizure", "2026-03-04T08:00:00Z"),
)


@pytest.fixture
def recording(array_recording):
    channels = [Channel(name, name, "eeg", "uV", 100.0) for name in ("F7", "T7", "P7")]
    return array_recording(channels, np.zeros((3, 6000)), 100.0)


@pytest.fixture
def open_dialog(qtbot, recording):
    def make(mark: Annotation = MARK) -> MarkDialog:
        dialog = MarkDialog(mark, recording, score_vocabulary())
        qtbot.addWidget(dialog)
        dialog.show()
        return dialog

    return make


def retype(field, text: str) -> None:
    field.selectAll()
    QTest.keyClicks(field, text)


def can_save(dialog: MarkDialog) -> bool:
    return dialog.buttons.button(QDialogButtonBox.StandardButton.Save).isEnabled()


@pytest.mark.parametrize(
    "mark",
    [
        MARK,
        Annotation(0.0, 0.0, "  spaces  "),
        Annotation(59.9996, 0.0004, "x", ("elsewhere",)),
        Annotation(50.0, 30.0, "longer than the recording"),
        Annotation(1.00049, 2.00049, "sz", author="model:m", confidence=1.0),
    ],
)
def test_what_is_not_touched_stays_as_it_was(open_dialog, mark: Annotation) -> None:
    dialog = open_dialog(mark)
    assert dialog.mark() == mark
    assert dialog.mark().id == mark.id
    assert can_save(dialog)


def test_one_end_is_moved_and_the_other_keeps_every_digit(open_dialog) -> None:
    dialog = open_dialog()
    retype(dialog.stop.edit, "0:20.5")
    mark = dialog.mark()
    assert mark.onset == MARK.onset
    assert mark.stop == pytest.approx(20.5)
    assert dialog.length.value() == pytest.approx(20.5 - MARK.onset, abs=1e-3)
    assert edit_label(MARK, mark) == "Move end of Seizure to 00:20.5"


def test_length_moves_the_end_and_a_moment_has_none(open_dialog) -> None:
    dialog = open_dialog()
    dialog.length.setValue(10.0)
    assert dialog.mark().stop == pytest.approx(MARK.onset + 10.0)
    dialog._make_moment()
    assert dialog.mark().duration == 0.0
    retype(dialog.onset.edit, "30")
    assert (dialog.mark().onset, dialog.mark().duration) == (30.0, 0.0)


@pytest.mark.parametrize(
    ("start", "end", "problem"),
    [
        ("soon", "0:20", "the start is no time"),
        ("0:10", "1:00:00", "the end is no time"),
        ("0:30", "0:20", "before the start"),
        ("59", "60.5", "the end is no time"),
    ],
)
def test_times_that_make_no_sense_are_refused_in_words(open_dialog, start: str, end: str, problem: str) -> None:
    dialog = open_dialog()
    retype(dialog.onset.edit, start)
    retype(dialog.stop.edit, end)
    assert problem in dialog.problem.text()
    assert not can_save(dialog)
    dialog.accept()
    assert dialog.isVisible()


def test_a_mark_is_not_lengthened_past_the_end_and_needs_text_and_channels(open_dialog) -> None:
    dialog = open_dialog()
    dialog.length.setValue(55.0)
    assert "the recording ends at 01:00.000" in dialog.problem.text()
    dialog.length.setValue(5.0)
    retype(dialog.text, "  ")
    assert "no text" in dialog.problem.text()
    retype(dialog.text, "x")
    for i in range(dialog.channels.list.count()):
        dialog.channels.list.item(i).setCheckState(Qt.CheckState.Unchecked)
    assert "no channels" in dialog.problem.text()
    dialog.channels.everything.setChecked(True)
    assert can_save(dialog)
    assert dialog.mark().ch_names == ()


def test_a_type_brings_its_name_and_tag(open_dialog) -> None:
    dialog = open_dialog()
    assert dialog.type.currentText() == "Seizure"
    index = dialog.type.findText("Sharp wave")
    dialog.type.setCurrentIndex(index)
    dialog.type.activated.emit(index)
    mark = dialog.mark()
    assert (mark.description, mark.review.tag) == ("Sharp wave", "Epileptiform-interictal-activity, Sharp-wave")
    assert edit_label(MARK, mark) == "Change Seizure to Sharp wave"
    assert open_dialog(replace(MARK, description="of my own")).type.currentIndex() == 0


def test_a_type_may_be_typed_and_leaving_the_field_changes_nothing(open_dialog) -> None:
    dialog = open_dialog()
    dialog.text.setText("Seizure, left")
    dialog.type.lineEdit().editingFinished.emit()
    assert dialog.mark().description == "Seizure, left"
    for typed, text, tag in (
        ("spike", "Spike", "Epileptiform-interictal-activity, Spike"),
        ("Odd wave", "Odd wave", ""),
    ):
        dialog.type.lineEdit().selectAll()
        QTest.keyClicks(dialog.type.lineEdit(), typed)
        dialog.type.lineEdit().editingFinished.emit()
        assert (dialog.mark().description, dialog.mark().review.tag) == (text, tag)


def test_confidence_is_a_number_or_none(open_dialog) -> None:
    dialog = open_dialog()
    dialog.confidence.setValue(0.8)
    assert dialog.mark().confidence == 0.8
    dialog.has_confidence.setChecked(False)
    assert dialog.mark().confidence is None
    assert not dialog.confidence.isEnabled()
    assert not open_dialog(replace(MARK, confidence=None)).has_confidence.isChecked()


def test_channels_and_comment_change_and_are_named(open_dialog) -> None:
    dialog = open_dialog()
    dialog.channels.list.item(2).setCheckState(Qt.CheckState.Checked)
    assert dialog.mark().ch_names == ("F7", "T7", "P7")
    assert edit_label(MARK, dialog.mark()) == "Change channels of Seizure to F7, T7, P7"
    dialog = open_dialog()
    dialog.comment.setPlainText("slow")
    assert edit_label(MARK, dialog.mark()) == "Comment on Seizure"


def test_what_cannot_be_changed_is_told(open_dialog) -> None:
    dialog = open_dialog()
    said = " ".join(label.text() for label in dialog.findChildren(QLabel))
    for part in ("by file", "accepted by AB", "made 2026-03-04", "side: left"):
        assert part in said


@pytest.mark.parametrize(
    ("changes", "label"),
    [
        ({"onset": 13.0, "duration": 1.0}, "Edit x"),
        ({"onset": 2.0}, "Move x to 00:02.0"),
        ({"onset": 0.5, "duration": 2.5}, "Move start of x to 00:00.5"),
        ({"duration": 3.0}, "Move end of x to 00:04.0"),
        ({"confidence": 0.5}, "Edit x"),
    ],
)
def test_edits_have_names(changes: dict, label: str) -> None:
    before = Annotation(1.0, 2.0, "x")
    after = replace(before, **changes)
    if label == "Edit x" and "onset" in changes:
        after = replace(after, description="y")
    assert edit_label(before, after) == label
    assert edit_label(Annotation(1.0, 0.0, "x"), Annotation(1.0, 2.0, "x")) == "Lengthen x to 2.0 s"


FOUND = Annotation(10.0, 5.0, "sz", author="model:brainmaze A", confidence=0.63)


def test_a_seizure_of_a_model_is_a_seizure_with_its_tag(open_dialog) -> None:
    dialog = open_dialog(FOUND)
    shown = dialog.type.currentText(), dialog.text.text(), dialog.tag.text()
    assert shown == ("Seizure", "Seizure", "Epileptic-seizure")
    assert dialog.mark() == FOUND  # what is only shown changes nothing


def test_the_tag_that_is_shown_is_kept_with_what_was_changed(open_dialog) -> None:
    dialog = open_dialog(FOUND)
    dialog.comment.setPlainText("moved")
    assert dialog.mark() == replace(FOUND, review=Review(comment="moved", tag="Epileptic-seizure"))


def test_a_subtype_of_an_event_table_is_told_by_its_name(open_dialog) -> None:
    dialog = open_dialog(replace(FOUND, description="sz_foc_ia", author="sidecar"))
    assert dialog.type.currentText() == "Focal impaired awareness seizure"


def test_a_tag_alone_can_be_changed(open_dialog) -> None:
    dialog = open_dialog(FOUND)
    dialog.tag.setText("Electroencephalographic-seizure")
    assert dialog.mark() == replace(FOUND, review=Review(tag="Electroencephalographic-seizure"))


@pytest.mark.parametrize("letters", [100, 150])
def test_fields_of_one_line_stand_apart_and_names_of_channels_are_whole(open_dialog, qapp, letters: int) -> None:
    try:
        apply_theme("light", letters)
        dialog = open_dialog()
        for left, right in ((dialog.has_confidence, dialog.confidence), (dialog.length, dialog.findChild(QPushButton))):
            assert right.geometry().left() - left.geometry().right() >= 9
        names = dialog.channels.list
        widest = max(names.fontMetrics().horizontalAdvance(names.item(i).text()) for i in range(names.count()))
        assert names.visualItemRect(names.item(0)).width() >= widest + 0.4 * letters
    finally:
        apply_theme("light", 100)

"""The dialog of saving: thousands of changes that can be read and found, and files that change with the format."""

from __future__ import annotations

from pathlib import Path

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtTest import QTest

from analysis.annotation import Annotation, Review
from analysis.review.change_list import ChangeList
from analysis.review.history import Change
from analysis.review.table_update import TableContents
from app.dialogs.save_marks import Offer, SaveMarksDialog
from viewers.theme import DARK

OWN = Annotation(3.0, 0.5, "spike", ("T3",), author="reader", id=1)
REJECTED = Annotation(5.0, 10.0, "sz", author="model:A", id=2, review=Review("rejected"))


@pytest.fixture
def dialog(qtbot, tmp_path) -> SaveMarksDialog:
    waiting = [Annotation(50.0, 5.0, "sz", author="model:A")]
    offer = Offer([OWN, REJECTED], waiting, tmp_path / "record_events.tsv", tmp_path / "record.edf")
    dialog = SaveMarksDialog(offer, DARK)
    qtbot.addWidget(dialog)
    return dialog


def test_thousands_of_changes_are_listed_and_found(dialog: SaveMarksDialog) -> None:
    many = [Change(None, Annotation(float(i), 0.0, f"mark {i}", author="reader", id=i + 10)) for i in range(5000)]
    dialog.show_changes(ChangeList([*many, Change(OWN, None)]), "since yesterday")
    model = dialog.changes.model
    assert dialog.changes.summary.text() == "5,001 changes since yesterday: 5,000 added, 1 removed"
    assert model.rowCount() == 5001
    assert [model.headerData(i, Qt.Orientation.Horizontal) for i in range(4)] == [
        *("Time", "What was done", "Mark", "Details")
    ]
    dialog.changes.search.setText("MARK 4999")
    assert model.rowCount() == 1
    assert [model.data(model.index(0, i)) for i in range(4)] == [
        *("1:23:19.00", "added", "mark 4999", "length 0 s; channels all; by you")
    ]
    dialog.changes.search.clear()
    dialog.changes.kinds["added"].setChecked(False)
    assert [model.data(model.index(0, i)) for i in range(3)] == ["00:03.00", "removed", "spike"]
    assert dialog.changes.kinds["changed"].isHidden()


def test_no_changes_are_said_to_be_none(dialog: SaveMarksDialog) -> None:
    dialog.show_changes(ChangeList(), "since the save of 14:03")
    assert dialog.changes.summary.text() == "Nothing changed since the save of 14:03"


def test_the_format_and_the_name_go_together(dialog: SaveMarksDialog, tmp_path: Path) -> None:
    for ending, name in ((".edf", "record_marked.edf"), (".csv", "record_events.csv"), (".bdf", "record_marked.bdf")):
        dialog.format.setCurrentIndex(dialog.format.findData(ending))
        assert dialog.target() == tmp_path / name
        assert dialog.anonymize.isHidden() == (ending == ".csv")
    dialog.path.setText(str(tmp_path / "my.list.tsv"))
    assert dialog.format.currentData() == ".tsv"
    dialog.format.setCurrentIndex(dialog.format.findData(".csv"))
    assert dialog.target() == tmp_path / "my.list.csv"


def test_what_is_ticked_is_saved(dialog: SaveMarksDialog) -> None:
    assert dialog.chosen() == {"own", "rejected"}
    assert dialog.marks() == (OWN, REJECTED)
    dialog.categories["rejected"].setChecked(False)
    dialog.categories["undecided"].setChecked(True)
    assert [mark.onset for mark in dialog.marks()] == [3.0, 50.0]
    for box in dialog.categories.values():
        box.setChecked(False)
    assert dialog.remark.text() == "Tick what is to be saved."
    assert not dialog._save().isEnabled()


def test_a_models_event_that_the_reader_moved_is_ticked_with_the_own_marks(qtbot, tmp_path: Path) -> None:
    moved = Annotation(20.0, 4.0, "sz", author="model:A", id=7, review=Review(changed="2026-03-04T09:00:00Z"))
    waiting = [Annotation(50.0, 5.0, "sz", author="model:A")]
    dialog = SaveMarksDialog(Offer((OWN, moved), waiting, tmp_path / "x.tsv", tmp_path / "record.edf"), DARK)
    qtbot.addWidget(dialog)
    assert dialog.categories["changed"].text() == "Model events that you changed but did not decide on (1)"
    assert dialog.chosen() == {"own", "changed"}
    assert dialog.marks() == (OWN, moved)


@pytest.mark.parametrize(
    ("contents", "words"),
    [
        (TableContents(1, 0, 0), "This table exists. Its columns and their order are kept, 1 row stays as it is;"),
        (TableContents(0, 2, 0), "kept, 2 that changed here go;"),
        (TableContents(3, 1, 2), "This table exists and holds 2 rows that are not among these marks."),
        (None, "This file is no table of events: it will be replaced, and kept beside it as a backup (.bak)."),
    ],
)
def test_what_becomes_of_a_file_is_said(dialog: SaveMarksDialog, tmp_path: Path, contents, words) -> None:
    (tmp_path / "there.tsv").write_text("")
    dialog.path.setText(str(tmp_path / "there.tsv"))
    dialog.show_existing(contents)
    assert words in dialog.remark.text()
    assert dialog.strangers.isHidden() == (contents is None or not contents.strangers)
    assert dialog._save().isEnabled()


def test_enter_in_the_search_does_not_save(dialog: SaveMarksDialog, qtbot) -> None:
    with qtbot.waitExposed(dialog):
        dialog.show()
    dialog.changes.search.setFocus()
    QTest.keyClick(dialog.changes.search, Qt.Key.Key_Return)
    assert dialog.isVisible()
    dialog._save().setFocus()
    with qtbot.waitSignal(dialog.accepted):
        QTest.keyClick(dialog._save(), Qt.Key.Key_Return)


def test_everything_is_named_for_those_who_cannot_see_it(dialog: SaveMarksDialog) -> None:
    for widget in (dialog.changes.search, dialog.changes.table, dialog.format, dialog.path):
        assert widget.accessibleName()

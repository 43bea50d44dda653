"""The editor of own montages: what is typed becomes rows, what is saved can be chosen, nothing is lost unasked."""

from __future__ import annotations

import numpy as np
import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QFileDialog, QMessageBox

from analysis.montage import MONTAGES, MontageOptions
from analysis.montages.custom import CustomMontage, CustomRow, Electrode
from analysis.montages.own import OwnMontages, read_montage, write_montage
from analysis.recording import Channel
from app.dialogs.montage_editor import MontageEditor
from app.dialogs.montage_table import second_text, with_second
from app.montage_entries import entries_for
from app.session import Session

SITES = "Fp1 Fp2 F7 F3 Fz F4 F8 T7 C3 Cz C4 T8 P7 P3 Pz P4 P8 O1 O2 A1".split()
OLD = {"T7": "T3", "P7": "T5"}
LABEL, FIRST, SECOND, CHECK = range(4)
MINE = CustomMontage(
    "mine",
    ((CustomRow(Electrode("F7"), (Electrode("T7"),)), CustomRow(Electrode("T1"))), (CustomRow(Electrode("Cz")),)),
)


@pytest.fixture
def session(qtbot, array_recording) -> Session:
    channels = [Channel(OLD.get(n, n), n, "eeg", "uV", 10.0, site=n) for n in SITES]
    channels.append(Channel("X1", "X1", "misc", "uV", 10.0))
    session = Session()
    session.open(array_recording(channels, np.zeros((21, 100)), 10.0))
    return session


@pytest.fixture
def own(tmp_path) -> OwnMontages:
    return OwnMontages(tmp_path / "montages", MONTAGES)


@pytest.fixture
def open_editor(qtbot, session, own, tmp_path):
    def make() -> MontageEditor:
        entries = entries_for(session.recording, (), None, session.refusal_of)
        editor = MontageEditor(session, own, entries, str(tmp_path))
        qtbot.addWidget(editor, before_close_func=forget_changes)
        editor.changed.connect(lambda: session.set_montage_options(MontageOptions(own=own.montages())))
        return editor

    return make


def forget_changes(editor: MontageEditor) -> None:
    """So that closing it after the test asks nothing."""
    editor._is_changed = False


def texts(editor: MontageEditor) -> list[tuple[str, ...]]:
    table = editor.rows.table
    return [tuple(table.item(i, c).text() for c in range(4)) for i in range(table.rowCount())]


def type_in(editor: MontageEditor, row: int, column: int, text: str) -> None:
    editor.rows.table.item(row, column).setText(text)


def answer(monkeypatch, button) -> None:
    monkeypatch.setattr(QMessageBox, "question", lambda *_args: button)


def test_rows_and_gaps_are_shown_with_what_the_recording_makes_of_them(open_editor, own):
    own.save(MINE)
    editor = open_editor()
    assert texts(editor) == [
        ("", "F7", "T7", "✓ F7-T3"),
        ("", "T1", "", "T1 not in the recording"),
        ("", "", "", "gap between blocks"),
        ("", "Cz", "", "✓ Cz"),
    ]
    assert editor.rows.state.text() == "3 rows; 1 cannot be given by the open recording"
    assert editor.montage() == MINE


def test_what_is_typed_becomes_a_row(open_editor):
    editor = open_editor()
    editor.rows.add_row()
    assert texts(editor)[0][CHECK] == "input 1 is empty"
    type_in(editor, 0, FIRST, "t3")
    type_in(editor, 0, SECOND, "A1, x1")
    type_in(editor, 0, LABEL, "odd")
    editor.rows.add_row()
    type_in(editor, 1, FIRST, "Cz")
    type_in(editor, 1, SECOND, "Average")
    assert editor.montage().rows == (
        CustomRow(Electrode("T7"), (Electrode("A1"), Electrode("X1", is_site=False)), label="odd"),
        CustomRow(Electrode("Cz"), to_average=True),
    )
    type_in(editor, 1, SECOND, "")
    assert editor.montage().rows[1] == CustomRow(Electrode("Cz"))


def test_rows_are_moved_repeated_and_removed_together(open_editor):
    editor = open_editor()
    for site in ("Fp1", "F3", "C3"):
        editor.rows.add_row()
        type_in(editor, editor.rows.table.currentRow(), FIRST, site)
    editor.rows.add_gap()

    def order() -> list[str]:
        return [row[FIRST] or "|" for row in texts(editor)]

    assert order() == ["Fp1", "F3", "C3", "|"]
    editor.rows._select([1, 2])
    editor.rows.move(1)
    assert order() == ["Fp1", "|", "F3", "C3"]
    editor.rows.move(1)  # they are last already
    assert order() == ["Fp1", "|", "F3", "C3"]
    editor.rows.move(-1)
    editor.rows.move(-1)
    assert order() == ["F3", "C3", "Fp1", "|"]
    editor.rows.duplicate()
    assert order() == ["F3", "C3", "F3", "C3", "Fp1", "|"]
    editor.rows._select([0, 3])
    editor.rows.remove()
    assert order() == ["C3", "F3", "Fp1", "|"]
    assert [[row.input1.name for row in block] for block in editor.rows.blocks()] == [["C3", "F3", "Fp1"]]


def test_a_montage_can_start_from_any_other(open_editor, session):
    editor = open_editor()
    titles = [action.text() for action in editor._starts.actions()]
    assert "Laplacian" in titles
    assert "R-18.3, against T1 and T2" not in titles  # refused here
    assert "One channel as reference…" not in titles
    editor.start_from("TB-18.1")
    assert editor.name.text() == "TB-18.1, mine"
    assert [len(block) for block in editor.rows.blocks()] == [3, 4, 4, 4, 3]
    assert editor.save()
    session.change_view(montage="TB-18.1, mine")
    assert session.montage.ch_names[7] == "T3-C3"


def test_what_is_saved_is_kept_chosen_and_followed_through_a_change(open_editor, own, session, qtbot):
    editor = open_editor()
    editor.start_from("LB-18.3")
    editor.name.setText("lab")
    with qtbot.waitSignal(editor.changed):
        editor.show_it()
    assert session.view.montage == "lab"
    assert session.montage.ch_names[:2] == ("Fp1-F7", "F7-T3")
    editor.rows._select([0])
    editor.rows.remove()
    editor.name.setText("our lab")
    assert editor.save()
    assert session.view.montage == "our lab"
    assert session.montage.ch_names[0] == "F7-T3"
    assert [m.name for m in own.montages()] == ["our lab"]
    assert editor.list.currentItem().text() == "our lab"


@pytest.mark.parametrize(
    ("name", "first", "sentence"),
    [
        ("LB-18.1", "Cz", "choose another name"),
        ("", "Cz", "needs a name"),
        ("fine", "", "line 1 has no input 1"),
    ],
)
def test_what_cannot_be_saved_is_said(open_editor, own, name, first, sentence):
    editor = open_editor()
    editor.rows.add_row()
    type_in(editor, 0, FIRST, first)
    editor.name.setText(name)
    assert not editor.save()
    assert sentence in editor.state.text()
    assert own.montages() == ()


def test_an_empty_montage_is_not_saved(open_editor):
    editor = open_editor()
    assert not editor.save()
    assert "no row yet" in editor.state.text()


def test_a_folder_that_cannot_be_written_is_said(open_editor, own, tmp_path):
    (tmp_path / "montages").write_text("in the way")
    editor = open_editor()
    editor.start_from("LB-18.1")
    assert not editor.save()
    assert "montages" in editor.state.text()


def test_changes_are_not_lost_unasked(open_editor, own, monkeypatch):
    own.save(MINE)
    own.save(CustomMontage("other", ((CustomRow(Electrode("Oz")),),)))
    editor = open_editor()
    editor.show()
    type_in(editor, 0, FIRST, "F8")
    answer(monkeypatch, QMessageBox.StandardButton.Cancel)
    editor.list.setCurrentRow(1)
    assert editor.list.currentItem().text() == "mine"
    assert texts(editor)[0][FIRST] == "F8"
    editor.close()
    assert editor.isVisible()
    answer(monkeypatch, QMessageBox.StandardButton.Save)
    editor.list.setCurrentRow(1)
    assert texts(editor)[0][FIRST] == "Oz"
    assert own.get("mine").rows[0].input1.name == "F8"
    type_in(editor, 0, FIRST, "O2")
    answer(monkeypatch, QMessageBox.StandardButton.Discard)
    editor.reject()
    assert not editor.isVisible()
    assert own.get("other").rows[0].input1.name == "Oz"


def test_a_montage_in_force_that_is_deleted_gives_way_to_the_usual_one(open_editor, own, session, monkeypatch):
    own.save(MINE)
    session.set_montage_options(MontageOptions(own=own.montages()))
    session.change_view(montage="mine")
    refused: list[str] = []
    session.refused.connect(refused.append)
    editor = open_editor()
    answer(monkeypatch, QMessageBox.StandardButton.No)
    editor.delete()
    assert own.get("mine") is not None
    answer(monkeypatch, QMessageBox.StandardButton.Yes)
    editor.delete()
    assert own.montages() == ()
    assert session.view.montage == "LB-18.1"
    assert refused == []


def test_montages_travel_as_files(open_editor, own, monkeypatch, tmp_path):
    write_montage(MINE, tmp_path / "from elsewhere.json")
    own.save(CustomMontage("mine", ((CustomRow(Electrode("Cz")),),)))
    editor = open_editor()
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_a: (str(tmp_path / "from elsewhere.json"), ""))
    editor.load()
    assert editor.name.text() == "mine 2"
    assert editor.montage().blocks == MINE.blocks
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_a: (str(tmp_path / "out.json"), ""))
    editor.export()
    assert read_montage(tmp_path / "out.json") == CustomMontage("mine 2", MINE.blocks)
    (tmp_path / "from elsewhere.json").write_text("{")
    answer(monkeypatch, QMessageBox.StandardButton.Discard)
    editor.load()
    assert "holds no montage" in editor.state.text()


def test_without_a_recording_rows_are_edited_unchecked(qtbot, own):
    own.save(MINE)
    editor = MontageEditor(Session(), own, [], "")
    qtbot.addWidget(editor)
    assert editor.rows.state.text() == "3 rows; open a recording to check them"
    assert texts(editor)[0][CHECK] == ""


def test_what_is_edited_stays_and_is_checked_against_the_recording_that_opens(
    open_editor, own, session, array_recording
):
    own.save(MINE)
    editor = open_editor()
    editor.name.setText("mine, longer")
    channels = [Channel(name, name, "eeg", "uV", 10.0, site=name) for name in ("Cz", "Oz")]
    session.open(array_recording(channels, np.zeros((2, 100)), 10.0))
    entries = entries_for(session.recording, (), None, session.refusal_of)
    editor.take_entries(entries)
    assert editor.montage() == CustomMontage("mine, longer", MINE.blocks)
    assert editor.rows.state.text() == "3 rows; 2 cannot be given by the open recording"
    editor._starts.aboutToShow.emit()
    offered = [action.text() for action in editor._starts.actions() if action.text()]
    usable = [e.title for e in entries if not e.refusal and not e.title.endswith("…")]
    assert offered == ["An empty montage", *usable]


def test_a_new_row_is_typed_at_once_and_completes_the_names_of_the_recording(open_editor, qtbot):
    editor = open_editor()
    editor.show()
    editor.rows.add_row()
    field = editor.rows.table.findChild(type(editor.name))
    assert field.completer().model().rowCount() == 22  # 21 channels and "average"
    qtbot.keyClicks(field, "O2")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: editor.montage().rows == (CustomRow(Electrode("O2")),))


def test_input_2_is_read_as_it_is_written():
    row = CustomRow(Electrode("Cz"))
    for text in ("A1, A2", "average", "", "LA'3"):
        assert second_text(with_second(row, text, None)) == text

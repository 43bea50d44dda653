"""Choosing montages and bad channels in the real window: keys, menus, what stays and what is remembered."""

from __future__ import annotations

import numpy as np
import pytest
from PyQt6.QtCore import QPoint, Qt
from PyQt6.QtGui import QContextMenuEvent
from PyQt6.QtWidgets import QApplication, QInputDialog, QLabel, QMenu

from analysis.annotation import Annotation
from analysis.montage import default_montage
from analysis.montages.custom import CustomMontage, CustomRow, Electrode
from analysis.montages.own import OwnMontages
from app.commands import open_new_window
from app.dialogs.bad_channels import BadChannelsDialog
from app.dialogs.find_channel import FindChannel
from app.main_window import MainWindow
from app.settings import Settings
from app.testing import Window, open_window

SEIZURE = "scalp-seizure-46ch/demo_edf.edf"
GRID = "ecog-seizure-mat/pt01_ecog_onset.h5"
MINE = CustomMontage("mine", ((CustomRow(Electrode("F7"), (Electrode("T7"),)), CustomRow(Electrode("Cz"))),))


@pytest.fixture(scope="module")
def windows(shared, qapp):
    """Windows by recording, kept open for all tests of this file, since opening one takes a second."""
    open_ones: dict[str, Window] = {}
    yield open_ones
    for window in open_ones.values():
        window.close()


@pytest.fixture
def opened(shared, windows, qtbot):
    """Gives a real window on a recording, as it is when it has just been opened."""

    def open_it(name: str) -> Window:
        if name not in windows:
            windows[name] = open_window(shared / "recordings" / name, (1400, 860), Settings(theme="light"), 20.0)
            windows[name].wait()
        window = windows[name]
        main = window.main
        main.settings.right_first = False
        main.actions_by_id["right_first"].setChecked(False)
        main.session.set_bad_channels([])
        main.session.change_view(montage=default_montage(main.session.recording), uv_per_mm=7.0)
        main.view.trace_view.gutter.set_chosen(None)
        main.view.trace_view.gutter.set_hovered(None)
        main.view.trace_view.lost_channel = ""
        main.montages._reference = None
        main.montages.refresh()
        main.show()  # hidden after the test before
        main.activateWindow()
        window.wait()
        return window

    return open_it


def menu_entries(menu: QMenu) -> dict[str, bool]:
    return {action.text(): action.isEnabled() for action in menu.actions() if action.text()}


@pytest.mark.parametrize(
    ("file", "keys"),
    [
        (
            SEIZURE,
            {2: "LB-18.1", 3: "LB-18.3", 4: "TB-18.1", 5: "ear referential", 6: "common average", 7: "hat band"},
        ),
        (GRID, {2: "neighbour bipolar", 3: "shaft average", 4: "common average", 1: "as recorded"}),
    ],
)
def test_number_keys_mean_what_suits_the_recording_and_keep_page_marks_and_sensitivity(opened, qtbot, file, keys):
    window = opened(file)
    session = window.main.session
    session.change_view(uv_per_mm=20.0)
    before = session.window, session.marks
    for key, name in keys.items():
        qtbot.keyClick(window.main, Qt.Key(Qt.Key.Key_0 + key))
        window.wait()
        assert session.view.montage == name
        assert window.main.view.trace_view.rows.names == session.montage.ch_names
        assert window.main.toolbar.montage.value() == window.main.montages.entries[key - 1].short
    assert (session.window, session.marks) == before
    assert session.view.uv_per_mm == 20.0


def test_a_key_for_what_cannot_be_derived_says_why_and_a_key_beyond_the_list_says_so(opened, qtbot):
    window = opened("chbmit-headers/chb05_06.edf")
    refused: list[str] = []
    window.main.session.refused.connect(refused.append)
    qtbot.keyClick(window.main, Qt.Key.Key_6)
    assert window.main.session.view.montage == "CHB-MIT"
    assert "recorded bipolar (Fp1-F7, …)" in refused[0]
    grid = opened(GRID)
    qtbot.keyClick(grid.main, Qt.Key.Key_9)
    assert grid.main.session.view.montage == "as recorded"
    before = grid.main.session.view
    qtbot.keyClick(grid.main, Qt.Key.Key_9)
    assert grid.main.session.view == before
    assert any("key 9 has no montage here" in shown.text() for shown in grid.main.status.findChildren(QLabel))


def test_menu_and_toolbar_list_the_same_and_the_menu_knows_what_is_in_force(opened):
    window = opened("chbmit-headers/chb05_06.edf")
    menu, toolbar = window.main.montages._menu, window.main.toolbar.montage.menu()
    offered = {text: on for text, on in menu_entries(toolbar).items() if "own" not in text}
    listed = menu_entries(menu)
    assert {text: listed[text] for text in offered} == offered
    assert listed["Longitudinal LB-18.1, from left to right\t2"]
    assert not listed["Common average\t6"]
    assert "Neighbour bipolar, along each shaft\t2" not in listed
    tips = {action.text(): action.toolTip() for action in menu.actions()}
    assert "recorded bipolar" in tips["Common average\t6"]
    assert [action.data() for action in menu.actions() if action.isChecked()] == ["CHB-MIT"]
    window.set_montage("LB-18.3")
    assert [action.data() for action in menu.actions() if action.isChecked()] == ["LB-18.3"]


def test_actions_are_called_what_their_keys_do_here(opened):
    actions = opened(GRID).main.actions_by_id
    assert actions["montage_2"].text() == "Montage: Neighbour bipolar, along each shaft"
    assert actions["montage_9"].text() == "Montage 9"


def test_a_reference_is_chosen_and_gets_the_key(opened, qtbot, monkeypatch):
    window = opened(GRID)
    offered: list[list[str]] = []

    def choose(dialog: QInputDialog) -> int:
        offered.append(dialog.comboBoxItems())
        dialog.setTextValue("ATT3")
        return 1

    monkeypatch.setattr(QInputDialog, "exec", choose)
    qtbot.keyClick(window.main, Qt.Key.Key_5)
    window.wait()
    assert offered[0][:5] == ["G1", "G2", "G3", "G4", "G7"]
    assert window.main.session.view.montage == "reference ATT3"
    assert window.main.toolbar.montage.value() == "Reference ATT3"
    qtbot.keyClick(window.main, Qt.Key.Key_1)
    qtbot.keyClick(window.main, Qt.Key.Key_5)
    assert window.main.session.view.montage == "reference ATT3"
    assert len(offered) == 1


def test_right_before_left_is_a_habit_and_keeps_the_rows(opened):
    window = opened(SEIZURE)
    names = window.main.session.montage.ch_names
    window.main.actions_by_id["right_first"].trigger()
    window.wait()
    assert window.main.session.montage.ch_names[0] == "Fp2-F8"
    assert sorted(window.main.session.montage.ch_names) == sorted(names)
    assert window.main.view.trace_view.rows.names == window.main.session.montage.ch_names
    assert window.main.settings.right_first


def test_a_bad_channel_leaves_the_average_and_its_row_is_grey_and_said(opened):
    window = opened(SEIZURE)
    window.set_montage("common average")
    window.wait()
    traces = window.main.view.trace_view
    i = traces.rows.index("Cz-avg")
    with_fpz = traces.page.data[:, i].copy()
    window.main.montages.toggle_bad("Fpz")
    window.wait()
    without = traces.page.data[:, i]
    assert np.abs(without - with_fpz).max() > 5  # Fpz hums and beats in this recording
    row = traces.rows.index("Fpz-avg")
    assert traces.gutter.states[row] == "bad"
    assert traces.rows.inks[row] == "muted"
    assert traces.rows.inks[i] == "midline"
    assert "bad: Fpz" in traces.canvas.furniture.note
    window.main.montages.toggle_bad("Fpz")
    window.wait()
    np.testing.assert_array_equal(traces.page.data[:, i], with_fpz)
    assert traces.gutter.states[row] == ""


def test_a_pair_says_which_of_its_electrodes_is_bad(opened):
    window = opened(SEIZURE)
    window.main.session.set_bad_channels(["T3"])
    window.wait()
    traces = window.main.view.trace_view
    states = dict(zip(traces.rows.names, traces.gutter.states, strict=True))
    assert states["F7-T3"] == "T3 bad"
    assert states["T3-T5"] == "T3 bad"
    assert states["T5-O1"] == ""


def test_the_channel_that_was_chosen_stays_chosen_in_another_montage(opened, qtbot):
    window = opened(SEIZURE)
    main, traces = window.main, window.main.view.trace_view
    traces.gutter.row_chosen.emit(traces.rows.index("T4-T6"))
    traces.gutter.set_hovered(traces.rows.index("F7-T3"))  # where the mouse rests
    for montage, row in (("common average", "T4-avg"), ("LB-18.3", "T4-T6"), ("common average", "T4-avg")):
        window.set_montage(montage)
        window.wait()
        assert traces.rows.names[traces.gutter.chosen] == row
    main.actions_by_id["toggle_bad"].trigger()
    window.wait()
    assert main.session.bad_channels == {"T4"}
    assert traces.rows.names[traces.gutter.chosen] == "T4-avg"  # the average was made anew
    main.actions_by_id["toggle_bad"].trigger()
    assert main.session.bad_channels == frozenset()


def test_a_key_for_a_channel_that_begins_no_row_asks_before_it_takes_another(opened, qtbot):
    window = opened(SEIZURE)
    main, traces, refused = window.main, window.main.view.trace_view, []
    main.session.refused.connect(refused.append)
    traces.gutter.row_chosen.emit(traces.rows.index("P4-O2"))
    window.set_montage("as recorded")
    window.wait()
    traces.gutter.row_chosen.emit(traces.rows.index("O2"))
    window.set_montage("LB-18.1")
    window.wait()
    assert traces.gutter.chosen is None
    traces.gutter.set_hovered(traces.rows.index("F7-T3"))
    main.actions_by_id["toggle_bad"].trigger()
    assert main.session.bad_channels == frozenset()
    assert "O2 begins no row of this montage: B again takes F7" in refused[-1]
    main.actions_by_id["toggle_bad"].trigger()
    assert main.session.bad_channels == {"F7"}


def test_undo_takes_bad_channels_back_in_turn_with_the_marks_and_says_so(opened):
    window = opened(SEIZURE)
    main, traces = window.main, window.main.view.trace_view
    actions, keeper = main.actions_by_id, main.session.keeper
    count = len(keeper.marks)
    keeper.add([Annotation(21.0, 0.0, "mine", author="reader")], "Mark mine")
    traces.gutter.row_chosen.emit(traces.rows.index("F8-T4"))
    actions["toggle_bad"].trigger()
    assert "marked F8 as bad: B makes it good again, Ctrl+Z takes it back" in main.status._message.text()
    assert actions["undo_edit"].text() == "Undo: Mark F8 as bad"
    keeper.add([Annotation(22.0, 0.0, "more", author="reader")], "Mark more")
    assert actions["undo_edit"].text() == "Undo: Mark more"
    actions["undo_edit"].trigger()
    assert (len(keeper.marks), main.session.bad_channels) == (count + 1, {"F8"})
    actions["undo_edit"].trigger()
    assert (len(keeper.marks), main.session.bad_channels) == (count + 1, frozenset())
    assert "undone: Mark F8 as bad" in main.status._message.text()
    assert actions["redo_edit"].text() == "Redo: Mark F8 as bad"
    actions["undo_edit"].trigger()
    assert len(keeper.marks) == count
    for _ in range(3):
        actions["redo_edit"].trigger()
    assert (len(keeper.marks), main.session.bad_channels) == (count + 2, {"F8"})
    for _ in range(3):
        actions["undo_edit"].trigger()
    window.wait()


def test_windows_on_one_recording_share_the_undo_of_bad_channels(opened):
    window = opened(SEIZURE)
    other = open_new_window(window.main)
    second = Window(other)
    second.wait()
    window.main.montages.toggle_bad("F8")
    assert other.actions_by_id["undo_edit"].text() == "Undo: Mark F8 as bad"
    other.actions_by_id["undo_edit"].trigger()
    assert window.main.session.bad_channels == frozenset()
    assert window.main.actions_by_id["undo_edit"].text() != "Undo: Mark F8 as bad"
    other.close()


def test_rows_of_bad_channels_can_be_hidden_and_the_page_says_so(opened):
    window = opened(SEIZURE)
    main, traces = window.main, window.main.view.trace_view
    hide = main.actions_by_id["hide_bad"]
    names = traces.rows.names
    main.session.set_bad_channels(["T3"])
    hide.trigger()
    window.wait()
    assert set(names) - set(traces.rows.names) == {"F7-T3", "T3-T5"}
    assert "bad: T3 (hidden)" in traces.canvas.furniture.note
    menu = main.montages.show_row_menu(main.session.montage.derivations[0], QPoint(5, 5))
    assert hide in menu.actions()
    menu.close()
    hide.trigger()
    window.wait()
    assert traces.rows.names == names
    assert not main.settings.bad_hidden


def test_the_menu_of_a_row_marks_its_electrodes_and_offers_them_as_reference(opened, qtbot):
    window = opened(SEIZURE)
    row = window.main.session.montage.derivations[1]
    menu = window.main.montages.show_row_menu(row, QPoint(5, 5))
    actions = {action.text(): action for action in menu.actions()}
    assert {"Mark F7 as bad", "Mark T3 as bad", "Take F7 as the reference", "Take T3 as the reference"} <= set(actions)
    actions["Mark T3 as bad"].trigger()
    menu.close()
    assert window.main.session.bad_channels == {"T3"}
    menu = window.main.montages.show_row_menu(row, QPoint(5, 5))
    assert "T3 is good again" in [action.text() for action in menu.actions()]
    next(a for a in menu.actions() if a.text() == "Take F7 as the reference").trigger()
    menu.close()
    assert window.main.session.view.montage == "reference F7"


def test_a_right_click_on_a_name_asks_for_the_menu_of_its_row(opened, monkeypatch):
    window = opened(SEIZURE)
    asked: list[str] = []
    monkeypatch.setattr(QMenu, "popup", lambda menu, _place: asked.extend(a.text() for a in menu.actions()))
    gutter = window.main.view.trace_view.gutter
    middle = round(window.main.view.trace_view.rows.centre[3])
    event = QContextMenuEvent(
        QContextMenuEvent.Reason.Mouse, QPoint(20, middle), gutter.mapToGlobal(QPoint(20, middle))
    )
    QApplication.sendEvent(gutter, event)
    assert asked[:2] == ["Mark T5 as bad", "Mark O1 as bad"]
    gutter.set_chosen(1)
    QApplication.sendEvent(gutter, QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(0, 0), QPoint(0, 0)))
    assert "Mark F7 as bad" in asked


def test_bad_channels_are_marked_by_keys_alone(opened, qtbot, monkeypatch):
    window = opened(SEIZURE)
    refused: list[str] = []
    window.main.session.refused.connect(refused.append)
    qtbot.keyClick(window.main, Qt.Key.Key_B)
    assert "choose a row first" in refused[0]
    window.main.view.trace_view.gutter.set_chosen(2)
    qtbot.keyClick(window.main, Qt.Key.Key_B)
    assert window.main.session.bad_channels == {"T3"}

    def tick(dialog: BadChannelsDialog) -> int:
        assert dialog.bad() == {"T3"}
        dialog.untick_all()
        item = dialog.list.findItems("Cz", Qt.MatchFlag.MatchExactly)[0]
        item.setCheckState(Qt.CheckState.Checked)
        return 1

    monkeypatch.setattr(BadChannelsDialog, "exec", tick)
    qtbot.keyClick(window.main, Qt.Key.Key_B, Qt.KeyboardModifier.ControlModifier)
    assert window.main.session.bad_channels == {"Cz"}


def test_what_the_survey_calls_flat_stays_out_of_averages_by_itself(opened):
    window = opened("scalp-seizure-42ch/scalp_seizure.edf")
    window.set_montage("common average")
    window.wait()
    session = window.main.session
    flat = [c.name for c in session.recording.channels if c.is_brain and session.channel_states[c.name] == "flat"]
    members = set(session.montage.derivations[0].cathode)
    assert members.isdisjoint(flat)
    before = session.channel_states
    session.set_channel_states({"T7": "flat", "O1": "clipped"})
    assert "left out, flat: T7" in session.montage.note
    assert "T7" not in session.montage.derivations[0].cathode
    assert "O1" in session.montage.derivations[0].cathode
    session.set_channel_states(before)


def remembering_window(path, folder, qtbot) -> Window:
    main = MainWindow(Settings(theme="light"), data_folder=folder)
    main.show()
    window = Window(main)
    main.open_recording(str(path))
    window.wait()
    return window


def test_bad_channels_and_own_montages_come_back_with_the_recording(shared, qtbot, tmp_path):
    path = shared / "recordings" / SEIZURE
    OwnMontages(tmp_path / "montages").save(MINE)
    window = remembering_window(path, tmp_path, qtbot)
    window.main.montages.choose_name("mine")
    window.main.session.set_bad_channels(["T3", "Fpz"])
    window.close()
    window = remembering_window(path, tmp_path, qtbot)
    try:
        assert window.main.session.view.montage == "mine"
        assert window.main.session.montage.ch_names == ("F7-T3", "Cz", "ECG", "OSAT", "PR")
        assert window.main.session.bad_channels == {"T3", "Fpz"}
        assert window.main.view.trace_view.gutter.states[0] == "T3 bad"
    finally:
        window.close()


def test_windows_on_one_recording_share_its_bad_channels(shared, qtbot, tmp_path):
    window = remembering_window(shared / "recordings" / SEIZURE, tmp_path, qtbot)
    window.main.session.set_bad_channels(["Fpz"])
    other = Window(open_new_window(window.main))
    try:
        other.wait()
        assert other.main.session.bad_channels == {"Fpz"}
        other.main.montages.toggle_bad("T3")
        assert window.main.session.bad_channels == {"Fpz", "T3"}
    finally:
        other.main.close()  # which deletes it
        window.close()


def test_a_montage_that_is_gone_gives_way_to_the_usual_one(shared, qtbot, tmp_path):
    own = OwnMontages(tmp_path / "montages")
    own.save(MINE)
    window = remembering_window(shared / "recordings" / SEIZURE, tmp_path, qtbot)
    window.main.montages.choose_name("mine")
    window.close()
    own.delete("mine")
    (tmp_path / "montages" / "broken.json").write_text("{")
    window = remembering_window(shared / "recordings" / SEIZURE, tmp_path, qtbot)
    try:
        assert window.main.session.view.montage == "LB-18.1"
        assert [entry.name for entry in window.main.montages.entries][-1] == "SzCORE"
    finally:
        window.close()


def test_damaged_files_of_montages_are_told_once(qtbot, tmp_path):
    (tmp_path / "montages").mkdir()
    (tmp_path / "montages" / "broken.json").write_text("{")
    main = MainWindow(Settings(theme="light"), data_folder=tmp_path)
    qtbot.addWidget(main)
    assert "a saved montage is skipped" in main.status._message.text()
    told: list[str] = []
    main.montages.complained.connect(told.append)
    main.montages.complain()
    assert told == []


def test_a_found_channel_s_row_is_pointed_out_and_one_without_a_row_tells_its_montages(opened, monkeypatch):
    main = opened(SEIZURE).main
    gutter = main.view.trace_view.gutter

    def find(name: str) -> None:
        def take(dialog: FindChannel) -> int:
            dialog.field.setText(name)
            dialog._take()
            return dialog.result()

        monkeypatch.setattr(FindChannel, "exec", take)
        main.actions_by_id["find_channel"].trigger()

    find("F3-C3")
    assert main.session.montage.ch_names[gutter.chosen] == "F3-C3"
    find("X5")
    assert gutter.chosen is None
    said = [shown.text() for shown in main.status.findChildren(QLabel)]
    assert "X5 is not in LB-18.1, but in As recorded (1)" in said

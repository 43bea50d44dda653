"""Finding a row by the names of its electrodes, and being told where a channel without a row is shown."""

from __future__ import annotations

import numpy as np
import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtTest import QTest

from analysis.montage import build_montage
from analysis.recording import Channel
from app.dialogs.find_channel import FindChannel, Place, find_places, list_places

SITES = "Fp1 Fp2 F7 F3 Fz F4 F8 T7 C3 Cz C4 T8 P7 P3 Pz P4 P8 O1 O2".split()


@pytest.fixture
def recording(array_recording):
    channels = [Channel(n, f"EEG {n}-REF", "eeg", "uV", 10.0, site=n) for n in SITES if n != "T7"]
    channels.append(Channel("T3", "EEG T3-REF", "eeg", "uV", 10.0, site="T7"))
    extra = [Channel(n, n, kind, "uV", 10.0) for n, kind in (("ECG", "ecg"), ("X2", "misc"), ("DC1", "misc"))]
    return array_recording([*channels, *extra], np.zeros((22, 100)), 10.0)


@pytest.fixture
def places(recording) -> list[Place]:
    others = [("As recorded (1)", build_montage("as recorded", recording))]
    others.append(("Common average (6)", build_montage("common average", recording)))
    return list_places(recording.channels, build_montage("hat band", recording), others)


def found(query: str, places: list[Place]) -> list[tuple[str, int | None]]:
    return [(place.name, place.row) for place in find_places(query, places)]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("t3", [("P7-T3", 6), ("T3-F7", 7)]),
        ("T7", [("P7-T3", 6), ("T3-F7", 7)]),
        ("EEG T3-REF", [("P7-T3", 6), ("T3-F7", 7)]),
        ("fp2-f8", [("Fp2-F8", 0)]),
        ("x2", [("X2", None)]),
        ("cz", [("Cz", None)]),
        ("nothing", []),
    ],
)
def test_rows_answer_to_every_name_of_their_electrodes(places, query, names):
    assert found(query, places) == names


def test_a_channel_without_a_row_says_which_montages_have_one(places):
    told = {place.name: place.told for place in places if place.row is None}
    assert told["Cz"] == "not in hat band, but in As recorded (1), Common average (6)"
    assert told["X2"] == "not in hat band, but in As recorded (1)"
    assert "ECG" not in told
    assert "Fp1" not in told


def test_members_of_a_mean_are_not_shown_by_it(recording):
    montage = build_montage("common average", recording, bad=())
    rows = [place for place in list_places(recording.channels, montage, []) if "cz" in place.words]
    assert [place.name for place in rows] == ["Cz-avg"]
    (unshown,) = [place for place in list_places(recording.channels, montage, []) if place.name == "DC1"]
    assert unshown.told == "not in common average, nor in any other montage"


def test_exact_names_come_first_and_rows_before_channels_without(places):
    names = [name for name, _ in found("f", places)]
    assert names.index("Fp2-F8") < names.index("F3")
    assert found("f8", places)[:2] == [("Fp2-F8", 0), ("F8-T8", 1)]


def test_typing_arrows_and_enter_choose(places, qtbot):
    dialog = FindChannel(places)
    qtbot.addWidget(dialog)
    assert dialog.list.count() == len(places)
    QTest.keyClicks(dialog.field, "F8")
    QTest.keyClick(dialog.field, Qt.Key.Key_Down)
    QTest.keyClick(dialog.field, Qt.Key.Key_Return)
    assert dialog.result() == FindChannel.DialogCode.Accepted
    assert dialog.chosen is not None
    assert dialog.chosen.row == 1

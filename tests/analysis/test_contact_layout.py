"""Where contacts stand: shafts, strips, grids, gaps, channels between contacts, and recordings without contacts."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.contact_layout import (
    BETWEEN_PAIRS,
    ELSEWHERE,
    NOT_RECORDED,
    SAME_CONTACT,
    contact_layout,
    layout_of_names,
)
from analysis.errors import AnalysisError
from analysis.readers import open_recording
from analysis.recording import Channel


def channel(name: str, kind: str = "seeg", pair: tuple[str, str] | None = None) -> Channel:
    return Channel(name, name, kind, "uV", 100.0, pair=pair)


def rows(layout):
    return {block.title: [[slot.label for slot in row] for row in block.rows()] for block in layout.blocks}


def test_a_line_for_each_shaft_in_the_order_of_the_file_by_rising_number():
    layout = layout_of_names(["LB2", "LB10", "LB1", "LA'3", "LA'1", "LB3"])
    assert rows(layout) == {"LB": [[str(n) for n in range(1, 11)]], "LA'": [["1", "2", "3"]]}
    assert layout.ch_names == ("LB1", "LB2", "LB3", "LB10", "LA'1", "LA'3")
    values = {slot.name: slot.index for block in layout.blocks for slot in block.slots}
    assert [values[name] for name in layout.ch_names] == list(range(6))
    gap = layout.blocks[1].slots[1]
    assert (gap.name, gap.index, gap.why) == ("LA'2", None, NOT_RECORDED)


@pytest.mark.parametrize(
    ("count", "per_row"), [(4, 4), (16, 16), (18, 18), (20, 5), (24, 6), (32, 8), (36, 6), (48, 8), (64, 8), (128, 8)]
)
def test_more_contacts_than_a_shaft_has_are_a_grid(count, per_row):
    block = layout_of_names([f"G{n}" for n in range(1, count + 1)]).blocks[0]
    assert (block.per_row, block.is_grid) == (per_row, count > 18)
    assert [slot.label for row in block.rows() for slot in row] == [str(n) for n in range(1, count + 1)]


def test_the_shape_that_is_assumed_of_a_grid_is_told():
    assert layout_of_names([f"G{n}" for n in range(1, 33)]).source.endswith("G in rows of 8, as grids of this size are")
    assert layout_of_names(["A1", "A2", "A3"]).source == "by the names of contacts"


def test_numbers_that_are_no_places_leave_no_hundred_gaps():
    assert rows(layout_of_names(["A1", "A2", "A900"])) == {"A": [["1", "2", "900"]]}


def test_left_out_contacts_keep_their_place_without_a_value():
    layout = layout_of_names(["A1", "A2", "A3", "A4"], {"A2": "flat"})
    assert layout.ch_names == ("A1", "A3", "A4")
    assert layout.left_out == (("A2", "flat"),)
    assert [(slot.index, slot.why) for slot in layout.blocks[0].slots] == [(0, ""), (None, "flat"), (1, ""), (2, "")]


def test_differences_stand_at_their_first_contact_and_names_without_shaft_last():
    layout = layout_of_names(["A1-A2", "A2-A3", "A3-A4", "depth left"])
    assert rows(layout) == {"A": [["1", "2", "3"]], ELSEWHERE: [["depth left"]]}
    assert layout.ch_names == ("A1-A2", "A2-A3", "A3-A4", "depth left")


def test_of_a_recording_contacts_alone_take_part(make_recording):
    channels = [channel(f"A{n}") for n in range(1, 5)] + [channel("ECG", "ecg"), channel("Fp1", "eeg")]
    channels += [channel("A1-A2", pair=("A1", "A2"))]
    layout = contact_layout(make_recording(np.zeros((7, 100)), 100.0, channels), {"A4": "marked bad"})
    assert layout.ch_names == ("A1", "A2", "A3")
    assert set(layout.left_out) == {("A1-A2", BETWEEN_PAIRS), ("A4", "marked bad")}


def test_a_recording_made_between_contacts_is_drawn_at_the_first(make_recording):
    channels = [channel(f"A{n}-A{n + 1}", pair=(f"A{n}", f"A{n + 1}")) for n in range(1, 5)]
    layout = contact_layout(make_recording(np.zeros((4, 100)), 100.0, channels))
    assert rows(layout) == {"A": [["1", "2", "3", "4"]]}


def test_a_second_channel_of_a_contact_is_left_out():
    layout = layout_of_names(["A1", "a1", "A2", "A3"])
    assert layout.left_out == (("a1", SAME_CONTACT),)
    assert layout.ch_names == ("A1", "A2", "A3")


@pytest.mark.parametrize(
    ("channels", "sentence"),
    [
        ([channel("Fp1", "eeg")], "needs intracranial channels"),
        ([channel(name) for name in ("left", "right", "A1", "A2")], "names tell their shaft"),
    ],
)
def test_what_has_no_map_is_told_why(make_recording, channels, sentence):
    with pytest.raises(AnalysisError, match=sentence):
        contact_layout(make_recording(np.zeros((len(channels), 100)), 100.0, channels))


def test_a_map_of_none_is_refused():
    with pytest.raises(AnalysisError, match="all are"):
        layout_of_names(["A1", "A2", "A3"], dict.fromkeys(("A1", "A2", "A3"), "flat"))


def test_a_real_grid_with_strips(shared):
    with open_recording(shared / "recordings/ecog-seizure-mat/pt01_ecog_onset.h5") as recording:
        layout = contact_layout(recording)
    assert set(layout.ch_names) == set(recording.ch_names)
    shapes = {block.title: (len(block.slots), block.per_row) for block in layout.blocks}
    assert shapes["G"] == (32, 8)
    assert shapes["ATT"] == (8, 8)
    missing = [slot.name for block in layout.blocks for slot in block.slots if slot.index is None]
    assert missing == ["G5", "G6"]

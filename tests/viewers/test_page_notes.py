"""What the foot of a page says: settings, what can mislead, and what is waited for."""

import numpy as np
import pytest
from PyQt6.QtCore import QObject

from analysis.recording import Window
from analysis.signal_blocks import ColumnPage
from viewers.page_decor import Furniture
from viewers.page_notes import PageNotes
from viewers.time_axis import TimeAxis


@pytest.fixture
def furniture() -> Furniture:
    return Furniture()


@pytest.fixture
def notes(qapp: QObject, furniture: Furniture) -> PageNotes:
    made = PageNotes(furniture, TimeAxis())
    made.set_texts("7 µV/mm · 0.5-70 Hz", "cut above 64 Hz", "7 µV/mm")
    return made


def _page(filtered: bool, complete: bool = True, value: float = 1.0) -> ColumnPage:
    column = np.full((4, 2), value, np.float32)
    nothing = np.empty((0, 2), np.float32)
    return ColumnPage(
        Window(0.0, 1.0), ("a", "b"), 4.0, nothing, 0.0, lo=column, hi=column, filtered=filtered, complete=complete
    )


def test_a_filtered_page_names_its_settings_and_what_can_mislead(notes: PageNotes, furniture: Furniture) -> None:
    notes.write(_page(filtered=True))
    assert furniture.note.endswith("7 µV/mm · 0.5-70 Hz")
    assert furniture.warning == "cut above 64 Hz"
    assert furniture.message == ""


def test_a_page_from_the_overview_names_no_filter_and_how_far_it_is(notes: PageNotes, furniture: Furniture) -> None:
    notes.set_filtered_share(0.34)
    notes.write(_page(filtered=False))
    assert furniture.note.endswith("7 µV/mm")
    assert furniture.warning.startswith("overview, unfiltered")
    assert furniture.warning.endswith("filtering, 34%")


@pytest.mark.parametrize(("filtered", "message"), [(True, "reading…"), (False, "surveying the recording…")])
def test_an_empty_page_says_what_it_waits_for(
    notes: PageNotes, furniture: Furniture, filtered: bool, message: str
) -> None:
    notes.write(_page(filtered, complete=False, value=np.nan))
    assert furniture.message == message
    notes.clear()
    assert furniture.message == furniture.warning == ""


def test_room_is_kept_for_either_page(notes: PageNotes, furniture: Furniture) -> None:
    notes.write(None)
    assert [warning for _, warning in furniture.reserve] == [
        "cut above 64 Hz",
        "overview, unfiltered: first electrode of each row as recorded · filtering, 100%",
    ]


def test_the_same_texts_are_nothing_new(notes: PageNotes) -> None:
    assert not notes.set_texts("7 µV/mm · 0.5-70 Hz", "cut above 64 Hz", "7 µV/mm")
    assert notes.set_texts("10 µV/mm · 0.5-70 Hz", "", "10 µV/mm")

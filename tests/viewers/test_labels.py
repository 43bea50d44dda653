"""Names above the traces never lie over each other."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from PyQt6.QtCore import QRectF

from analysis.annotation import Annotation
from analysis.recording import Window
from viewers.labels import band_height, place_labels
from viewers.overlays.base import Label
from viewers.time_scale import TimeScale

SCALE = TimeScale(Window(100, 110), 1000)


def label(time: float, text: str = "abcdefgh") -> Label:
    return Label(time, text, "human", Annotation(time, 0.0, text))


def width(text: str) -> float:
    return 8.0 * len(text)


@given(st.lists(st.tuples(st.floats(90, 110), st.integers(1, 40)), max_size=60), st.integers(0, 5))
def test_no_two_overlap_and_all_are_placed_or_counted(marks: list[tuple[float, int]], more: int) -> None:
    labels = [label(time, "x" * length) for time, length in marks]
    placed, left_out = place_labels(labels, SCALE, width, more)
    assert len(placed) + left_out == len(labels) + more
    for i, item in enumerate(placed):
        assert QRectF(0, 0, 1000, band_height()).contains(item.rect)
        assert not any(item.rect.intersects(other.rect) for other in placed[:i])


def test_label_stands_at_its_onset() -> None:
    placed, left_out = place_labels([label(105)], SCALE, width)
    assert left_out == 0
    assert placed[0].rect.left() == 501


def test_mark_from_before_the_page_is_named_at_its_edge() -> None:
    placed, _ = place_labels([label(20)], SCALE, width)
    assert placed[0].rect.left() == 0


def test_mark_at_the_right_edge_stays_on_the_page() -> None:
    placed, _ = place_labels([label(109.99)], SCALE, width)
    assert placed[0].rect.right() <= 1000


def test_two_at_one_time_stand_under_each_other() -> None:
    placed, _ = place_labels([label(105, "first"), label(105, "second")], SCALE, width)
    assert placed[0].rect.left() == placed[1].rect.left()
    assert placed[0].rect.top() < placed[1].rect.top()

"""Names above the traces never lie over each other."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from PyQt6.QtCore import QRectF
from PyQt6.QtGui import QImage, QPainter

from analysis.annotation import Annotation, Review
from analysis.recording import Window
from viewers.labels import LabelBand, band_height, is_same, place_labels
from viewers.overlays.base import Label
from viewers.theme import LIGHT, set_text_scale
from viewers.time_scale import TimeScale

SCALE = TimeScale(Window(100, 110), 1000)


def label(time: float, text: str = "abcdefgh") -> Label:
    return Label(time, text, "human", Annotation(time, 0.0, text))


def width(text: str) -> float:
    return 8.0 * len(text)


@given(st.lists(st.tuples(st.floats(90, 110), st.integers(1, 40)), max_size=60), st.integers(0, 5))
def test_no_two_overlap_and_all_are_placed_or_counted(marks: list[tuple[float, int]], more: int) -> None:
    labels = [label(time, "x" * length) for time, length in marks]
    names = place_labels(labels, SCALE, width, more)
    assert len(names.placed) + names.left_out == len(labels) + more
    rects = [item.rect for item in (*names.placed, *names.counts)]
    if names.rest:
        rects.append(QRectF(1000 - 74, 20, 74, 16))
    for i, rect in enumerate(rects):
        assert QRectF(0, 0, 1000, band_height()).contains(rect)
        assert not any(rect.intersects(other) for other in rects[:i])


def test_label_stands_at_its_onset() -> None:
    names = place_labels([label(105)], SCALE, width)
    assert names.left_out == 0
    assert names.placed[0].rect.left() == 501


def test_mark_from_before_the_page_is_named_at_its_edge() -> None:
    placed = place_labels([label(20)], SCALE, width).placed
    assert placed[0].rect.left() == 0


def test_mark_at_the_right_edge_stays_on_the_page() -> None:
    placed = place_labels([label(109.99)], SCALE, width).placed
    assert placed[0].rect.right() <= 1000


def test_those_that_weigh_most_come_first_whatever_their_order() -> None:
    """Of marks that begin at once two have a line: numbers give way to words, these to seizures and own marks."""
    own = replace(label(102, "Spike").annotation, author="reader")
    model = replace(label(102, "sz").annotation, author="model:m")
    typed = replace(label(102, "K-complex").annotation, review=Review(tag="K-complex"))
    marks = [label(102, text).annotation for text in ("+2.000000", "A1+A2 OFF", "onset")]
    for marked, expected in (
        (marks, ["onset", "A1+A2 OFF"]),
        ([*marks, typed], ["onset", "K-complex"]),
        ([*marks, own], ["Spike", "onset"]),
        ([*marks, model, own], ["Spike", "sz"]),
    ):
        names = place_labels([Label(102.0, mark.description, "human", mark) for mark in marked], SCALE, width)
        assert sorted(item.text for item in names.placed) == sorted(expected)
        assert names.left_out == len(marked) - 2


def test_names_without_room_are_counted_beside_those_in_their_way() -> None:
    names = place_labels([label(102, text) for text in ("first", "second", "third", "fourth")], SCALE, width)
    assert (len(names.placed), names.rest, [item.count for item in names.counts]) == (2, 0, [2])
    assert 200 < names.counts[0].rect.left() < 200 + 140


def test_a_name_that_almost_fits_is_cut_short_rather_than_left_out() -> None:
    own = [Label(103.0, text, "reader", replace(label(103.0).annotation, author="reader")) for text in ("one", "two")]
    names = place_labels([label(101.8, 20 * "x"), *own], SCALE, width)
    assert (names.left_out, len(names.placed)) == (0, 3)
    rect = names.placed[0].rect
    assert (round(rect.left()), round(rect.right())) == (181, 298)  # its 168 px end before the next name
    names = place_labels([label(102.6, 20 * "x"), *own], SCALE, width)
    assert names.left_out == 1  # too short to be read


def test_two_at_one_time_stand_under_each_other() -> None:
    placed = place_labels([label(105, "first"), label(105, "second")], SCALE, width).placed
    assert placed[0].rect.left() == placed[1].rect.left()
    assert placed[0].rect.top() < placed[1].rect.top()


def painted(band: LabelBand, current: Annotation | None = None) -> QImage:
    image = QImage(1000, round(band_height()), QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(0xFFFFFFFF)
    painter = QPainter(image)
    band.paint(painter, LIGHT, 1000, current)
    painter.end()
    return image


def test_what_was_rejected_is_struck_and_faint(qapp) -> None:
    mark = Annotation(102.0, 0.0, "abcdefgh")
    images = []
    for decision in ("", "rejected"):
        decided = replace(mark, review=Review(decision))
        band = LabelBand()
        band.set_labels([Label(102.0, "abcdefgh", "human", decided)], 0, SCALE)
        images.append(painted(band))
    rect = band.placed[0].rect
    row = range(round(rect.left()) + 5, round(rect.right()) - 5)

    def inked(image: QImage, y: int) -> int:
        return sum(image.pixelColor(x, y).lightness() < 235 for x in row)

    heights = range(round(rect.top()), round(rect.bottom()))
    assert max(inked(images[1], y) for y in heights) >= len(row) - 4  # a line all through
    assert max(inked(images[0], y) for y in heights) < len(row) - 4
    darkest = [min(i.pixelColor(x, y).lightness() for x in row for y in heights) for i in images]
    assert darkest[1] > darkest[0] + 40


def test_only_the_mark_that_is_chosen_stands_out_among_equal_ones(qapp) -> None:
    twins = [Annotation(102.0, 0.0, "twin", id=1), Annotation(106.0, 0.0, "twin", id=2)]
    band = LabelBand()
    band.set_labels([Label(a.onset, "twin", "human", a) for a in twins], 0, SCALE)
    plain, chosen = painted(band), painted(band, replace(twins[1], description="as it was", id=2))
    for item, stands_out in zip(band.placed, (False, True), strict=True):
        corner = item.rect.topLeft().toPoint()
        x, y = corner.x() + 3, corner.y() + 3
        assert (plain.pixelColor(x, y) != chosen.pixelColor(x, y)) == stands_out


def test_names_without_room_are_counted_where_they_would_be(qapp) -> None:
    band = LabelBand()
    band.set_labels([label(100 + i / 100, "a name of some length") for i in range(60)], 40, SCALE)
    assert band.names.left_out == 100 - len(band.placed)
    assert band.names.rest >= 40
    image = painted(band)
    assert any(image.pixelColor(x, round(band_height()) - 12).lightness() < 200 for x in range(940, 1000))


def test_marks_are_the_same_by_id_and_events_of_no_book_by_what_they_say() -> None:
    event = Annotation(1.0, 2.0, "sz", author="model:m")
    assert is_same(event, replace(event))
    assert not is_same(event, replace(event, onset=1.5))
    assert is_same(replace(event, id=3), replace(event, onset=9.0, id=3))
    assert not is_same(replace(event, id=3), replace(event, id=4))
    assert not is_same(event, replace(event, id=3))
    assert not is_same(event, None)


def test_room_for_names_grows_with_the_letters() -> None:
    usual = band_height()
    set_text_scale(150)
    try:
        assert band_height() == usual * 1.5
        placed = place_labels([label(105)], SCALE, width).placed
        assert placed[0].rect.height() > 20
    finally:
        set_text_scale(100)

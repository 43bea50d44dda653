"""The scale bar is true, the grid lies on whole seconds, holes are hatched and named."""

from __future__ import annotations

import numpy as np
import pytest
from PyQt6.QtGui import QFontMetricsF, QImage, QPainter

from analysis.recording import Window
from viewers.colour_key import ColourKey
from viewers.heat_scales import HeatScale
from viewers.page_decor import Furniture, bar_seconds, foot_height, paint_grid, paint_holes
from viewers.page_state import Hole
from viewers.rows import Rows
from viewers.theme import font, set_text_scale, theme
from viewers.time_scale import TimeScale

WIDTH, HEIGHT = 1000, 400
LIGHT = theme("light")


def painted(paint) -> np.ndarray:
    """Where something was painted (height, width)."""
    image = QImage(WIDTH, HEIGHT, QImage.Format.Format_RGB32)
    image.fill(0xFFFFFFFF)
    painter = QPainter(image)
    paint(painter)
    painter.end()
    raw = np.frombuffer(image.constBits().asarray(image.sizeInBytes()), np.uint8).reshape(HEIGHT, WIDTH, 4)
    return (raw[..., :3] != 255).any(axis=2)


@pytest.mark.parametrize(("uv_per_mm", "microvolts"), [(7.0, 100.0), (2.0, 20.0), (50.0, 500.0), (200.0, 2000.0)])
def test_scale_bar_is_as_tall_as_it_says(
    qapp, eeg_channels, single_montage, uv_per_mm: float, microvolts: float
) -> None:
    rows = Rows(single_montage("A"), HEIGHT, uv_per_mm, 4.0, eeg_channels("A"))
    furniture = Furniture()
    seen = painted(lambda p: furniture.paint(p, TimeScale(Window(0, 10), WIDTH), HEIGHT, rows, LIGHT))
    assert furniture.bars == [(microvolts, 1.0)]
    tall = np.flatnonzero(seen[:, WIDTH - 14])
    assert tall[-1] - tall[0] == pytest.approx(microvolts / uv_per_mm * 4.0, abs=2)
    bottom = tall[-1] - 1
    wide = np.flatnonzero(seen[bottom])
    assert wide[-1] - wide[0] == pytest.approx(100, abs=3)


@pytest.mark.parametrize(
    ("page", "seconds"),
    [(10, 1.0), (20, 1.0), (5, 1.0), (1, 0.1), (60, 10.0), (300, 30.0), (3600, 600.0), (86_400, 10_800.0)],
)
def test_time_bar_fits_the_page(page: float, seconds: float) -> None:
    scale = TimeScale(Window(0, page), WIDTH)
    found = bar_seconds(scale)
    assert found == pytest.approx(seconds)
    assert 15 <= found * scale.px_per_second <= 240


@pytest.mark.parametrize("page", [10, 15, 20, 60, 300])
def test_time_bar_takes_no_more_than_a_fifth_of_a_narrow_page(page: float) -> None:
    scale = TimeScale(Window(0, page), 306)
    assert bar_seconds(scale) * scale.px_per_second <= 306 / 5


def test_traces_are_seen_beside_the_words_of_the_scale_bar(qapp, eeg_channels, single_montage) -> None:
    """Only the lines and the words have a ground: between them nothing is covered."""
    rows = Rows(single_montage("A"), HEIGHT, 7, 4.0, eeg_channels("A"))
    image = QImage(WIDTH, HEIGHT, QImage.Format.Format_RGB32)
    image.fill(0xFF0000FF)
    painter = QPainter(image)
    Furniture().paint(painter, TimeScale(Window(0, 10), WIDTH), HEIGHT, rows, LIGHT)
    painter.end()
    bottom = HEIGHT - 18
    box = [(x, y) for x in range(WIDTH - 14 - 100, WIDTH - 18) for y in range(bottom - 55, bottom - 4)]
    assert np.mean([image.pixelColor(x, y).name() == "#0000ff" for x, y in box]) > 0.8


def test_settings_are_written_whole_where_the_bar_leaves_room(qapp, eeg_channels, single_montage) -> None:
    """A note of some 200 px fits on a page of 306 px beside a bar of 31 px: nothing is cut."""
    rows = Rows(single_montage("A"), HEIGHT, 7, 4.0, eeg_channels("A"))
    scale = TimeScale(Window(0, 20), 306)
    furniture = Furniture(note="LB-18.1 · 7 µV/mm · 0.5–70 Hz, notch off")
    seen = painted(lambda p: furniture.paint(p, scale, HEIGHT, rows, LIGHT))[HEIGHT - 10]
    end = int(np.flatnonzero(seen[:240])[-1])
    assert end >= QFontMetricsF(font(10)).horizontalAdvance(furniture.note) - 10


def test_grid_lies_on_whole_seconds(qapp) -> None:
    seen = painted(lambda p: paint_grid(p, TimeScale(Window(3.3, 13.3), WIDTH), HEIGHT, LIGHT, 0.0))
    assert np.flatnonzero(seen[10]).tolist() == [70 + 100 * i for i in range(10)]


def test_grid_follows_the_clock(qapp) -> None:
    seen = painted(lambda p: paint_grid(p, TimeScale(Window(0, 10), WIDTH), HEIGHT, LIGHT, 0.5))
    assert np.flatnonzero(seen[10]).tolist() == [50 + 100 * i for i in range(10)]


def test_hole_covers_its_span_and_no_more(qapp, eeg_channels, single_montage) -> None:
    rows = Rows(single_montage("A", "B"), HEIGHT, 7, 4, eeg_channels("A", "B"))
    scale = TimeScale(Window(0, 10), WIDTH)
    whole = painted(lambda p: paint_holes(p, scale, HEIGHT, [Hole(2, 4, "gap 60 s")], rows, LIGHT))
    assert whole[:, 205:395].all()
    assert not whole[:, :198].any()
    assert not whole[:, 403:].any()
    single = painted(lambda p: paint_holes(p, scale, HEIGHT, [Hole(2, 4, "", row=1)], rows, LIGHT))
    assert not single[:199].any()
    assert single[202:, 205:395].any()


def test_notes_and_messages_are_written(qapp) -> None:
    scale = TimeScale(Window(0, 10), WIDTH)
    empty = painted(lambda p: Furniture().paint(p, scale, HEIGHT, None, LIGHT))
    assert not empty.any()
    note = painted(lambda p: Furniture(note="LB-18.1 · 7 µV/mm").paint(p, scale, HEIGHT, None, LIGHT))
    assert note[HEIGHT - 20 :, :120].any()
    message = painted(lambda p: Furniture(message="reading…").paint(p, scale, HEIGHT, None, LIGHT))
    assert message[HEIGHT // 2 - 5 : HEIGHT // 2 + 5, WIDTH // 2 - 20 : WIDTH // 2 + 20].any()


NOTE = "2001-01-01 13:36:17 (00:20) · LB-18.1 · 7 µV/mm · 10 s/page · 0.5–30 Hz, notch 50 Hz · bad: Fpz · reference A1"


@pytest.mark.parametrize(("width", "height"), [(1000, 400), (420, 400), (350, 250)])
@pytest.mark.parametrize("letters", [100, 150, 200])
def test_all_settings_are_written_whole_above_the_keys_of_colours(qapp, width: int, height: int, letters: int) -> None:
    set_text_scale(letters)
    try:
        scale = TimeScale(Window(0, 10), width)
        furniture = Furniture(note=NOTE, warning="muscle may look like beta")
        alone, _ = furniture.foot(scale, height)
        furniture.keys = {"Gates": ColourKey("Gates of AXON", HeatScale(0, 1, 0.5, "", "space", "time"))}
        lines, zoom = furniture.foot(scale, height)
        written = furniture._notes(scale, furniture.note, furniture.warning, zoom)
        assert " · ".join(part for line in written for part in line) == f"{NOTE} · muscle may look like beta"
        metrics = QFontMetricsF(font(10 * zoom))
        assert all(metrics.horizontalAdvance(" · ".join(line)) <= width - 12 for line in written)
        assert len(written) == lines - 1  # the last one is that of the keys
        assert lines >= alone
        assert foot_height(lines, zoom) <= max(0.22 * height, 84)  # five lines of the usual letters
    finally:
        set_text_scale(100)


def test_keys_of_colours_have_a_line_of_their_own_under_the_note(qapp) -> None:
    scale = TimeScale(Window(0, 10), WIDTH)
    furniture = Furniture(note=NOTE)
    plain = painted(lambda p: furniture.paint(p, scale, HEIGHT, None, LIGHT))
    furniture.keys = {"Gates": ColourKey("Gates of AXON", HeatScale(0, 1, 0.5, "", "space", "time"))}
    keyed = painted(lambda p: furniture.paint(p, scale, HEIGHT, None, LIGHT))
    np.testing.assert_array_equal(keyed[HEIGHT - 36 : HEIGHT - 18, :600], plain[HEIGHT - 20 : HEIGHT - 2, :600])
    assert not keyed[HEIGHT - 18 :, :600].any()
    assert keyed[HEIGHT - 18 :, 700:].any()


def test_keys_that_do_not_fit_beside_each_other_stand_in_lines_of_their_own(qapp) -> None:
    key = ColourKey("Lag correlations at the best lag", HeatScale(-1, 1, 0, "", "", ""), 1.0, "random weights")
    wide, narrow = TimeScale(Window(0, 10), 1000), TimeScale(Window(0, 10), 500)
    assert [Furniture(keys=dict.fromkeys("ab"[:n], key)).foot(wide, HEIGHT)[0] for n in (0, 1, 2)] == [1, 2, 2]
    assert [Furniture(keys=dict.fromkeys("ab"[:n], key)).foot(narrow, HEIGHT)[0] for n in (0, 1, 2)] == [1, 2, 3]
    whole = painted(lambda p: Furniture(keys={"a": key, "b": key}).paint(p, narrow, HEIGHT, None, LIGHT))
    alone = painted(lambda p: Furniture(keys={"a": key}).paint(p, narrow, HEIGHT, None, LIGHT))
    line = round(foot_height(2) - foot_height(1))
    np.testing.assert_array_equal(whole[: HEIGHT - line, :500][-line:], alone[-line:, :500])

"""Rastered and antialiased traces lie where the samples say."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from PyQt6.QtGui import QColor, QImage, QPainter

from analysis.recording import Window
from viewers.rows import RowLooks, Rows
from viewers.theme import theme
from viewers.time_scale import TimeScale
from viewers.trace_picture import TracePicture, line_work, with_columns

WIDTH, HEIGHT = 500, 300


def painted(picture: TracePicture, window: Window, ratio: float = 1.0) -> np.ndarray:
    """Opacity of each pixel (height, width), 0..255."""
    image = QImage(int(WIDTH * ratio), int(HEIGHT * ratio), QImage.Format.Format_ARGB32_Premultiplied)
    image.setDevicePixelRatio(ratio)
    image.fill(0)
    painter = QPainter(image)
    picture.paint(painter, TimeScale(window, WIDTH), HEIGHT, ratio)
    painter.end()
    pixels = image.constBits().asarray(image.sizeInBytes())
    return np.frombuffer(pixels, np.uint8).reshape(image.height(), image.width(), 4)[..., 3].copy()


def middle_of(pixels: np.ndarray, x: int) -> float:
    """Centre of what is drawn in a column of pixels."""
    y = np.arange(pixels.shape[0]) + 0.5
    return float((y * pixels[:, x]).sum() / pixels[:, x].sum())


@pytest.fixture
def picture(qapp, eeg_channels, single_montage) -> TracePicture:
    made = TracePicture()
    made.set_theme(theme("light"))
    made.set_rows(Rows(single_montage("A", "B", sides="lr"), HEIGHT, 10.0, 4.0, eeg_channels("A", "B")))
    return made


@pytest.mark.parametrize("refined", [False, True])
@pytest.mark.parametrize("ratio", [1.0, 2.0])
def test_trace_lies_where_its_values_say(picture: TracePicture, make_page, refined: bool, ratio: float) -> None:
    """A slow ramp from -100 to 100 uV at 10 uV/mm and 4 px/mm runs from 40 px above its row to 40 px below."""
    data = np.zeros((2001, 2))
    data[:, 0] = np.linspace(-100, 100, 2001)
    picture.set_page(make_page(data, ("A", "B")), int(WIDTH * ratio))
    if refined:
        picture.refine(HEIGHT, ratio)
    pixels = painted(picture, Window(0, 10), ratio)[: int(140 * ratio)]
    for x, value in ((10, -96), (250, 0), (490, 96)):
        expected = 75 + value * 0.4
        assert middle_of(pixels, int(x * ratio)) / ratio == pytest.approx(expected, abs=1.0)


@pytest.mark.parametrize("refined", [False, True])
@pytest.mark.parametrize("positive_up", [False, True])
@pytest.mark.parametrize(("uv_per_mm", "millimetres"), [(7.0, 7.14), (10.0, 5.0), (50.0, 1.0)])
def test_calibration_step_has_its_height_on_the_picture(
    qapp,
    eeg_channels,
    single_montage,
    make_page,
    uv_per_mm: float,
    millimetres: float,
    positive_up: bool,
    refined: bool,
) -> None:
    """A step of 50 uV (input 1 minus input 2) goes 7.1 mm down at 7 uV/mm and 5 mm at 10 uV/mm, at 8 px a mm."""
    looks = RowLooks(positive_up=positive_up)
    picture = TracePicture()
    picture.set_theme(theme("light"))
    picture.set_rows(Rows(single_montage("A"), HEIGHT, uv_per_mm, 8.0, eeg_channels("A"), looks=looks))
    data = np.zeros((2001, 1))
    data[1000:] = 50.0
    picture.set_page(make_page(data, ("A",)), WIDTH)
    if refined:
        picture.refine(HEIGHT, 1.0)
    pixels = painted(picture, Window(0, 10))
    moved = middle_of(pixels, 400) - middle_of(pixels, 100)
    assert moved == pytest.approx((-1 if positive_up else 1) * millimetres * 8.0, abs=1.0)


@pytest.mark.parametrize("refined", [False, True])
@pytest.mark.parametrize("ratio", [1.0, 2.0])
def test_clipped_rows_stay_in_their_bands_and_are_marked(
    qapp, eeg_channels, single_montage, make_page, refined: bool, ratio: float
) -> None:
    picture = TracePicture()
    picture.set_theme(theme("light"))
    looks = RowLooks(clipped=True)
    rows = Rows(single_montage("A", "B", sides="lr"), HEIGHT, 10.0, 4.0, eeg_channels("A", "B"), looks=looks)
    picture.set_rows(rows)
    data = np.zeros((2001, 2))
    data[800:1201, 0] = 4000.0  # far down, into the other row's band
    picture.set_page(make_page(data, ("A", "B")), int(WIDTH * ratio))
    if refined:
        picture.refine(HEIGHT, ratio)
    image = QImage(int(WIDTH * ratio), int(HEIGHT * ratio), QImage.Format.Format_ARGB32_Premultiplied)
    image.setDevicePixelRatio(ratio)
    image.fill(0)
    painter = QPainter(image)
    picture.paint(painter, TimeScale(Window(0, 10), WIDTH), HEIGHT, ratio)
    painter.end()
    border = int(HEIGHT / 2 * ratio)
    columns = [int(x * ratio) for x in (210, 250, 290)]
    mark = QColor(theme("light").caution)
    for x in columns:
        assert image.pixelColor(x, border - 1) == mark
        assert not any(image.pixelColor(x, y).alpha() for y in range(border, border + int(40 * ratio)))
    # Where nothing is cut off there is no mark, and the other row is drawn as ever.
    assert image.pixelColor(int(100 * ratio), border - 1).alpha() == 0
    assert image.pixelColor(int(250 * ratio), int(rows.centre[1] * ratio)).alpha() > 0


def test_traces_take_the_inks_of_their_rows(qapp, eeg_channels, single_montage, make_page) -> None:
    picture = TracePicture()
    picture.set_theme(theme("dark"))
    looks = RowLooks(colours="sides-swapped")
    picture.set_rows(Rows(single_montage("A", "B", sides="lr"), HEIGHT, 10.0, 4.0, eeg_channels("A", "B"), looks=looks))
    picture.set_page(make_page(np.zeros((2001, 2)), ("A", "B")), WIDTH)
    image = QImage(WIDTH, HEIGHT, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(0)
    painter = QPainter(image)
    picture.paint(painter, TimeScale(Window(0, 10), WIDTH), HEIGHT, 1.0)
    painter.end()
    assert image.pixelColor(200, 75) == QColor(theme("dark").right)
    assert image.pixelColor(200, 225) == QColor(theme("dark").left)


def test_antialiased_picture_matches_the_raster(picture: TracePicture, make_page) -> None:
    rng = np.random.default_rng(0)
    data = np.cumsum(rng.standard_normal((2001, 2)), axis=0) * 2
    picture.set_page(make_page(data - data.mean(axis=0), ("A", "B")), WIDTH)
    raster = painted(picture, Window(0, 10))
    picture.refine(HEIGHT, 1.0)
    assert picture.refined
    smooth = painted(picture, Window(0, 10))
    # Wherever the line is clearly there, the raster has it within a pixel, and the other way about.
    grown = raster > 0
    for axis in (0, 1):
        for shift in (1, -1):
            grown = grown | (np.roll(raster, shift, axis) > 0)
    assert (grown | ~(smooth > 200)).all()
    near = smooth > 0
    for axis in (0, 1):
        for shift in (1, -1):
            near = near | (np.roll(smooth, shift, axis) > 0)
    assert near[raster > 0].mean() > 0.99


def test_sides_have_their_colours(picture: TracePicture, make_page) -> None:
    picture.set_page(make_page(np.zeros((2001, 2)), ("A", "B")), WIDTH)
    image = QImage(WIDTH, HEIGHT, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(0)
    painter = QPainter(image)
    picture.paint(painter, TimeScale(Window(0, 10), WIDTH), HEIGHT, 1.0)
    painter.end()
    assert image.pixelColor(200, 75) == QColor(theme("light").left)
    assert image.pixelColor(200, 225) == QColor(theme("light").right)


def test_gap_is_left_blank(picture: TracePicture, make_page) -> None:
    data = np.zeros((2001, 2))
    data[800:1200] = np.nan
    picture.set_page(make_page(data, ("A", "B")), WIDTH)
    for refine in (False, True):
        if refine:
            picture.refine(HEIGHT, 1.0)
        pixels = painted(picture, Window(0, 10))
        assert not pixels[:, 203:297].any()
        assert pixels[:, :197].any(axis=0).all()


def test_page_moves_with_the_axis_until_its_successor_comes(picture: TracePicture, make_page) -> None:
    data = np.zeros((2001, 2))
    data[1000] = 100
    picture.set_page(make_page(data, ("A", "B")), WIDTH)
    spike = np.flatnonzero(painted(picture, Window(0, 10))[100])
    moved = np.flatnonzero(painted(picture, Window(2, 12))[100])
    assert spike.size
    np.testing.assert_allclose(moved, spike - 100, atol=1)


def test_page_of_other_rows_is_not_drawn(picture: TracePicture, make_page) -> None:
    picture.set_page(make_page(np.zeros((2001, 3)), ("A", "B", "C")), WIDTH)
    assert not picture.drawable
    assert not painted(picture, Window(0, 10)).any()


def test_page_without_samples_has_empty_columns(make_page) -> None:
    page = with_columns(make_page(np.empty((0, 2)), ("A", "B"), 0.0, 10.0), 100)
    assert np.isnan(page.lo).all()
    assert page.lo.shape == (100, 2)


def test_picture_prepared_on_another_thread_is_the_one_that_is_shown(picture: TracePicture, make_page) -> None:
    rng = np.random.default_rng(2)
    pages = [with_columns(make_page(rng.standard_normal((2001, 2)) * 50, ("A", "B")), WIDTH) for _ in range(3)]
    thread = threading.Thread(target=lambda: [picture.prepare(page) for page in pages])
    thread.start()
    thread.join(20)
    for page in pages:
        picture.set_page(page, WIDTH)
        shown = painted(picture, Window(0, 10))
        assert picture._image is picture._find(page, picture._look)
        fresh = TracePicture()
        fresh.set_theme(theme("light"))
        fresh.set_rows(picture._rows)
        fresh.set_page(page, WIDTH)
        np.testing.assert_array_equal(shown, painted(fresh, Window(0, 10)))


def test_prepared_picture_is_not_shown_at_another_sensitivity(
    picture: TracePicture, make_page, eeg_channels, single_montage
) -> None:
    page = with_columns(make_page(np.random.default_rng(2).standard_normal((2001, 2)) * 50, ("A", "B")), WIDTH)
    picture.prepare(page)
    picture.set_page(page, WIDTH)
    before = painted(picture, Window(0, 10))
    picture.set_rows(Rows(single_montage("A", "B", sides="lr"), HEIGHT, 40.0, 4.0, eeg_channels("A", "B")))
    assert (painted(picture, Window(0, 10)) != before).any()


def test_work_of_lines_is_their_way_and_their_pieces() -> None:
    y = np.array([[0.0, 5.0], [10.0, 5.0], [np.nan, 5.0], [0.0, 8.0]])
    assert line_work(y) == pytest.approx(10 + 3 + 3 * 8)
    assert line_work(np.empty((0, 4))) == 0


def test_lines_that_take_too_long_are_left_to_the_raster(picture: TracePicture, make_page) -> None:
    data = np.random.default_rng(0).standard_normal((2001, 2)) * 50
    picture.set_page(make_page(data, ("A", "B")), WIDTH)
    painted(picture, Window(0, 10))
    work = line_work(picture._rows.gain * picture._polyline()[1])
    picture.refine(HEIGHT, 1.0, work * 0.99)
    assert not picture.refined
    picture.refine(HEIGHT, 1.0, work * 1.01)
    assert picture.refined
    picture.invalidate()
    picture.refine(HEIGHT, 2.0, work * 1.01)  # twice the pixels, and drawn twice
    assert not picture.refined
    picture.refine(HEIGHT, 2.0)
    assert picture.refined


@pytest.mark.parametrize(("seconds", "dotted"), [(0.1, True), (0.25, True), (1.0, False)])
def test_samples_that_lie_far_apart_are_marked_and_joined_by_straight_lines(
    picture: TracePicture, make_page, seconds: float, dotted: bool
) -> None:
    values = np.zeros((250, 2))
    values[1::2] = 20.0
    page = make_page(values, ("A", "B"), 0.0, seconds)
    picture.set_page(page, WIDTH)
    picture.refine(HEIGHT, 1.0)
    shown = painted(picture, Window(0.0, seconds))
    per_sample = WIDTH / (seconds * page.sfreq)
    at_samples = [round(i * per_sample) for i in range(2, 8)]
    between = [round((i + 0.5) * per_sample) for i in range(2, 8)]
    ink = shown[:, at_samples].sum(axis=0).mean() / shown[:, between].sum(axis=0).mean()
    assert (ink > 1.15) == dotted
    if dotted:
        for x in between:  # half way from one value to the other
            assert middle_of(shown[: HEIGHT // 3], x) == pytest.approx(
                middle_of(shown[: HEIGHT // 3], between[0]), abs=1.5
            )

"""The raster against pixels filled one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PyQt6.QtGui import QImage

from viewers.raster import Raster

BLUE, RED = 0xFF0000FF, 0xFFFF0000


def indices(image: QImage) -> np.ndarray:
    pixels = image.constBits().asarray(image.sizeInBytes())
    return np.frombuffer(pixels, np.uint8).reshape(image.height(), image.bytesPerLine())[:, : image.width()].copy()


def filled(lo, hi, origin, slope, classes, width, height) -> np.ndarray:
    """Every pixel from the trace's top to its bottom, clipped at the edges of the image."""
    out = np.zeros((height, width), np.uint8)
    for row in range(lo.shape[1]):
        for x in range(width):
            if np.isnan(lo[x, row]):
                continue
            ends = sorted((origin[row] + slope[row] * lo[x, row], origin[row] + slope[row] * hi[x, row]))
            top, bottom = max(0.0, ends[0]), min(float(height), ends[1] + 1)
            for y in range(int(top), int(bottom)):
                out[y, x] = max(out[y, x], classes[row] + 1)
    return out


@settings(max_examples=40, deadline=None)
@given(
    width=st.integers(1, 40),
    height=st.integers(1, 30),
    rows=st.integers(1, 9),
    seed=st.integers(0, 10_000),
    flipped=st.booleans(),
)
def test_equals_pixels_filled_one_by_one(width: int, height: int, rows: int, seed: int, flipped: bool) -> None:
    rng = np.random.default_rng(seed)
    lo = (rng.standard_normal((width, rows)) * height / 2).astype(np.float32)
    hi = lo + (rng.random((width, rows)) * height / 3).astype(np.float32)
    lo[rng.random((width, rows)) < 0.1] = np.nan
    hi[np.isnan(lo)] = np.nan
    origin = (rng.random(rows) * height).astype(np.float32)
    slope = np.where(flipped & (np.arange(rows) % 2 == 0), -1.5, 0.7).astype(np.float32)
    classes = rng.integers(0, 2, rows)
    image = Raster(width, height).draw(lo, hi, origin, slope, classes, [BLUE, RED])
    np.testing.assert_array_equal(indices(image), filled(lo, hi, origin, slope, classes, width, height))


@pytest.mark.parametrize("rows", [255, 256, 300, 600])
def test_more_traces_than_a_byte_counts(rows: int) -> None:
    lo = np.zeros((8, rows), np.float32)
    image = Raster(8, 5).draw(lo, lo, np.full(rows, 2.0, np.float32), np.ones(rows, np.float32), [0] * rows, [BLUE])
    drawn = indices(image)
    assert (drawn[2] == 1).all()
    assert drawn.sum() == 8


def test_later_colour_lies_on_top_and_ground_is_transparent() -> None:
    lo = np.zeros((4, 2), np.float32)
    image = Raster(4, 6).draw(lo, lo, np.array([3, 3], np.float32), np.ones(2, np.float32), [0, 1], [BLUE, RED])
    assert image.pixel(0, 3) == RED
    assert image.pixelColor(0, 0).alpha() == 0


def test_thick_lines_stay_centred() -> None:
    lo = np.zeros((4, 1), np.float32)
    drawn = indices(
        Raster(4, 9).draw(lo, lo, np.array([4.5], np.float32), np.ones(1, np.float32), [0], [BLUE], thickness=3)
    )
    assert np.flatnonzero(drawn[:, 0]).tolist() == [3, 4, 5]


def test_off_scale_trace_leaves_no_line_at_the_edge() -> None:
    lo = np.array([[500.0], [-500.0], [0.0], [0.0]], np.float32)
    drawn = indices(Raster(4, 10).draw(lo, lo + 1, np.array([5], np.float32), np.ones(1, np.float32), [0], [BLUE]))
    assert not drawn[:, :2].any()
    assert drawn[:, 2:].any()


def test_buffers_are_clean_for_the_next_page() -> None:
    raster = Raster(16, 20)
    one = np.ones(1, np.float32)
    for at in (3.0, 15.0, 8.0):
        drawn = indices(
            raster.draw(np.zeros((16, 1), np.float32), np.zeros((16, 1), np.float32), one * at, one, [0], [BLUE])
        )
        assert np.flatnonzero(drawn[:, 0]).tolist() == [int(at)]

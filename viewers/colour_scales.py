"""Colours of quantities: a scale that parts at zero for what has a sign, and one from nothing to much.

Both begin at the ground they are drawn on, so that little is little in a light and in a dark window. The scale with a
sign has cold colours below zero and warm ones above; steps of it look equally large (they are even in Oklab, Ottosson
2020), and its ends differ for every common kind of colour blindness.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from PyQt6.QtGui import QColor, QImage

from viewers.theme import Theme

_BAND = 32  # finer rows of one product
STEPS = 256
_SIGNED = {
    False: ("#08306b", "#3b7cc4", "#a9cbea", "#f7f7f5", "#f2b994", "#d4633a", "#7f1d10"),
    True: ("#cfe4ff", "#6cabf2", "#2c5c96", "#1b2027", "#97452a", "#ef7f4e", "#ffdcc4"),
}
_AMOUNT = {
    False: ("#f8f7f4", "#f9dba6", "#f2a541", "#cf6020", "#8c2b1a", "#45101b"),
    True: ("#171a1f", "#46222f", "#96352f", "#dc6a2b", "#f6b355", "#fff2c4"),
}
_TO_LMS = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def signed_scale(theme: Theme) -> np.ndarray:
    """Colours (256, 3) uint8 from the most negative to the most positive value, zero in the middle."""
    return even_table(_SIGNED[theme.is_dark])


def amount_scale(theme: Theme) -> np.ndarray:
    """Colours (256, 3) uint8 from nothing to the greatest amount."""
    return even_table(_AMOUNT[theme.is_dark])


def indices(values: np.ndarray, low: float, high: float) -> np.ndarray:
    """Places of values in a scale from `low` to `high`, intp of the same shape; what lies beyond, at the nearer end."""
    span = high - low if high > low else 1.0
    place = (values - low) * ((STEPS - 1) / span)
    # NaN is not above 0 and so becomes the lower end.
    return np.minimum(np.where(place > 0, place, 0.0), STEPS - 1).astype(np.intp)


def packed(table: np.ndarray) -> np.ndarray:
    """Colours (n, 3) uint8 as opaque pixels of Qt, uint32 (n,)."""
    red, green, blue = table.astype(np.uint32).T
    return np.asarray(np.uint32(0xFF000000) | red << 16 | green << 8 | blue)


def image(rgb: np.ndarray, shown: np.ndarray | None = None) -> QImage:
    """A picture of colours (height, width, 3) uint8, with memory of its own; see-through where not `shown`."""
    height, width = rgb.shape[:2]
    pixels = np.full((height, width), 255, np.uint32)
    for channel in range(3):
        pixels = pixels << np.uint32(8) | rgb[..., channel]
    pixels = np.ascontiguousarray(pixels if shown is None else np.where(shown, pixels, np.uint32(0)))
    return QImage(pixels.data, width, height, 4 * width, QImage.Format.Format_ARGB32_Premultiplied).copy()


def enlarged(field: np.ndarray, size: int) -> np.ndarray:
    """A smooth field (n, n) on a finer grid (size, size), float32, by cubic convolution (Keys 1981)."""
    return np.concatenate([part for _rows, part in enlarged_parts(field, size)])


def enlarged_parts(field: np.ndarray, size: int) -> Iterator[tuple[slice, np.ndarray]]:
    """The same, some rows at a time, small enough to stay at hand for what is done with them; may be overwritten."""
    across = np.concatenate([part for _rows, part in _finer_rows(field.T.astype(np.float32, copy=False), size)])
    return _finer_rows(across.T, size)


def _finer_rows(field: np.ndarray, size: int) -> Iterator[tuple[slice, np.ndarray]]:
    for rows, used, weights in _bands(field.shape[0], size):
        yield rows, weights @ field[used]


@lru_cache(maxsize=8)
def _bands(size: int, finer: int) -> list[tuple[slice, slice, np.ndarray]]:
    """Groups of finer rows, the few rows each is made of, and their weights.

    A product with all weights is mostly one with zeros, and so large that BLAS shares it between threads: where the
    cores are busy it then takes a hundred times as long.
    """
    weights, bands = _cubic(size, finer), []
    for first in range(0, finer, _BAND):
        rows = slice(first, min(first + _BAND, finer))
        used = np.flatnonzero(weights[rows].any(0))
        near = slice(int(used[0]), int(used[-1]) + 1)
        bands.append((rows, near, np.ascontiguousarray(weights[rows, near])))
    return bands


def _cubic(size: int, finer: int) -> np.ndarray:
    """Weights (finer, size) of the values that each finer point takes; the border repeats."""
    at = (np.arange(finer) + 0.5) * (size / finer) - 0.5
    first = np.floor(at).astype(int)
    weights = np.zeros((finer, size), np.float32)
    for offset in (-1, 0, 1, 2):
        distance = np.abs(at - (first + offset))
        near = 1.5 * distance**3 - 2.5 * distance**2 + 1
        far = -0.5 * distance**3 + 2.5 * distance**2 - 4 * distance + 2
        share = np.where(distance <= 1, near, np.where(distance < 2, far, 0.0))
        np.add.at(weights, (np.arange(at.size), np.clip(first + offset, 0, size - 1)), share)
    return weights


@lru_cache(maxsize=32)
def even_table(anchors: tuple[str, ...]) -> np.ndarray:
    """Colours (256, 3) uint8 from the first to the last anchor, in steps that look equally large; read-only."""
    colours = np.array([[QColor(name).redF(), QColor(name).greenF(), QColor(name).blueF()] for name in anchors])
    lab = np.cbrt(_linear(colours) @ _TO_LMS.T) @ _TO_LAB.T
    places = np.linspace(0, len(anchors) - 1, STEPS)
    even = np.column_stack([np.interp(places, np.arange(len(anchors)), lab[:, i]) for i in range(3)])
    back = (even @ np.linalg.inv(_TO_LAB).T) ** 3 @ np.linalg.inv(_TO_LMS).T
    table = np.round(255 * _encoded(np.clip(back, 0, 1))).astype(np.uint8)
    table.flags.writeable = False
    return table


def _linear(colours: np.ndarray) -> np.ndarray:
    return np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)


def _encoded(light: np.ndarray) -> np.ndarray:
    return np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)

"""Traces to pixels with numpy alone: the reach of each trace in each column becomes an indexed image.

For each column +1 is added at the first pixel a trace covers and -1 below the last; a running sum down the image then
counts the traces over each pixel. Each colour is counted by itself and only where its traces are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PyQt6.QtGui import QImage

_MAX_COUNT = 255


class Raster:
    """Draws into one image of `width` x `height` device pixels; the image is valid until the next `draw`."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self._stride = -(-width // 8) * 8
        # 8 pixels a lane of uint64: borrows between them cancel in the running sum.
        self._starts = np.zeros((height + 1, self._stride), np.uint8)
        self._ends = np.zeros((height + 1, self._stride), np.uint8)
        self._counts = np.empty((height + 1, self._stride // 8), np.uint64)
        self._index = np.zeros((height, self._stride), np.uint8)
        self._column = np.arange(width, dtype=np.int32)[:, None]
        self.image = QImage(self._index.data, width, height, self._stride, QImage.Format.Format_Indexed8)

    def draw(
        self,
        lo: np.ndarray,
        hi: np.ndarray,
        origin: np.ndarray,
        slope: np.ndarray,
        classes: Sequence[int],
        colours: Sequence[int],
        thickness: int = 1,
        bands: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> QImage:
        """Draw columns `lo`, `hi` (width, rows): the value v of row i lies at pixel origin[i] + slope[i] * v.

        `classes` names for each row its colour in `colours` (0xAARRGGBB); later colours lie over earlier ones. NaN is
        not drawn, nor what lies outside the image, or outside each row's `bands` (top, bottom, in pixels). Returns an
        Indexed8 image, 0 = transparent.
        """
        first, last = self._spans(lo, hi, origin, slope, thickness, bands)
        kinds = np.asarray(classes)
        self._index.fill(0)
        for number in range(len(colours)):
            rows = np.flatnonzero(kinds == number)
            for at in range(0, rows.size, _MAX_COUNT):
                part = rows[at : at + _MAX_COUNT]
                whole = part.size == kinds.size
                self._count(first if whole else first[:, part], last if whole else last[:, part], number + 1)
        self.image.setColorTable([0, *colours])
        return self.image

    def _spans(
        self,
        lo: np.ndarray,
        hi: np.ndarray,
        origin: np.ndarray,
        slope: np.ndarray,
        thickness: int,
        bands: tuple[np.ndarray, np.ndarray] | None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """First pixel and the one after the last in each column, int32 (width, rows); equal where nothing is drawn."""
        top = np.multiply(np.where(slope >= 0, lo, hi) if (slope < 0).any() else lo, slope)
        end = np.multiply(np.where(slope >= 0, hi, lo) if (slope < 0).any() else hi, slope)
        top += origin
        end += origin
        # Centred on the value, so that thick and thin lines lie at the same place.
        top -= (thickness - 1) / 2
        end += (thickness + 1) / 2
        missing = np.isnan(top)
        if missing.any():
            top[missing] = end[missing] = 0
        above, below = (0, self.height) if bands is None else (np.maximum(bands[0], 0), bands[1])
        np.clip(top, above, np.minimum(below, self.height), out=top)
        np.clip(end, above, np.minimum(below, self.height), out=end)
        return top.astype(np.int32), end.astype(np.int32)

    def _count(self, first: np.ndarray, last: np.ndarray, number: int) -> None:
        """Mark the pixels of these rows with a number."""
        above, below = int(first.min()), int(last.max())
        if below <= above:
            return
        starts, ends = self._starts[above : below + 1], self._ends[above : below + 1]
        starts.fill(0)
        ends.fill(0)
        one = np.uint8(1)
        stride = self._stride
        np.add.at(starts.reshape(-1), ((first - above) * stride + self._column).reshape(-1), one)
        np.add.at(ends.reshape(-1), ((last - above) * stride + self._column).reshape(-1), one)
        counts = self._counts[: below - above]
        np.subtract(starts.view(np.uint64)[:-1], ends.view(np.uint64)[:-1], out=counts)
        np.add.accumulate(counts, axis=0, out=counts)
        covered = np.not_equal(counts.view(np.uint8), 0).view(np.uint8)
        covered *= np.uint8(number)
        target = self._index[above:below]
        np.maximum(target, covered, out=target)

"""The traces as a picture: columns rastered while moving, lines antialiased once the page is at rest."""

from __future__ import annotations

import numpy as np
from PyQt6.QtCore import QRectF
from PyQt6.QtGui import QColor, QImage, QPainter, QPen
from pyqtgraph import functions

from analysis.pixel_columns import columns
from analysis.recording import Page
from analysis.signal_blocks import ColumnPage, column_grid
from viewers.raster import Raster
from viewers.rows import Rows
from viewers.theme import SIDES, Theme
from viewers.time_scale import TimeScale

_MAX_SAMPLES_PER_COLUMN = 4


class TracePicture:
    """Holds the picture of one page in device pixels and makes it anew when page, rows, colours or size change."""

    def __init__(self) -> None:
        self.page: ColumnPage | None = None
        self.refined = False
        self._rows: Rows | None = None
        self._theme: Theme | None = None
        self._image: QImage | None = None
        self._raster: Raster | None = None
        self._ratio = 1.0

    def set_page(self, page: Page, width: int) -> None:
        """Take a page; one without columns gets them for `width` pixels."""
        self.page = page if isinstance(page, ColumnPage) else with_columns(page, width)
        self.invalidate()

    def set_rows(self, rows: Rows) -> None:
        """Take new places and gains."""
        self._rows = rows
        self.invalidate()

    def set_theme(self, theme: Theme) -> None:
        """Take the colours."""
        self._theme = theme
        self.invalidate()

    def invalidate(self) -> None:
        """Forget the picture; the next paint makes it."""
        self._image = None
        self.refined = False

    def clear(self) -> None:
        """Show nothing."""
        self.page = None
        self.invalidate()

    @property
    def drawable(self) -> bool:
        """Whether page and rows belong together and can be drawn."""
        return (
            self.page is not None
            and self._rows is not None
            and self._theme is not None
            and self.page.lo.shape == (self.page.lo.shape[0], len(self._rows))
            and self.page.lo.size > 0
        )

    def paint(self, painter: QPainter, scale: TimeScale, height: float, ratio: float) -> None:
        """Draw the picture where its page lies on the scale; stretched when the scale is another one."""
        if not self.drawable:
            return
        assert self.page is not None
        if self._image is None or ratio != self._ratio:
            self._ratio = ratio
            self._image = self._rastered(height, ratio)
        start = self.page.first_column * self.page.column_seconds
        stop = start + self.page.lo.shape[0] * self.page.column_seconds
        left, width = scale.x(start), scale.x(stop) - scale.x(start)
        if abs(width * ratio - self._image.width()) < 1.0:
            painter.drawImage(QRectF(round(left * ratio) / ratio, 0, self._image.width() / ratio, height), self._image)
        else:
            painter.drawImage(QRectF(left, 0, width, height), self._image)

    def refine(self, height: float, ratio: float) -> None:
        """Replace the picture by antialiased lines, as good as a printed page."""
        if not self.drawable:
            return
        assert self.page is not None
        assert self._rows is not None
        self._ratio = ratio
        image = QImage(self.page.lo.shape[0], round(height * ratio), QImage.Format.Format_ARGB32_Premultiplied)
        image.fill(0)
        painter = QPainter(image)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        x, values = self._polyline()
        y = (self._rows.origin + self._rows.gain * values) * ratio
        # Far outside the view a line is cut off rather than followed: it would take long and show nothing.
        np.clip(y, -4.0 * image.height(), 5.0 * image.height(), out=y)
        for side, colour in enumerate(self._colours()):
            rows = [i for i, name in enumerate(self._rows.sides) if SIDES.index(name) == side]
            # A pen wider than one pixel is a hundred times slower: on dense screens the lines are drawn twice.
            painter.setPen(QPen(QColor.fromRgba(colour), 1))
            for shift in (0.0, 1.0) if ratio >= 1.5 else (0.0,):
                for row in rows:
                    painter.drawPath(functions.arrayToQPath(x, y[:, row] + shift, connect="finite"))
        painter.end()
        self._image = image
        self.refined = True

    def _polyline(self) -> tuple[np.ndarray, np.ndarray]:
        """x in device pixels (n,) and values (n, rows): the samples themselves, or the reach of each column."""
        page = self.page
        assert page is not None
        n = page.lo.shape[0]
        if 0 < page.data.shape[0] <= _MAX_SAMPLES_PER_COLUMN * n:
            times = page.first_time + np.arange(page.data.shape[0]) / page.sfreq
            return times / page.column_seconds - page.first_column, page.data.astype(np.float32)
        x = np.repeat(np.arange(n) + 0.5, 2)
        x[1::2] += 0.25
        both = np.stack([page.lo, page.hi], axis=1).reshape(2 * n, -1)
        return x, both

    def _rastered(self, height: float, ratio: float) -> QImage:
        assert self.page is not None
        assert self._rows is not None
        width, rows = self.page.lo.shape[0], self._rows
        size = (width, round(height * ratio))
        if self._raster is None or (self._raster.width, self._raster.height) != size:
            self._raster = Raster(*size)
        image = self._raster.draw(
            self.page.lo,
            self.page.hi,
            rows.origin * np.float32(ratio),
            rows.gain * np.float32(ratio),
            [SIDES.index(side) for side in rows.sides],
            self._colours(),
            thickness=max(1, round(ratio)),
        )
        # Painted several times a page (cursor, labels), so it is made once what the painter wants.
        return image.convertToFormat(QImage.Format.Format_ARGB32_Premultiplied)

    def _colours(self) -> list[int]:
        assert self._theme is not None
        return [self._theme.colour(side).rgba() for side in SIDES]


def with_columns(page: Page, width: int) -> ColumnPage:
    """A page of samples with the columns that `width` pixels need."""
    first, seconds = column_grid(page.window, width)
    borders = ((first + np.arange(width + 1)) * seconds - page.first_time) * page.sfreq
    if page.data.shape[0]:
        lo, hi = columns(page.data, borders)
    else:
        lo = hi = np.full((width, len(page.ch_names)), np.nan, np.float32)
    return ColumnPage(page.window, page.ch_names, page.sfreq, page.data, page.first_time, lo, hi, first, seconds)

"""The traces as a picture: columns rastered while moving, lines antialiased once the page is at rest."""

from __future__ import annotations

import math
import threading
from collections import deque
from dataclasses import dataclass

import numpy as np
from PyQt6.QtCore import QRectF, Qt
from PyQt6.QtGui import QColor, QImage, QPainter, QPen
from pyqtgraph import functions

from analysis.overview import OVERVIEW_PAGE_SECONDS
from analysis.pixel_columns import columns
from analysis.recording import Page
from analysis.signal_blocks import ColumnPage, column_grid
from viewers.raster import Raster
from viewers.rows import Rows
from viewers.theme import Theme
from viewers.time_scale import TimeScale
from viewers.trace_colours import INKS

_MAX_SAMPLES_PER_COLUMN = 4
_PREPARED = 4
_PIXELS_A_PIECE = 3
_DOTS_FROM_PX = 8.0  # between samples: from here on the samples are told from the lines between them
_DOT_PX = 3.5
_CUT_PX = 2  # thickness of the line that says where a clipped trace goes on
_CROWDED_PITCH = 12
_LONG_OPACITY = 0.72  # bands as wide as hours of signal let marks behind them through


@dataclass(frozen=True)
class _Look:
    """Everything but the page that decides a picture."""

    rows: Rows
    theme: Theme
    ratio: float

    def fits(self, page: ColumnPage) -> bool:
        """Whether a page has columns of these rows."""
        return page.lo.size > 0 and page.lo.shape[1] == len(self.rows)


class TracePicture:
    """Holds the picture of one page in device pixels and makes it anew when page, rows, colours or size change.

    `prepare` may be called from another thread; all else belongs to the thread that paints.
    """

    def __init__(self) -> None:
        self.page: ColumnPage | None = None
        self.refined = False
        self._rows: Rows | None = None
        self._theme: Theme | None = None
        self._ratio = 1.0
        self._look: _Look | None = None
        self._image: QImage | None = None
        self._raster = _Rasters()
        self._lock = threading.Lock()
        self._making = threading.Lock()
        self._prepared: deque[tuple[ColumnPage, _Look, QImage]] = deque(maxlen=_PREPARED)
        self._background = _Rasters()

    def set_page(self, page: Page, width: int) -> None:
        """Take a page; one without columns gets them for `width` pixels."""
        self.page = page if isinstance(page, ColumnPage) else with_columns(page, width)
        self.invalidate()

    def set_rows(self, rows: Rows) -> None:
        """Take new places and gains."""
        self._rows = rows
        self._look_anew()

    def set_theme(self, theme: Theme) -> None:
        """Take the colours."""
        self._theme = theme
        self._look_anew()

    def _look_anew(self) -> None:
        if self._rows is not None and self._theme is not None:
            self._look = _Look(self._rows, self._theme, self._ratio)
        self.invalidate()

    def invalidate(self) -> None:
        """Forget the picture; the next paint makes it."""
        self._image = None
        self.refined = False

    def clear(self) -> None:
        """Show nothing."""
        self.page = None
        with self._lock:
            self._prepared.clear()
        self.invalidate()

    def prepare(self, page: ColumnPage) -> None:
        """Make the picture of a page that may be shown next, on whatever thread this is."""
        look = self._look
        if look is None or not look.fits(page):
            return
        with self._making:
            if self._find(page, look) is None:
                image = self._background.picture(page, look)
                with self._lock:
                    self._prepared.append((page, look, image))

    def _find(self, page: ColumnPage, look: _Look) -> QImage | None:
        with self._lock:
            return next((image for known, seen, image in self._prepared if known is page and seen is look), None)

    def _picture(self) -> QImage:
        """The picture of the page as it is looked at now, prepared or made."""
        assert self.page is not None
        assert self._look is not None
        return self._find(self.page, self._look) or self._raster.picture(self.page, self._look)

    @property
    def drawable(self) -> bool:
        """Whether page and rows belong together and can be drawn."""
        return self.page is not None and self._look is not None and self._look.fits(self.page)

    def paint(self, painter: QPainter, scale: TimeScale, height: float, ratio: float) -> None:
        """Draw the picture where its page lies on the scale; stretched when the scale is another one."""
        self._set_ratio(ratio)
        if not self.drawable:
            return
        assert self.page is not None
        if self._image is None:
            self._image = self._picture()
        start = self.page.first_column * self.page.column_seconds
        stop = start + self.page.lo.shape[0] * self.page.column_seconds
        left, width = scale.x(start), scale.x(stop) - scale.x(start)
        if abs(width * ratio - self._image.width()) < 1.0:
            painter.drawImage(QRectF(round(left * ratio) / ratio, 0, self._image.width() / ratio, height), self._image)
        else:
            painter.drawImage(QRectF(left, 0, width, height), self._image)

    def _set_ratio(self, ratio: float) -> None:
        if ratio != self._ratio:
            self._ratio = ratio
            self._look_anew()

    def refine(self, height: float, ratio: float, most_work: float = math.inf) -> None:
        """Replace the picture by antialiased lines, as good as a printed page.

        Pages without samples are so dense that lines would look the same; they keep their raster, and so do pages
        whose lines are more than `most_work` (see line_work), which would hold up whoever turns the page.
        """
        self._set_ratio(ratio)
        if not self.drawable or not self.page or not self.page.data.shape[0]:
            return
        assert self._rows is not None
        image = QImage(self.page.lo.shape[0], round(height * ratio), QImage.Format.Format_ARGB32_Premultiplied)
        x, values = self._polyline()
        y = (self._rows.origin + self._rows.gain * values) * ratio
        # Far outside the view a line is cut off rather than followed: it would take long and show nothing.
        np.clip(y, -4.0 * image.height(), 5.0 * image.height(), out=y)
        # A pen wider than one pixel is a hundred times slower: on dense screens the lines are drawn twice.
        shifts = (0.0, 1.0) if ratio >= 1.5 else (0.0,)
        if len(shifts) * line_work(y) > most_work:
            return
        image.fill(0)
        painter = QPainter(image)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        assert self._theme is not None
        bands = self._rows.bands()
        for ink in dict.fromkeys(name for name in INKS if name in self._rows.inks):
            rows = [i for i, name in enumerate(self._rows.inks) if name == ink]
            painter.setPen(QPen(self._theme.colour(ink), 1))
            for row in rows:
                if bands is not None:
                    top, bottom = float(bands[0][row]) * ratio, float(bands[1][row]) * ratio
                    painter.setClipRect(QRectF(0, top, image.width(), bottom - top))
                for shift in shifts:
                    painter.drawPath(functions.arrayToQPath(x, y[:, row] + shift, connect="finite"))
                if self._shows_samples(ratio):
                    _paint_dots(painter, x, y[:, row], self._theme.colour(ink), ratio)
        painter.end()
        _mark_cuts(image, self.page, self._rows, self._theme, ratio)
        self._image = image
        self.refined = True

    def _shows_samples(self, ratio: float) -> bool:
        """Whether samples lie so far apart that each is marked."""
        page = self.page
        return page is not None and 1 / (page.sfreq * page.column_seconds) >= _DOTS_FROM_PX * ratio

    def _polyline(self) -> tuple[np.ndarray, np.ndarray]:
        """x in device pixels (n,) and values (n, rows): the samples themselves, or the reach of each column."""
        page = self.page
        assert page is not None
        n = page.lo.shape[0]
        if page.data.shape[0] <= _MAX_SAMPLES_PER_COLUMN * n:
            times = page.first_time + np.arange(page.data.shape[0]) / page.sfreq
            return times / page.column_seconds - page.first_column, page.data.astype(np.float32)
        x = np.repeat(np.arange(n) + 0.5, 2)
        x[1::2] += 0.25
        both = np.stack([page.lo, page.hi], axis=1).reshape(2 * n, -1)
        return x, both


def _paint_dots(painter: QPainter, x: np.ndarray, y: np.ndarray, colour: QColor, ratio: float) -> None:
    """A dot at each sample, then the pen of the lines again."""
    pen = painter.pen()
    painter.setPen(QPen(colour, _DOT_PX * ratio, cap=Qt.PenCapStyle.RoundCap))
    there = np.isfinite(y)
    painter.drawPoints(functions.arrayToQPolygonF(x[there], y[there].astype(np.float64)))
    painter.setPen(pen)


class _Rasters:
    """Makes pictures with one raster, kept while the size stays; for one thread at a time."""

    def __init__(self) -> None:
        self._raster: Raster | None = None

    def picture(self, page: ColumnPage, look: _Look) -> QImage:
        """Columns rastered, in the format that is painted fastest (a page is painted several times)."""
        rows, ratio, bands = look.rows, np.float32(look.ratio), look.rows.bands()
        size = (page.lo.shape[0], max(1, round(rows.height * look.ratio)))
        if self._raster is None or (self._raster.width, self._raster.height) != size:
            self._raster = Raster(*size)
        image = self._raster.draw(
            page.lo,
            page.hi,
            rows.origin * ratio,
            rows.gain * ratio,
            [INKS.index(ink) for ink in rows.inks],
            _colours(look.theme, _LONG_OPACITY if page.window.duration > OVERVIEW_PAGE_SECONDS else 1.0),
            thickness=max(1, round(look.ratio)),
            bands=None if bands is None else (bands[0] * ratio, bands[1] * ratio),
        )
        finished = image.convertToFormat(QImage.Format.Format_ARGB32_Premultiplied)
        _mark_cuts(finished, page, rows, look.theme, look.ratio)
        return finished


def line_work(y: np.ndarray) -> float:
    """What drawing lines through y (n, rows) in pixels costs, in pixels: the way they go, and some for each piece."""
    if y.size == 0:
        return 0.0
    return float(np.nansum(np.abs(np.diff(y, axis=0)))) + _PIXELS_A_PIECE * y.size


def _colours(theme: Theme, opacity: float = 1.0) -> list[int]:
    return [theme.colour(ink, opacity).rgba() for ink in INKS]


def _mark_cuts(image: QImage, page: ColumnPage, rows: Rows, theme: Theme, ratio: float) -> None:
    """Say at the edge of its band where a trace was cut off."""
    bands, cut = rows.bands(), rows.cut(page.lo, page.hi)
    if bands is None or cut is None or not (cut[0].any() or cut[1].any()):
        return
    bits = image.bits()
    assert bits is not None
    pixels = np.frombuffer(bits.asarray(image.sizeInBytes()), np.uint32).reshape(image.height(), -1)
    thickness = max(1, round(_CUT_PX * ratio)) if rows.pitch > _CROWDED_PITCH else 1
    colour = theme.colour("caution").rgba()
    for where, edge, step in ((cut[0], bands[0], 1), (cut[1], bands[1] - 1 / ratio, -1)):
        column, row = np.nonzero(where)
        y = np.round(edge * ratio).astype(np.intp)[row]
        for i in range(thickness):
            pixels[np.clip(y + step * i, 0, image.height() - 1), column] = colour


def with_columns(page: Page, width: int) -> ColumnPage:
    """A page of samples with the columns that `width` pixels need."""
    first, seconds = column_grid(page.window, width)
    borders = ((first + np.arange(width + 1)) * seconds - page.first_time) * page.sfreq
    if page.data.shape[0]:
        lo, hi = columns(page.data, borders)
    else:
        lo = hi = np.full((width, len(page.ch_names)), np.nan, np.float32)
    return ColumnPage(page.window, page.ch_names, page.sfreq, page.data, page.first_time, lo, hi, first, seconds)

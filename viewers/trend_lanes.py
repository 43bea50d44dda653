"""Lanes that show hours of EEG at a glance: aEEG, spectrum, asymmetry and alpha over delta, by side."""

from __future__ import annotations

import numpy as np
from PyQt6.QtCore import QPointF, QRectF, QSize, Qt
from PyQt6.QtGui import QColor, QFontMetricsF, QImage, QPainter, QPen
from pyqtgraph import functions

from analysis.recording import Window
from analysis.trends.amplitude import MARGINS, scale_position
from analysis.trends.columns import column_extremes, column_means, mean_decibels
from analysis.trends.result import COARSER, Trends
from analysis.trends.sources import LEFT, RIGHT
from analysis.trends.spectra import BANDS, FREQUENCIES, STEP_HZ, alpha_delta_ratio, asymmetry
from viewers.colour_scales import STEPS, amount_scale, indices
from viewers.lanes import FOLDED_HEIGHT, Lane, dashed, hatch
from viewers.theme import font, px
from viewers.time_scale import TimeScale

_EDGE = 4.0
_PAGE_LEAST_PX = 3.0
_SMALL = 9
_CHIP_GAP = 8.0
_BESIDE_TRIANGLE = 16.0
_SUBTITLE_FROM = 31
_LETTERS = {LEFT: "L", RIGHT: "R", "all": ""}
_WITHOUT_COARSE = 2 * COARSER
_RANGE_STEP = 5.0
_LEAST_RANGE = 20.0
_RATIO_RANGE = (0.01, 10.0)
_GREEK = {"delta": "δ", "theta": "θ", "alpha": "α", "beta": "β"}
_AEEG_LINES = (5.0, 10.0, 25.0, 50.0, 100.0)


class TrendLane(Lane):
    """Base: takes trends, knows the page and the columns of its pixels, and says values at the crosshair."""

    tip = ""
    height_px = 32
    least_px = 28  # lower than this nothing can be read off it, whatever the size of letters

    def __init__(self, title: str) -> None:
        super().__init__(title, round(px(self.height_px)))
        self.trends: Trends | None = None
        self.at_cursor = ""
        self._page = Window(0.0, 0.0)

    def set_trends(self, trends: Trends | None) -> None:
        """Show these trends, or none."""
        self.trends = trends
        self.changed()

    def set_page(self, page: Window) -> None:
        """Show where the page is; the picture stays."""
        if page != self._page:
            self._page = page
            self.update()

    def set_height(self, height: int) -> None:
        """Be so high when it is not folded."""
        if height != self._full_height:
            self._full_height = height
            if not self.is_folded:
                self.setFixedHeight(height)

    def least_height(self) -> int:
        """How low the lane can be, in pixels; its heading is seen whole."""
        return max(self.least_px, round(px(FOLDED_HEIGHT)))

    def shows(self, trends: Trends) -> bool:
        """Whether there is anything to show of these trends."""
        return True

    def subtitles(self) -> tuple[str, ...]:
        """The subtitle, where there is room for it."""
        return super().subtitles() if self.height() >= px(_SUBTITLE_FROM) else ()

    def value_text(self, time: float, share: float) -> str:
        """What the trends say at a time, and at a height (0 at the bottom, 1 at the top)."""
        return ""

    def borders(self, scale: TimeScale) -> np.ndarray:
        """Borders of the pixel columns of the plot in seconds, (columns + 1,)."""
        count = max(1, int(scale.width))
        return scale.window.start + np.arange(count + 1) / scale.px_per_second

    def group(self, name: str) -> int | None:
        """Place of a side among the groups."""
        return self.trends.groups.index(name) if self.trends is not None and name in self.trends.groups else None

    def side_colour(self, group: str, alpha: float = 1.0) -> QColor:
        """The colour of a side's traces."""
        return self.theme.colour(group if group in (LEFT, RIGHT) else "midline", alpha)

    def paint_plot(self, painter: QPainter, scale: TimeScale, size: QSize) -> None:
        """Holes, then the trends."""
        if self.trends is None or scale.px_per_second <= 0:
            return
        borders = self.borders(scale)
        self.paint_trends(painter, borders, size)

    def paint_trends(self, painter: QPainter, borders: np.ndarray, size: QSize) -> None:
        """Draw the trends into the columns between `borders`."""
        raise NotImplementedError

    def paint_holes(self, painter: QPainter, missing: np.ndarray, borders: np.ndarray, height: float) -> None:
        """Hatch the columns of the recording that a finished pass has nothing for."""
        assert self.trends is not None
        if not self.trends.complete:
            return
        # The last part of a recording is shorter than a bin, which is no hole.
        inside = (borders[1:] > 0) & (borders[1:] <= self.trends.duration - self.trends.bin_seconds)
        for a, z in runs(missing & inside):
            hatch(painter, QRectF(a, 1, z - a, height - 2), self.theme)

    def paint_moving(self, painter: QPainter) -> None:
        """The page, and what the trends say at the crosshair."""
        if self.is_folded or self.trends is None:
            return
        area, scale = self.plot_rect, self.scale
        left, right = scale.x(self._page.start), scale.x(self._page.stop)
        spare = max(0.0, _PAGE_LEAST_PX - (right - left)) / 2
        left, right = left - spare, right + spare
        if right > 0 and left < area.width():
            box = QRectF(area.left() + left, 0, right - left, self.height())
            painter.setClipRect(area)
            painter.fillRect(box, self.theme.colour("accent", 0.10))
            painter.setPen(self.theme.colour("accent"))
            for x in (box.left(), box.right()):
                painter.drawLine(QPointF(round(x) + 0.5, 0), QPointF(round(x) + 0.5, self.height()))
            painter.setClipping(False)
        if self._cursor is not None and self.at_cursor:
            self._paint_chip(painter, scale.x(self._cursor), self.at_cursor)

    def _paint_chip(self, painter: QPainter, x: float, text: str) -> None:
        area = self.plot_rect
        if not 0 <= x <= area.width():
            return
        painter.setFont(font(_SMALL, bold=True))
        metrics = QFontMetricsF(painter.font())
        width, height = metrics.horizontalAdvance(text) + px(8), metrics.height() + px(1)
        left = x + _CHIP_GAP if x + _CHIP_GAP + width < area.width() else x - _CHIP_GAP - width
        chip = QRectF(area.left() + left, (self.height() - height) / 2, width, height)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.theme.colour("canvas", 0.88))
        painter.drawRoundedRect(chip, 3, 3)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(self.theme.colour("text"))
        painter.drawText(chip, Qt.AlignmentFlag.AlignCenter, text)

    def paint_scale(self, painter: QPainter, marks: list[tuple[float, str]], width: float) -> None:
        """Numbers of the vertical scale at the right end: (y, text); those that would lie over others are left out."""
        painter.setFont(font(_SMALL))
        metrics = QFontMetricsF(painter.font())
        free_from = 0.0
        for y, text in sorted(marks):
            room, top = metrics.horizontalAdvance(text) + 4, max(0.0, y - metrics.height() / 2)
            if top < free_from:
                continue
            free_from = top + metrics.height() - 2
            box = QRectF(width - room, top, room, metrics.height())
            painter.fillRect(box, self.theme.colour("canvas", 0.7))
            painter.setPen(self.theme.colour("muted"))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)

    @staticmethod
    def paint_level(painter: QPainter, y: float, width: float) -> None:
        """A level line on whole pixels."""
        painter.drawLine(QPointF(0, int(y) + 0.5), QPointF(width, int(y) + 0.5))

    def paint_line(self, painter: QPainter, y: np.ndarray, colour: QColor) -> None:
        """A line through the middles of the columns at heights `y`; NaN are holes, single columns dots."""
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(colour, 1))
        for a, z in runs(np.isfinite(y)):
            x = np.arange(a, z) + 0.5
            if z - a == 1:
                painter.drawLine(QPointF(a, y[a]), QPointF(a + 1.0, y[a]))
            else:
                painter.drawPolyline(functions.arrayToQPolygonF(x, y[a:z].astype(np.float64)))

    def paint_band(self, painter: QPainter, top: np.ndarray, bottom: np.ndarray, colour: QColor) -> None:
        """An area between two lines, without an edge; NaN are holes."""
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)  # columns are whole pixels wide
        for a, z in runs(np.isfinite(top) & np.isfinite(bottom)):
            x = np.repeat(np.arange(a, z + 1), 2)[1:-1].astype(np.float64)
            high, low = np.repeat(top[a:z], 2), np.repeat(bottom[a:z], 2)
            outline = np.concatenate([x, x[::-1]]), np.concatenate([high, low[::-1]]).astype(np.float64)
            painter.drawPolygon(functions.arrayToQPolygonF(*outline))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(Qt.BrushStyle.NoBrush)

    def bin_at(self, time: float, seconds: float, count: int) -> int | None:
        """Number of the bin of a time; None outside the recording."""
        number = int(time // seconds)
        return number if 0 <= number < count else None


class AmplitudeLane(TrendLane):
    """aEEG: for each side the band from the lower to the upper margin, on the half logarithmic scale of the clinic."""

    height_px = 56
    least_px = 40
    tip = (
        "Amplitude-integrated EEG: 2-15 Hz with 12 dB a decade more gain for faster activity, rectified, mean of half "
        f"a second. From the {100 * MARGINS[0]:.0f}th to the {100 * MARGINS[1]:.0f}th percentile of each bin, median "
        "over the derivations. The left side is a filled band with its extremes in a paler one, the right side two "
        "lines. Linear to 10 µV, logarithmic to 100 µV."
    )

    def __init__(self) -> None:
        super().__init__("aEEG")
        self.subtitle = "µV p–p"

    def paint_trends(self, painter: QPainter, borders: np.ndarray, size: QSize) -> None:
        """Lines of the scale, and a band for each side."""
        trends = self.trends
        assert trends is not None
        height = float(size.height())
        painter.setPen(self.theme.colour("grid_strong"))
        for value in _AEEG_LINES:
            self.paint_level(painter, float(self._y(value, height)), size.width())
        missing = np.ones(borders.size - 1, bool)
        for number, name in enumerate(trends.groups):
            lower, upper = trends.amplitude[number, :, 0], trends.amplitude[number, :, 1]
            usual = column_means(trends.amplitude[number], trends.amplitude_seconds, borders)
            least, greatest = column_extremes(lower, upper, trends.amplitude_seconds, borders)
            top, bottom = self._y(usual[:, 1], height), self._y(usual[:, 0], height)
            # Two bands over each other would be of a hue that stands for something else.
            if name != RIGHT:
                extremes = self._y(greatest, height), self._y(least, height)
                self.paint_band(painter, *extremes, self.side_colour(name, 0.18))
                self.paint_band(painter, top, bottom, self.side_colour(name, 0.40))
            self.paint_line(painter, top, self.side_colour(name))
            self.paint_line(painter, bottom, self.side_colour(name))
            missing &= np.isnan(top)
        self.paint_holes(painter, missing, borders, height)

    def _paint_heading(self, painter: QPainter) -> None:
        """The scale stands beside the plot: over it, it would lie on the curves."""
        super()._paint_heading(painter)
        if self.is_folded:
            return
        painter.setFont(font(_SMALL))
        painter.setPen(self.theme.colour("muted"))
        metrics, right = QFontMetricsF(painter.font()), self.plot_rect.left() - _BESIDE_TRIANGLE
        for value in (10.0, 100.0):
            y = float(self._y(value, self.plot_rect.height())) + self.plot_rect.top()
            box = QRectF(0, max(0.0, y - metrics.height() / 2), right, metrics.height())
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, f"{value:g}")

    @staticmethod
    def _y(microvolts: np.ndarray | float, height: float) -> np.ndarray:
        return height - _EDGE - scale_position(np.asarray(microvolts)) * (height - 2 * _EDGE)

    def value_text(self, time: float, share: float) -> str:
        """Margins of each side."""
        trends = self.trends
        assert trends is not None
        number = self.bin_at(time, trends.amplitude_seconds, trends.amplitude.shape[1])
        if number is None:
            return ""
        parts = [
            f"{_LETTERS[name]} {low:.0f}–{high:.0f}".strip()
            for name, (low, high) in zip(trends.groups, trends.amplitude[:, number].tolist(), strict=True)
            if low == low
        ]
        return "  ".join(parts) + " µV" if parts else ""


class SpectrumLane(TrendLane):
    """Power spectral density of one side over time as colours, in decibels; both sides share one range."""

    height_px = 36
    least_px = 26

    def __init__(self, group: str) -> None:
        title = {LEFT: "Spectrum L", RIGHT: "Spectrum R"}.get(group, "Spectrum")
        super().__init__(title)
        self._group = group
        self._top = 20.0
        self._range = (-10.0, 30.0)
        self.tip = (
            "Power spectral density, mean over the derivations: Hann windows of "
            f"{1 / STEP_HZ:g} s, in dB about 1 µV²/Hz. Both sides share the range of colours."
        )

    def shows(self, trends: Trends) -> bool:
        """Only where there is this side."""
        return self._group in trends.groups

    def set_top(self, hertz: float) -> None:
        """Show frequencies up to so many hertz."""
        self._top = hertz
        self.changed()

    def set_range(self, low: float, high: float) -> None:
        """Give the first and the last colour to these decibels."""
        self._range = (low, high)
        self.changed()

    def paint_trends(self, painter: QPainter, borders: np.ndarray, size: QSize) -> None:
        """One column of colours a pixel, and the scale."""
        trends, number = self.trends, self.group(self._group)
        if trends is None or number is None:
            return
        rows = int(np.searchsorted(FREQUENCIES, self._top + 1e-9))
        shown = self._columns(trends, number, borders)[:, :rows]
        image = spectrum_image(shown, *self._range, amount_scale(self.theme))
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawImage(QRectF(0, 0, image.width(), size.height()), image)
        self.paint_holes(painter, np.isnan(shown[:, 0]), borders, size.height())
        self.paint_scale(
            painter, [(px(7), f"{self._top:g} Hz"), (size.height() / 2, f"{self._top / 2:g}")], size.width()
        )

    @staticmethod
    def _columns(trends: Trends, number: int, borders: np.ndarray) -> np.ndarray:
        wide = borders[1] - borders[0] >= _WITHOUT_COARSE * trends.bin_seconds
        if wide:
            return mean_decibels(trends.coarse_decibels[number], COARSER * trends.bin_seconds, borders)
        return mean_decibels(trends.decibels[number], trends.bin_seconds, borders)

    def _paint_heading(self, painter: QPainter) -> None:
        """Under the title the colours, with what the first and the last of them stand for."""
        super()._paint_heading(painter)
        low, high = f"{self._range[0]:g}".replace("-", "−"), f"{self._range[1]:g} dB"
        painter.setFont(font(_SMALL))
        metrics = QFontMetricsF(painter.font())
        line = QRectF(10, px(18), self._left - 16, metrics.height())
        if self.is_folded or line.bottom() > self.height():
            return
        painter.setPen(self.theme.colour("muted"))
        painter.drawText(line, Qt.AlignmentFlag.AlignVCenter, low)
        before, after = metrics.horizontalAdvance(low) + 4, metrics.horizontalAdvance(high) + 4
        bar = QRectF(line.left() + before, line.center().y() - 3, max(8.0, line.width() - before - after), 7)
        painter.drawText(QRectF(bar.right() + 4, line.top(), after, line.height()), Qt.AlignmentFlag.AlignVCenter, high)
        table = np.ascontiguousarray(amount_scale(self.theme)[None])
        painter.drawImage(bar, QImage(table.data, STEPS, 1, 3 * STEPS, QImage.Format.Format_RGB888).copy())

    def value_text(self, time: float, share: float) -> str:
        """Frequency and density under the crosshair."""
        trends, number = self.trends, self.group(self._group)
        if trends is None or number is None:
            return ""
        at = self.bin_at(time, trends.bin_seconds, trends.decibels.shape[1])
        row = min(max(0, round(share * self._top / STEP_HZ) - 1), FREQUENCIES.size - 1)
        if at is None or np.isnan(trends.decibels[number, at, row]):
            return ""
        return f"{FREQUENCIES[row]:g} Hz  {float(trends.decibels[number, at, row]):.0f} dB"


class AsymmetryLane(TrendLane):
    """(R - L) / (R + L) of the power of all bands: above the middle the right side has more, below it the left."""

    height_px = 34
    tip = (
        "Asymmetry of power, (right - left) / (right + left), 1-30 Hz: up and in the right side's colour where the "
        "right has more, down and in the left side's colour where the left has more."
    )

    def __init__(self) -> None:
        super().__init__("Asymmetry")
        self.subtitle = "(R−L)/(R+L)"

    def shows(self, trends: Trends) -> bool:
        """Only where there are two sides."""
        return trends.has_sides

    def paint_trends(self, painter: QPainter, borders: np.ndarray, size: QSize) -> None:
        """Areas about the middle line."""
        trends, left, right = self.trends, self.group(LEFT), self.group(RIGHT)
        if trends is None or left is None or right is None:
            return
        powers = [column_means(trends.powers[g].sum(axis=1), trends.bin_seconds, borders) for g in (left, right)]
        index = asymmetry(*powers)
        height = float(size.height())
        middle, reach = height / 2, height / 2 - _EDGE
        zero = np.full(index.size, middle)
        with np.errstate(invalid="ignore"):
            self.paint_band(painter, middle - reach * np.maximum(index, 0), zero, self.side_colour(RIGHT, 0.75))
            self.paint_band(painter, zero, middle - reach * np.minimum(index, 0), self.side_colour(LEFT, 0.75))
        painter.setPen(dashed(self.theme.colour("muted", 0.8)))
        painter.drawLine(QPointF(0, round(middle) + 0.5), QPointF(size.width(), round(middle) + 0.5))
        self.paint_holes(painter, np.isnan(index), borders, height)
        self.paint_scale(painter, [(px(8), "R +1"), (height - px(8), "L −1")], size.width())

    def value_text(self, time: float, share: float) -> str:
        """The index, of all bands and of each."""
        trends, left, right = self.trends, self.group(LEFT), self.group(RIGHT)
        if trends is None or left is None or right is None:
            return ""
        at = self.bin_at(time, trends.bin_seconds, trends.powers.shape[1])
        if at is None or np.isnan(trends.powers[[left, right], at, 0]).any():
            return ""
        powers = trends.powers[:, at]
        whole = float(asymmetry(powers[left].sum(), powers[right].sum()))
        parts = asymmetry(powers[left], powers[right]).tolist()
        return f"{signed(whole)}   " + "  ".join(
            f"{_GREEK[name]} {signed(v)}" for name, v in zip(BANDS, parts, strict=True)
        )


class RatioLane(TrendLane):
    """Alpha power over delta power of each side, on a logarithmic scale."""

    height_px = 34
    tip = "Alpha over delta: power of 8-13 Hz over that of 1-4 Hz by side, on a logarithmic scale."

    def __init__(self) -> None:
        super().__init__("Alpha/delta")
        self.subtitle = "8–13 / 1–4 Hz"

    def paint_trends(self, painter: QPainter, borders: np.ndarray, size: QSize) -> None:
        """A line for each side."""
        trends = self.trends
        assert trends is not None
        height = float(size.height())
        painter.setPen(self.theme.colour("grid_strong"))
        for value in (0.1, 1.0):
            self.paint_level(painter, float(self._y(value, height)), size.width())
        missing = np.ones(borders.size - 1, bool)
        for number, name in enumerate(trends.groups):
            ratio = alpha_delta_ratio(column_means(trends.powers[number], trends.bin_seconds, borders))
            self.paint_line(painter, self._y(ratio, height), self.side_colour(name))
            missing &= np.isnan(ratio)
        self.paint_holes(painter, missing, borders, height)
        self.paint_scale(painter, [(float(self._y(v, height)), f"{v:g}") for v in (0.1, 1.0)], size.width())

    @staticmethod
    def _y(ratio: np.ndarray | float, height: float) -> np.ndarray:
        low, high = np.log10(_RATIO_RANGE)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = (np.log10(np.asarray(ratio, np.float64)) - low) / (high - low)
        return height - _EDGE - np.clip(share, 0, 1) * (height - 2 * _EDGE)

    def value_text(self, time: float, share: float) -> str:
        """The ratio of each side."""
        trends = self.trends
        assert trends is not None
        at = self.bin_at(time, trends.bin_seconds, trends.powers.shape[1])
        if at is None:
            return ""
        ratios = alpha_delta_ratio(trends.powers[:, at]).tolist()
        pairs = zip(trends.groups, ratios, strict=True)
        return "  ".join(f"{_LETTERS[name]} {value:.2g}".strip() for name, value in pairs if value == value)


def make_lanes() -> list[TrendLane]:
    """All lanes in their order; those that have nothing to show of a recording hide themselves."""
    spectra = [SpectrumLane(group) for group in (LEFT, RIGHT, "all")]
    return [AmplitudeLane(), *spectra, AsymmetryLane(), RatioLane()]


def colour_range(trends: Trends) -> tuple[float, float]:
    """Decibels of the first and the last colour: what nearly all of the spectrum lies in, in steps of 5 dB."""
    values = trends.coarse_decibels
    known = values[:, ~np.isnan(values[..., 0]).all(axis=0)].astype(np.float32)
    known = known[:, :: max(1, known.shape[1] // 500)]
    if not np.isfinite(known).any():
        return -10.0, 30.0
    low, high = np.nanpercentile(known, [3, 99.5])
    low, high = _RANGE_STEP * np.floor(low / _RANGE_STEP), _RANGE_STEP * np.ceil(high / _RANGE_STEP)
    return float(low), float(max(high, low + _LEAST_RANGE))


def spectrum_image(decibels: np.ndarray, low: float, high: float, table: np.ndarray) -> QImage:
    """Colours of (columns, frequencies) in decibels, the highest frequency on top; NaN is transparent."""
    places = indices(decibels, low, high)
    pixels = np.full((*decibels.shape, 4), 255, np.uint8)
    pixels[..., :3] = table[places][..., ::-1]  # Qt's ARGB32 lies in memory as blue, green, red, alpha
    pixels[np.isnan(decibels)] = 0
    upright = np.ascontiguousarray(pixels.swapaxes(0, 1)[::-1])
    height, width = upright.shape[:2]
    return QImage(upright.data, width, height, 4 * width, QImage.Format.Format_ARGB32_Premultiplied).copy()


def runs(mask: np.ndarray) -> list[tuple[int, int]]:
    """Half-open spans where a mask is true."""
    edges = np.flatnonzero(np.diff(mask.astype(np.int8), prepend=0, append=0))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def signed(value: float) -> str:
    """A number between -1 and 1 with its sign, or a dash where there is none."""
    return f"{value:+.2f}".replace("-", "−") if value == value else "–"

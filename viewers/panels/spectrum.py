"""Power spectrum of the selection or the page, and what lies in each band."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from PyQt6.QtCore import QPointF, QRectF, Qt
from PyQt6.QtGui import QFontMetricsF, QPainter, QPen, QPolygonF

from analysis.errors import AnalysisError
from analysis.measured_tables import spectrum_table
from analysis.measuring import amount_text, duration_text, unit_text
from analysis.span_spectra import SIDES, Curve, SpanSpectrum
from analysis.spectra import BANDS, alpha_peak, dominant_peak
from viewers.panels.band_table import GREEK, INKS, BandTable
from viewers.panels.base import Choice, Chooser, Panel, as_sentence, check_box, line_of, note
from viewers.panels.plot import Plot, Tick, decade_ticks, linear_ticks
from viewers.theme import Theme, font, px
from viewers.time_scale import time_text

ROW_UNDER_CURSOR, ALL, LEFT_RIGHT = "cursor", "all", "sides"
UNDER_CURSOR: Choice = (ROW_UNDER_CURSOR, "Row under the cursor")
ALL_ROWS: Choice = (ALL, "Mean of all EEG rows")
WHOLE = "whole"
REACHES: list[Choice] = [("40", "0–40 Hz"), ("80", "0–80 Hz"), (WHOLE, "All frequencies")]
_LEAST_DECADES = 2.0
_MOST_DECADES = 6.0


class SpectrumPlot(Plot):
    """Densities over frequency, on a logarithmic axis, with the bands behind them."""

    x_title = "Hz"

    def __init__(self) -> None:
        super().__init__("Power spectrum")
        self.curves: list[Curve] = []
        self.in_decibels = False
        self.peaks: list[tuple[Curve, float]] = []  # the dominant one of each curve, and that of alpha

    def set_curves(self, curves: Sequence[Curve], reach: float, in_decibels: bool) -> None:
        """Show densities from 0 to `reach` hertz (0: as far as they go)."""
        self.curves, self.in_decibels = list(curves), in_decibels
        found = [(c, peak_of(c.frequencies, c.power)) for c in curves for peak_of in (dominant_peak, alpha_peak)]
        self.peaks = [(curve, peak) for curve, peak in found if peak is not None]
        if curves:
            top = max(float(curve.frequencies[-1]) for curve in curves)
            self.x_range = (0.0, min(reach, top) if reach else top)
            self.y_range = _decades(curves, self.x_range[1])
        self.update()

    def y_ticks(self) -> Sequence[Tick]:
        """Decades, or the decibels that they are."""
        if not self.in_decibels:
            return decade_ticks(*self.y_range)
        low, high = self.y_range
        most = max(2, int(self.area.height() / px(30)))
        return [(value / 10, text) for value, text in linear_ticks(10 * low, 10 * high, most)]

    def paint_plot(self, painter: QPainter, area: QRectF) -> None:
        """Bands, curves, and their peaks."""
        self._paint_bands(painter, area)
        for curve in self.curves:
            ink = self.theme.colour(INKS.get(curve.rows, "text"))
            painter.setPen(QPen(ink, 1.5))
            painter.drawPolyline(self._line(curve))
        for curve, peak in self.peaks:
            if peak <= self.x_range[1]:
                ink = self.theme.colour(INKS.get(curve.rows, "text"))
                level = float(np.interp(peak, curve.frequencies, _logarithm(curve.power)))
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(ink)
                painter.drawEllipse(QPointF(self.x(peak), self.y(level)), 3, 3)
                painter.setBrush(Qt.BrushStyle.NoBrush)

    def paint_over(self, painter: QPainter, area: QRectF) -> None:
        """The unit, and which curve is which."""
        unit = unit_text(self.curves[0].unit) if self.curves else "µV"
        painter.setFont(font(10))
        metrics = QFontMetricsF(painter.font())
        words = [(f"dB re {unit}²/Hz" if self.in_decibels else f"{unit}²/Hz", "muted")]
        words += [(curve.rows, INKS[curve.rows]) for curve in self.curves if curve.rows in INKS]
        x = area.right() - 6
        for text, colour in reversed(words):
            width = metrics.horizontalAdvance(text)
            painter.setPen(self.theme.colour(colour))
            painter.drawText(QPointF(x - width, area.top() + 2 * metrics.height() + 2), text)
            x -= width + 10

    def describe(self, at: QPointF) -> str:
        """Frequency and densities under the mouse."""
        if not self.curves:
            return ""
        frequency = self.x_at(at.x())
        i = int(np.argmin(np.abs(self.curves[0].frequencies - frequency)))
        texts = [f"{self.curves[0].frequencies[i]:.2f} Hz"]
        for curve in self.curves:
            i = min(i, curve.power.size - 1)
            name = f"{curve.rows} " if len(self.curves) > 1 else ""
            texts.append(f"{name}{self._level(float(curve.power[i]), curve.unit)}")
        return "   ".join(texts)

    def _level(self, power: float, unit: str) -> str:
        if self.in_decibels:
            return f"{10 * math.log10(power):+.1f} dB".replace("-", "−") if power > 0 else "—"
        return f"{amount_text(power, unit)}²/Hz"

    def _line(self, curve: Curve) -> QPolygonF:
        """From the first bin above zero on: the mean was taken out of each window."""
        shown = (curve.frequencies > 0) & (curve.frequencies <= self.x_range[1] + 1e-9)
        x = self.x_range[0] + curve.frequencies[shown]
        levels = np.maximum(_logarithm(curve.power[shown]), self.y_range[0] - 1)
        return QPolygonF([QPointF(self.x(a), self.y(b)) for a, b in zip(x.tolist(), levels.tolist(), strict=True)])

    def _paint_bands(self, painter: QPainter, area: QRectF) -> None:
        painter.setFont(font(10))
        metrics = QFontMetricsF(painter.font())
        for i, band in enumerate(BANDS):
            left, right = self.x(band.low), min(self.x(band.high), area.right())
            if left >= area.right():
                return
            if i % 2 == 0:
                painter.fillRect(
                    QRectF(left, area.top(), right - left, area.height()), self.theme.colour("muted", 0.07)
                )
            painter.setPen(self.theme.colour("muted"))
            box = QRectF(left, area.top() + 1, right - left, metrics.height())
            painter.drawText(box, Qt.AlignmentFlag.AlignHCenter, GREEK[band.name])


class SpectrumPanel(Panel):
    """Welch's spectrum of the rows on screen, unfiltered unless asked otherwise."""

    title = "Spectrum"
    tip = "Power spectrum and band powers of the selection or the page"
    draws = SpanSpectrum

    def __init__(self) -> None:
        super().__init__()
        self.rows = Chooser("Rows of the spectrum", [UNDER_CURSOR, ALL_ROWS])
        self.reach = Chooser("Frequencies shown", REACHES)
        self.unit = Chooser("Unit of the density", [("", "µV²/Hz"), ("dB", "dB")])
        self.filtered = check_box("Display filter", "Measure through the display filter; off: the signal as it is")
        self.plot = SpectrumPlot()
        self.bands = BandTable()
        self._caption = note()
        self._foot = note()
        self.column.addLayout(line_of(self.rows, self.filtered))
        self.column.addWidget(self._caption)
        self.column.addWidget(self.plot, 1)
        self.column.addLayout(line_of(self.reach, self.unit))
        self.column.addWidget(self.bands)
        self.column.addWidget(self._foot)
        self._result: SpanSpectrum | None = None
        self._row = ""
        self.rows.choose(ALL)
        for chooser in (self.rows, self.reach, self.unit):
            chooser.chosen.connect(self._show)
        self.filtered.toggled.connect(self.wanted)

    def set_result(self, result: SpanSpectrum | None) -> None:
        """Show a spectrum."""
        self._result = result
        for part in (self.plot, self.bands):
            part.set_stale(False)
        if result is not None:
            names = [(name, name) for name in dict.fromkeys(result.ch_names)]
            sides = [(LEFT_RIGHT, "Left and right")] if all(result.picks(side) for side in SIDES) else []
            self.rows.set_choices([UNDER_CURSOR, ALL_ROWS, *sides, *names])
        self._show()

    def set_row(self, name: str) -> None:
        """Speak of the row under the cursor."""
        if name and name != self._row:
            self._row = name
            if self.rows.value() == ROW_UNDER_CURSOR:
                self._show()

    def set_busy(self) -> None:
        """Fade what is shown until it is renewed."""
        self.plot.set_message("")
        for part in (self.plot, self.bands):
            part.set_stale(True)

    def refuse(self, sentence: str) -> None:
        """Say why there is no spectrum."""
        self._result = None
        self._clear(sentence)

    def set_theme(self, theme: Theme) -> None:
        """Take the colours."""
        super().set_theme(theme)
        self.plot.set_theme(theme)
        self.bands.set_theme(theme)

    def table(self) -> str:
        """Band powers and densities."""
        return spectrum_table(self._result, self.plot.curves) if self._result is not None and self.plot.curves else ""

    # Inside

    def _curves(self, result: SpanSpectrum) -> list[Curve]:
        chosen = self.rows.value()
        if chosen == LEFT_RIGHT:
            return [result.curve(side) for side in SIDES]
        if chosen == ROW_UNDER_CURSOR:
            return [result.curve(self._row if self._row in result.ch_names else result.ch_names[0])]
        return [result.curve(chosen)]

    def _show(self) -> None:
        result = self._result
        if result is None:
            self._clear("")
            return
        try:
            curves = self._curves(result)
        except AnalysisError as error:
            self._clear(str(error))
            return
        self.plot.message = ""
        self.plot.set_curves(curves, reach_of(self.reach), self.unit.value() == "dB")
        self.bands.set_curves(curves)
        self._caption.setText(_caption(result, curves))
        self._foot.setText(_foot(result, curves))

    def _clear(self, sentence: str) -> None:
        for part in (self.plot, self.bands):
            part.set_stale(False)
        self.plot.set_curves([], 0.0, False)
        self.plot.set_message(as_sentence(sentence))
        self.bands.set_curves([])
        for text in (self._caption, self._foot):
            text.setText("")


def reach_of(chooser: Chooser) -> float:
    """The highest frequency that is chosen of REACHES, in hertz; 0 for all."""
    return 0.0 if chooser.value() == WHOLE else float(chooser.value())


def rows_text(names: Sequence[str], what: str) -> str:
    """Which rows a curve is the mean of."""
    if len(names) == 1:
        return names[0]
    return f"mean of {len(names)} {what} rows" if what in SIDES else f"mean of {len(names)} rows"


def _caption(result: SpanSpectrum, curves: Sequence[Curve]) -> str:
    window = result.request.window
    assert window is not None
    rows = ", ".join(rows_text(curve.ch_names, curve.rows) for curve in curves)
    span = f"{time_text(window.start, 0.1)} to {time_text(window.stop, 0.1)}"
    return f"{rows} · {span} · {result.request.montage}"


def _foot(result: SpanSpectrum, curves: Sequence[Curve]) -> str:
    segments = result.segments
    count = max(curve.count for curve in curves)
    windows = "window, not averaged" if count == 1 else "windows averaged"
    spread = f" of {segments.possible:,}, evenly spread" if segments.thinned else ""
    length = duration_text(segments.length / result.sfreq)
    through = str(result.request.options["filter"]) if result.filtered else "unfiltered"
    return (
        f"{count} Hann {windows}{spread}, {length} each, half overlapping · "
        f"resolution {result.resolution:.2g} Hz · {through}. Shares are of 0.5–80 Hz."
    )


def _logarithm(power: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log10(power))


def _decades(curves: Sequence[Curve], reach: float) -> tuple[float, float]:
    """The range of the vertical axis in decades: what is shown, without the deepest notches."""
    levels = [_logarithm(c.power[(c.frequencies > 0.4) & (c.frequencies <= reach)]) for c in curves]
    shown = np.concatenate(levels)
    shown = shown[np.isfinite(shown)]
    if not shown.size:
        return -1.0, 1.0
    high, low = float(shown.max()) + 0.35, float(np.percentile(shown, 2)) - 0.25
    return max(min(low, high - _LEAST_DECADES), high - _MOST_DECADES), high

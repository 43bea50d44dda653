"""Power over time and frequency, of one row or of all, in decibels."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from PyQt6.QtCore import QLineF, QPointF, QRectF, Qt
from PyQt6.QtGui import QBrush, QImage, QPainter, QPen

from analysis.measured_tables import spectrogram_table
from analysis.measuring import duration_text, unit_text
from analysis.recording import Window
from analysis.span_spectra import SpanSpectrogram
from analysis.spectra import decibels
from viewers.colour_scales import amount_scale, image, indices
from viewers.panels.base import Chooser, Panel, as_sentence, check_box, line_of, note
from viewers.panels.plot import Plot, Tick
from viewers.panels.spectrum import ALL, ALL_ROWS, REACHES, ROW_UNDER_CURSOR, UNDER_CURSOR, reach_of, rows_text
from viewers.theme import Theme, font, px
from viewers.time_scale import TimeScale, time_text

_LOW_SHARE, _HIGH_SHARE = 5, 99.8
_LEAST_SPAN_DB = 10.0
_BAR = 10.0


class SpectrogramPlot(Plot):
    """The picture, with a scale of its colours at the right and the cursor's time on it."""

    right_room = 44.0

    def __init__(self) -> None:
        super().__init__("Spectrogram", height=240)
        self._result: SpanSpectrogram | None = None
        self._levels = np.empty((0, 0))
        self.limits = (0.0, 1.0)
        self._picture: QImage | None = None
        self._time: float | None = None

    def set_result(self, result: SpanSpectrogram | None, reach: float) -> None:
        """Show density from 0 to `reach` hertz (0: as far as it goes)."""
        self._result, self._picture = result, None
        if result is not None and result.request.window is not None and result.times.size:
            window = result.request.window
            self.x_range = (window.start, window.stop)
            top = float(result.frequencies[-1])
            self.y_range = (0.0, min(reach, top) if reach else top)
            shown = result.frequencies <= self.y_range[1] + 1e-9
            self._levels = decibels(result.power[:, shown])
            self.limits = _limits(self._levels[:, 1:])
        self.update()

    def set_time(self, time: float | None) -> None:
        """Show where the cursor is."""
        if time != self._time:
            self._time = time
            self.update()

    def set_theme(self, theme: Theme) -> None:
        """Take the colours."""
        self._picture = None
        super().set_theme(theme)

    def x_ticks(self) -> Sequence[Tick]:
        """Times as on the traces."""
        scale = TimeScale(Window(*self.x_range), self.area.width())
        step = scale.step(px(52.0))
        return [(time, time_text(time, step)) for time in scale.ticks(step)]

    def paint_plot(self, painter: QPainter, area: QRectF) -> None:
        """The picture, hatched where there is no signal, and the cursor."""
        result = self._result
        if result is None or not result.times.size:
            return
        if self._picture is None:
            self._picture = self._make_picture(result)
        half_bin = float(result.frequencies[1] - result.frequencies[0]) / 2
        half_hop = self._hop(result) / 2
        left, right = self.x(float(result.times[0]) - half_hop), self.x(float(result.times[-1]) + half_hop)
        top = self.y(float(result.frequencies[self._levels.shape[1] - 1]) + half_bin)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        place = QRectF(left, top, right - left, self.y(-half_bin) - top)
        painter.fillRect(place, QBrush(self.theme.colour("muted", 0.5), Qt.BrushStyle.BDiagPattern))
        painter.drawImage(place, self._picture)
        if self._time is not None:
            painter.setPen(QPen(self.theme.colour("text", 0.8), 1))
            painter.drawLine(QLineF(self.x(self._time), area.top(), self.x(self._time), area.bottom()))

    def paint_over(self, painter: QPainter, area: QRectF) -> None:
        """The scale of the colours, and what the axes mean."""
        if self._result is None or not self._result.times.size:
            return
        bar = QRectF(area.right() + 6, area.top() + px(16), _BAR, area.height() - px(16))
        painter.drawImage(bar, image(amount_scale(self.theme)[::-1][:, None]))
        painter.setPen(QPen(self.theme.colour("border"), 1))
        painter.drawRect(bar)
        painter.setFont(font(10))
        painter.setPen(self.theme.colour("muted"))
        for level, y in ((self.limits[1], bar.top()), (self.limits[0], bar.bottom() - px(12))):
            box = QRectF(bar.right() + 3, y, self.width() - bar.right() - 3, px(13))
            painter.drawText(box, Qt.AlignmentFlag.AlignLeft, f"{level:.0f}".replace("-", "−"))
        box = QRectF(area.right() + 4, area.top(), self.width() - area.right() - 4, px(14))
        painter.drawText(box, Qt.AlignmentFlag.AlignLeft, "dB")
        painter.drawText(QRectF(0, self.height() - px(14), px(34), px(14)), Qt.AlignmentFlag.AlignRight, "Hz")

    def describe(self, at: QPointF) -> str:
        """Time, frequency and density under the mouse."""
        result = self._result
        if result is None or not result.times.size:
            return ""
        time, frequency = self.x_at(at.x()), self.y_at(at.y())
        i = int(np.argmin(np.abs(result.times - time)))
        j = int(np.argmin(np.abs(result.frequencies - frequency)))
        level = float(self._levels[i, min(j, self._levels.shape[1] - 1)])
        if abs(result.times[i] - time) > result.seconds or not math.isfinite(level):
            return f"{time_text(time, 0.01)}   no signal"
        value = f"{level:+.1f} dB".replace("-", "−")
        return f"{time_text(time, 0.01)}   {result.frequencies[j]:.2f} Hz   {value} re {unit_text(result.unit)}²/Hz"

    def _make_picture(self, result: SpanSpectrogram) -> QImage:
        levels = self._levels.T[::-1]
        rgb = amount_scale(self.theme)[indices(levels, *self.limits)]
        return image(rgb, ~np.isnan(levels))

    def _hop(self, result: SpanSpectrogram) -> float:
        return float(np.median(np.diff(result.times))) if result.times.size > 1 else result.seconds


class SpectrogramPanel(Panel):
    """Spectrogram of the selection or the page."""

    title = "Spectrogram"
    tip = "Power over time and frequency of the selection or the page"
    draws = SpanSpectrogram

    def __init__(self) -> None:
        super().__init__()
        self.rows = Chooser("Row of the spectrogram", [UNDER_CURSOR, ALL_ROWS])
        self.reach = Chooser("Frequencies shown", REACHES)
        self.filtered = check_box("Display filter", "Measure through the display filter; off: the signal as it is")
        self.plot = SpectrogramPlot()
        self._caption = note()
        self._foot = note()
        self.column.addLayout(line_of(self.rows, self.filtered))
        self.column.addWidget(self._caption)
        self.column.addWidget(self.plot, 1)
        self.column.addLayout(line_of(self.reach))
        self.column.addWidget(self._foot)
        self._result: SpanSpectrogram | None = None
        self._row = ""
        self.rows.choose(ALL)
        self.rows.chosen.connect(self.wanted)
        self.reach.chosen.connect(self._show)
        self.filtered.toggled.connect(self.wanted)

    def offer_rows(self, names: Sequence[str]) -> None:
        """List the rows on screen."""
        self.rows.set_choices([UNDER_CURSOR, ALL_ROWS, *((name, name) for name in dict.fromkeys(names))])

    def set_row(self, name: str) -> None:
        """Speak of the row under the cursor."""
        if name and name != self._row:
            self._row = name
            if self.rows.value() == ROW_UNDER_CURSOR:
                self.wanted.emit()

    def chosen_rows(self, names: Sequence[str]) -> str:
        """The row to show among those on screen, or "all"."""
        chosen = self.rows.value()
        if chosen != ROW_UNDER_CURSOR:
            return chosen
        return self._row if self._row in names else names[0] if names else ALL

    def set_result(self, result: SpanSpectrogram | None) -> None:
        """Show a spectrogram."""
        self._result = result
        self.plot.set_stale(False)
        self._show()

    def set_time(self, time: float | None) -> None:
        """Show where the cursor is."""
        self.plot.set_time(time)

    def set_busy(self) -> None:
        """Fade what is shown until it is renewed."""
        self.plot.set_message("")
        self.plot.set_stale(True)

    def refuse(self, sentence: str) -> None:
        """Say why there is no spectrogram."""
        self._result = None
        self._clear(sentence)

    def set_theme(self, theme: Theme) -> None:
        """Take the colours."""
        super().set_theme(theme)
        self.plot.set_theme(theme)

    def table(self) -> str:
        """Density at each time and frequency."""
        return spectrogram_table(self._result) if self._result is not None else ""

    def _clear(self, sentence: str) -> None:
        self.plot.set_stale(False)
        self.plot.set_result(None, 0.0)
        self.plot.set_message(as_sentence(sentence))
        for text in (self._caption, self._foot):
            text.setText("")

    def _show(self) -> None:
        result = self._result
        if result is None or result.request.window is None:
            self._clear("")
            return
        self.plot.message = ""
        self.plot.set_result(result, reach_of(self.reach))
        window = result.request.window
        span = f"{time_text(window.start, 0.1)} to {time_text(window.stop, 0.1)}"
        self._caption.setText(f"{rows_text(result.ch_names, ALL)} · {span} · {result.request.montage}")
        hop = duration_text(float(np.median(np.diff(result.times)))) if result.times.size > 1 else "once"
        through = str(result.request.options["filter"]) if result.filtered else "unfiltered"
        self._foot.setText(
            f"Hann windows of {duration_text(result.seconds)} every {hop}, resolution {1 / result.seconds:.2g} Hz · "
            f"{through} · dB re 1 {unit_text(result.unit)}²/Hz"
        )


def _limits(levels: np.ndarray) -> tuple[float, float]:
    """What the darkest and the brightest colour stand for, in whole decibels."""
    known = levels[np.isfinite(levels)]
    if not known.size:
        return 0.0, 1.0
    low, high = (float(v) for v in np.percentile(known, [_LOW_SHARE, _HIGH_SHARE]))
    return float(math.floor(min(low, high - _LEAST_SPAN_DB))), float(math.ceil(high))

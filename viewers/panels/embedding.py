"""Windows of a recording as points of a plane, as a model tells them apart; a click moves the page to one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PyQt6.QtCore import QPointF, QRectF, Qt, pyqtSignal
from PyQt6.QtGui import QColor, QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPen
from PyQt6.QtWidgets import QWidget

from analysis.analyses import Analysis
from analysis.analysis_tables import heading
from analysis.recording import Window
from viewers.category_colours import category
from viewers.colour_scales import STEPS, amount_scale, image, indices
from viewers.panels.base import Choice, Chooser, line_of
from viewers.panels.kind_panel import Heading, KindPanel
from viewers.panels.plot import Plot, Tick
from viewers.theme import font, px
from viewers.time_scale import time_text

TIME, LABEL, RECORDING = "time", "label", "recording"
_NEAR_PX = 12.0
_FIRST_STEP = STEPS // 4  # where the scale is no longer the colour of the ground
_MARGIN = 0.06


class PointPlot(Plot):
    """Points (n, 2) in colours of their own; the ones of the page on screen are ringed."""

    point_clicked = pyqtSignal(int)

    def __init__(self) -> None:
        super().__init__("Windows as points", 300)
        self.points = np.empty((0, 2))
        self.times = np.empty(0)
        self.seconds = 0.0
        self.ictal = np.empty(0, bool)
        self.group = np.empty(0, int)
        self.names: tuple[str, ...] = ()
        self.elsewhere = np.empty(0, bool)
        self.where: tuple[str, ...] = ()
        self.by = TIME
        self._page: Window | None = None
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    def set_points(self, points: np.ndarray, times: np.ndarray, seconds: float, ictal: np.ndarray) -> None:
        """Show windows of `seconds` that begin at `times` (n,)."""
        self.points, self.times, self.seconds = np.asarray(points, float), np.asarray(times, float), seconds
        self.ictal = np.asarray(ictal, bool)
        self.elsewhere, self.where = np.zeros(len(self.times), bool), ("",) * len(self.times)
        self.update()

    def set_where(self, recording: np.ndarray, names: Sequence[str]) -> None:
        """Tell which recording (n,) each window is from; the first is the one on screen."""
        number = np.asarray(recording, int)
        self.elsewhere, self.where = number > 0, tuple(names[i] for i in number)
        self.update()

    def set_colours(self, by: str, group: np.ndarray | None = None, names: Sequence[str] = ()) -> None:
        """What the colours tell: the time, or the number (n,) of a named group, negative for none."""
        self.by, self.names = by, tuple(names)
        self.group = np.asarray(group if group is not None else np.zeros(len(self.times)), int)
        self.bottom_room = 30.0 if by == TIME else 44.0
        self.update()

    def set_page(self, window: Window) -> None:
        """Ring the windows of this page."""
        if window != self._page:
            self._page = window
            self.update()

    def on_page(self) -> np.ndarray:
        """Numbers of the windows that the page shows a part of."""
        if self._page is None:
            return np.empty(0, int)
        inside = (self.times < self._page.stop) & (self.times + self.seconds > self._page.start)
        return np.flatnonzero(inside & ~self.elsewhere)

    def x_ticks(self) -> Sequence[Tick]:
        """None: coordinates have no unit."""
        return ()

    def y_ticks(self) -> Sequence[Tick]:
        """None: coordinates have no unit."""
        return ()

    left_room, right_room, bottom_room = 6.0, 6.0, 34.0

    def places(self) -> np.ndarray:
        """Pixels (n, 2) of the points, one unit as long in both directions."""
        area = self.area
        if not len(self.points):
            return np.empty((0, 2))
        low, high = self.points.min(0), self.points.max(0)
        size = np.maximum(high - low, 1e-9)
        scale = min(area.width() / size[0], area.height() / size[1]) * (1 - 2 * _MARGIN)
        middle = (low + high) / 2
        centre = area.center()
        x = centre.x() + (self.points[:, 0] - middle[0]) * scale
        return np.column_stack([x, centre.y() - (self.points[:, 1] - middle[1]) * scale])

    def colours(self) -> list[QColor]:
        """The colour of each point."""
        if self.by != TIME:
            none = self.theme.colour("muted", 0.5)
            return [category(self.theme, i) if i >= 0 else none for i in self.group.tolist()]
        table = amount_scale(self.theme)[_FIRST_STEP:]
        low, high = (float(self.times.min()), float(self.times.max())) if self.times.size else (0.0, 1.0)
        places = indices(self.times, low, high) * (len(table) - 1) // (STEPS - 1)
        return [QColor(*map(int, table[i])) for i in places]

    def paint_plot(self, painter: QPainter, area: QRectF) -> None:
        """The points; marked seizures are squares whatever the colours tell."""
        places, colours = self.places(), self.colours()
        painter.setPen(Qt.PenStyle.NoPen)
        size = px(3.6)
        for place, colour, marked in zip(places, colours, self.ictal, strict=True):
            painter.setBrush(colour)
            box = QRectF(place[0] - size, place[1] - size, 2 * size, 2 * size)
            if marked:
                painter.drawRect(box)
            else:
                painter.drawEllipse(box)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(self.theme.colour("accent"), 1.6))
        for i in self.on_page():
            painter.drawEllipse(QPointF(*places[i]), px(7), px(7))

    def paint_over(self, painter: QPainter, area: QRectF) -> None:
        """What the colours tell, and that a point can be clicked."""
        painter.setFont(font(10))
        y = area.bottom() + px(4)
        painter.setPen(self.theme.colour("muted"))
        if self.by == TIME and self.times.size:
            first, last = time_text(float(self.times.min())), time_text(float(self.times.max()))
            painter.drawText(QRectF(area.left(), y, px(60), px(13)), Qt.AlignmentFlag.AlignLeft, first)
            painter.drawText(QRectF(area.right() - px(60), y, px(60), px(13)), Qt.AlignmentFlag.AlignRight, last)
            bar = QRectF(area.left() + px(52), y + px(3), area.width() - px(104), px(7))
            painter.drawImage(bar, image(amount_scale(self.theme)[_FIRST_STEP:][None]))
        if self.by != TIME:
            self._paint_names(painter, area, y)
        painter.setPen(self.theme.colour("muted"))
        words = "square: marked seizure · ring: on this page" if self.ictal.any() else "ring: on this page"
        y += px(self.bottom_room - 30)
        painter.drawText(QRectF(area.left(), y + px(14), area.width(), px(14)), Qt.AlignmentFlag.AlignHCenter, words)
        if self.hasFocus():
            painter.setPen(QPen(self.theme.colour("accent"), 1))
            painter.drawRect(area)

    def _paint_names(self, painter: QPainter, area: QRectF, y: float) -> None:
        """The groups beside their colours, on two lines where they need them."""
        metrics = QFontMetricsF(painter.font())
        groups = list(enumerate(self.names)) + ([(-1, "none")] if (self.group < 0).any() else [])
        x = area.left()
        for number, name in groups:
            text = f"{name} {int((self.group == number).sum())}"
            width = px(11) + metrics.horizontalAdvance(text)
            if x + width > area.right() and x > area.left():
                x, y = area.left(), y + px(13)
            ink = category(self.theme, number) if number >= 0 else self.theme.colour("muted", 0.5)
            painter.fillRect(QRectF(x, y + px(3), px(8), px(8)), ink)
            painter.setPen(self.theme.colour("text"))
            painter.drawText(QRectF(x + px(11), y, width, px(13)), Qt.AlignmentFlag.AlignVCenter, text)
            x += width + px(10)

    def nearest(self, at: QPointF) -> int | None:
        """The point under the mouse."""
        places = self.places()
        if not len(places):
            return None
        distance = np.hypot(places[:, 0] - at.x(), places[:, 1] - at.y())
        i = int(distance.argmin())
        return i if distance[i] <= _NEAR_PX else None

    def describe(self, at: QPointF) -> str:
        """When the window under the mouse is."""
        i = self.nearest(at)
        if i is None:
            return ""
        start = float(self.times[i])
        seizure = "\nmarked seizure" if self.ictal[i] else ""
        lines = [f"{time_text(start, 0.1)} to {time_text(start + self.seconds, 0.1)}{seizure}"]
        if self.by != TIME and self.group[i] >= 0:
            lines.append(self.names[self.group[i]])
        if self.elsewhere[i]:
            return "\n".join([*lines, f"of {self.where[i]}, which is not on screen"])
        return "\n".join([*lines, "click: show this page"])

    def mousePressEvent(self, event: QMouseEvent | None) -> None:
        """Tell which point is clicked."""
        i = self.nearest(event.position()) if event is not None and not self.message else None
        if i is not None and not self.elsewhere[i]:
            self.point_clicked.emit(i)

    def keyPressEvent(self, event: QKeyEvent | None) -> None:
        """Left and right go to the window before and after, in time."""
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        if event is None or event.key() not in steps or not self.times.size:
            super().keyPressEvent(event)
            return
        order = np.argsort(np.where(self.elsewhere, np.inf, self.times), kind="stable")
        order = order[: int((~self.elsewhere).sum())]
        shown = self.on_page()
        place = int(np.flatnonzero(order == shown[0])[0]) if shown.size else -1
        place = min(max(place + steps[Qt.Key(event.key())], 0), order.size - 1)
        self.point_clicked.emit(int(order[place]))


class Embedding(KindPanel):
    """Draws an analysis of kind `embedding`."""

    title = "Embedding"
    tip = "Windows as points, as a model tells them apart"

    def make_body(self) -> None:
        """One plot and what its colours tell."""
        self.by = Chooser("What the colours tell", [(TIME, "Coloured by time")])
        self.heading = Heading("Windows as points")
        self.plot = PointPlot()
        self.column.addLayout(line_of(self.by))
        self.column.addWidget(self.heading)
        self.column.addWidget(self.plot)
        self.by.chosen.connect(self._on_by)
        self.plot.point_clicked.connect(self._on_point)

    def body(self) -> Sequence[QWidget]:
        """All there is."""
        return [self.by, self.heading, self.plot]

    def show_result(self, result: Analysis) -> None:
        """Place the points."""
        facts = result.facts
        self.by.set_choices(self._choices(result))
        seconds = float(facts["window_seconds"])
        self.plot.set_points(result.values("points"), self._times(result), seconds, result.values("seizure") > 0)
        if "recording" in result.arrays:
            self.plot.set_where(result.values("recording"), result.labels["of_recording"])
        self._show_colours(result)
        shares = facts.get("explained_variance")
        more = f", {sum(shares):.0%} of the variance" if shares else ""
        self.heading.set_array(result.arrays["points"], f"{facts.get('method', '')}{more}")

    @staticmethod
    def _choices(result: Analysis) -> list[Choice]:
        """Time, the labels where there are any, and the recordings where there are several."""
        choices = [(TIME, "Coloured by time")]
        if "label" in result.arrays:
            choices.append((LABEL, f"Coloured by label: {result.facts.get('labels', '')}"))
        if len(result.labels.get("of_recording", ())) > 1:
            choices.append((RECORDING, "Coloured by recording"))
        return choices

    def _show_colours(self, result: Analysis) -> None:
        by = self.by.value()
        if by == TIME:
            self.plot.set_colours(TIME)
        else:
            names = result.labels["group" if by == LABEL else "of_recording"]
            self.plot.set_colours(by, result.values("label" if by == LABEL else "recording"), names)

    @staticmethod
    def _times(result: Analysis) -> np.ndarray:
        return result.values("window_onset").astype(np.float64) + float(result.facts["first_window"])

    def set_window(self, window: Window) -> None:
        """Ring the windows of the page."""
        self.plot.set_page(window)

    def table(self) -> str:
        """Onset, place and mark of every window."""
        result = self.result
        if result is None:
            return ""
        labels, groups = result.values("label"), result.labels["group"]
        files = result.labels["of_recording"]
        lines = [*heading(result), "recording\tonset (s)\tcoordinate 1\tcoordinate 2\tseizure\tlabel"]
        for i, (onset, point) in enumerate(zip(self._times(result), result.values("points"), strict=True)):
            name = groups[int(labels[i])] if labels[i] >= 0 else ""
            place = f"{onset:.3f}\t{point[0]:.7g}\t{point[1]:.7g}"
            lines.append(
                f"{files[int(result.values('recording')[i])]}\t{place}\t{result.values('seizure')[i]:.0f}\t{name}"
            )
        return "\n".join(lines) + "\n"

    def _on_by(self, _value: str) -> None:
        if self.result is not None:
            self._show_colours(self.result)

    def _on_point(self, i: int) -> None:
        self.time_requested.emit(float(self.plot.times[i]))

"""NeurDuo's nominal time constants: every block of both streams, with an untrained model's beside."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from PyQt6.QtCore import QLineF, QPointF, QRectF, Qt
from PyQt6.QtGui import QColor, QFontMetricsF, QPainter, QPen
from PyQt6.QtWidgets import QWidget

from analysis.analyses import Analysis
from analysis.analysis_tables import heading
from viewers.panels.base import note
from viewers.panels.kind_panel import Heading, KindPanel
from viewers.panels.layer_plot import Ink
from viewers.panels.plot import Plot, Tick
from viewers.stream_lane import fast_ink, slow_ink
from viewers.theme import Theme, font, px

_PERCENTS = (5, 25, 50, 75, 95)
_ROUND_SECONDS = (0.01, 0.1, 1, 10, 60, 600, 3600, 36000)
_STREAMS: tuple[tuple[str, Ink], ...] = (("fast", fast_ink), ("slow", slow_ink))


@dataclass(frozen=True)
class Box:
    """Quantiles (5,) in seconds of one block's time constants, and of the untrained model's block; which stream."""

    name: str
    stream: str
    own: np.ndarray
    untrained: np.ndarray


def boxes_of(result: Analysis) -> list[Box]:
    """One for each block, the fast stream's first."""
    made = []
    for stream, _ in _STREAMS:
        own, reference = result.values(stream), result.values(f"untrained_{stream}")
        for i in range(len(own)):
            pair = (np.percentile(values[i], _PERCENTS) for values in (own, reference))
            made.append(Box(str(i), stream, *pair))
    return made


def seconds_text(seconds: float) -> str:
    """A length of time in the unit it is easily read in."""
    if seconds < 60:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / 60:.2g} min" if seconds < 3600 else f"{seconds / 3600:.2g} h"


def untrained_ink(theme: Theme) -> QColor:
    """The colour of the model that was never trained."""
    return theme.colour("muted", 0.75)


class BlockBoxes(Plot):
    """Boxes of quantiles over blocks on an axis of decades; a second, grey one beside each."""

    x_title = "block of the stream"
    left_room = 46.0

    def __init__(self, name: str) -> None:
        super().__init__(name, 190)
        self.boxes: list[Box] = []

    def set_boxes(self, boxes: Sequence[Box]) -> None:
        """Show boxes from left to right, a gap between the streams."""
        self.boxes = list(boxes)
        values = np.concatenate([np.concatenate([b.own, b.untrained]) for b in self.boxes])
        low, high = (math.log10(float(v)) for v in (values.min(), values.max()))
        self.x_range = (-0.7, len(self.boxes) + 0.2)
        self.y_range = (low - 0.15, high + 0.25)
        self.setAccessibleDescription("; ".join(_words(box) for box in self.boxes))
        self.update()

    def place(self, index: int) -> float:
        """Where a box stands."""
        return index + (0.5 if self.boxes[index].stream == "slow" else 0.0)

    def x_ticks(self) -> Sequence[Tick]:
        """Numbers of the blocks."""
        return [(self.place(i), box.name) for i, box in enumerate(self.boxes)]

    def y_ticks(self) -> Sequence[Tick]:
        """Round times."""
        low, high = self.y_range
        found = [(math.log10(s), seconds_text(s)) for s in _ROUND_SECONDS]
        return [tick for tick in found if low <= tick[0] <= high]

    def paint_plot(self, painter: QPainter, area: QRectF) -> None:
        """The model's box with the untrained one at its right."""
        inks = dict(_STREAMS)
        for i, box in enumerate(self.boxes):
            self._paint_box(painter, self.place(i) - 0.17, box.own, inks[box.stream](self.theme))
            self._paint_box(painter, self.place(i) + 0.17, box.untrained, untrained_ink(self.theme))

    def _paint_box(self, painter: QPainter, at: float, quantiles: np.ndarray, ink: QColor) -> None:
        x, half = self.x(at), max(2.0, 0.13 * (self.x(1.0) - self.x(0.0)))
        low, first, middle, third, high = (self.y(math.log10(float(v))) for v in quantiles)
        painter.setPen(QPen(ink, 1))
        painter.drawLine(QLineF(x, low, x, high))
        ground = QColor(ink)
        ground.setAlphaF(0.35)
        painter.fillRect(QRectF(x - half, third, 2 * half, first - third), ground)
        painter.setPen(QPen(ink, 2))
        painter.drawLine(QLineF(x - half, middle, x + half, middle))

    def paint_over(self, painter: QPainter, area: QRectF) -> None:
        """What the colours are."""
        painter.setFont(font(10))
        metrics = QFontMetricsF(painter.font())
        x = area.left() + 4
        for name, ink in (*_STREAMS, ("never trained", untrained_ink)):
            width = metrics.horizontalAdvance(name) + 4
            box = QRectF(x, area.top() + 1, width, px(13))
            painter.fillRect(box, self.theme.colour("canvas", 0.75))
            painter.setPen(ink(self.theme))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, name)
            x += width + 6

    def describe(self, at: QPointF) -> str:
        """The quantiles of the box under the mouse."""
        x = self.x_at(at.x())
        near = [i for i in range(len(self.boxes)) if abs(self.place(i) - x) < 0.5]
        return _words(self.boxes[near[0]]) if near else ""


def _words(box: Box) -> str:
    own, untrained = (seconds_text(float(q[2])) for q in (box.own, box.untrained))
    spread = f"{seconds_text(float(box.own[0]))} to {seconds_text(float(box.own[-1]))}"
    return f"{box.stream} block {box.name}: median {own} (5 to 95 %: {spread}), never trained {untrained}"


class TimeConstants(KindPanel):
    """Draws an analysis of kind `timescales`."""

    title = "Timescales"
    tip = "How long the streams of a NeurDuo could remember"

    def make_body(self) -> None:
        """The boxes and the medians of all."""
        self.plot = BlockBoxes("Time constants by block")
        self.head = Heading("Nominal time constants")
        self.words = note(role="")
        for widget in (self.head, self.plot, self.words):
            self.column.addWidget(widget)

    def body(self) -> Sequence[QWidget]:
        """All of it."""
        return [self.head, self.plot, self.words]

    def warnings(self, result: Analysis) -> Iterable[str]:
        """An untrained model looks almost the same: that goes first."""
        return [note for note in result.notes if "initialisation" in note]

    def show_result(self, result: Analysis) -> None:
        """Fill boxes and words."""
        self.plot.set_boxes(boxes_of(result))
        self.head.set_array(result.arrays["fast"], "5, 25, 50, 75, 95 % of each block")
        self.words.setText("\n".join(time_words(result)))

    def table(self) -> str:
        """Quantiles of every block in seconds, and of the untrained model's."""
        if self.result is None:
            return ""
        columns = [f"{whose}{percent} %" for whose in ("", "never trained ") for percent in _PERCENTS]
        lines = [*heading(self.result), "\t".join(["stream", "block", *columns])]
        for box in boxes_of(self.result):
            lines.append("\t".join([box.stream, box.name, *(f"{v:.6g}" for v in (*box.own, *box.untrained))]))
        return "\n".join(lines) + "\n"


def time_words(result: Analysis) -> list[str]:
    """Median and longest of both streams, in time and in steps, with the untrained model's."""
    facts, lines = result.facts, []
    for name, step in (("fast", facts["step_seconds"]), ("slow", facts["write_seconds"])):
        median, longest = (float(facts[f"{name}_{what}"]) for what in ("median", "longest"))
        reference, far = (float(facts[f"untrained_{name}_{what}"]) for what in ("median", "longest"))
        lines.append(
            f"{name.capitalize()}: median {seconds_text(median)} ({median / step:.1f} steps of {step:g} s), longest "
            f"{seconds_text(longest)}; never trained {seconds_text(reference)} and {seconds_text(far)}"
        )
    return lines

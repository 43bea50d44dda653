"""Events that a model found: violet, a solid onset line and the word model, so that no one takes them for a human's."""

from __future__ import annotations

import numpy as np
from PyQt6.QtGui import QPainter

from analysis.annotation import RANDOM_WEIGHTS, Annotation
from analysis.annotation_index import AnnotationIndex
from analysis.recording import Window
from analysis.results import SeizurePrediction
from viewers.overlays.base import Label, PaintedOverlay
from viewers.overlays.marks import MANY, Stroke, paint_few, paint_many
from viewers.time_scale import TimeScale

_MOST_LABELS = 60


def name_of(event: Annotation, random_weights: bool = False) -> str:
    """What an event is called on the traces, such as `Seizure, model  p 0.94`."""
    text = event.title or "Event"
    text = text[0].upper() + text[1:]
    who = f"model ({RANDOM_WEIGHTS})" if random_weights or event.is_random else "model"
    certainty = f"  p {event.confidence:.2f}" if event.confidence is not None else ""
    return f"{text}, {who}{certainty}"


class SeizurePredictionOverlay(PaintedOverlay):
    """Shades the events of a SeizurePrediction behind the traces."""

    title = "Model events"
    draws = SeizurePrediction
    place = "behind"

    def __init__(self) -> None:
        super().__init__()
        self._index = AnnotationIndex()
        self._result: SeizurePrediction | None = None

    def set_result(self, result: SeizurePrediction | None) -> None:
        """Take the events of a result, or of what has arrived of it."""
        self._result = result
        self._index = AnnotationIndex(result.events if result is not None else ())
        self.update()

    def labels(self, window: Window) -> tuple[list[Label], int]:
        """Names of the events on the page."""
        if not self.state.visible or self._result is None:
            return [], 0
        found = self._index.within(window.start, window.stop)
        items = [self._index.items[i] for i in found[:_MOST_LABELS]]
        random_weights = self._result.random_weights
        labels = [Label(event.onset, name_of(event, random_weights), "accent", event) for event in items]
        return labels, max(0, found.size - _MOST_LABELS)

    def marks_within(self, start: float, stop: float) -> list[Annotation]:
        """The events that overlap a span."""
        return [self._index.items[i] for i in self._index.within(start, stop)] if self.state.visible else []

    def describe(self, time: float, ch_name: str) -> str:
        """The events at a time."""
        found = self._index.within(time, np.nextafter(time, np.inf))
        random_weights = self._result is not None and self._result.random_weights
        return ", ".join(name_of(self._index.items[i], random_weights) for i in found[:3])

    def paint(self, painter: QPainter, scale: TimeScale, height: float) -> None:
        """Draw what lies on the page."""
        found = self._index.within(scale.window.start, scale.window.stop)
        if not found.size:
            return
        stroke = Stroke(self.theme.colour("accent", 0.16 * self.state.opacity), self.theme.colour("accent"))
        onset, stop = self._index.onset[found], self._index.stop[found]
        if found.size > MANY:
            paint_many(painter, scale, onset, stop, [(0.0, height)], stroke)
        else:
            spans = list(zip(onset.tolist(), stop.tolist(), strict=True))
            paint_few(painter, scale, spans, [(0.0, height)], stroke)

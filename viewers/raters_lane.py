"""Two raters under one another: what each has marked, where they agree, and where they do not."""

from __future__ import annotations

from PyQt6.QtCore import QRectF, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QBrush, QMouseEvent, QPainter, QPen

from analysis.annotation import Annotation
from analysis.annotation_index import AnnotationIndex
from analysis.review.raters import Comparison, Dispute, Span
from viewers.lanes import Lane
from viewers.readers_lane import paint_bars
from viewers.theme import font
from viewers.time_scale import TimeScale

TITLE = "Raters"
HEIGHT = 48
_BAR = 6.0
_A_TOP, _B_TOP = 8.0, 30.0
_BETWEEN = (16.0, 28.0)  # top and bottom of the band that tells agreement from dispute
_LEAST_PX = 2.0
_NOTHING_COMPARED = "no two raters are compared"
_TIP = "Between the lines of A and B: a full band where both have marked, a hatched one where they do not agree."


def _index(spans: tuple[Span, ...]) -> AnnotationIndex:
    return AnnotationIndex([Annotation(start, stop - start, "") for start, stop in spans])


class RatersLane(Lane):
    """A line for each rater, and between them a full band for agreement and a hatched one for dispute."""

    dispute_clicked = pyqtSignal(object)  # Dispute

    def __init__(self) -> None:
        super().__init__(TITLE, HEIGHT)
        self.set_empty(True)
        self._comparison: Comparison | None = None
        self._lines: tuple[AnnotationIndex, ...] = ()
        self._agreed = AnnotationIndex()
        self._disputed = AnnotationIndex()
        self._current: Dispute | None = None
        self.setToolTip(_TIP)

    def set_comparison(self, comparison: Comparison | None) -> None:
        """Show two raters; None takes them away."""
        self._comparison = comparison
        self._current = None
        raters = (comparison.a, comparison.b) if comparison is not None else ()
        self._lines = tuple(_index(rater.spans) for rater in raters)
        self._agreed = _index(comparison.agreed if comparison is not None else ())
        disputes = comparison.disputes if comparison is not None else ()
        self._disputed = _index(tuple((dispute.start, dispute.stop) for dispute in disputes))
        self.setToolTip("\n".join((*self.subtitles(), _TIP)))
        self.set_empty(comparison is None)
        self.changed()

    def set_current(self, dispute: Dispute | None) -> None:
        """Point out one dispute."""
        self._current = dispute
        self.update()

    def subtitles(self) -> tuple[str, ...]:
        """Who is A and who is B."""
        if self._comparison is None:
            return ()
        return (f"A {self._comparison.a.name}", f"B {self._comparison.b.name}")

    def paint_plot(self, painter: QPainter, scale: TimeScale, size: QSize) -> None:
        """The lines, and the band between them."""
        if self._comparison is None:
            painter.setFont(font(10))
            painter.setPen(self.theme.colour("muted"))
            painter.drawText(QRectF(6, 0, 600, size.height()), Qt.AlignmentFlag.AlignVCenter, _NOTHING_COMPARED)
            return
        text = self.theme.colour("text")
        for letter, index, top in zip("AB", self._lines, (_A_TOP, _B_TOP), strict=True):
            paint_bars(painter, scale, index, top, _BAR, text)
            painter.setPen(self.theme.colour("muted"))
            painter.setFont(font(9))
            painter.drawText(QRectF(2, top - 4, 12, 14), Qt.AlignmentFlag.AlignVCenter, letter)
        top, bottom = _BETWEEN
        for index, brush, edge in (
            (self._agreed, QBrush(self.theme.colour("good", 0.75)), None),
            (
                self._disputed,
                QBrush(self.theme.colour("caution"), Qt.BrushStyle.BDiagPattern),
                self.theme.colour("caution"),
            ),
        ):
            painter.setPen(QPen(edge, 1) if edge is not None else Qt.PenStyle.NoPen)
            painter.setBrush(brush)
            for left, right in self._spans(index, scale):
                painter.drawRect(QRectF(left, top, max(_LEAST_PX, right - left), bottom - top))
        painter.setBrush(Qt.BrushStyle.NoBrush)

    @staticmethod
    def _spans(index: AnnotationIndex, scale: TimeScale) -> list[tuple[float, float]]:
        """From where to where spans reach on the page, in pixels; what would fall on the same pixel is left out."""
        spans: list[tuple[float, float]] = []
        for i in index.within(scale.window.start, scale.window.stop).tolist():
            left, right = max(-2.0, scale.x(index.onset[i])), min(scale.width + 2, scale.x(index.stop[i]))
            if not spans or right > spans[-1][1] + 1 or left > spans[-1][0] + _LEAST_PX:
                spans.append((left, right))
        return spans

    def paint_moving(self, painter: QPainter) -> None:
        """A frame around the dispute that is pointed out."""
        dispute, scale, area = self._current, self.scale, self.plot_rect
        if dispute is None or self.is_folded:
            return
        left, right = max(-3.0, scale.x(dispute.start)), min(scale.width + 3, scale.x(dispute.stop))
        if right < 0 or left > scale.width:
            return
        painter.save()
        painter.setClipRect(area)
        painter.translate(area.topLeft())
        painter.setPen(QPen(self.theme.colour("text"), 1.4))
        painter.drawRect(QRectF(left - 2, 3, max(_LEAST_PX, right - left) + 4, HEIGHT - 9))
        painter.restore()

    def dispute_at(self, x: float) -> Dispute | None:
        """The dispute under a pixel of the plot; the shortest where several lie there."""
        if self._comparison is None:
            return None
        start, stop = self.scale.time(x - 3), self.scale.time(x + 3)
        found = [self._comparison.disputes[i] for i in self._disputed.within(start, stop)]
        return min(found, key=lambda dispute: dispute.duration, default=None)

    def mousePressEvent(self, event: QMouseEvent | None) -> None:
        """A click on a dispute goes to it."""
        if event is None:
            return
        x = event.position().x() - self.plot_rect.left()
        dispute = self.dispute_at(x) if x >= 0 and not self.is_folded else None
        if dispute is not None:
            self.dispute_clicked.emit(dispute)
            return
        super().mousePressEvent(event)

"""What lanes share that draw what a model tells over time: their heading, and how they fade while it is renewed."""

from __future__ import annotations

from typing import Any, Protocol

from PyQt6.QtCore import QRectF, Qt
from PyQt6.QtGui import QPainter

from analysis.annotation import RANDOM_WEIGHTS
from viewers.lanes import Lane
from viewers.theme import font

_STALE = 0.4


class Told(Protocol):
    """What a lane draws, as far as its heading goes."""

    @property
    def subtitle(self) -> str:
        """What stands below the title."""

    @property
    def random_weights(self) -> bool:
        """Whether it means nothing."""


class CurveLane(Lane):
    """Base of lanes that show a curve, or none; it is of another moment while `set_stale` says why."""

    def __init__(self, title: str, height: int) -> None:
        super().__init__(title, height)
        self.curve: Any = None
        self._stale = ""

    def set_curve(self, curve: Any) -> None:
        """Show another curve, of the kind that the lane draws, or none."""
        raise NotImplementedError

    def set_stale(self, why: str) -> None:
        """Fade what is drawn, and say why, while it is renewed; empty: it is what was asked for."""
        if why != self._stale:
            self._stale = why
            self.changed()

    def _head(self, curve: Told | None) -> None:
        """Say in the heading what is shown."""
        self.subtitle = curve.subtitle if curve is not None else ""
        self.badge = RANDOM_WEIGHTS if curve is not None and curve.random_weights else ""
        self.changed()

    @property
    def _opacity(self) -> float:
        return _STALE if self._stale else 1.0

    def _paint_stale(
        self, painter: QPainter, area: QRectF, place: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignVCenter
    ) -> None:
        """Why it is faint."""
        if self._stale:
            painter.setFont(font(10))
            painter.setPen(self.theme.colour("caution"))
            painter.drawText(area, place, self._stale)

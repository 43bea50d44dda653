"""A lane of which experts carry a model's tokens, second by second: all blocks as lines, or one block as shares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PyQt6.QtCore import QRectF, QSize, Qt
from PyQt6.QtGui import QFontMetricsF, QMouseEvent, QPainter
from PyQt6.QtWidgets import QToolTip

from viewers.category_colours import category
from viewers.colour_scales import image
from viewers.curve_lane import CurveLane
from viewers.theme import font, px
from viewers.time_scale import TimeScale, time_text

_HEIGHT = 92
_TOP, _BOTTOM = 16.0, 4.0
_PALEST = 0.3  # share of full colour of an expert that carries next to nothing
_LINES = 64  # of pixels that the shares of one block are drawn in


@dataclass(frozen=True)
class ExpertShares:
    """Shares (blocks, seconds, experts) of tokens, NaN for shared experts, of seconds that begin at `times`.

    `block` is the number of the one that is shown; None for all.
    """

    times: np.ndarray
    shares: np.ndarray
    blocks: tuple[str, ...]
    block: int | None
    quantity: str
    random_weights: bool = False

    @property
    def subtitle(self) -> str:
        """What is shown, in few words."""
        return "all blocks" if self.block is None else self.blocks[self.block]

    def busiest(self) -> tuple[np.ndarray, np.ndarray]:
        """Number of the expert with the largest share, from 0, and that share: (blocks, seconds) each."""
        known = np.nan_to_num(self.shares, nan=-1.0)
        return known.argmax(-1), known.max(-1)

    def describe(self, second: int, block: int) -> str:
        """The shares of a second in a block, the largest first."""
        row = self.shares[block, second]
        order = [i for i in np.argsort(-np.nan_to_num(row, nan=-1.0)) if row[i] > 0.005]
        shares = ", ".join(f"expert {i + 1} {row[i]:.0%}" for i in order[:4])
        return f"{time_text(float(self.times[second]))}, {self.blocks[block]}\n{shares}"


class ExpertLane(CurveLane):
    """Draws ExpertShares: the colour is the expert, its strength the share of the tokens."""

    def __init__(self, title: str) -> None:
        super().__init__(title, _HEIGHT)
        self.curve: ExpertShares | None = None

    def set_curve(self, curve: ExpertShares | None) -> None:
        """Show other shares, or none."""
        self.curve = curve
        self.setAccessibleDescription(curve.quantity if curve is not None else "")
        self._head(curve)

    def paint_plot(self, painter: QPainter, scale: TimeScale, size: QSize) -> None:
        """The picture, which expert has which colour, and why it is faint."""
        curve = self.curve
        if curve is None:
            return
        painter.setOpacity(self._opacity)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
        area = self._area(size)
        for first, last in self._runs(curve, scale):
            left, right = scale.x(float(curve.times[first])), scale.x(float(curve.times[last]) + 1.0)
            rgb = self._one_block(curve, first, last) if curve.block is not None else self._all(curve, first, last)
            painter.drawImage(QRectF(left, area.top(), right - left, area.height()), image(rgb))
        painter.setOpacity(1.0)
        self._paint_names(painter, curve, size)
        self._paint_stale(painter, area, Qt.AlignmentFlag.AlignCenter)

    @staticmethod
    def _area(size: QSize) -> QRectF:
        return QRectF(0, px(_TOP), size.width(), max(1.0, size.height() - px(_TOP) - _BOTTOM))

    @staticmethod
    def _runs(curve: ExpertShares, scale: TimeScale) -> list[tuple[int, int]]:
        """Seconds on the page that follow each other without a hole, as first and last."""
        shown = np.flatnonzero((curve.times < scale.window.stop) & (curve.times + 1.0 > scale.window.start))
        if not shown.size:
            return []
        ends = np.flatnonzero(np.diff(curve.times[shown]) > 1.001)
        starts = np.concatenate([[0], ends + 1])
        stops = np.concatenate([ends, [shown.size - 1]])
        return [(int(shown[a]), int(shown[b])) for a, b in zip(starts, stops, strict=True)]

    def _colours(self, count: int) -> np.ndarray:
        inks = [category(self.theme, i) for i in range(count)]
        return np.array([(c.red(), c.green(), c.blue()) for c in inks], float)

    def _ground(self) -> np.ndarray:
        ground = self.theme.colour("canvas")
        return np.array([ground.red(), ground.green(), ground.blue()], float)

    def _all(self, curve: ExpertShares, first: int, last: int) -> np.ndarray:
        """A line a block (blocks, seconds, 3) uint8 in the colour of its busiest expert."""
        number, share = (part[:, first : last + 1] for part in curve.busiest())
        strength = (_PALEST + (1 - _PALEST) * np.clip(share, 0, 1))[..., None]
        colours = self._colours(curve.shares.shape[-1])[number]
        return np.asarray((strength * colours + (1 - strength) * self._ground()).astype(np.uint8))

    def _one_block(self, curve: ExpertShares, first: int, last: int) -> np.ndarray:
        """Shares on top of each other (lines, seconds, 3) uint8."""
        assert curve.block is not None
        stack = np.cumsum(np.nan_to_num(curve.shares[curve.block, first : last + 1]), -1)  # (seconds, experts)
        at = (np.arange(_LINES) + 0.5) / _LINES * np.maximum(stack[:, -1:], 1e-9)
        number = (at[..., None] >= stack[:, None]).sum(-1).clip(0, stack.shape[1] - 1)  # (seconds, lines)
        return np.asarray(self._colours(stack.shape[1])[number.T].astype(np.uint8))

    def _paint_names(self, painter: QPainter, curve: ExpertShares, size: QSize) -> None:
        """The number of each expert beside its colour, at the top."""
        painter.setFont(font(10))
        metrics = QFontMetricsF(painter.font())
        painter.setPen(self.theme.colour("muted"))
        word = "most tokens go to expert" if curve.block is None else "tokens go to expert"
        x = 6.0
        painter.drawText(QRectF(x, 0, size.width(), px(_TOP)), Qt.AlignmentFlag.AlignVCenter, word)
        x += metrics.horizontalAdvance(word) + 8
        for i in range(curve.shares.shape[-1]):
            painter.fillRect(QRectF(x, px(4), px(8), px(8)), category(self.theme, i))
            box = QRectF(x + px(11), 0, px(20), px(_TOP))
            painter.setPen(self.theme.colour("text"))
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, str(i + 1))
            x += px(26)

    def mouseMoveEvent(self, event: QMouseEvent | None) -> None:
        """Share the cursor, and tell the shares under it."""
        super().mouseMoveEvent(event)
        if event is not None:
            found = self.describe(event.position().x() - self._left, event.position().y())
            QToolTip.showText(event.globalPosition().toPoint(), found, self)

    def describe(self, x: float, y: float) -> str:
        """The shares at a place of the plot, in pixels from its left and from the top of the lane; empty for none."""
        curve = self.curve
        area = self._area(QSize(int(self.plot_rect.width()), int(self.plot_rect.height())))
        if curve is None or self.is_folded or self._stale or not area.contains(x, y - 1):
            return ""
        time = self.scale.time(x)
        second = int(np.searchsorted(curve.times, time, side="right")) - 1
        if second < 0 or time >= curve.times[second] + 1.0:
            return ""
        place = int((y - 1 - area.top()) / area.height() * len(curve.blocks))
        return curve.describe(second, min(place, len(curve.blocks) - 1) if curve.block is None else curve.block)

"""Token maps of two layers behind the traces: of each row the upper half is one layer, the lower half the other."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from PyQt6.QtCore import QRectF
from PyQt6.QtGui import QPainter, QPainterPath

from analysis.analyses import Analysis
from analysis.recording import Page
from viewers.heat_scales import HeatScale
from viewers.overlays.base import OverlayState
from viewers.overlays.heat import AnalysisHeat, Heat, HeatOverlay
from viewers.rows import Rows
from viewers.theme import Theme
from viewers.time_scale import TimeScale

NOTHING = ""
USUAL = 1.0  # the root mean square distance of a window's tokens
_REACHES = (0.1, 0.25, 0.5, 1.0)  # few, so that colours mean the same from page to page
_COVERED = 99.0


def pair_part(row: int, column: int) -> str:
    """How a pair of layers is asked for on the traces."""
    return f"{row},{column}"


def pair_of(part: str) -> tuple[int, int] | None:
    """The layers of such a part; None for any other."""
    first, _, second = part.partition(",")
    return (int(first), int(second)) if first.isdigit() and second.isdigit() else None


def has_maps(result: Analysis) -> bool:
    """Whether an analysis brought the maps along."""
    return "row_map" in result.arrays


class TokenMaps(AnalysisHeat):
    """Draws the maps of the two layers of a cell of the CKA table; nothing until one is chosen."""

    title = "Token maps"

    def __init__(self) -> None:
        super().__init__()
        self.part = NOTHING
        self.lower = HeatOverlay()

    def parts(self, result: Analysis) -> list[str]:
        """Nothing, and every pair of layers."""
        if not has_maps(result):
            return [NOTHING]
        deep, wide = result.values("cka").shape
        return [NOTHING, *(pair_part(i, j) for i in range(deep) for j in range(wide))]

    def set_result(self, result: Analysis | None) -> None:
        """Take other numbers; a pair that they lack gives way to nothing."""
        self.result = result
        if result is not None and self.part not in self.parts(result):
            self.part = NOTHING
        self._show()

    def _show(self) -> None:
        super()._show()
        pair = pair_of(self.part)
        lower = None
        if self.result is not None and pair is not None and has_maps(self.result):
            lower = _map(self.result, "column", pair[1])
            lower = replace(lower, scale=_scale(self.result, pair), random_weights=self.result.random_weights)
        self.lower.set_heat(lower)

    def heat_of(self, result: Analysis, part: str) -> Heat | None:
        """The map of the row's layer, on one scale with that of the column's."""
        pair = pair_of(part)
        if pair is None or not has_maps(result):
            return None
        upper, lower = _map(result, "row", pair[0]), _map(result, "column", pair[1])
        names = upper.title if upper.title == lower.title else f"above {upper.title}, below {lower.title}"
        title = f"Token maps [our definition]: {names}{_cka_text(float(result.values('cka_unbiased')[pair]))}"
        return replace(upper, scale=_scale(result, pair), title=title)

    def curve_of(self, result: Analysis, part: str) -> None:
        """None: the mean over tokens is 1 by definition."""
        return

    def set_state(self, state: OverlayState) -> None:
        """Show, hide or fade."""
        self.lower.set_state(state)
        super().set_state(state)

    def set_stale(self, why: str) -> None:
        """Fade both, and say why."""
        self.lower.set_stale(why)
        super().set_stale(why)

    def set_theme(self, theme: Theme) -> None:
        """Take the colours."""
        self.lower.set_theme(theme)
        super().set_theme(theme)

    def show_page(self, page: Page, rows: Rows) -> None:
        """Follow the rows."""
        self.lower.show_page(page, rows)
        super().show_page(page, rows)

    def describe(self, time: float, ch_name: str) -> str:
        """Both values under the mouse."""
        first, second = super().describe(time, ch_name), self.lower.describe(time, ch_name)
        return first if first == second else "   ".join(filter(None, (first, second)))

    def paint(self, painter: QPainter, scale: TimeScale, height: float) -> None:
        """Each layer in its half of the rows."""
        if self.rows is None or self.heat is None:
            return
        for overlay, share in ((super(), 0.0), (self.lower, 0.5)):
            painter.save()
            painter.setClipPath(_halves(self.rows, share, scale.width))
            overlay.paint(painter, scale, height)
            painter.restore()


def map_scale(values: np.ndarray) -> HeatScale:
    """Colours around the usual distance that reach as far as nearly all values do."""
    known = np.abs(values[np.isfinite(values)] - USUAL)
    spread = float(np.percentile(known, _COVERED)) if known.size else 0.0
    reach = next((r for r in _REACHES if spread <= r), _REACHES[-1])
    return HeatScale(USUAL - reach, USUAL + reach, USUAL, "", "near the mean", "far from it")


def _map(result: Analysis, side: str, layer: int) -> Heat:
    """The map of a layer of the row's or the column's model; one model compared with itself has one set of maps."""
    own = side if f"{side}_map" in result.arrays else "row"
    values = result.values(f"{own}_map")[layer]
    times = result.values(f"{own}_onset").astype(np.float64) + float(result.facts["first_window"])
    names = result.labels[f"{side}_layer"]
    model = f"{result.models[-1 if side == 'column' else 0]} " if len(result.models) > 1 else ""
    text = f"{model}{names[layer]}"
    widths = np.full(times.shape, float(result.facts[f"{own}_token_seconds"]))
    channels = result.labels[f"{own}_channel"]
    return Heat(times, widths, channels, values, map_scale(values), text, f"{text}: token distance")


def _scale(result: Analysis, pair: tuple[int, int]) -> HeatScale:
    sides = zip(("row", "column"), pair, strict=True)
    return map_scale(np.concatenate([_map(result, side, layer).values.ravel() for side, layer in sides]))


def _cka_text(cka: float) -> str:
    return f" (CKA {cka:.2f})".replace("-", "−") if math.isfinite(cka) else ""


def _halves(rows: Rows, share: float, width: float) -> QPainterPath:
    """The upper (share 0) or lower (0.5) half of the room of every row."""
    path = QPainterPath()
    for row in range(len(rows)):
        top, bottom = rows.band(row)
        path.addRect(QRectF(0, top + share * (bottom - top), width, (bottom - top) / 2))
    return path

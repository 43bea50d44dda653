"""Heat behind the traces: a value for each channel and moment as the colour of its row's ground.

The same for whatever a model tells by channel and time: gates, attention, attribution. What it means is said by a key
at the foot of the page.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from PyQt6.QtGui import QImage, QPainter

from analysis.analyses import Analysis
from analysis.annotation import RANDOM_WEIGHTS
from analysis.montage import Montage
from viewers.analysis_lane import AnalysisLane, LaneCurve
from viewers.colour_key import ColourKey
from viewers.curve_lane import CurveLane
from viewers.gutter import GutterStrip
from viewers.heat_scales import HeatScale, tints
from viewers.overlays.base import OverlayState, PaintedOverlay, Plot
from viewers.rows import Rows, electrodes
from viewers.theme import Theme
from viewers.time_scale import TimeScale

_FULL = {False: 0.8, True: 1.0}  # of full colour at most, so that traces stay easy to follow on it
_STALE = 0.5  # of the strength, of what is being renewed
_STRIPES = 8  # pixels from one stripe through it to the next
MEAN = "mean"


@dataclass(frozen=True)
class Heat:
    """Values (channels, n) of spans that begin at `times` (n,) and last `widths` (n,) seconds, in order of time.

    `quantity` is what a value is, `title` what the key says of all. NaN is drawn as nothing.
    """

    times: np.ndarray
    widths: np.ndarray
    ch_names: tuple[str, ...]
    values: np.ndarray
    scale: HeatScale
    title: str
    quantity: str
    random_weights: bool = False

    def cells(self) -> tuple[np.ndarray, np.ndarray]:
        """Where the colour of each value begins and ends: overlapping neighbours meet in the middle."""
        starts, stops = self.times.copy(), self.times + self.widths
        overlap = stops[:-1] > starts[1:]
        middle = (stops[:-1] + starts[1:]) / 2
        starts[1:] = np.where(overlap, middle, starts[1:])
        stops[:-1] = np.where(overlap, middle, stops[:-1])
        return starts, stops


def nearest_cells(heat: Heat, times: np.ndarray) -> np.ndarray:
    """Which value holds at each time, intp; -1 where none does."""
    starts, stops = heat.cells()
    found = np.searchsorted(starts, times, side="right") - 1
    inside = (found >= 0) & (times < stops[np.maximum(found, 0)]) if starts.size else np.zeros(times.shape, bool)
    return np.where(inside, found, -1)


def of_rows(heat: Heat, montage: Montage) -> np.ndarray:
    """Means (rows, n) over the electrodes of each row that have values."""
    place = {name: i for i, name in enumerate(heat.ch_names)}
    out = np.full((len(montage.derivations), heat.times.size), np.nan, np.float32)
    for i, row in enumerate(montage.derivations):
        found = [place[name] for name in electrodes(row) if name in place]
        if len(found) == 1:
            out[i] = heat.values[found[0]]
        elif found:
            values = heat.values[found]
            known = ~np.isnan(values)
            count = known.sum(0)
            total = np.where(known, values, 0.0).sum(0)
            out[i] = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return out


def _electrodes_text(names: tuple[str, ...], known: tuple[str, ...], row: str) -> str:
    """Which electrodes the value of a row is from, where its name does not say so."""
    found = [name for name in names if name in known]
    if len(found) > 1:
        return f", mean of {' and '.join(found)}"
    if len(names) > 1:
        return f", of {found[0]} alone"
    return f", at {found[0]}" if found[0] != row else ""


@dataclass(frozen=True)
class _Coloured:
    """A plot whose keys and strips have the colours that an overlay's reader chose."""

    plot: Plot
    coloured: Callable[[HeatScale], HeatScale]

    def __getattr__(self, name: str) -> Any:
        """All else is the plot's own."""
        return getattr(self.plot, name)

    def set_key(self, owner: str, key: ColourKey | None) -> None:
        """Say what colours mean."""
        self.plot.set_key(owner, replace(key, scale=self.coloured(key.scale)) if key is not None else None)

    def set_strip(self, owner: str, strip: GutterStrip | None) -> None:
        """Show a value of each row."""
        self.plot.set_strip(owner, replace(strip, scale=self.coloured(strip.scale)) if strip is not None else None)


class HeatOverlay(PaintedOverlay):
    """Draws a Heat; rows of a difference take the mean of their electrodes."""

    title = "Heat"
    draws = Heat
    place = "behind"

    def __init__(self) -> None:
        super().__init__()
        self.heat: Heat | None = None
        self._stale = ""
        self._levels: tuple[Montage, Heat, np.ndarray] | None = None  # (rows, n) values
        self._picture: tuple[tuple[object, ...], QImage] | None = None

    def attach(self, plot: Plot) -> None:
        """Create the item; what the plot is told is in the colours that the reader chose."""
        super().attach(plot)
        self._plot = _Coloured(plot, self.coloured)

    def coloured(self, scale: HeatScale) -> HeatScale:
        """A scale in the colours that the reader chose for it."""
        return replace(scale, colours=self.state.sequential if scale.middle is None else self.state.diverging)

    def set_heat(self, heat: Heat | None) -> None:
        """Show other numbers, or none."""
        self.heat = replace(heat, scale=self.coloured(heat.scale)) if heat is not None else None
        self._levels = self._picture = None
        self._tell_key()
        self.update()

    def set_result(self, result: Heat | None) -> None:
        """Show other numbers, or none."""
        self.set_heat(result)

    def set_stale(self, why: str) -> None:
        """Fade what is shown, and say why, while it is renewed; empty: it is what was asked for."""
        if why != self._stale:
            self._stale, self._picture = why, None
            self._tell_key()
            self.update()

    def set_state(self, state: OverlayState) -> None:
        """Show, hide, fade or colour."""
        super().set_state(state)
        self._picture = None
        if self.heat is not None and self.heat.scale != self.coloured(self.heat.scale):
            self.heat = replace(self.heat, scale=self.coloured(self.heat.scale))
            self._levels = None
        self._tell_key()

    def set_hidden(self, hidden: bool) -> None:
        """Vanish with its key, or come back."""
        super().set_hidden(hidden)
        self._tell_key(hidden)

    def set_theme(self, theme: Theme) -> None:
        """Take the colours."""
        self._picture = None
        super().set_theme(theme)

    def detach(self) -> None:
        """Remove the item and the key."""
        if self._plot is not None:
            self._plot.set_key(self.title, None)
        super().detach()

    def key(self) -> ColourKey | None:
        """What the colours mean; None where nothing is drawn."""
        if self.heat is None or not self.state.visible:
            return None
        warning = " · ".join(filter(None, (RANDOM_WEIGHTS if self.heat.random_weights else "", self._stale)))
        return ColourKey(self.heat.title, self.heat.scale, self._strength, warning)

    def _tell_key(self, hidden: bool = False) -> None:
        if self._plot is not None:
            self._plot.set_key(self.title, None if hidden else self.key())

    @property
    def _strength(self) -> float:
        return _FULL[self.theme.is_dark] * self.state.opacity * (_STALE if self._stale else 1.0)

    # Values of rows

    def row_values(self) -> np.ndarray | None:
        """Values of the rows on screen (rows, n) float32; NaN for rows without an electrode that has any."""
        if self.heat is None or self.rows is None:
            return None
        kept = self._levels
        if kept is None or kept[0] is not self.rows.montage or kept[1] is not self.heat:
            kept = self._levels = self.rows.montage, self.heat, of_rows(self.heat, self.rows.montage)
        return kept[2]

    def describe(self, time: float, ch_name: str) -> str:
        """The value under the mouse, and of which electrodes it is the mean."""
        values = self.row_values()
        if self.heat is None or self.rows is None or values is None or ch_name not in self.rows.names:
            return ""
        column, row = int(nearest_cells(self.heat, np.array([time]))[0]), self.rows.index(ch_name)
        if column < 0 or not np.isfinite(values[row, column]):
            return ""
        mean = _electrodes_text(electrodes(self.rows.montage.derivations[row]), self.heat.ch_names, ch_name)
        random_weights = f" ({RANDOM_WEIGHTS})" if self.heat.random_weights else ""
        stale = f", {self._stale}" if self._stale else ""
        return f"{self.heat.quantity} {self.heat.scale.text(float(values[row, column]))}{mean}{random_weights}{stale}"

    # Painting

    def paint(self, painter: QPainter, scale: TimeScale, height: float) -> None:
        """Blit the colours of all rows; they are worked out once for a page."""
        values, rows = self.row_values(), self.rows
        if self.heat is None or values is None or rows is None or not len(rows) or not self.heat.times.size:
            return
        device = painter.device()
        ratio = device.devicePixelRatioF() if device is not None else 1.0
        known = (scale.window, scale.width, height, ratio, rows)
        if self._picture is None or self._picture[0] != known:
            self._picture = known, self._make_picture(values, rows, scale, height, ratio)
        painter.drawImage(0, 0, self._picture[1])

    def _make_picture(self, values: np.ndarray, rows: Rows, scale: TimeScale, height: float, ratio: float) -> QImage:
        """Every pixel of the screen once, premultiplied: much faster to blit than a stretched picture."""
        lines = self._make_lines(values, scale, max(1, round(scale.width * ratio)))
        row_of = _rows_of_pixels(rows, max(1, round(height * ratio)), ratio)
        pixels = np.ascontiguousarray(lines[row_of])
        deep, wide = pixels.shape
        image = QImage(pixels.data, wide, deep, 4 * wide, QImage.Format.Format_ARGB32_Premultiplied).copy()
        image.setDevicePixelRatio(ratio)
        return image

    def _make_lines(self, values: np.ndarray, scale: TimeScale, width: int) -> np.ndarray:
        """One line of pixels a row (rows + 1, width) uint32; the last one, of no row, is see-through."""
        assert self.heat is not None
        at = scale.window.start + (np.arange(width) + 0.5) * (scale.window.duration / width)
        columns = nearest_cells(self.heat, at)
        drawn = columns >= 0
        pixels = np.zeros((values.shape[0] + 1, width), np.uint32)
        if drawn.any():
            first, last = int(columns[drawn].min()), int(columns.max())
            part = values[:, first : last + 1]
            table = tints(self.theme, self.heat.scale, self._strength)
            colours = np.where(np.isnan(part), np.uint32(0), table[self.heat.scale.steps(part)])
            pixels[:-1, drawn] = colours[:, columns[drawn] - first]
        if self._stale:
            pixels[:, np.arange(width) % _STRIPES < _STRIPES // 4] = 0
        return pixels


def _rows_of_pixels(rows: Rows, height: int, ratio: float) -> np.ndarray:
    """Which row each line of pixels belongs to, intp (height,); -1 between blocks."""
    middle = (np.arange(height) + 0.5) / ratio
    found = np.full(height, -1, np.intp)
    for row in range(len(rows)):
        top, bottom = rows.band(row)
        found[(middle >= top) & (middle < bottom)] = row
    return found


class AnalysisHeat(HeatOverlay):
    """Heat of an analysis, of which one part at a time is shown: a layer, or the mean of all."""

    draws = Analysis

    def __init__(self) -> None:
        super().__init__()
        self.result: Analysis | None = None
        self.part = MEAN

    def set_result(self, result: Analysis | None) -> None:
        """Take the numbers of an analysis; a part that it lacks gives way to the mean."""
        self.result = result
        if result is not None and self.part not in self.parts(result):
            self.part = MEAN
        self._show()

    def choose(self, part: str) -> None:
        """Show a part, by its name in `parts`."""
        self.part = part
        self._show()

    def _show(self) -> None:
        heat = self.heat_of(self.result, self.part) if self.result is not None else None
        if heat is not None and self.result is not None:
            heat = replace(heat, random_weights=self.result.random_weights)
        self.set_heat(heat)

    def set_time(self, time: float) -> None:
        """Hear which moment is under the cursor."""

    def make_lane(self) -> CurveLane:
        """The lane that goes with it."""
        return AnalysisLane(self.title)

    def curve(self) -> LaneCurve | None:
        """What the lane under the traces shows."""
        return self.curve_of(self.result, self.part) if self.result is not None else None

    def parts(self, result: Analysis) -> list[str]:
        """Names of what can be shown of a result."""
        raise NotImplementedError

    def heat_of(self, result: Analysis, part: str) -> Heat | None:
        """What is drawn behind the traces; None where there is nothing."""
        raise NotImplementedError

    def curve_of(self, result: Analysis, part: str) -> LaneCurve | None:
        """What is drawn in the lane; None where there is none."""
        raise NotImplementedError

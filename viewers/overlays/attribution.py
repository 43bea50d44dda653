"""Attribution on the traces: what speaks for a class and what against it, by channel and moment, and its sums.

Integrated Gradients and occlusion are drawn with their sign, or by their size alone; Grad-CAM has no sign. The colours
keep one reach for a recording, model and class.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from analysis.analyses import Analysis
from analysis.attribution_maps import (
    ABSOLUTE,
    SIGNED,
    AttributionMap,
    attribution_map,
    map_words,
    parts_of,
    value_words,
)
from analysis.recording import Page, Window
from viewers.analysis_lane import LaneCurve
from viewers.gutter import GutterStrip
from viewers.heat_scales import HeatScale
from viewers.overlays.base import OverlayState, Plot
from viewers.overlays.heat import AnalysisHeat, Heat, of_rows
from viewers.rows import Rows
from viewers.steady_reach import SteadyReach

_ENDS = ("against", "for")


def attribution_scale(reach: float, unit: str, signed: bool) -> HeatScale:
    """Colours that part at zero, or that grow from it, as far as `reach`."""
    return HeatScale(-reach, reach, 0.0, unit, *_ENDS) if signed else HeatScale(0.0, reach, None, unit)


def subject_of(result: Analysis) -> tuple[object, ...]:
    """What a range of colours holds for: recording, model, method, class, layer and baseline."""
    request, facts = result.request, result.facts
    told = (facts.get("method"), facts.get("target"), facts.get("layer"), request.options.get("baseline"))
    return (request.recording_id, request.checkpoints, result.kind, *told)


class AttributionOverlay(AnalysisHeat):
    """Integrated Gradients in bins of 50 ms, with a lane of their sum over the channels."""

    title = "Attribution"

    def __init__(self) -> None:
        super().__init__()
        self.part = SIGNED
        self._reaches = SteadyReach()
        self._map: tuple[Analysis, AttributionMap | None] | None = None
        self._page: Window | None = None
        self._held = False
        self._told: tuple[GutterStrip | None, OverlayState] | None = None

    def parts(self, result: Analysis) -> list[str]:
        """With their sign, or by size."""
        return parts_of(result.kind)

    def heat_of(self, result: Analysis, part: str) -> Heat | None:
        """Values of a part on the reach that the first answer set."""
        found = self._map_of(result)
        if found is None:
            return None
        values, signed = found.shown(part)
        scale = attribution_scale(self._reaches.of((*subject_of(result), "cell"), values), found.unit, signed)
        title = f"{map_words(result, part)}, {result.models[0]}"
        return Heat(found.times, found.widths, found.ch_names, values, scale, title, value_words(result, part))

    def curve_of(self, result: Analysis, part: str) -> LaneCurve | None:
        """The sum over the channels, or the mean of what is no part of a sum."""
        found = self._map_of(result)
        if found is None:
            return None
        values, signed = found.shown(part)
        total, amount = (values.sum(0), "sum of") if found.is_signed else (values.mean(0), "mean of")
        reach = self._reaches.of((*subject_of(result), part, "lane"), total)
        scale = attribution_scale(reach, found.unit, signed)
        quantity = f"{map_words(result, part)}, {amount} {len(found.ch_names)} channels of {result.models[0]}"
        subtitle = f"{part}, {amount} channels" if found.is_signed else f"{amount} channels"
        return LaneCurve(found.times, found.widths, total, scale, subtitle, quantity, result.random_weights)

    # Sums beside the names

    def show_page(self, page: Page, rows: Rows) -> None:
        """Follow the rows, and sum up over the page."""
        super().show_page(page, rows)
        self._page = page.window
        self._tell_strip()

    def set_hidden(self, hidden: bool) -> None:
        """Vanish with its sums while a key is held, or come back."""
        self._held = hidden
        super().set_hidden(hidden)

    def detach(self) -> None:
        """Take the sums away too."""
        if self._plot is not None:
            self._plot.set_strip(self.title, None)
        super().detach()

    def attach(self, plot: Plot) -> None:
        """Create the item."""
        super().attach(plot)
        self._told = None

    def strip(self) -> GutterStrip | None:
        """The sum (or mean) of each row over the page; None where nothing is drawn."""
        if self.heat is None or self.result is None or self.rows is None or self._page is None:
            return None
        found = self._map_of(self.result)
        if found is None:
            return None
        values, signed = found.shown(self.part)
        start, stop = self._page.start, self._page.stop
        sums = replace(found, values=values).over(start, stop)
        one = Heat(
            np.array([start]), np.array([stop - start]), found.ch_names, sums[:, None].astype(np.float32),
            self.heat.scale, "", "",
        )  # fmt: skip
        shown = of_rows(one, self.rows.montage)[:, 0]
        subject = (*subject_of(self.result), self.part, "page", round(stop - start, 1))
        scale = attribution_scale(self._reaches.of(subject, shown), found.sum_unit, signed)
        amount = "sum over the page" if found.is_signed else "mean over the page"
        return GutterStrip(shown, scale, f"{value_words(self.result, self.part)}, {amount}")

    def _tell_key(self, hidden: bool = False) -> None:
        super()._tell_key(hidden)
        self._tell_strip()

    def _tell_strip(self) -> None:
        """Tell the plot, but not the same twice: the gutter is painted anew each time."""
        if self._plot is None:
            return
        strip = None if self._held or not self.state.visible else self.strip()
        if self._told is None or self._told[1] != self.state or not _alike(strip, self._told[0]):
            self._told = strip, self.state
            self._plot.set_strip(self.title, strip)

    def _map_of(self, result: Analysis) -> AttributionMap | None:
        if self._map is None or self._map[0] is not result:
            self._map = result, attribution_map(result)
        return self._map[1]


class TokenOverlay(AttributionOverlay):
    """Grad-CAM's evidence by channel and token, with a lane of its mean."""

    title = "Grad-CAM"

    def __init__(self) -> None:
        super().__init__()
        self.part = ABSOLUTE


class OcclusionOverlay(AttributionOverlay):
    """What the score loses without a second of a channel."""

    title = "Occlusion"


def _alike(first: GutterStrip | None, second: GutterStrip | None) -> bool:
    if first is None or second is None:
        return first is second
    same_words = (first.scale, first.quantity) == (second.scale, second.quantity)
    return same_words and np.array_equal(first.values, second.values, equal_nan=True)

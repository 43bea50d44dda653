"""AXON's gates on the traces: which axis each token listens to, along its own channel or across the scalp."""

from __future__ import annotations

import numpy as np

from analysis.analyses import Analysis
from viewers.analysis_lane import LaneCurve
from viewers.heat_scales import HeatScale
from viewers.overlays.heat import MEAN, AnalysisHeat, Heat

BALANCE = 0.5
_REACHES = (0.05, 0.1, 0.25, 0.5)  # few, so that colours mean the same from page to page
_COVERED = 99.0


def gate_scale(weights: np.ndarray) -> HeatScale:
    """Colours centred on balance that reach as far as nearly all of the weights do."""
    known = np.abs(weights[np.isfinite(weights)] - BALANCE)
    spread = float(np.percentile(known, _COVERED)) if known.size else 0.0
    reach = next((r for r in _REACHES if spread <= r), _REACHES[-1])
    return HeatScale(BALANCE - reach, BALANCE + reach, BALANCE, "", "spatial", "temporal")


def shown_weights(result: Analysis, part: str) -> np.ndarray:
    """Temporal weights (channels, windows x patches) of a layer, or their mean over layers."""
    weights = result.values("temporal")  # (layers, windows, channels, patches)
    chosen = weights.mean(0) if part == MEAN else weights[int(part)]
    return np.asarray(chosen.transpose(1, 0, 2).reshape(weights.shape[2], -1))


def patch_times(result: Analysis) -> np.ndarray:
    """Where the patches begin, seconds of the recording, float64 (windows x patches,)."""
    onsets = result.values("patch_onset").astype(np.float64).ravel()
    return np.asarray(onsets + float(result.facts["first_window"]))


def part_text(result: Analysis, part: str) -> str:
    """A layer in words."""
    return f"mean of {result.values('temporal').shape[0]} layers" if part == MEAN else f"layer {part}"


class GateOverlay(AnalysisHeat):
    """Temporal against spatial weight for each channel and patch."""

    title = "Gates"

    def parts(self, result: Analysis) -> list[str]:
        """The mean, and each layer."""
        return [MEAN, *(str(i) for i in range(result.values("temporal").shape[0]))]

    def heat_of(self, result: Analysis, part: str) -> Heat:
        """Weights of time against space, centred on balance."""
        times = patch_times(result)
        widths = np.full(times.shape, float(result.facts["patch_seconds"]))
        weights, text = shown_weights(result, part), part_text(result, part)
        title = f"Gates of {result.models[0]}, {text}"
        quantity = f"temporal weight ({text})"
        return Heat(times, widths, result.labels["channel"], weights, gate_scale(weights), title, quantity)

    def curve_of(self, result: Analysis, part: str) -> LaneCurve:
        """The mean over channels, on an axis that all layers fit on."""
        heat = self.heat_of(result, part)
        text = part_text(result, part)
        return LaneCurve(
            heat.times, heat.widths, heat.values.mean(0), heat.scale, text,
            f"Temporal weight of {result.models[0]}, {text}, mean of {len(heat.ch_names)} channels",
            result.random_weights,
        )  # fmt: skip

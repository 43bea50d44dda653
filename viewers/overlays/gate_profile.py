"""AXON's gates on the traces: which axis each token listens to, its own channel or the scalp, and how far in time."""

from __future__ import annotations

import numpy as np

from analysis.analyses import Analysis
from viewers.analysis_lane import LaneCurve
from viewers.heat_scales import HeatScale
from viewers.overlays.gate_parts import ENDS, QUANTITIES, TEMPORAL, TITLES, mark_of, parts_of, split_part
from viewers.overlays.heat import MEAN, AnalysisHeat, Heat

BALANCE = 0.5
_REACHES = (0.05, 0.1, 0.25, 0.5)  # few, so that colours mean the same from page to page
_COVERED = 99.0


def gate_scale(weights: np.ndarray, gate: str = TEMPORAL) -> HeatScale:
    """Colours centred on balance that reach as far as nearly all of the weights do."""
    known = np.abs(weights[np.isfinite(weights)] - BALANCE)
    spread = float(np.percentile(known, _COVERED)) if known.size else 0.0
    reach = next((r for r in _REACHES if spread <= r), _REACHES[-1])
    return HeatScale(BALANCE - reach, BALANCE + reach, BALANCE, "", *ENDS[gate])


def shown_weights(result: Analysis, part: str) -> np.ndarray:
    """Weights (channels, windows x patches) of a part: of a layer's gate, or their mean over layers."""
    gate, layer = split_part(part)
    weights = result.values(gate)  # (layers, windows, channels, patches)
    chosen = weights.mean(0) if layer == MEAN else weights[int(layer)]
    return np.asarray(chosen.transpose(1, 0, 2).reshape(weights.shape[2], -1))


def patch_times(result: Analysis) -> np.ndarray:
    """Where the patches begin, seconds of the recording, float64 (windows x patches,)."""
    onsets = result.values("patch_onset").astype(np.float64).ravel()
    return np.asarray(onsets + float(result.facts["first_window"]))


def layer_text(result: Analysis, layer: str) -> str:
    """A layer in words."""
    return f"mean of {result.values(TEMPORAL).shape[0]} layers" if layer == MEAN else f"layer {layer}"


class GateOverlay(AnalysisHeat):
    """Temporal against spatial weight for each channel and patch, or that of the short window against the long one."""

    title = "Gates"

    def parts(self, result: Analysis) -> list[str]:
        """The mean and each layer, of either gate."""
        return parts_of(result)

    def heat_of(self, result: Analysis, part: str) -> Heat:
        """Weights of a gate, centred on balance."""
        times = patch_times(result)
        widths = np.full(times.shape, float(result.facts["patch_seconds"]))
        gate, layer = split_part(part)
        weights, text, mark = shown_weights(result, part), layer_text(result, layer), mark_of(result, gate)
        title = f"{TITLES[gate]} of {result.models[0]}, {text}{mark}"
        quantity = f"{QUANTITIES[gate]} ({text}){mark}"
        return Heat(times, widths, result.labels["channel"], weights, gate_scale(weights, gate), title, quantity)

    def curve_of(self, result: Analysis, part: str) -> LaneCurve:
        """The mean over channels, on an axis that all tokens fit on."""
        heat = self.heat_of(result, part)
        gate, layer = split_part(part)
        text, mark = layer_text(result, layer), mark_of(result, gate)
        # The lane has room for few words.
        told = text if gate == TEMPORAL else f"scale, {'mean' if layer == MEAN else text}"
        amount = f"mean of {len(heat.ch_names)} channels"
        quantity = f"{QUANTITIES[gate].capitalize()} of {result.models[0]}, {text}, {amount}"
        return LaneCurve(
            heat.times, heat.widths, heat.values.mean(0), heat.scale, told, quantity + mark,
            result.random_weights,
        )  # fmt: skip

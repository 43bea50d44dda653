"""NeurDuo's streams: a lane with the rates of both, and, where the reader asks for it, one by channel as heat."""

from __future__ import annotations

import numpy as np

from analysis.analyses import Analysis
from analysis.stream_spans import end_of, step_times, write_times
from viewers.heat_scales import HeatScale
from viewers.overlays.heat import MEAN, AnalysisHeat, Heat
from viewers.stream_lane import StreamCurves, StreamLane

PARTS = {"fast": "fast stream by channel", "slow": "slow stream by channel"}
_ROUND = (1.0, 2.0, 5.0)
_COVERED = 98.0


def rate_scale(rates: np.ndarray) -> HeatScale:
    """Colours from nothing to a round value that nearly all rates lie below."""
    known = rates[np.isfinite(rates)]
    most = max(1e-6, float(np.percentile(known, _COVERED))) if known.size else 1.0
    power = 10.0 ** np.floor(np.log10(most))
    reach = next((power * r for r in _ROUND if most <= power * r), 10.0 * power)
    return HeatScale(0.0, float(reach), unit="/s", low_word="still", high_word="turning fast")


def _spans(result: Analysis, stream: str) -> tuple[np.ndarray, float]:
    """Where the span of each rate begins, and how long it is, in seconds: a step, or the steps that a write closes."""
    step, write = float(result.facts["step_seconds"]), float(result.facts["write_seconds"])
    return (step_times(result), step) if stream == "fast" else (write_times(result) + step - write, write)


class StreamOverlay(AnalysisHeat):
    """Rates of change per second; nothing lies behind the traces unless a stream is chosen."""

    title = "Streams"

    def make_lane(self) -> StreamLane:
        """The lane of both streams."""
        return StreamLane()

    def parts(self, result: Analysis) -> list[str]:
        """The lane alone, and each stream by channel."""
        return [MEAN, *PARTS]

    def heat_of(self, result: Analysis, part: str) -> Heat | None:
        """Rates of one stream, by channel."""
        if part not in PARTS:
            return None
        starts, length = _spans(result, part)
        values = result.values(f"{part}_by_channel").T
        mark = f" [{source}]" if (source := result.arrays[part].source) else ""
        title = f"Streams of {result.models[0]}, {part}{mark}"
        quantity = f"{part} stream, change per second{mark}"
        widths = np.full(starts.shape, length)
        return Heat(starts, widths, result.labels["channel"], values, rate_scale(values), title, quantity)

    def curve_of(self, result: Analysis, part: str) -> StreamCurves:
        """Means over channels."""
        facts = result.facts
        tip = (
            f"Relative change per second of both streams of {result.models[0]}, mean of "
            f"{len(result.labels['channel'])} channels: fast every {facts['step_seconds']:g} s, slow every "
            f"{facts['write_seconds']:g} s, where the ticks are memory is written"
        )
        return StreamCurves(
            step_times(result), result.values("fast"), write_times(result), result.values("slow"),
            float(facts["step_seconds"]), float(facts["write_seconds"]), tuple(facts["resets"]), end_of(result), tip,
            result.random_weights,
        )  # fmt: skip

    def describe(self, time: float, ch_name: str) -> str:
        """Both rates at a time, and that of the channel where it is drawn."""
        result = self.result
        if result is None or not self.state.visible:
            return ""
        words = []
        for name in PARTS:
            starts, length = _spans(result, name)
            at = int(np.searchsorted(starts, time, side="right")) - 1
            if at >= 0 and time < starts[at] + length and np.isfinite(result.values(name)[at]):
                words.append(f"{name} {float(result.values(name)[at]):.3g}")
        rates = f"streams {', '.join(words)} /s" if words else ""
        return "   ".join(filter(None, (rates, super().describe(time, ch_name))))

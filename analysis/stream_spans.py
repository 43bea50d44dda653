"""What NeurDuo's stream was heard to do, in spans: joined as they come, cut to the one that is asked for.

The analyses are those of kinds `streams` and `memory`, whose arrays have an axis of steps, or of writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from analysis.analyses import Analysis, NamedArray
from analysis.recording import Window

_RELATIVE = ("time", "slow_time", "slot_time")  # counted from first_time
_ROUNDING = 0.02  # seconds, of times in float32 that reach over a day


def step_times(result: Analysis) -> np.ndarray:
    """When the steps of an analysis begin, float64 seconds of the recording."""
    return result.values("time").astype(np.float64) + float(result.facts["first_time"])


def write_times(result: Analysis) -> np.ndarray:
    """When the steps that write begin, float64 seconds of the recording."""
    return result.values("slow_time").astype(np.float64) + float(result.facts["first_time"])


def end_of(result: Analysis) -> float:
    """Where the last step ends, seconds of the recording."""
    return float(step_times(result)[-1]) + float(result.facts["step_seconds"])


def covers(result: Analysis, window: Window) -> bool:
    """Whether an analysis holds every step from its first to one that reaches the end of a window."""
    step = float(result.facts["step_seconds"])
    return float(result.facts["first_time"]) <= window.start + step and end_of(result) >= window.stop - step


def cut(result: Analysis, start: float, stop: float) -> Analysis | None:
    """The steps that overlap [start, stop), with the facts that hold of them; None where there is none."""
    times = step_times(result)
    held = times + float(result.facts["step_seconds"]) > start + _ROUNDING
    keep = {"step": held & (times < stop - _ROUNDING)}
    if not keep["step"].any():
        return None
    if "slow_time" in result.arrays:
        first, last = times[keep["step"]][[0, -1]]
        written = write_times(result)
        keep["write"] = (written > first - _ROUNDING) & (written < last + _ROUNDING)
    arrays = {name: _kept(array, keep) for name, array in result.arrays.items()}
    return _based(result, arrays, float(times[keep["step"]][0]), Window(start, stop))


def join(parts: Iterable[Analysis]) -> Analysis:
    """Analyses of one stream that follow each other in time; where two overlap the later one holds."""
    whole: Analysis | None = None
    for part in parts:
        whole = part if whole is None else _join(whole, part)
    assert whole is not None
    return whole


def _join(first: Analysis, second: Analysis) -> Analysis:
    begin = float(second.facts["first_time"])
    kept = cut(first, -np.inf, begin)
    if kept is None:
        return second
    shift = np.float32(begin - float(kept.facts["first_time"]))
    arrays = {}
    for name, array in second.arrays.items():
        later = array.values + shift if name in _RELATIVE else array.values
        arrays[name] = replace(array, values=np.concatenate([kept.arrays[name].values, later]))
    resets = sorted({*kept.facts["resets"], *second.facts["resets"]})
    start = first.request.window.start if first.request.window else 0.0
    stop = second.request.window.stop if second.request.window else end_of(second)
    joined = replace(second, arrays=arrays, facts={**second.facts, **kept.facts, "resets": resets})
    return _based(joined, arrays, float(kept.facts["first_time"]), Window(start, stop))


def _kept(array: NamedArray, keep: Mapping[str, np.ndarray]) -> NamedArray:
    mask = keep.get(array.axes[0]) if array.axes else None
    return array if mask is None else replace(array, values=array.values[mask])


def _based(result: Analysis, arrays: Mapping[str, NamedArray], first: float, window: Window) -> Analysis:
    """An analysis of other steps: times counted from `first`, facts and request told anew."""
    shift = np.float32(float(result.facts["first_time"]) - first)
    if shift:
        arrays = {n: replace(a, values=a.values + shift) if n in _RELATIVE else a for n, a in arrays.items()}
    facts = {**result.facts, "first_time": first, "n_steps": len(arrays["time"].values)}
    last = first + float(arrays["time"].values[-1]) + _ROUNDING
    facts["resets"] = [reset for reset in result.facts["resets"] if first - _ROUNDING <= reset <= last]
    if "fast" in arrays:
        arrays = {**arrays, "fast_at_writes": _fast_at_writes(arrays, facts)}
        facts |= _medians(arrays)
    request = replace(result.request, window=window)
    provenance = {**result.provenance, "span": [window.start, window.stop]}
    return replace(result, request=request, provenance=provenance, arrays=arrays, facts=facts)


def _fast_at_writes(arrays: Mapping[str, NamedArray], facts: Mapping[str, Any]) -> NamedArray:
    """Mean of the fast rates since the write before; NaN where not all of them are there."""
    n = round(float(facts["write_seconds"]) / float(facts["step_seconds"]))
    fast = arrays["fast"].values.astype(np.float64)
    at = np.searchsorted(arrays["time"].values, arrays["slow_time"].values - _ROUNDING)
    sums = np.concatenate([[0.0], np.cumsum(np.nan_to_num(fast))])
    holes = np.concatenate([[0], np.cumsum(~np.isfinite(fast))])
    low, high = np.maximum(at - n + 1, 0), at + 1
    whole = (at >= n - 1) & (holes[high] == holes[low])
    return replace(arrays["fast_at_writes"], values=np.where(whole, (sums[high] - sums[low]) / n, np.nan))


def _medians(arrays: Mapping[str, NamedArray]) -> dict[str, Any]:
    fast, slow, at = (arrays[name].values for name in ("fast", "slow", "fast_at_writes"))
    both = np.isfinite(at) & np.isfinite(slow)
    return {
        "fast_median": _median(fast),
        "slow_median": _median(slow),
        "fast_above_slow": int((at[both] > slow[both]).sum()),
        "compared_writes": int(both.sum()),
    }


def _median(values: np.ndarray) -> float | None:
    known = values[np.isfinite(values)]
    return float(np.median(known)) if known.size else None

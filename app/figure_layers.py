"""What an analysis adds to a page for print: heat and arcs on the traces, lanes under them. Knows no Qt.

A `part` is named as on the screen: of gates a layer, of experts a block, of attribution `signed` or `absolute`, of
token maps a pair of layers such as `0,3`, of lag correlations a lag or `LAG:CHANNEL`, of channel maps
`LAYER/HEAD:CHANNEL`, of predictions a series such as `two_step`; empty for what is usual.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.analysis_tables import span_of
from analysis.errors import AnalysisError
from analysis.stream_spans import step_times, write_times

if TYPE_CHECKING:
    from analysis.analyses import Analysis
    from analysis.attention_parts import Part
    from analysis.figures.layers import Arcs, Heat, Lane, Shares

_MOST_TARGETS = 8
_ATTENTION_PLACES = ("layer", "head", "channel")


def heats_of(analysis: Analysis, part: str = "") -> list[Heat]:
    """Everything behind the traces; empty for a kind that is of no one channel, or that has nothing to show."""
    make = _HEATS.get(analysis.kind)
    return make(analysis, part) if make is not None else []


def lanes_of(analysis: Analysis, part: str = "") -> list[Lane | Shares]:
    """The lanes under a page."""
    make = _LANES.get(analysis.kind)
    return make(analysis, part) if make is not None else []


def arcs_of(analysis: Analysis, part: str = "") -> list[Arcs]:
    """The arcs over the traces."""
    make = _ARCS.get(analysis.kind)
    return make(analysis, part) if make is not None else []


def _number(analysis: Analysis, part: str, count: int, what: str) -> int | None:
    """The number that a part names, None for an empty one; AnalysisError where there is none of that number."""
    if part in ("", "mean"):
        return None
    if not part.isdigit() or int(part) >= count:
        raise AnalysisError(f"{analysis.kind} has no {what} {part!r}: give a number from 0 to {count - 1}")
    return int(part)


def _gates(analysis: Analysis, part: str) -> list[Heat]:
    """Temporal weight of all windows one after the other; of a layer, or the mean over the layers."""
    from analysis.figures.layers import Heat

    values = analysis.values("temporal")  # (layer, window, channel, patch)
    layer = _number(analysis, part, len(values), "layer")
    where = f"layer {layer}" if layer is not None else f"mean over {len(values)} layers"
    chosen = values[layer] if layer is not None else values.mean(0)
    joined = np.concatenate(list(chosen), -1)  # (channels, windows * patches)
    at = float(analysis.facts["first_window"]) + analysis.values("patch_onset").astype(np.float64).ravel()
    # Patches that overlap give way to the one that follows.
    step = float(analysis.facts["patch_seconds"])
    step = min(step, float(np.diff(at).min())) if len(at) > 1 else step
    title, unit = f"temporal weight, {where}{_mark(analysis, 'temporal')}", analysis.arrays["temporal"].unit
    return [Heat(analysis.labels["channel"], at, step, joined, title, unit, 0.5)]


def _attribution(analysis: Analysis, part: str) -> list[Heat]:
    """Attribution on the channels and the time of the recording, as on the screen: `signed` or `absolute`."""
    from analysis.attribution_maps import attribution_map, colour_reach, map_words, parts_of
    from analysis.figures.layers import Heat

    parts = parts_of(analysis.kind)
    chosen = part if part not in ("", "mean") else parts[0]
    if chosen not in parts:
        raise AnalysisError(f"{analysis.kind} has no part {part!r}: give {' or '.join(parts)}")
    found = attribution_map(analysis)
    if found is None:
        return []
    values, signed = found.shown(chosen)
    reach = colour_reach(values)
    step, low = float(np.median(found.widths)), -reach if signed else 0.0
    title, stops = map_words(analysis, chosen), found.times + found.widths
    centre = 0.0 if signed else None
    return [
        Heat(found.ch_names, found.times, step, values, title, found.unit or "1", centre, low, reach, stops),
    ]


def _recall(analysis: Analysis, _part: str) -> list[Heat]:
    """What the last step of the page recalls, each write over the time since the write before it."""
    from analysis.figures.layers import Heat

    written = analysis.values("slot_time")[-1].astype(np.float64) + float(analysis.facts["first_time"])
    there = np.isfinite(written)
    if not there.any():
        return []
    length, step = float(analysis.facts["write_seconds"]), float(analysis.facts["step_seconds"])
    weights = analysis.values("weights")[-1][:, there]
    title = f"share of the recall at {step_times(analysis)[-1]:.1f} s{_mark(analysis, 'weights')}"
    return [Heat(analysis.labels["channel"], written[there] + step - length, length, weights, title)]


def _token_maps(analysis: Analysis, part: str) -> list[Heat]:
    """Token maps of two layers on one scale: of each row the upper half is one, the lower half the other."""
    if "row_map" not in analysis.arrays:
        raise AnalysisError("the span is too long to keep the token maps of layers: choose a shorter one")
    deep, wide = analysis.values("cka").shape
    first, _, second = (part if part not in ("", "mean") else f"0,{wide - 1}").partition(",")
    if not (first.isdigit() and second.isdigit() and int(first) < deep and int(second) < wide):
        raise AnalysisError(f"cka has no pair of layers {part!r}: give one such as 0,{wide - 1}")
    upper, lower = _token_map(analysis, "row", int(first)), _token_map(analysis, "column", int(second))
    ends = np.concatenate([upper.values.ravel(), lower.values.ravel()])
    reach = float(np.percentile(np.abs(ends[np.isfinite(ends)] - 1.0), 99)) if np.isfinite(ends).any() else 1.0
    reach = next((r for r in (0.1, 0.25, 0.5, 1.0) if reach <= r), 1.0)
    title = f"token distance from the mean [our definition]: above {upper.title}, below {lower.title}"
    halves = ((upper, (0.0, 0.5)), (lower, (0.5, 1.0)))
    return [replace(half, title=title, low=1.0 - reach, high=1.0 + reach, band=band) for half, band in halves]


def _token_map(analysis: Analysis, side: str, layer: int) -> Heat:
    """The map of a layer of the row's or the column's model; one model compared with itself has one set of maps."""
    from analysis.figures.layers import Heat

    own = side if f"{side}_map" in analysis.arrays else "row"
    at = analysis.values(f"{own}_onset").astype(np.float64) + float(analysis.facts["first_window"])
    model = f"{analysis.models[-1 if side == 'column' else 0]} " if len(analysis.models) > 1 else ""
    name = f"{model}{analysis.labels[f'{side}_layer'][layer]}"
    step, channels = float(analysis.facts[f"{own}_token_seconds"]), analysis.labels[f"{own}_channel"]
    return Heat(channels, at, step, analysis.values(f"{own}_map")[layer], name, centre=1.0)


def _lag_arcs(analysis: Analysis, part: str) -> list[Arcs]:
    """The strongest lag correlations of each quarter of a second."""
    from analysis.figures.layers import Arcs
    from analysis.lag_arcs import LEAST_CORRELATION, arcs_title, strongest_arcs

    rho = analysis.values("correlation")
    _number(analysis, part.partition(":")[0], rho.shape[2], "lag")
    _number(analysis, part.partition(":")[2], rho.shape[3], "channel")
    found = strongest_arcs(analysis, part)
    table = np.array([(a.time, a.channel, a.later, a.lag, a.correlation) for a in found]).reshape(-1, 5)
    title, step = f"Arcs: {arcs_title(analysis, part)}", float(analysis.facts["quarter_seconds"])
    times, first, later, lags, values = table.T
    return [Arcs(title, analysis.labels["channel"], times, first, later, lags, values, step, LEAST_CORRELATION)]


def _strengths(analysis: Analysis, part: str) -> list[Heat]:
    """What each channel receives from the others, of even attention, over the whole span."""
    from analysis.attention_maps import FLOW, strength_in
    from analysis.figures.layers import Heat

    chosen = _attention_part(analysis, part)
    values = strength_in(chosen.map_of(analysis.values(FLOW)))[:, None]
    reach = max(0.05, float(np.abs(values - 1.0).max())) if np.isfinite(values).all() else 1.0
    start, stop = span_of(analysis)
    title = f"attention received, of even attention, {chosen.words}{_mark(analysis, FLOW)}"
    at, names = np.array([start]), analysis.labels["channel"]
    return [Heat(names, at, stop - start, values, title, "×", 1.0, 1.0 - reach, 1.0 + reach)]


def _channel_arcs(analysis: Analysis, part: str) -> list[Arcs]:
    """From the channel of a part to those it attends to most, at the beginning of the span; none without a channel."""
    from analysis.attention_maps import FLOW, strongest_targets
    from analysis.figures.layers import Arcs

    chosen, names = _attention_part(analysis, part), analysis.labels["channel"]
    if chosen.channel is None:
        return []
    flow = chosen.map_of(analysis.values(FLOW))[chosen.channel]
    targets = np.array(strongest_targets(flow, chosen.channel, _MOST_TARGETS), int)
    if not targets.size:
        return []
    start, stop = span_of(analysis)
    most, n = float(flow[targets[0]]), targets.size
    title = (
        f"Arcs: what {names[chosen.channel]} attends to most, up to {most * len(names):.3g}× of even attention, "
        f"{chosen.words}{_mark(analysis, FLOW)}"
    )
    at, first = np.full(n, start), np.full(n, chosen.channel)
    # From even attention to the strongest.
    return [
        Arcs(
            title,
            names,
            at,
            first,
            targets,
            np.zeros(n),
            flow[targets] / most,
            (stop - start) / 10,
            1 / len(names) / most,
        )
    ]


def _attention_part(analysis: Analysis, part: str) -> Part:
    """Layer, head and channel of a part such as `mean/2:7`; AnalysisError where there are no such."""
    from analysis.attention_maps import FLOW
    from analysis.attention_parts import part_named

    place, _, channel = part.partition(":")
    layer, _, head = place.partition("/")
    for text, count, what in zip((layer, head, channel), analysis.values(FLOW).shape, _ATTENTION_PLACES, strict=False):
        _number(analysis, text, count, what)
    return part_named(part)


def _foreseen(analysis: Analysis, part: str) -> list[Lane | Shares]:
    """Cosines of the predicted with the next state, mean over channels, above and below those with random ones."""
    from analysis.next_state import SERIES, lane_axis, series_times, shown_series

    name = shown_series(part)
    if part not in ("", "mean", name):
        raise AnalysisError(f"prediction has no series {part!r}: give one of {', '.join(SERIES)}")
    values = analysis.values(name).mean(-1).ravel()
    axis = lane_axis(analysis, name)
    title = f"cosine with the {SERIES[name]}{_mark(analysis, name)}"
    lane = _steps(
        title, series_times(analysis, name), float(analysis.facts["segment_seconds"]), values, axis.low, axis.high
    )
    return [replace(lane, base=axis.chance)]


def _experts(analysis: Analysis, part: str) -> list[Lane | Shares]:
    """Shares of each second's routed tokens by expert, one in sum; of a block, or the mean over all blocks."""
    from analysis.figures.layers import Shares

    usage = analysis.values("usage").astype(np.float64)  # (block, second, expert), NaN for shared experts
    block = _number(analysis, part, len(usage), "block")
    total = np.nansum(usage, axis=-1, keepdims=True)
    shares = np.nan_to_num(usage) / np.where(total > 0, total, np.nan)
    chosen = shares[block] if block is not None else np.nanmean(shares, axis=0)
    at = analysis.values("second_onset").astype(np.float64) + float(analysis.facts["first_window"])
    names = analysis.labels["block"]
    where = names[block] if block is not None else f"mean over {len(names)} blocks, each one in sum"
    experts = tuple(str(i + 1) for i in range(usage.shape[-1]))
    return [Shares(f"share of tokens by expert, {where}", at, 1.0, chosen, experts)]


def _rates(analysis: Analysis, _part: str) -> list[Lane | Shares]:
    """The rate of each stream, mean over channels, each on its own scale."""
    step, write = float(analysis.facts["step_seconds"]), float(analysis.facts["write_seconds"])
    spans = {"fast": (step_times(analysis), step), "slow": (write_times(analysis) + step - write, write)}
    return [_steps(f"{name} (/s)", starts, length, analysis.values(name)) for name, (starts, length) in spans.items()]


def _gate(analysis: Analysis, _part: str) -> list[Lane | Shares]:
    """How far the gate of the recall opens, mean over channels; nothing passes before the first write."""
    gate = np.where(analysis.values("weights").any(axis=(1, 2)), analysis.values("gate").mean(1), np.nan)
    return [_steps("recall gate", step_times(analysis), float(analysis.facts["step_seconds"]), gate, high=1.0)]


def _classes(analysis: Analysis, _part: str) -> list[Lane | Shares]:
    """The likeliest class of each unit."""
    names = analysis.labels["class"]
    starts = analysis.values("time").astype(np.float64) + float(analysis.facts["first_time"])
    choice = analysis.values("choice").astype(np.float64)
    lane = _steps("class", starts, float(analysis.facts["unit_seconds"]), choice, -0.5, len(names) - 0.5)
    return [replace(lane, names=tuple(names))]


def _steps(
    title: str, starts: np.ndarray, length: float, values: np.ndarray, low: float = 0.0, high: float | None = None
) -> Lane:
    """A lane of steps, each as long as the others but for holes, where there is none."""
    from analysis.figures.layers import Lane

    values = np.asarray(values, np.float64)
    ends = starts + length
    hole = np.append(starts[1:] - ends[:-1] > length / 10, True)  # after the last there is nothing either
    times = np.insert(starts, np.flatnonzero(hole) + 1, ends[hole])
    filled = np.insert(values, np.flatnonzero(hole) + 1, np.nan, axis=-1)
    filled[..., -1] = values[..., -1] if len(starts) else np.nan  # so that the last step is drawn to its end
    finite = values[np.isfinite(values)]
    top = high if high is not None else max(1e-9, 1.1 * float(finite.max(initial=0.0)))
    return Lane(title, times, filled, low, top)


def _mark(analysis: Analysis, name: str) -> str:
    """Where an array's definition comes from, as it stands behind a title."""
    source = analysis.arrays[name].source
    return f" [{source}]" if source else ""


# What draws each kind. A kind may stand in several tables; one that stands in none is no overlay of a figure.
_HEATS: Mapping[str, Callable[[Analysis, str], list[Heat]]] = {
    "gates": _gates,
    **dict.fromkeys(("integrated-gradients", "grad-cam", "occlusion"), _attribution),
    "memory": _recall,
    "cka": _token_maps,
    "channel-map": _strengths,
}
_LANES: Mapping[str, Callable[[Analysis, str], list[Lane | Shares]]] = {
    "streams": _rates,
    "memory": _gate,
    "stages": _classes,
    "experts": _experts,
    "prediction": _foreseen,
}
_ARCS: Mapping[str, Callable[[Analysis, str], list[Arcs]]] = {
    "dynamic-groups": _lag_arcs,
    "channel-map": _channel_arcs,
}
KINDS_DRAWN = tuple(dict.fromkeys([*_HEATS, *_LANES, *_ARCS]))
# Options that a page of seconds needs, where nothing else is asked for.
PAGE_OPTIONS: Mapping[str, Mapping[str, Any]] = {"cka": {"rows": "tokens"}}

"""What the reader must know of a channel before trusting its trace: flat, clipped, not calibrated or missing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.recording import Channel, Recording

OK, FLAT, CLIPPED, NOT_CALIBRATED, MISSING = "ok", "flat", "clipped", "not calibrated", "no signal"
_SPANS = 16
_SPAN_SECONDS = 2.0
_FLAT_UV = 0.05
_CLIPPED_RUN = 4
_CLIPPED_SHARE = 0.005
# This near to the end of what the file can hold, as a share of its range, a signal is against the rail: an open input
# still flickers by a few digital steps.
_RAIL_SHARE = 1e-3


@dataclass(frozen=True)
class ChannelQuality:
    """State of a channel over the whole recording, with the middle and the spread of its values.

    `state` is one of the words of this module. `centre` is the median and `spread` the range from the first to the
    99th percentile, in the channel's unit: where a trace that is not filtered is drawn, and how large.
    """

    state: str = OK
    centre: float = 0.0
    spread: float = 0.0


def assess_channels(recording: Recording) -> dict[str, ChannelQuality]:
    """Judge every channel from short spans spread over the recording; name -> ChannelQuality."""
    spans = _read_spans(recording)
    return {channel.name: _assess(channel, [span[i] for span in spans]) for i, channel in enumerate(recording.channels)}


def _read_spans(recording: Recording) -> list[np.ndarray]:
    """Up to 16 spans of 2 s inside the recording's contiguous parts, float32 (channels, samples)."""
    size = max(1, min(recording.n_times, round(_SPAN_SECONDS * recording.sfreq)))
    parts = recording.contiguous_spans()
    total = sum(part.duration for part in parts)
    spans = []
    for wanted in (np.arange(_SPANS) + 0.5) / _SPANS * total:
        start = int(_at(parts, float(wanted)) * recording.sfreq) - size // 2
        start = min(max(0, start), recording.n_times - size)
        spans.append(recording.read(start, start + size))
        if size == recording.n_times:
            break
    return spans


def _at(parts: tuple, signal_time: float) -> float:
    """The time on the clock after `signal_time` seconds of signal."""
    for part in parts:
        if signal_time <= part.duration:
            return part.start + signal_time
        signal_time -= part.duration
    return parts[-1].stop if parts else 0.0


def _assess(channel: Channel, spans: list[np.ndarray]) -> ChannelQuality:
    values = np.concatenate(spans)
    values = values[np.isfinite(values)]
    if values.size == 0:
        return ChannelQuality(MISSING if channel.calibrated else NOT_CALIBRATED)
    low, centre, high = (float(q) for q in np.percentile(values, [1, 50, 99]))
    return ChannelQuality(_state(channel, spans, values, low, high), centre, high - low)


def _state(channel: Channel, spans: list[np.ndarray], values: np.ndarray, low: float, high: float) -> str:
    if not channel.calibrated:
        return NOT_CALIBRATED
    if channel.type == "stim":
        return OK
    if _is_flat(channel, values):
        return FLAT
    if channel.unit == "uV" and (_is_railed(channel, low, high) or _is_clipped(spans, values)):
        return CLIPPED
    return OK


def _is_flat(channel: Channel, values: np.ndarray) -> bool:
    """Whether a voltage never moves, or another signal says nothing but 0 or the least it can say."""
    extent = float(np.ptp(values))
    if channel.unit == "uV":
        return extent <= _FLAT_UV
    # A steady reading, as of a saturation of 97 %, is one; an instrument that is not there reads 0.
    least = channel.limits[0] if channel.limits is not None else 0.0
    return extent == 0 and bool(np.isclose(values[0], [0.0, least], rtol=1e-6, atol=0).any())


def _is_railed(channel: Channel, low: float, high: float) -> bool:
    """Whether the signal, but for 1 % on either side, lies at an end of what the file can hold that is not 0."""
    if channel.limits is None:
        return False
    least, greatest = channel.limits
    margin = _RAIL_SHARE * (greatest - least)
    return (least != 0 and high <= least + margin) or (greatest != 0 and low >= greatest - margin)


def _is_clipped(spans: list[np.ndarray], values: np.ndarray) -> bool:
    """Whether the signal stays exactly at its greatest or least value for several samples, and does so often."""
    stuck = 0
    for limit in (values.max(), values.min()):
        at_limit = 0
        for span in spans:
            held = np.convolve(span == limit, np.ones(_CLIPPED_RUN), mode="valid") == _CLIPPED_RUN
            at_limit += int(held.sum())
        # What lies at a limit most of the time rests there (an idle trigger, a quiet baseline).
        stuck += at_limit if at_limit < values.size / 2 else 0
    return stuck >= max(_CLIPPED_RUN, _CLIPPED_SHARE * values.size)

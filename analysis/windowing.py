"""Recording to model windows and back to the time axis: segments on a grid, and the order they are worked through."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from analysis.recording import Window
from analysis.seizure_marks import join_spans
from analysis.survey import ScorableSpan

_GRID_SLACK = 1e-6  # of a segment; absorbs rounding of times that lie on the grid


@dataclass(frozen=True)
class SegmentRun:
    """Segments of one span that follow each other; segment k covers `length` seconds from `span.origin + k * length`.

    Segments [first, stop) lie wholly in the span; of these [wanted_first, wanted_stop) lie wholly in what was asked for
    and the ones before them serve as history.
    """

    span: ScorableSpan
    length: float
    first: int
    stop: int
    wanted_first: int
    wanted_stop: int

    @property
    def n_wanted(self) -> int:
        """How many segments are to be scored."""
        return max(0, self.wanted_stop - self.wanted_first)

    def onset(self, segment: int) -> float:
        """Where a segment begins, in seconds of the recording."""
        return self.span.origin + segment * self.length

    def onsets(self, start: int, stop: int) -> np.ndarray:
        """Onsets of segments [start, stop), float64 seconds."""
        return self.span.origin + np.arange(start, stop, dtype=np.float64) * self.length

    def history(self, segment: int) -> int:
        """How many segments of the same span come before one."""
        return segment - self.first

    def within(self, part: Window) -> SegmentRun:
        """The same run, with those of the wanted segments that begin within a part of the recording."""
        first, stop = (
            math.ceil((time - self.span.origin) / self.length - _GRID_SLACK) for time in (part.start, part.stop)
        )
        first = min(max(first, self.wanted_first), self.wanted_stop)
        return replace(self, wanted_first=first, wanted_stop=min(max(stop, first), self.wanted_stop))

    def n_short(self, context: int) -> int:
        """How many wanted segments have fewer than `context - 1` segments before them."""
        return max(0, min(self.wanted_stop, self.first + context - 1) - self.wanted_first)


@dataclass(frozen=True)
class Stretch:
    """Segments [start, stop) of a run, worked through in order."""

    run: SegmentRun
    start: int
    stop: int


def plan_runs(spans: Iterable[ScorableSpan], wanted: Window, length: float) -> list[SegmentRun]:
    """Lay segments of `length` seconds on the grid of each span; spans without a wanted segment are left out."""
    runs = []
    for span in spans:
        run = SegmentRun(
            span,
            length,
            first=_ceil((span.start - span.origin) / length),
            stop=_floor((span.stop - span.origin) / length),
            wanted_first=_ceil((max(span.start, wanted.start) - span.origin) / length),
            wanted_stop=_floor((min(span.stop, wanted.stop) - span.origin) / length),
        )
        if run.n_wanted:
            runs.append(run)
    return runs


def uncovered(runs: Sequence[SegmentRun], spans: Iterable[ScorableSpan], wanted: Window) -> list[Window]:
    """Parts of the spans inside what was asked for that no whole segment covers."""
    covered = {run.span: run for run in runs}
    rest: list[Window] = []
    for span in spans:
        start, stop = max(span.start, wanted.start), min(span.stop, wanted.stop)
        if stop <= start:
            continue
        run = covered.get(span)
        if run is None:
            rest.append(Window(start, stop))
            continue
        for a, b in ((start, run.onset(run.wanted_first)), (run.onset(run.wanted_stop), stop)):
            if b - a > _GRID_SLACK * run.length:
                rest.append(Window(a, b))
    return rest


def plan_stretches(runs: Sequence[SegmentRun], size: int, first_time: float | None) -> list[Stretch]:
    """Cut runs into stretches of at most `size` segments, those nearest to `first_time` first.

    One stretch begins with the segment at `first_time`, so that what is looked at is scored at once; the order then
    alternates outwards. Without a time the order is that of the recording.
    """
    stretches: list[Stretch] = []
    for run in runs:
        anchor = run.wanted_first
        if first_time is not None:
            anchor += (_floor((first_time - run.span.origin) / run.length) - anchor) % size
        edges = sorted({run.wanted_first, run.wanted_stop, *range(anchor, run.wanted_stop, size)})
        stretches += [Stretch(run, a, b) for a, b in pairwise(edges)]
    if first_time is None:
        return stretches
    return sorted(stretches, key=lambda s: _distance(s.run.onset(s.start), s.run.onset(s.stop), first_time))


def seizure_labels(
    onsets: np.ndarray, segment_seconds: float, n_segments: int, seizures: Iterable[Sequence[float]]
) -> np.ndarray:
    """Labels (n,) int64 of windows of `n_segments` segments that begin at `onsets` (n,) seconds: 1 is a seizure.

    As the published loader has it, a window is a seizure when its last segment overlaps one, ends included. `seizures`
    are (onset, stop) in seconds, in any order.
    """
    begin = np.asarray(onsets, dtype=np.float64) + (n_segments - 1) * segment_seconds
    spans = np.array(join_spans(seizures), dtype=np.float64).reshape(-1, 2)
    # Of sorted spans that do not overlap, the last one to begin by the segment's end is also the last one to end.
    latest = np.searchsorted(spans[:, 0], begin + segment_seconds, side="right") - 1
    stops = np.concatenate([spans[:, 1], [-np.inf]])  # -inf where none has begun
    return (stops[latest] >= begin).astype(np.int64)


def segments_of(signal: np.ndarray, length: int) -> np.ndarray:
    """Cut (channels, n * length) samples into (n, channels, length) segments."""
    n_channels, n_samples = signal.shape
    return signal.reshape(n_channels, n_samples // length, length).transpose(1, 0, 2)


def _distance(start: float, stop: float, time: float) -> tuple[float, float]:
    """How far a span is from a time; of equal ones the later, which the reader comes to next, goes first."""
    return (max(start - time, time - stop, 0.0) if not start <= time < stop else -1.0), -start


def _floor(value: float) -> int:
    return math.floor(value + _GRID_SLACK)


def _ceil(value: float) -> int:
    return math.ceil(value - _GRID_SLACK)

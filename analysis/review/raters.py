"""Two raters of one recording side by side: how far they agree in time and in events, and where they do not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from analysis.annotation import Annotation
from analysis.errors import AnalysisError
from analysis.review.decisions import needs_review
from analysis.scoring import cohen_kappas, landis_koch
from analysis.seizure_marks import find_seizures, tells_of_seizure

SEIZURES = "Seizures, in any wording"
_TAKEN = frozenset({"file", "sidecar", "reader"})  # authors that mean something else
Span = tuple[float, float]
Kind = Literal["A only", "B only", "start", "end", "inside", "length"]


@dataclass(frozen=True)
class Rater:
    """One side of a comparison: its name and its spans (onset, stop) in seconds, sorted; moments have no length."""

    name: str
    spans: tuple[Span, ...]


@dataclass(frozen=True)
class Dispute:
    """A span in seconds that one rater marked and the other did not.

    `kind` tells whether the other has no event there at all ("A only", "B only"), only moments without a "length", or
    where events that overlap differ: at their "start", at their "end", or "inside". `by`, "A" or "B", marked it.
    """

    start: float
    stop: float
    kind: Kind
    by: Literal["A", "B"]

    @property
    def duration(self) -> float:
        """Length in seconds."""
        return self.stop - self.start


@dataclass(frozen=True)
class Overlap:
    """How events meet: those of A and of B, and how many of each the other has marked too, in whole or in part."""

    n_a: int
    n_b: int
    a_found: int
    b_found: int

    @property
    def a_share(self) -> float | None:
        """The share of A's events that B has; None when A has none."""
        return self.a_found / self.n_a if self.n_a else None

    @property
    def b_share(self) -> float | None:
        """The share of B's events that A has; None when B has none."""
        return self.b_found / self.n_b if self.n_b else None

    @property
    def f1(self) -> float | None:
        """Harmonic mean of the two shares; None when one of them is undefined."""
        a, b = self.a_share, self.b_share
        if a is None or b is None:
            return None
        return 2 * a * b / (a + b) if a + b else 0.0


@dataclass(frozen=True)
class Comparison:
    """What two raters say of `duration` seconds: kappa over samples of `step` seconds, events, and disputed spans.

    `samples` are the numbers of samples marked by both, by A only, by B only and by neither. `kappa` is None where
    both have marked everything or nothing. `agreed` are the spans that both have marked, in seconds.
    """

    a: Rater
    b: Rater
    duration: float
    step: float
    tolerance: float
    samples: tuple[int, int, int, int]
    kappa: float | None
    overlap: Overlap
    agreed: tuple[Span, ...]
    disputes: tuple[Dispute, ...]

    @property
    def word(self) -> str | None:
        """Landis and Koch's word for the kappa."""
        return landis_koch(self.kappa)

    def describe(self) -> str:
        """How the figures are counted, in words that stand beside them."""
        return (
            f"Cohen's kappa over samples of {self.step:g} s: a sample counts as marked when its middle lies in an "
            "event, and the one at which a mark without a length stands. An event counts as found when the other "
            "rater's events overlap it at all; events of one rater that overlap or touch are one. Marks without a "
            f"length meet within {self.tolerance:g} s. Where events overlap, differences longer than "
            f"{self.tolerance:g} s are disputed."
        )


def said_by_file(marks: Iterable[Annotation], name: str) -> tuple[Annotation, ...]:
    """Marks of another file as the word of that file, so that two raters' files can be told apart.

    Decisions of its rater on a model's events are the file's too, with the model named in a column `author`; events of
    a model that nobody has decided on stay the model's.
    """
    author = f"{name} (file)" if name in _TAKEN else name
    return tuple(mark if needs_review(mark) else _said_by(mark, author) for mark in marks)


def _said_by(mark: Annotation, author: str) -> Annotation:
    model = (("author", mark.author),) if mark.is_model else ()
    return replace(mark, author=author, extras=(*mark.extras, *model))


def rate(name: str, marks: Iterable[Annotation], kind: str = SEIZURES) -> Rater:
    """What the marks of one source say of one type: seizures in any wording, or all marks of a title.

    What was rejected is not said.
    """
    marks = [mark for mark in marks if mark.review.decision != "rejected"]
    if kind == SEIZURES:
        told = find_seizures(marks, detections=True)
        return Rater(name, tuple(sorted((*told.spans, *((at, at) for at in told.unended)))))
    return Rater(name, tuple(sorted((mark.onset, mark.stop) for mark in marks if mark.title == kind)))


def compare_raters(a: Rater, b: Rater, duration: float, step: float = 1.0, tolerance: float = 2.0) -> Comparison:
    """Compare two raters over a recording of `duration` seconds.

    Kappa is taken over samples of `step` seconds; differences at the ends of events that overlap are disputed when
    they are longer than `tolerance` seconds. AnalysisError when the duration is not positive.
    """
    if not duration > 0:
        raise AnalysisError("the length of the recording is not known, so raters cannot be compared: open it first")
    events_a, events_b = (_joined(rater.spans, duration) for rater in (a, b))
    said_a, said_b = (sample_labels(events, duration, step) for events in (events_a, events_b))
    both, only_a, only_b = (int(m.sum()) for m in (said_a & said_b, said_a & ~said_b, said_b & ~said_a))
    kappa = float(cohen_kappas(said_a[None], said_b[None])[0])
    a_met, b_met = _meet(events_a, events_b, tolerance), _meet(events_b, events_a, tolerance)
    overlap = Overlap(len(events_a), len(events_b), int(a_met.sum()), int(b_met.sum()))
    return Comparison(
        a,
        b,
        duration,
        step,
        tolerance,
        (both, only_a, only_b, len(said_a) - both - only_a - only_b),
        None if np.isnan(kappa) else kappa,
        overlap,
        tuple(_common(events_a, events_b)),
        tuple(_disputes(events_a, events_b, a_met, b_met, tolerance)),
    )


def overlap_by_type(
    a: Sequence[Annotation], b: Sequence[Annotation], duration: float, tolerance: float = 2.0
) -> dict[str, Overlap]:
    """How events meet, for each type that either source uses; the most frequent first.

    A type is a title, but all that tells of seizures is one, SEIZURES, as `rate` takes it: a start and an end mark are
    one seizure and no two types.
    """
    spans: dict[str, tuple[list[Span], list[Span]]] = {}
    for side, marks in enumerate((a, b)):
        of_seizures = []
        for mark in marks:
            if tells_of_seizure(mark, detections=True):
                of_seizures.append(mark)
            else:
                spans.setdefault(mark.title, ([], []))[side].append((mark.onset, mark.stop))
        if of_seizures:
            spans.setdefault(SEIZURES, ([], []))[side].extend(rate("", of_seizures).spans)
    found = {}
    for title in sorted(spans, key=lambda name: (-sum(map(len, spans[name])), name)):
        of_a, of_b = (_joined(side, duration) for side in spans[title])
        a_met, b_met = _meet(of_a, of_b, tolerance), _meet(of_b, of_a, tolerance)
        found[title] = Overlap(len(of_a), len(of_b), int(a_met.sum()), int(b_met.sum()))
    return found


def sample_labels(events: Sequence[Span], duration: float, step: float) -> np.ndarray:
    """Whether the middle of each sample of `step` seconds lies in an event, and where moments stand, bool (samples,).

    The last sample may reach past the end of the recording.
    """
    n = max(1, int(np.ceil(duration / step - 1e-9)))
    labels = np.zeros(n, bool)
    for start, stop in events:
        if stop > start:
            first, last = (int(np.ceil(edge / step - 0.5 - 1e-9)) for edge in (start, stop))
            labels[max(0, first) : max(0, last)] = True
        else:
            labels[min(n - 1, int(start / step + 1e-9))] = True
    return labels


def _joined(spans: Iterable[Span], duration: float) -> list[Span]:
    """Sorted, cut to the recording, and joined where they overlap or touch; moments inside an event are part of it."""
    joined: list[Span] = []
    for start, stop in sorted((max(0.0, a), min(duration, z)) for a, z in spans if z >= 0 and a <= duration):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], stop))
        else:
            joined.append((start, stop))
    return joined


def _meet(events: Sequence[Span], others: Sequence[Span], tolerance: float) -> np.ndarray:
    """Which of the events, sorted and disjoint, the others overlap, bool (events,); moments meet within a tolerance."""
    if not events or not others:
        return np.zeros(len(events), bool)
    starts, stops = np.array(others).T
    met = np.zeros(len(events), bool)
    for i, (start, stop) in enumerate(events):
        first = int(np.searchsorted(stops, start - tolerance, side="left"))
        last = int(np.searchsorted(starts, stop + tolerance, side="right"))
        near = slice(first, last)
        moment = (starts[near] == stops[near]) | (stop == start)
        overlap = np.minimum(stops[near], stop) - np.maximum(starts[near], start)
        met[i] = bool(np.where(moment, overlap >= -tolerance, overlap > 0).any())
    return met


def _common(a: Sequence[Span], b: Sequence[Span]) -> list[Span]:
    """The spans that lie in both of two lists of sorted, disjoint spans."""
    common: list[Span] = []
    i = j = 0
    while i < len(a) and j < len(b):
        start, stop = max(a[i][0], b[j][0]), min(a[i][1], b[j][1])
        if stop > start:
            common.append((start, stop))
        if a[i][1] <= b[j][1]:
            i += 1
        else:
            j += 1
    return common


def _disputes(
    a: Sequence[Span], b: Sequence[Span], a_met: np.ndarray, b_met: np.ndarray, tolerance: float
) -> list[Dispute]:
    found: list[Dispute] = []
    sides: tuple[tuple[Literal["A", "B"], Kind, Sequence[Span], np.ndarray, Sequence[Span]], ...] = (
        ("A", "A only", a, a_met, b),
        ("B", "B only", b, b_met, a),
    )
    for by, alone, events, met, others in sides:
        starts = np.array([other[0] for other in others])
        for (start, stop), is_met in zip(events, met.tolist(), strict=True):
            if not is_met:
                found.append(Dispute(start, stop, alone, by))
            elif stop > start:
                first = max(0, int(np.searchsorted(starts, start, side="right")) - 1)
                near = others[first : int(np.searchsorted(starts, stop, side="left"))]
                found += _differences(start, stop, near, tolerance, by)
    return sorted(found, key=lambda dispute: (dispute.start, dispute.stop, dispute.by))


def _differences(
    start: float, stop: float, others: Sequence[Span], tolerance: float, by: Literal["A", "B"]
) -> list[Dispute]:
    """The parts of an event, longer than the tolerance, that none of the other rater's events near it covers."""
    inside = [other for other in others if other[1] > max(start, other[0])]
    if not inside:
        return [Dispute(start, stop, "length", by)]
    edges = [start, *(edge for a, z in inside for edge in (max(a, start), min(z, stop))), stop]
    holes = list(zip(edges[::2], edges[1::2], strict=True))
    found: list[Dispute] = []
    for number, (left, right) in enumerate(holes):
        if right - left > tolerance:
            kind: Kind = "start" if number == 0 else "end" if number == len(holes) - 1 else "inside"
            found.append(Dispute(left, right, kind, by))
    return found

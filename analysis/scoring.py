"""Predictions against a reader's annotations: SzCORE's scores, and the kappa of MVPFormer's appendix E.3."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from analysis.errors import AnalysisError
from analysis.seizure_marks import join_spans

Spans = Sequence[tuple[float, float]]

# Landis and Koch 1977; the paper's Table S8 begins at 0.
_WORDS = ((0.0, "Poor"), (0.20, "Slight"), (0.40, "Fair"), (0.60, "Moderate"), (0.80, "Substantial"))


@dataclass(frozen=True)
class ScoringRule:
    """Constants of the comparison, times in seconds: SzCORE's defaults, and appendix E.3 for kappa."""

    tolerance_before: float = 30.0
    tolerance_after: float = 60.0
    merge_below: float = 90.0
    split_above: float = 300.0
    event_rate: float = 10.0
    sample_rate: float = 1.0
    segment: float = 5.0
    segments_per_draw: int = 300
    n_draws: int = 250

    def describe(self) -> str:
        """The rule in words, which stands beside every number it gave."""
        return (
            f"SzCORE: any overlap, tolerance {self.tolerance_before:g} s before and {self.tolerance_after:g} s after, "
            f"events closer than {self.merge_below:g} s merged, longer than {self.split_above:g} s split; samples at "
            f"{self.sample_rate:g} Hz; kappa over {self.segment:g} s segments, {self.n_draws} draws of "
            f"{self.segments_per_draw}"
        )


@dataclass(frozen=True)
class Rates:
    """Sensitivity, precision and F1 (None where undefined), and false alarms per 24 h with the counts behind them.

    For samples the false alarms are false positive samples, as SzCORE counts them.
    """

    tp: int
    fp: int
    n_reference: int
    hours: float

    @property
    def sensitivity(self) -> float | None:
        """Found share of the reference."""
        return self.tp / self.n_reference if self.n_reference else None

    @property
    def precision(self) -> float | None:
        """True share of what was predicted."""
        return self.tp / (self.tp + self.fp) if self.tp + self.fp else None

    @property
    def f1(self) -> float | None:
        """Harmonic mean of sensitivity and precision."""
        total = self.n_reference + self.tp + self.fp
        return 2 * self.tp / total if self.n_reference + self.fp else None

    @property
    def fp_per_24h(self) -> float | None:
        """False alarms per day."""
        return self.fp / self.hours * 24 if self.hours > 0 else None

    def to_dict(self) -> dict[str, float | None]:
        """The four figures under the names of the command line's contract."""
        return {
            "sensitivity": self.sensitivity,
            "precision": self.precision,
            "f1": self.f1,
            "fp_per_24h": self.fp_per_24h,
        }


@dataclass(frozen=True)
class Kappa:
    """Cohen's kappa over segments: over all of them, and mean and SD over random draws (None where undefined).

    `segments_per_draw` is the number that was drawn, all where the recording has fewer than the rule asks for.
    """

    overall: float | None
    draws_mean: float | None
    draws_sd: float | None
    n_draws: int
    n_undefined: int
    n_segments: int
    segments_per_draw: int

    @property
    def word(self) -> str | None:
        """Landis and Koch's word for the mean over draws."""
        return landis_koch(self.draws_mean)


@dataclass(frozen=True)
class Score:
    """A comparison of two lists of seizures over `duration` seconds.

    `raw` and `merged` are the numbers of (reference, predicted) events before and after SzCORE's merging and splitting.
    """

    sample: Rates
    event: Rates
    kappa: Kappa
    duration: float
    seed: int
    raw: tuple[int, int]
    merged: tuple[int, int]
    rule: ScoringRule = field(default_factory=ScoringRule)

    @property
    def fp_per_hour(self) -> float | None:
        """False positive events per hour."""
        return self.event.fp / self.event.hours if self.event.hours > 0 else None

    def to_dict(self) -> dict[str, Any]:
        """What `score --json` prints."""
        return {
            "sample": self.sample.to_dict(),
            "event": {
                **self.event.to_dict(),
                "tp": self.event.tp,
                "fp": self.event.fp,
                "n_reference": self.event.n_reference,
            },
            "kappa": {
                "all": self.kappa.overall,
                "draws_mean": self.kappa.draws_mean,
                "draws_sd": self.kappa.draws_sd,
                "n_draws": self.kappa.n_draws,
                "n_undefined": self.kappa.n_undefined,
                "word": self.kappa.word,
            },
            "fp_per_hour": self.fp_per_hour,
            "rule": self.rule.describe(),
            "seed": self.seed,
            "duration": self.duration,
        }


def score_events(
    reference: Iterable[Sequence[float]], hypothesis: Iterable[Sequence[float]], duration: float, seed: int = 0
) -> dict[str, Any]:
    """`compare_events` by the default rule, as the plain figures that `score --json` prints."""
    return compare_events(reference, hypothesis, duration, seed).to_dict()


def compare_events(
    reference: Iterable[Sequence[float]],
    hypothesis: Iterable[Sequence[float]],
    duration: float,
    seed: int = 0,
    rule: ScoringRule | None = None,
) -> Score:
    """Compare predicted seizures with a reader's, both (onset, stop) in seconds in any order, overlaps allowed.

    AnalysisError when the duration in seconds is not positive.
    """
    rule = rule or ScoringRule()
    if not (math.isfinite(duration) and duration > 0):
        raise AnalysisError("the length of the recording is not known, so nothing can be scored: give it in seconds")
    ref, hyp = (clip_spans(spans, duration) for spans in (reference, hypothesis))
    event, merged = _score_event_level(ref, hyp, duration, rule)
    truth, said = (segment_labels(spans, duration, rule.segment) for spans in (ref, hyp))
    return Score(
        sample=_score_samples(ref, hyp, duration, rule),
        event=event,
        kappa=kappa_over_draws(truth, said, seed, rule),
        duration=duration,
        seed=seed,
        raw=(len(ref), len(hyp)),
        merged=merged,
        rule=rule,
    )


def clip_spans(spans: Iterable[Sequence[float]], duration: float) -> list[tuple[float, float]]:
    """Sort spans, join overlaps, and cut them to the recording; spans without length are dropped."""
    cut = ((max(0.0, float(a)), min(duration, float(b))) for a, b in spans)
    return join_spans((a, b) for a, b in cut if b > a)


def number_of_segments(duration: float, segment: float) -> int:
    """How many whole segments of a length in seconds a recording has, at least one."""
    return max(1, math.floor(duration / segment + 1e-9))


def segment_labels(spans: Spans, duration: float, segment: float) -> np.ndarray:
    """Whether each whole segment of the recording holds any part of a span, bool (segments,)."""
    n = number_of_segments(duration, segment)
    labels = np.zeros(n, bool)
    for onset, stop in spans:
        labels[math.floor(onset / segment + 1e-9) : max(0, math.ceil(stop / segment - 1e-9))] = True
    return labels


def kappa_over_draws(reference: np.ndarray, hypothesis: np.ndarray, seed: int, rule: ScoringRule) -> Kappa:
    """Cohen's kappa of two labellings (segments,), over all segments and over random draws (appendix E.3).

    Each draw takes `segments_per_draw` segments without replacement (all, where there are fewer). Draws in which both
    labellings are one and the same class have no kappa (0/0); they are left out of mean and SD and counted.
    """
    size = min(rule.segments_per_draw, len(reference))
    rng = np.random.default_rng(seed)
    draws = np.stack([rng.choice(len(reference), size, replace=False) for _ in range(rule.n_draws)])
    values = cohen_kappas(reference[draws], hypothesis[draws])
    defined = values[np.isfinite(values)]
    if len(defined) and np.ptp(defined) == 0:
        defined = defined[:1]  # all draws alike, as of a short recording; more would only add rounding
    overall = float(cohen_kappas(reference[None], hypothesis[None])[0])
    return Kappa(
        overall=overall if math.isfinite(overall) else None,
        draws_mean=float(defined.mean()) if len(defined) else None,
        draws_sd=float(defined.std(ddof=0)) if len(defined) else None,
        n_draws=rule.n_draws,
        n_undefined=int(np.isnan(values).sum()),
        n_segments=len(reference),
        segments_per_draw=size,
    )


def cohen_kappas(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Cohen's kappa of each row of two boolean arrays (draws, segments); NaN where chance agreement is certain.

    Whole numbers until the last division, so that agreement as by chance is 0 and not a little above or below.
    """
    n = first.shape[1]
    both, p, q = (mask.sum(axis=1, dtype=np.int64) for mask in (first & second, first, second))
    by_chance = p * (n - q) + q * (n - p)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(by_chance > 0, 2 * (both * n - p * q) / by_chance, np.nan)


def landis_koch(kappa: float | None) -> str | None:
    """Landis and Koch's word for a kappa (paper's Table S8); below zero it is "Poor"."""
    if kappa is None:
        return None
    if kappa < 0:
        return _WORDS[0][1]
    return next((word for limit, word in _WORDS[1:] if kappa <= limit), "Almost perfect")


def _mask(spans: Spans, rate: float, n: int) -> np.ndarray:
    mask = np.zeros(n, bool)
    for onset, stop in spans:
        mask[round(onset * rate) : round(stop * rate)] = True
    return mask


def _score_samples(ref: Spans, hyp: Spans, duration: float, rule: ScoringRule) -> Rates:
    n = round(duration * rule.sample_rate)
    truth, said = (_mask(spans, rule.sample_rate, n) for spans in (ref, hyp))
    return Rates(int((truth & said).sum()), int((~truth & said).sum()), int(truth.sum()), n / rule.sample_rate / 3600)


def _score_event_level(ref: Spans, hyp: Spans, duration: float, rule: ScoringRule) -> tuple[Rates, tuple[int, int]]:
    """SzCORE's event scores: merge, split, widen the reference, then count overlaps on a grid of `event_rate`."""
    n = round(duration * rule.event_rate)
    ref, hyp = (split_spans(merge_spans(spans, rule.merge_below), rule.split_above) for spans in (ref, hyp))
    said = np.concatenate([[0], np.cumsum(_mask(hyp, rule.event_rate, n))])
    tp = 0
    excused = np.zeros(n, bool)
    for onset, stop in ref:
        first = round(max(0.0, onset - rule.tolerance_before) * rule.event_rate)
        last = min(n, round(min(n / rule.event_rate, stop + rule.tolerance_after) * rule.event_rate))
        if said[last] - said[min(first, last)] > 0:
            tp += 1
            excused[first:last] = True
    free = np.concatenate([[0], np.cumsum(excused)])
    fp = 0
    for onset, stop in hyp:
        first, last = (min(n, round(edge * rule.event_rate)) for edge in (onset, stop))
        fp += bool(free[last] - free[first] == 0)
    return Rates(tp, fp, len(ref), n / rule.event_rate / 3600), (len(ref), len(hyp))


def merge_spans(spans: Spans, gap: float) -> list[tuple[float, float]]:
    """Join sorted, disjoint spans that are less than `gap` seconds apart."""
    merged: list[tuple[float, float]] = []
    for onset, stop in spans:
        if merged and onset - merged[-1][1] < gap:
            merged[-1] = (merged[-1][0], stop)
        else:
            merged.append((onset, stop))
    return merged


def split_spans(spans: Spans, longest: float) -> list[tuple[float, float]]:
    """Cut spans into pieces of `longest` seconds and a rest."""
    pieces: list[tuple[float, float]] = []
    for onset, stop in spans:
        while stop - onset > longest:
            pieces.append((onset, onset + longest))
            onset += longest
        pieces.append((onset, stop))
    return pieces

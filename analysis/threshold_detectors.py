"""Detectors of seizures that only compare a number with a threshold: line length, and power from 2 to 12 Hz.

They show what a task is worth: where one of these finds everything, a model's score means nothing. Line length is that
of Esteller et al. 2001: the mean of |x(t) - x(t - 1)|.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy import fft

from analysis.scoring import Rates, ScoringRule, compare_events, merge_spans

HOP = 1.0  # seconds from score to score
BAND = (2.0, 12.0)
_WIDE = (1.0, 45.0)
WINDOWS = (1, 2, 5, 10)  # seconds that a score is averaged over
EVENT_GAP, EVENT_LEAST = 10.0, 8.0  # seconds between parts of an event, and its least length

Spans = Sequence[tuple[float, float]]


def line_length(data: np.ndarray, sfreq: float) -> np.ndarray:
    """Mean |difference between samples| in every second, (channels, seconds), for `data` (channels, samples)."""
    return _seconds(np.abs(np.diff(data, axis=1, prepend=data[:, :1])), sfreq).mean(2)


def band_power(data: np.ndarray, sfreq: float, band: tuple[float, float] = BAND) -> np.ndarray:
    """Power in a band in every second, (channels, seconds), in the square of the unit of `data`."""
    blocks = _seconds(data, sfreq)
    n = blocks.shape[2]
    spectrum = np.abs(fft.rfft(blocks - blocks.mean(2, keepdims=True), axis=2)) ** 2
    frequencies = fft.rfftfreq(n, 1 / sfreq)
    inside = (frequencies >= band[0]) & (frequencies <= band[1])
    return 2 * spectrum[..., inside].sum(2) / n**2


def power_share(data: np.ndarray, sfreq: float) -> np.ndarray:
    """The share of 2-12 Hz in the power of 1-45 Hz in every second, (channels, seconds)."""
    whole = band_power(data, sfreq, _WIDE)
    return np.divide(band_power(data, sfreq), whole, out=np.zeros_like(whole), where=whole > 0)


def _seconds(data: np.ndarray, sfreq: float) -> np.ndarray:
    """Whole seconds of samples (channels, seconds, samples)."""
    n = round(sfreq * HOP)
    count = data.shape[1] // n
    return data[:, : count * n].reshape(len(data), count, n)


MEASURES: Mapping[str, Callable[[np.ndarray, float], np.ndarray]] = {
    "line length": line_length,
    "2-12 Hz power": band_power,
    "2-12 Hz share": power_share,
}
POOLS: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {
    "max": lambda values: values.max(0),
    "top 3": lambda values: np.sort(values, axis=0)[-3:].mean(0),
    "mean": lambda values: values.mean(0),
}


@dataclass(frozen=True)
class ThresholdDetector:
    """One way of making a score a second: measure, over the channels' own median or raw, pooled, averaged."""

    measure: str
    normalised: bool
    pool: str
    window: int

    @property
    def name(self) -> str:
        """Its way in words."""
        how = "over its median" if self.normalised else "raw"
        return f"{self.measure}, {how}, {self.pool} of channels, {self.window} s"

    def scores(self, measured: np.ndarray) -> np.ndarray:
        """A score a second (seconds,) from what was measured (channels, seconds)."""
        if self.normalised:
            middle = np.median(measured, axis=1, keepdims=True)
            measured = measured / np.where(middle > 0, middle, 1.0)
        pooled = POOLS[self.pool](measured)
        kernel = np.ones(self.window)
        return np.convolve(pooled, kernel, mode="same") / np.convolve(np.ones(len(pooled)), kernel, mode="same")


DETECTORS = tuple(ThresholdDetector(*way) for way in product(MEASURES, (False, True), POOLS, WINDOWS))


@dataclass(frozen=True)
class Measured:
    """What the measures say of one recording, and its seizures as spans in seconds."""

    values: Mapping[str, np.ndarray]
    truth: Spans
    seconds: int


@dataclass(frozen=True)
class DetectorScore:
    """A detector on many recordings: area under precision and recall on a grid of seconds, and events at `threshold`.

    `prevalence` is the share of seconds in a seizure, what chance would give as the area.
    """

    detector: ThresholdDetector
    auc_pr: float
    threshold: float
    event: Rates
    prevalence: float

    @property
    def false_alarms_per_hour(self) -> float:
        """False events an hour."""
        return self.event.fp / self.event.hours if self.event.hours else 0.0


def measure(data: np.ndarray, sfreq: float, truth: Spans) -> Measured:
    """All measures of a recording (channels, samples) in microvolts, in the average reference."""
    centred = data - data.mean(0)
    values = {name: function(centred, sfreq) for name, function in MEASURES.items()}
    return Measured(values, truth, next(iter(values.values())).shape[1])


def average_precision(truth: np.ndarray, scores: np.ndarray) -> float:
    """Area under precision over recall as a sum of steps (samples,), equal scores taken together; NaN without truth."""
    order = np.argsort(-scores, kind="stable")
    hits, ranked = np.cumsum(truth[order]), scores[order]
    last = np.append(np.flatnonzero(np.diff(ranked)), len(ranked) - 1)
    if not hits.size or hits[-1] == 0:
        return float("nan")
    recall, precision = hits[last] / hits[-1], hits[last] / (last + 1)
    return float((np.diff(recall, prepend=0.0) * precision).sum())


def events_above(scores: np.ndarray, threshold: float) -> list[tuple[float, float]]:
    """Events (onset, stop) in seconds: scores a second above a threshold, small gaps closed, short ones left out."""
    above = np.flatnonzero(np.diff(np.concatenate([[0], scores >= threshold, [0]]).astype(int)))
    spans = [(float(a) * HOP, float(b) * HOP) for a, b in zip(above[::2], above[1::2], strict=True)]
    return [(a, b) for a, b in merge_spans(spans, EVENT_GAP + 1e-9) if b - a >= EVENT_LEAST]


def grid_truth(one: Measured) -> np.ndarray:
    """Whether the middle of each second lies in a seizure (seconds,)."""
    middle = (np.arange(one.seconds) + 0.5) * HOP
    inside = np.zeros(one.seconds, bool)
    for onset, stop in one.truth:
        inside |= (middle >= onset) & (middle < stop)
    return inside


def score_detector(
    detector: ThresholdDetector, recordings: Sequence[Measured], threshold: float | None = None
) -> DetectorScore:
    """Score a detector on recordings; without a threshold the one with the best F1 of events on these very ones.

    That makes it a bound from above for what the detector can do.
    """
    scores = [detector.scores(one.values[detector.measure]) for one in recordings]
    truth = np.concatenate([grid_truth(one) for one in recordings])
    joined = np.concatenate(scores)
    tried = [threshold] if threshold is not None else _thresholds(joined)
    rated = [(_event_rates(scores, recordings, one), one) for one in tried]
    best, at = max(rated, key=lambda pair: pair[0].f1 or 0.0)
    return DetectorScore(detector, average_precision(truth, joined), float(at), best, float(truth.mean()))


def _thresholds(scores: np.ndarray) -> list[float]:
    return np.unique(np.quantile(scores, 1 - np.geomspace(0.005, 0.3, 12))).tolist()


def _event_rates(scores: Iterable[np.ndarray], recordings: Iterable[Measured], threshold: float) -> Rates:
    rule = ScoringRule(n_draws=1)
    tp = fp = n_reference = 0
    hours = 0.0
    for one, said in zip(recordings, scores, strict=True):
        rates = compare_events(one.truth, events_above(said, threshold), one.seconds * HOP, rule=rule).event
        tp, fp, n_reference = tp + rates.tp, fp + rates.fp, n_reference + rates.n_reference
        hours += rates.hours
    return Rates(tp, fp, n_reference, hours)


def best_detector(recordings: Sequence[Measured]) -> list[DetectorScore]:
    """The best way of each measure, by the area under precision and recall on these very recordings; best first."""
    truth = np.concatenate([grid_truth(one) for one in recordings])
    found: dict[str, tuple[float, ThresholdDetector]] = {}
    for detector in DETECTORS:
        joined = np.concatenate([detector.scores(one.values[detector.measure]) for one in recordings])
        area = average_precision(truth, joined)
        if area > found.get(detector.measure, (-1.0, detector))[0]:
            found[detector.measure] = (area, detector)
    chosen = sorted(found.values(), key=lambda pair: -pair[0])
    return [score_detector(detector, recordings) for _, detector in chosen]


def measure_simulated(seeds: Iterable[int], duration: int = 600, sfreq: int = 200) -> Iterator[Measured]:
    """The measures of simulated recordings of 19 channels, one after another."""
    from analysis.simulation.simulator import Settings, simulate_recording

    for seed in seeds:
        made = simulate_recording(Settings(duration=duration, sfreq=sfreq), seed)
        yield measure(made.data, sfreq, [(one.onset, one.stop) for one in made.truth.events])

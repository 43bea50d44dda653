"""How well a detector does on whole recordings: its curve, by seconds and by events; threshold and calibration."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from analysis.engine.calibration import Calibration
from analysis.engine.training.drawing import cut_windows, seizure_shares
from analysis.engine.training.feeding import Feeder
from analysis.engine.training.stretches import Source, Span, Stretch
from analysis.errors import AnalysisError
from analysis.postprocessing import EpisodeRule, derive_events
from analysis.scoring import Score, ScoringRule, compare_events

RULE = EpisodeRule(merge_gap=10.0, min_duration=8.0, min_positive=1)
BATCH = 32
# Recordings are scored on one time axis, this far apart, so that no event or tolerance reaches from one to the next.
APART = 1000.0
THRESHOLDS = 200
_LEAST_SLOPE = 0.05


@dataclass(frozen=True)
class Scored:
    """One recording: score of seizure against background of each segment, on the logistic scale, and the truth."""

    name: str
    seconds: float
    times: np.ndarray
    durations: np.ndarray
    logits: np.ndarray
    seizures: tuple[Span, ...]

    def by_second(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Score and truth (bool) of each whole second by its middle, and whether it was scored at all."""
        middle = np.arange(int(self.seconds)) + 0.5
        place = np.searchsorted(self.times, middle, side="right") - 1
        scored = (place >= 0) & (middle < (self.times + self.durations)[place])
        truth = seizure_shares(self.seizures, np.stack([middle - 0.5, middle + 0.5], 1)) > 0.5
        return np.where(scored, self.logits[place], -np.inf), truth, scored


@dataclass(frozen=True)
class Judgement:
    """A detector on so many hours: area under the precision-recall curve and ROC over seconds, and its events."""

    hours: float
    n_seizures: int
    auc_pr: float | None
    auroc: float | None
    prevalence: float
    events: Score | None

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers for the card and for metrics."""
        plain: dict[str, Any] = {
            "hours": round(self.hours, 3),
            "n_seizures": self.n_seizures,
            "sample_auc_pr": _round(self.auc_pr),
            "sample_auroc": _round(self.auroc),
            "prevalence": round(self.prevalence, 4),
        }
        if self.events is not None:
            event = self.events.event
            plain |= {
                "event_f1": _round(event.f1),
                "event_sensitivity": _round(event.sensitivity),
                "event_precision": _round(event.precision),
                "false_alarms_per_hour": _round(event.fp / self.hours),
            }
        return plain


def score_source(
    source: Source,
    numbers: Iterable[int],
    feeder: Feeder,
    model: Any,
    tick: Callable[[], None] = lambda: None,
) -> list[Scored]:
    """Score stretches by number, each on its own; the model is left in evaluation mode."""
    model.eval()
    return [score_stretch(source.load(number), feeder, model, tick) for number in numbers]


@torch.inference_mode()
def score_stretch(stretch: Stretch, feeder: Feeder, model: Any, tick: Callable[[], None] = lambda: None) -> Scored:
    """The curve of one stretch; AnalysisError where it is shorter than a window."""
    questions = feeder.questions(stretch.seconds)
    if not questions:
        raise AnalysisError(
            f"{stretch.recording} is shorter than a window of {feeder.seconds:g} s (the recipe): use longer recordings"
        )
    device = next(model.parameters()).device
    found: list[tuple[float, float, float]] = []
    for at in range(0, len(questions), BATCH):
        tick()
        part = questions[at : at + BATCH]
        batch = cut_windows([(stretch, question.onset) for question in part], feeder.seconds, feeder.spans)
        signal, missing = torch.from_numpy(batch.signal).to(device), torch.from_numpy(batch.missing).to(device)
        scores = feeder.scores(model, feeder.arguments(signal, missing, batch.sites)).float()
        logits = (scores[..., 1] - scores[..., 0]).cpu().numpy()
        for question, row in zip(part, logits, strict=True):
            found += [(start, stop, float(row[label])) for label, start, stop in question.answers]
    times, stops, values = np.array(sorted(found)).T
    return Scored(stretch.recording, stretch.seconds, times, stops - times, values, stretch.seizures)


def calibrate(scored: Sequence[Scored]) -> Calibration:
    """Temperature and bias that make the most likely probabilities of the seconds' scores (a logistic regression).

    Newton's steps on slope and bias; where there is only one kind of second nothing is changed.
    """
    parts = [one.by_second() for one in scored]
    x = np.concatenate([p[0][p[2]] for p in parts]).astype(np.float64)
    y = np.concatenate([p[1][p[2]] for p in parts]).astype(np.float64)
    if y.min() == y.max():
        return Calibration()
    mean, spread = x.mean(), x.std() + 1e-12
    x = (x - mean) / spread  # so that steps are alike whatever the scale of the scores
    slope, bias = 1.0, 0.0
    for _ in range(50):
        p = 1 / (1 + np.exp(-np.clip(slope * x + bias, -50, 50)))
        weight = p * (1 - p) + 1e-9
        gradient = np.array([((p - y) * x).mean(), (p - y).mean()])
        mixed = (weight * x).mean()
        curvature = np.array([[(weight * x * x).mean() + 1e-9, mixed], [mixed, weight.mean() + 1e-9]])
        step = np.clip(np.linalg.solve(curvature, gradient), -1.0, 1.0)
        slope, bias = max(_LEAST_SLOPE, slope - step[0]), bias - step[1]
        if np.abs(step).max() < 1e-8:
            break
    return Calibration(float(spread / slope), float(bias - slope * mean / spread))


def choose_threshold(scored: Sequence[Scored], calibration: Calibration) -> float:
    """The probability at which events have the highest F1; in the middle of the thresholds that share it."""
    values = np.concatenate([probability(one, calibration) for one in scored])
    candidates = np.unique(np.quantile(values, np.linspace(0.5, 1.0, THRESHOLDS)))
    f1 = np.array([count_events(scored, calibration, float(level))[0] for level in candidates])
    best = np.flatnonzero(f1 >= f1.max() - 1e-12)
    runs = np.split(best, np.flatnonzero(np.diff(best) > 1) + 1)
    longest = max(runs, key=len)
    return float(candidates[longest[len(longest) // 2]])


def probability(one: Scored, calibration: Calibration) -> np.ndarray:
    """Calibrated probabilities of a curve's segments."""
    return 1 / (1 + np.exp(-np.clip(one.logits / calibration.temperature + calibration.bias, -50, 50)))


def count_events(scored: Sequence[Scored], calibration: Calibration, threshold: float) -> tuple[float, Score]:
    """F1 of the events (0 where it is not defined) and SzCORE's scores of all recordings together."""
    truth: list[Span] = []
    said: list[Span] = []
    begin = APART
    for one in scored:
        events = derive_events(one.times, one.durations, probability(one, calibration), threshold, RULE, "model:")
        truth += [(begin + a, begin + b) for a, b in one.seizures]
        said += [(begin + event.onset, begin + event.stop) for event in events]
        begin += one.seconds + APART
    # One draw: kappa is not asked for, and its draws take longer than all the rest.
    score = compare_events(truth, said, begin, rule=ScoringRule(n_draws=1))
    return score.event.f1 or 0.0, score


def judge(scored: Sequence[Scored], calibration: Calibration, threshold: float | None) -> Judgement:
    """All figures of a set of recordings; without a threshold those of events are left out."""
    parts = [one.by_second() for one in scored]
    values = np.concatenate([p[0] for p in parts])
    truth = np.concatenate([p[1] for p in parts])
    areas: tuple[float | None, float | None] = (None, None)
    if truth.any() and not truth.all():
        from sklearn.metrics import average_precision_score, roc_auc_score

        values = np.maximum(values, values[np.isfinite(values)].min() - 1.0)
        areas = float(average_precision_score(truth, values)), float(roc_auc_score(truth, values))
    return Judgement(
        sum(one.seconds for one in scored) / 3600,
        sum(len(one.seizures) for one in scored),
        *areas,
        float(truth.mean()),
        None if threshold is None else count_events(scored, calibration, threshold)[1],
    )


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 4)

"""How well units of equal length are told apart, as NeurDuo's seizure detection was evaluated (FACTS of CHB-MIT).

Units are one list in recording order. The area under the precision-recall points is a trapezoid from recall 0 and
precision 1, not average precision; thresholds are quantiles of the positive units' scores, so they come from the very
units that are judged; runs of positive units are one alarm, also across the borders of recordings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

SENSITIVITIES = (0.5, 0.75, 0.9)
UNIT_SECONDS = 30.0


@dataclass(frozen=True)
class UnitScores:
    """Scores of one list of units; areas and alarms are NaN where it lacks positive or negative units.

    `false_alarms`, `thresholds` and `fp_per_hour` are by the sensitivity that is aimed at.
    """

    n_units: int
    n_positive: int
    hours: float
    auroc: float = float("nan")
    auc_pr: float = float("nan")
    thresholds: Mapping[float, float] = field(default_factory=dict)
    false_alarms: Mapping[float, int] = field(default_factory=dict)

    @property
    def fp_per_hour(self) -> dict[float, float]:
        """False alarms per hour."""
        return {target: count / self.hours for target, count in self.false_alarms.items()}

    @property
    def share_positive(self) -> float:
        """What a detector that knows nothing gets as area under precision-recall."""
        return self.n_positive / self.n_units if self.n_units else float("nan")


def score_units(labels: np.ndarray, scores: np.ndarray, unit_seconds: float = UNIT_SECONDS) -> UnitScores:
    """Judge scores (n,) of units by their labels (n,), 1 for a seizure, in recording order."""
    truth = np.asarray(labels) != 0
    values = np.asarray(scores, np.float64)
    if truth.shape != values.shape or truth.ndim != 1:
        raise ValueError(f"labels and scores must be two lists of one length, not {truth.shape} and {values.shape}")
    hours = len(truth) * unit_seconds / 3600.0
    blank = UnitScores(len(truth), int(truth.sum()), hours)
    if truth.all() or not truth.any():
        return blank
    thresholds = {p: float(np.quantile(values[truth], 1.0 - p)) for p in SENSITIVITIES}
    return replace(
        blank,
        auroc=_auroc(truth, values),
        auc_pr=_auc_pr(truth, values),
        thresholds=thresholds,
        false_alarms={p: count_false_alarms(truth, values >= level) for p, level in thresholds.items()},
    )


def count_false_alarms(truth: np.ndarray, positive: np.ndarray) -> int:
    """Runs of positive units (n,) that touch no seizure unit (n,)."""
    edges = np.diff(np.concatenate([[False], positive, [False]]).astype(np.int8))
    starts, stops = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    return sum(not truth[start:stop].any() for start, stop in zip(starts, stops, strict=True))


def pool_folds(folds: Sequence[UnitScores]) -> dict[str, float]:
    """Folds together: mean and population deviation of the areas, false alarms per hour over all hours."""
    known = [fold for fold in folds if np.isfinite(fold.auc_pr)]
    pooled: dict[str, float] = {}
    for name in ("auroc", "auc_pr"):
        values = np.array([getattr(fold, name) for fold in known])
        pooled[f"{name}_mean"] = float(values.mean()) if known else float("nan")
        pooled[f"{name}_sd"] = float(values.std()) if known else float("nan")
    hours = sum(fold.hours for fold in known)
    for target in SENSITIVITIES:
        total = sum(fold.false_alarms[target] for fold in known)
        pooled[f"fp_per_hour_at_{target:g}"] = total / hours if hours else float("nan")
    return pooled


def _auroc(truth: np.ndarray, scores: np.ndarray) -> float:
    """Share of pairs in which the positive unit has the higher score, ties counted half."""
    negative = np.sort(scores[~truth])
    below = np.searchsorted(negative, scores[truth], side="left")
    upto = np.searchsorted(negative, scores[truth], side="right")
    return float((below + upto).mean() / 2.0 / len(negative))


def _auc_pr(truth: np.ndarray, scores: np.ndarray) -> float:
    """Trapezoid under precision over recall, one point per distinct score."""
    order = np.argsort(-scores, kind="stable")
    last_of_score = np.append(np.flatnonzero(np.diff(scores[order])), len(order) - 1)
    hits = np.cumsum(truth[order])[last_of_score]
    precision = np.concatenate([[1.0], hits / (last_of_score + 1.0)])
    recall = np.concatenate([[0.0], hits / truth.sum()])
    return float(np.trapezoid(precision, recall))

"""What `score` adds where the prediction's probabilities lie beside its events: areas under curves and false alarms."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from analysis.errors import RecordingError
from analysis.unit_scores import SENSITIVITIES, UnitScores, score_units

PROBABILITIES = "probabilities.tsv"


def report_units(events: Path, seizures: Iterable[tuple[float, float]]) -> dict[str, Any] | None:
    """Scores of the units whose probabilities lie beside an event file, ready for JSON; None where there are none.

    A unit is one of a seizure when it overlaps one of `seizures`, (onset, stop) in seconds. Units of several lengths
    have no rate per hour and are not scored. RecordingError where the table is damaged.
    """
    path = events.with_name(PROBABILITIES)
    if events.name != "events.tsv" or not path.is_file():
        return None
    table = _read(path)
    if not len(table) or np.ptp(table[:, 1]) > 1e-6:
        return None
    onsets, seconds = table[:, 0], float(table[0, 1])
    spans = list(seizures)
    labels = np.array([any(a < t + seconds and b > t for a, b in spans) for t in onsets.tolist()])
    return _describe(score_units(labels, table[:, 2], seconds), seconds)


def units_text(facts: dict[str, Any]) -> str:
    """The same as lines for a person."""
    lines = [
        f"units      {facts['n_units']} of {facts['unit_seconds']:g} s, {facts['n_positive']} with a seizure: "
        f"AUROC {_figure(facts['auroc'])}, AUC-PR {_figure(facts['auc_pr'])} (chance {_figure(facts['chance'])})"
    ]
    for target, found in facts["at_sensitivity"].items():
        lines.append(
            f"           at sensitivity {target} (p >= {found['threshold']:.3g}): "
            f"false alarms {found['false_alarms']}, {found['fp_per_hour']:.2f} per hour"
        )
    if facts["at_sensitivity"]:
        lines.append("           thresholds come from these very units, as in the NeurDuo paper")
    return "\n".join(lines)


def _read(path: Path) -> np.ndarray:
    """Onset, duration and probability of each unit (n, 3)."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()[1:]
        rows = [[float(cell) for cell in line.split("\t")[:3]] for line in lines if line.strip()]
        return np.array(rows, np.float64).reshape(-1, 3)
    except (OSError, ValueError) as error:
        raise RecordingError(f"not a table of probabilities ({path}): write it again with predict") from error


def _describe(scores: UnitScores, seconds: float) -> dict[str, Any]:
    return {
        "n_units": scores.n_units,
        "n_positive": scores.n_positive,
        "unit_seconds": seconds,
        "hours": scores.hours,
        "auroc": _known(scores.auroc),
        "auc_pr": _known(scores.auc_pr),
        "chance": _known(scores.share_positive),
        "at_sensitivity": {
            f"{target:g}": {
                "threshold": scores.thresholds[target],
                "false_alarms": scores.false_alarms[target],
                "fp_per_hour": scores.fp_per_hour[target],
            }
            for target in SENSITIVITIES
            if target in scores.thresholds
        },
    }


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"

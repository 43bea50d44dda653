"""What a detector does on test data in full: beside detectors that only compare a number with a threshold, and by kind.

The kinds are those that a simulated recording tells of: where a seizure began, how far it stood out, and which
artefact lay under a false alarm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from analysis.annotation import Annotation
from analysis.engine.calibration import Calibration
from analysis.engine.training.card import result_of
from analysis.engine.training.evaluation import RULE, Scored, judge, probability, score_stretch
from analysis.engine.training.feeding import Feeder
from analysis.engine.training.simulated import LEAST_ARTEFACT
from analysis.engine.training.stretches import Source, Span, Stretch
from analysis.postprocessing import derive_events
from analysis.progress import Progress
from analysis.scoring import ScoringRule
from analysis.simulation.truth import Seizure, Truth
from analysis.threshold_detectors import DetectorScore, Measured, best_detector, measure

CONTRASTS = (0.0, 2.5, 4.0, float("inf"))  # edges of the groups by peak over the background's SD
LOBES = ("temporal", "frontal", "central", "parietal", "occipital", "midline")
BOUND = "way and threshold are those best on these very recordings: a bound from above"
NO_ARTEFACT = "none longer than 1 s"
_SCORING = ScoringRule()


@dataclass(frozen=True)
class Trial:
    """One recording of the test data: the model's curve, what is measured without a model, and what is known of it."""

    scored: Scored
    measured: Measured
    truth: Truth | None


def try_source(source: Source, feeder: Feeder, model: Any, progress: Progress, what: str = "test") -> list[Trial]:
    """Score and measure all stretches of a source; each is loaded once."""
    model.eval()
    found = []
    for number in range(len(source)):
        progress.report(number, len(source), f"scoring {what} data")
        stretch = source.load(number)
        found.append(Trial(score_stretch(stretch, feeder, model, progress.check), measured(stretch), stretch.truth))
    return found


def measured(stretch: Stretch) -> Measured:
    """What detectors without a model are given: the very signal that the model is, before its normalisation."""
    return measure(stretch.data[~stretch.missing], stretch.sfreq, stretch.seizures)


def figures_of(trials: Sequence[Trial], calibration: Calibration, threshold: float) -> dict[str, Any]:
    """All figures for the card: the model's, those of detectors without one, and by kind where there is a truth."""
    figures = result_of(judge([one.scored for one in trials], calibration, threshold))
    figures["threshold_detectors"] = threshold_figures([one.measured for one in trials])
    if any(one.truth is not None for one in trials):
        figures["by_kind"] = by_kind(trials, calibration, threshold)
    return figures


def threshold_figures(recordings: Sequence[Measured]) -> dict[str, Any] | None:
    """The best way of each measure on these recordings; None where no seizure is in them."""
    if not any(one.truth for one in recordings):
        return None
    return {"chosen": BOUND, "detectors": [_figures_of(score) for score in best_detector(recordings)]}


def _figures_of(score: DetectorScore) -> dict[str, Any]:
    return {
        "measure": score.detector.measure,
        "way": score.detector.name,
        "sample_auc_pr": round(score.auc_pr, 4),
        "event_f1": _rounded(score.event.f1),
        "event_sensitivity": _rounded(score.event.sensitivity),
        "false_alarms_per_hour": round(score.false_alarms_per_hour, 4),
        "threshold": float(f"{score.threshold:.6g}"),
    }


def by_kind(trials: Sequence[Trial], calibration: Calibration, threshold: float) -> dict[str, Any]:
    """Seizures found by where they begin and by contrast; false alarms by the artefacts that they lie on.

    A seizure is found by an event that overlaps it, with SzCORE's tolerance of 30 s before and 60 s after; an event
    that finds none is a false alarm, and counts with every kind of artefact under it.
    """
    found: list[tuple[Seizure, float | None]] = []
    alarms: dict[str, int] = {}
    artefacts: dict[str, list[float]] = {}
    for one in trials:
        if one.truth is None:
            continue
        events = _events(one.scored, calibration, threshold)
        found += [(seizure, _delay(seizure, events)) for seizure in one.truth.events]
        for kind, seconds in _long_artefacts(one.truth):
            artefacts.setdefault(kind, []).append(seconds)
        for event in events:
            if not any(_meets(event, seizure) for seizure in one.truth.events):
                for kind in _kinds_under(event, one.truth) or {NO_ARTEFACT}:
                    alarms[kind] = alarms.get(kind, 0) + 1
    kinds = [*sorted(artefacts), *({NO_ARTEFACT} & set(alarms))]
    return {
        "region": list(_groups(found, LOBES, lambda seizure: lobe_of(seizure.region))),
        "contrast": list(_groups(found, _contrast_names(), lambda seizure: _contrast_of(seizure.contrast))),
        "artefact": [
            {
                "kind": kind,
                "count": len(artefacts.get(kind, ())),
                "minutes": round(sum(artefacts.get(kind, ())) / 60, 1),
                "false_alarms": alarms.get(kind, 0),
            }
            for kind in kinds
        ],
    }


def lobe_of(region: str) -> str:
    """The part of the brain that a region of the simulator lies in; regions of other electrodes stay as they are."""
    if region.startswith("midline"):
        return "midline"
    if region.startswith("frontopolar"):
        return "frontal"
    return next((lobe for lobe in LOBES if lobe in region), region)


def _contrast_names() -> tuple[str, ...]:
    return tuple(_contrast_name(low, high) for low, high in pairwise(CONTRASTS))


def _contrast_name(low: float, high: float) -> str:
    if low == 0:
        return f"below {high:g}"
    return f"{low:g} and more" if high == float("inf") else f"{low:g} to {high:g}"


def _contrast_of(contrast: float) -> str:
    place = int(np.searchsorted(CONTRASTS, contrast, side="right")) - 1
    return _contrast_name(CONTRASTS[place], CONTRASTS[place + 1])


def _groups(
    found: Sequence[tuple[Seizure, float | None]], names: Sequence[str], name_of: Callable[[Seizure], str]
) -> Iterator[dict[str, Any]]:
    others = sorted({name_of(seizure) for seizure, _ in found} - set(names))
    for name in (*names, *others):
        delays = [delay for seizure, delay in found if name_of(seizure) == name]
        told = [delay for delay in delays if delay is not None]
        if delays:
            middle = round(float(np.median(told)), 1) if told else None
            yield {"group": name, "seizures": len(delays), "found": len(told), "median_delay_s": middle}


def _events(scored: Scored, calibration: Calibration, threshold: float) -> tuple[Annotation, ...]:
    values = probability(scored, calibration)
    return tuple(derive_events(scored.times, scored.durations, values, threshold, RULE, "model:"))


def _meets(event: Annotation, seizure: Seizure) -> bool:
    before, after = _SCORING.tolerance_before, _SCORING.tolerance_after
    return event.onset < seizure.stop + after and event.stop > seizure.onset - before


def _delay(seizure: Seizure, events: Sequence[Annotation]) -> float | None:
    """Seconds from the onset to the first event that finds a seizure, 0 where that began before; None without one."""
    onsets = [event.onset for event in events if _meets(event, seizure)]
    return max(0.0, min(onsets) - seizure.onset) if onsets else None


def _long_artefacts(truth: Truth) -> list[tuple[str, float]]:
    return [(one.kind, one.duration) for one in truth.artefacts if one.duration > LEAST_ARTEFACT]


def _kinds_under(event: Annotation, truth: Truth) -> set[str]:
    spans: list[tuple[str, Span]] = [
        (one.kind, (one.onset, one.onset + one.duration)) for one in truth.artefacts if one.duration > LEAST_ARTEFACT
    ]
    return {kind for kind, (start, stop) in spans if stop > event.onset and start < event.stop}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)

"""A prediction that was made in parts: where a recording is cut, and the whole put together again. No torch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from analysis.annotation import model_author
from analysis.postprocessing import derive_events, rule_of
from analysis.recording import Window
from analysis.results import SeizurePrediction
from analysis.service import hours_per_minute

_BEYOND = 1.0
PART = "part"  # of the options of a request: start and stop in seconds
_COUNTED = (
    "segments_scored",
    "windows_scored",
    "units_scored",
    "windows",
    "segments_with_short_context",
    "wall_time",
    "scoring_time",
)


def cut_window(window: Window, seconds: float) -> list[Window]:
    """Equal parts of at most so many seconds that tile a window."""
    count = max(1, math.ceil(window.duration / seconds - 1e-9))
    edges = [window.start + window.duration * i / count for i in range(count)]
    # What begins with the last sample belongs to the last part, whatever rounding did to the end.
    edges.append(window.stop + _BEYOND)
    return [Window(start, stop) for start, stop in pairwise(edges)]


def join_parts(parts: Sequence[SeizurePrediction]) -> SeizurePrediction:
    """The prediction of the whole window from those of parts that tile it (`cut_window`), in any order.

    Probabilities are those that one run over the whole gives; events are made anew, so that none ends at a cut.
    """
    first = parts[0]
    arrays = [np.concatenate([getattr(part, name) for part in parts]) for name in ("times", "durations", "probability")]
    order = np.argsort(arrays[0], kind="stable")
    times, durations, probability = (array[order] for array in arrays)
    for array in (times, durations, probability):
        array.setflags(write=False)
    not_scored = _joined([span for part in parts for span in part.not_scored])
    options = {name: value for name, value in first.request.options.items() if name != PART}
    rule = rule_of(first.provenance["rule"])
    author = model_author(first.model_title, first.random_weights)
    return replace(
        first,
        request=replace(first.request, options=options),
        created=max(part.created for part in parts),
        provenance={**_counts(parts), "not_scored": [list(span) for span in not_scored]},
        times=times,
        durations=durations,
        probability=probability,
        events=derive_events(times, durations, probability, first.threshold, rule, author),
        not_scored=not_scored,
    )


def _counts(parts: Sequence[SeizurePrediction]) -> dict[str, Any]:
    """Facts of the first part, with what was counted of each added up and every warning kept once."""
    facts = dict(parts[0].provenance)
    for name in _COUNTED:
        if name in facts:
            facts[name] = round(sum(part.provenance[name] for part in parts), 3)
    facts["warnings"] = list(dict.fromkeys(text for part in parts for text in part.provenance["warnings"]))
    facts["parts"] = len(parts)
    if "scoring_time" in facts:
        recorded = sum(float(part.durations.sum()) for part in parts)
        facts["hours_per_minute"] = hours_per_minute(recorded, facts["scoring_time"])
    formats = [part.provenance["precision"] for part in parts if "precision" in part.provenance]
    if formats:  # that of the part whose check was worst
        facts["precision"] = max(formats, key=lambda found: found.get("largest_difference") or 0.0)
    return facts


def _joined(spans: Sequence[tuple[float, float, str]]) -> tuple[tuple[float, float, str], ...]:
    """Each span once, and those of one reason that touch as one."""
    kept: list[tuple[float, float, str]] = []
    for start, stop, reason in sorted(set(spans)):
        if kept and kept[-1][2] == reason and start <= kept[-1][1] + 1e-6:
            kept[-1] = (kept[-1][0], max(stop, kept[-1][1]), reason)
        else:
            kept.append((start, stop, reason))
    return tuple(kept)

"""Which labelled group each window of a recording belongs to: seizure or not, a sleep stage, a named mark."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.annotation import Annotation
from analysis.errors import AnalysisError
from analysis.seizure_marks import seizures

SEIZURE, STAGES = "seizure", "stages"
SEIZURE_NAMES = ("no seizure", SEIZURE)
_STAGE = re.compile(r"(?:sleep )?stage[ _:-]*(w|wake|n?[1-4]|r|rem)|(n[1-3])", re.IGNORECASE)
_STAGE_NAMES = {"WAKE": "W", "1": "N1", "2": "N2", "3": "N3", "4": "N3", "N4": "N3", "REM": "R"}


@dataclass(frozen=True)
class WindowLabels:
    """The group of each window, int (n,), -1 for none, and what the groups are called."""

    index: np.ndarray
    names: tuple[str, ...]

    @property
    def counts(self) -> dict[str, int]:
        """Windows of each group."""
        return {name: int((self.index == i).sum()) for i, name in enumerate(self.names)}

    def told(self) -> str:
        """The counts in words."""
        counts = ", ".join(f"{count} of {name}" for name, count in self.counts.items())
        return counts or "no window has a label"


def label_windows(
    onsets: np.ndarray, seconds: float, annotations: Iterable[Annotation], labels: str = SEIZURE
) -> WindowLabels:
    """Label windows of `seconds` that begin at `onsets` (n,).

    `labels` is "seizure" (a marked seizure overlaps the window, or none does), "stages" (the sleep stage marked over
    its middle; stages 3 and 4 are both N3), or texts of marks with commas between (the one over its middle).
    """
    if labels == SEIZURE:
        marked = seizures(annotations)
        found = [int(any(a < onset + seconds and z > onset for a, z in marked)) for onset in onsets]
        return WindowLabels(np.array(found, int), SEIZURE_NAMES)
    if labels == STAGES:
        stages = [(mark, name) for mark in annotations if (name := stage_of(mark.description))]
        return _over_middles(onsets + seconds / 2, stages, tuple(sorted({name for _, name in stages}, key=_depth)))
    texts = tuple(dict.fromkeys(text.strip() for text in labels.split(",") if text.strip()))
    if not texts:
        raise AnalysisError(f"no label is named: give {SEIZURE}, {STAGES}, or texts of marks with commas between")
    marks = [(mark, mark.description) for mark in annotations if mark.description in texts]
    return _over_middles(onsets + seconds / 2, marks, texts)


def check_groups(found: WindowLabels, path: object, least: int = 1) -> None:
    """AnalysisError where fewer than two groups have at least `least` windows."""
    if sum(count >= least for count in found.counts.values()) < 2:
        raise AnalysisError(
            f"two groups of at least {least} window{'s' if least > 1 else ''} are needed ({path}; {found.told()}): "
            "choose a span with both, other labels, or shorter windows"
        )


def stage_of(text: str) -> str:
    """The sleep stage that a mark names, W, N1, N2, N3 or R; empty where it names none."""
    match = _STAGE.fullmatch(text.strip())
    if match is None:
        return ""
    stage = (match[1] or match[2]).upper()
    return _STAGE_NAMES.get(stage, stage)


def _depth(stage: str) -> int:
    return ("W", "R", "N1", "N2", "N3").index(stage)


def _over_middles(middles: np.ndarray, marks: Sequence[tuple[Annotation, str]], names: tuple[str, ...]) -> WindowLabels:
    index = np.full(len(middles), -1)
    for mark, name in marks:
        index[(middles >= mark.onset) & (middles < mark.stop)] = names.index(name)
    return WindowLabels(index, names)

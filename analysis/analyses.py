"""What an analysis of a model gives: named arrays that say what they are, and where they come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from analysis.results import AnalysisResult

# Where the definition of a quantity is from; empty where there is only one.
Source = Literal["", "paper", "reference", "our definition"]


@dataclass(frozen=True)
class NamedArray:
    """Numbers (float32) with the names of their axes, their unit ("1" for none), and one line of meaning."""

    values: np.ndarray
    axes: tuple[str, ...]
    unit: str
    meaning: str
    source: Source = ""

    def __post_init__(self) -> None:
        values = np.ascontiguousarray(self.values, np.float32)
        if values.ndim != len(self.axes):
            raise ValueError(f"{len(self.axes)} axes are named, and the array has {values.ndim}: {self.meaning}")
        values.setflags(write=False)
        object.__setattr__(self, "values", values)


@dataclass(frozen=True)
class Findings:
    """What the code of a kind of analysis gives: arrays by name, facts ready for JSON, and sentences to be read.

    `labels` names the entries of axes: the channels, the layers. `preprocessing` is the signal's, for the provenance.
    """

    arrays: Mapping[str, NamedArray]
    facts: Mapping[str, Any] = field(default_factory=dict)
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    preprocessing: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Analysis(AnalysisResult):
    """The findings of one kind of analysis with all that decided them; one object for panel, overlay, figure and file.

    `title` is what a person calls it, `models` the titles of the models; `random_weights` must be said wherever it is
    drawn.
    """

    title: str = ""
    models: tuple[str, ...] = ()
    arrays: Mapping[str, NamedArray] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    random_weights: bool = False

    @property
    def kind(self) -> str:
        """The kind of analysis, in the vocabulary of the command line."""
        return self.request.kind

    def values(self, name: str) -> np.ndarray:
        """The numbers of one array; KeyError where the analysis has none of that name."""
        return self.arrays[name].values

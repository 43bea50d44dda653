"""Trends of a whole recording: what hours of EEG look like at a glance, by side."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from analysis.results import AnalysisResult
from analysis.trends.sources import LEFT, RIGHT
from analysis.trends.spectra import N_FREQUENCIES

COARSER = 6


@dataclass(frozen=True)
class Trends(AnalysisResult):
    """Spectrum, band powers and aEEG margins on a grid of time that begins with the recording; NaN where there is none.

    `groups` (g) names the sides, `sources` the rows each is the mean of, `source_kind` what these rows are in words,
    `left_out` channels that take no part with the reason. Bin i covers [i, i + 1) * bin_seconds: `decibels` float16
    (g, bins, 60) is 10 log10 of the power spectral density in µV²/Hz at analysis.trends.spectra.FREQUENCIES, `powers`
    float32 (g, bins, 4) the power of each band in µV², both means over the rows and windows of a bin;
    `coarse_decibels` is the same spectrum over COARSER bins each, for those who look at many hours. Bin i of
    `amplitude` float32 (g, amplitude bins, 2), lower and upper margin of the aEEG in µV, covers
    [i, i + 1) * amplitude_seconds and is the median over the rows. `complete` is False while a pass goes on; what it
    has not reached is NaN and fills up in place.
    """

    groups: tuple[str, ...] = ()
    sources: tuple[tuple[str, ...], ...] = ()
    source_kind: str = ""
    left_out: tuple[tuple[str, str], ...] = ()
    duration: float = 0.0
    bin_seconds: float = 2.0
    amplitude_seconds: float = 15.0
    decibels: np.ndarray = field(default_factory=lambda: np.empty((0, 0, N_FREQUENCIES), np.float16))
    coarse_decibels: np.ndarray = field(default_factory=lambda: np.empty((0, 0, N_FREQUENCIES), np.float16))
    powers: np.ndarray = field(default_factory=lambda: np.empty((0, 0, 4), np.float32))
    amplitude: np.ndarray = field(default_factory=lambda: np.empty((0, 0, 2), np.float32))
    complete: bool = True

    @property
    def n_bytes(self) -> int:
        """Memory of the numbers."""
        return self.decibels.nbytes + self.coarse_decibels.nbytes + self.powers.nbytes + self.amplitude.nbytes

    @property
    def has_sides(self) -> bool:
        """Whether left and right can be compared."""
        return LEFT in self.groups and RIGHT in self.groups

    def describe_sources(self) -> str:
        """What the trends were computed from and what was left out, a line each."""
        lines = [f"Computed from {self.source_kind}, whatever montage is shown."]
        lines += [
            f"{group.capitalize()}: {', '.join(rows)}" for group, rows in zip(self.groups, self.sources, strict=True)
        ]
        if self.left_out:
            lines.append("Left out: " + ", ".join(f"{name} ({reason})" for name, reason in self.left_out))
        return "\n".join(lines)

"""What a measuring panel wishes for, and the work that answers it on a thread of the panels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from analysis.filtering import DisplayFilter
from analysis.progress import Progress
from analysis.recording import Recording, Window
from analysis.scalp_maps import (
    Electrodes,
    Topography,
    electrode_montage,
    electrodes_of,
    map_band_power,
    map_mean_voltage,
    map_voltage,
)
from analysis.signal_blocks import BlockSource
from analysis.span_spectra import SpanSpectrogram, SpanSpectrum, measure_spectrogram, measure_spectrum

_CACHE_BYTES = 40_000_000


@dataclass(frozen=True)
class Wish:
    """What a panel is to show: two that are equal give the same numbers."""

    recording: Recording
    window: Window
    left_out: tuple[tuple[str, str], ...]
    details: tuple[Any, ...]


class Maps:
    """Makes topographies on the thread of the panels; keeps the spline of the last electrodes and their samples."""

    def __init__(self) -> None:
        self._kept: tuple[Recording, str, Mapping[str, str]] | None = None
        self._electrodes: Electrodes | None = None
        self._source: BlockSource | None = None

    def make(self, wish: Wish, progress: Progress) -> Topography:
        """The map that is wished for; AnalysisError where there is none."""
        which, band, *details = wish.details
        electrodes = self._electrodes_of(wish.recording, which, dict(wish.left_out))
        if band is not None:
            return map_band_power(wish.recording, electrodes, wish.window, band, progress)
        display_filter, follows = details
        source = self._source_of(wish.recording, electrodes, display_filter)
        return (map_voltage if follows else map_mean_voltage)(source, electrodes, wish.window)

    def _source_of(self, recording: Recording, electrodes: Electrodes, display_filter: DisplayFilter) -> BlockSource:
        source, montage = self._source, electrode_montage(electrodes)
        kept = source is not None and (source.recording, source.montage, source.display_filter)
        if source is None or kept != (recording, montage, display_filter):
            source = self._source = BlockSource(recording, montage, display_filter, cache_bytes=_CACHE_BYTES)
        return source

    def _electrodes_of(self, recording: Recording, which: str, left_out: Mapping[str, str]) -> Electrodes:
        if self._electrodes is None or self._kept != (recording, which, left_out):
            self._electrodes = electrodes_of(recording, which, left_out)
            self._kept = recording, which, left_out
        return self._electrodes


def make_spectrum(wish: Wish, progress: Progress) -> SpanSpectrum:
    """The spectrum that is wished for, of every row of its montage."""
    montage, filters = wish.details
    return measure_spectrum(wish.recording, montage, wish.window, filters, dict(wish.left_out), progress)


def make_spectrogram(wish: Wish, progress: Progress) -> SpanSpectrogram:
    """The spectrogram that is wished for."""
    montage, filters, rows = wish.details
    return measure_spectrogram(wish.recording, montage, wish.window, rows, filters, dict(wish.left_out), progress)

"""What a measuring panel wishes for, and the work that answers it on a thread of the panels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from analysis.filtering import DisplayFilter
from analysis.progress import Progress
from analysis.recording import Recording, Window
from analysis.scalp_maps import Topography, electrode_montage, map_band_power, map_mean_voltage, map_voltage
from analysis.signal_blocks import BlockSource
from analysis.span_spectra import SpanSpectrogram, SpanSpectrum, measure_spectrogram, measure_spectrum
from analysis.topography import HeadMap, build_head_map, scalp_layout

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
        self._electrodes: tuple[Recording, Mapping[str, str]] | None = None
        self._head: HeadMap | None = None
        self._source: BlockSource | None = None

    def make(self, wish: Wish, progress: Progress) -> Topography:
        """The map that is wished for; AnalysisError where there is none."""
        head = self._head_of(wish.recording, dict(wish.left_out))
        if len(wish.details) == 1:
            return map_band_power(wish.recording, head, wish.window, wish.details[0], progress)
        display_filter, follows = wish.details
        source = self._source_of(wish.recording, head, display_filter)
        return map_voltage(source, head, wish.window) if follows else map_mean_voltage(source, head, wish.window)

    def _source_of(self, recording: Recording, head: HeadMap, display_filter: DisplayFilter) -> BlockSource:
        source, montage = self._source, electrode_montage(head)
        kept = source is not None and (source.recording, source.montage, source.display_filter)
        if source is None or kept != (recording, montage, display_filter):
            source = self._source = BlockSource(recording, montage, display_filter, cache_bytes=_CACHE_BYTES)
        return source

    def _head_of(self, recording: Recording, left_out: Mapping[str, str]) -> HeadMap:
        if self._head is None or self._electrodes != (recording, left_out):
            self._head = build_head_map(scalp_layout(recording, left_out))
            self._electrodes = recording, left_out
        return self._head


def make_spectrum(wish: Wish, progress: Progress) -> SpanSpectrum:
    """The spectrum that is wished for, of every row of its montage."""
    montage, filters = wish.details
    return measure_spectrum(wish.recording, montage, wish.window, filters, dict(wish.left_out), progress)


def make_spectrogram(wish: Wish, progress: Progress) -> SpanSpectrogram:
    """The spectrogram that is wished for."""
    montage, filters, rows = wish.details
    return measure_spectrogram(wish.recording, montage, wish.window, rows, filters, dict(wish.left_out), progress)

"""Topographies of a recording: the voltage at each moment of a page, its mean over a span, and the power of a band."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from analysis.errors import AnalysisError
from analysis.filtering import OFF, Filters
from analysis.montage import Derivation, Montage
from analysis.progress import Progress
from analysis.provenance import now, software_version
from analysis.recording import Page, Recording, Window
from analysis.results import AnalysisRequest, AnalysisResult
from analysis.row_filter import RowFilter
from analysis.signal_blocks import BlockSource
from analysis.span_spectra import request_options
from analysis.spectra import Band, average_density, band_power, segment_seconds, welch_segments
from analysis.topography import HeadMap, average_referenced

REFERENCE = "average reference of the map's electrodes"
LONGEST_VOLTAGE = 60.0  # seconds; the mean voltage of more is that of the high-pass filter
# Samples of a page are kept; of a longer page those around the cursor.
AROUND_CURSOR = 20.0
_USUAL_SHARE = 98


@dataclass(frozen=True)
class Topography(AnalysisResult):
    """Values of a map's electrodes against their average: over time, or one for the whole window.

    `samples` (with the electrodes as rows) are there for a map that follows the cursor, `values` (n,) for one of a
    span; the unit is microvolts, or squared microvolts for the power of a `band`. `peak` is the greatest size among
    them, `usual` the one that the greatest of the electrodes stays below for 98 % of the time. The window of the
    request is the span that they cover.
    """

    head: HeadMap | None = None
    band: Band | None = None
    samples: Page | None = None
    values: np.ndarray = field(default_factory=lambda: np.empty(0))
    peak: float = 0.0
    usual: float = 0.0
    count: int = 0

    @property
    def unit(self) -> str:
        """Unit of the values as it is printed."""
        return "µV" if self.band is None else "µV²"

    def at(self, time: float | None) -> np.ndarray | None:
        """Values (n,) of the electrodes at a time, those of the nearest sample; None outside and in gaps."""
        if self.samples is None:
            return self.values
        if time is None:
            return None
        i = round((time - self.samples.first_time) * self.samples.sfreq)
        if not 0 <= i < self.samples.data.shape[0] or not np.isfinite(self.samples.data[i]).all():
            return None
        return self.samples.data[i]


def electrode_montage(head: HeadMap) -> Montage:
    """The map's electrodes as they were recorded."""
    return Montage("as recorded", tuple(Derivation(name, name) for name in head.layout.ch_names))


def samples_window(page: Window, time: float, duration: float) -> Window:
    """The span to read so that the map can follow the cursor: the page, or of a long one what lies around a time."""
    if page.duration <= LONGEST_VOLTAGE:
        return page
    start = min(max(0.0, time - AROUND_CURSOR / 2), max(0.0, duration - AROUND_CURSOR))
    return Window(start, start + AROUND_CURSOR)


def map_voltage(source: BlockSource, head: HeadMap, window: Window) -> Topography:
    """Voltage of each sample of a window through the display filter; `source` has the rows of `electrode_montage`."""
    page = source.page(window)
    data = average_referenced(page.data)
    data.flags.writeable = False
    page = Page(page.window, page.ch_names, page.sfreq, data, page.first_time)
    facts = _facts("voltage", source.recording, window, source.display_filter)
    return Topography(*facts, head, None, page, peak=_peak(data), usual=_usual(data))


def map_mean_voltage(source: BlockSource, head: HeadMap, window: Window) -> Topography:
    """Mean voltage over a window through the display filter; AnalysisError for a span that is too long, or all gap."""
    if window.duration > LONGEST_VOLTAGE:
        raise AnalysisError(
            f"the mean voltage of more than {LONGEST_VOLTAGE:g} s says nothing, since the filter takes out what is "
            "slower: take a shorter span, or the power of a band"
        )
    page = source.page(window)
    times = page.first_time + np.arange(page.data.shape[0]) / page.sfreq
    inside = page.data[(times >= window.start - 1e-9) & (times < window.stop - 1e-9)]
    inside = inside[np.isfinite(inside).all(axis=1)]
    if not inside.shape[0]:
        raise AnalysisError("there is no signal in this span: take another span")
    values = average_referenced(inside.mean(axis=0, dtype=np.float64))
    facts = _facts("mean voltage", source.recording, window, source.display_filter)
    return Topography(*facts, head, None, None, values, _peak(values), _peak(values), inside.shape[0])


def map_band_power(
    recording: Recording, head: HeadMap, window: Window, band: Band, progress: Progress | None = None
) -> Topography:
    """Power of a band at each electrode over a window, of the unfiltered signal; AnalysisError where it cannot be."""
    sfreq = recording.sfreq
    start = min(max(0, round(window.start * sfreq)), recording.n_times)
    stop = min(round(window.stop * sfreq), recording.n_times)
    seconds = segment_seconds((stop - start) / sfreq)
    kinds = {channel.name: channel for channel in recording.channels}
    limit = min(kinds[name].sfreq for name in head.layout.ch_names) / 2
    if limit < band.high:
        raise AnalysisError(f"{band.name} reaches {band.high:g} Hz, and the recording {limit:g} Hz: take a lower band")
    rows = RowFilter(recording, electrode_montage(head), OFF)
    segments = welch_segments(start, stop, sfreq, seconds)
    density = average_density(lambda a, z: average_referenced(rows.compute(a, z)).T, segments, sfreq, progress)
    if not density.counts.any():
        raise AnalysisError(f"no {seconds:g} s of this span are free of gaps: take another span")
    values = band_power(density.frequencies, density.power, band)
    facts = _facts(f"{band.name} power", recording, window, OFF)
    return Topography(*facts, head, band, None, values, _peak(values), _peak(values), int(density.counts.max()))


def _facts(
    kind: str, recording: Recording, window: Window, filters: Filters
) -> tuple[AnalysisRequest, str, str, dict[str, str]]:
    options = {**request_options(filters), "reference": REFERENCE}
    request = AnalysisRequest(f"topography, {kind}", recording.id, (), "as recorded", window, options)
    return request, now(), software_version(), {}


def _peak(values: np.ndarray) -> float:
    finite = np.isfinite(values)
    return float(np.abs(values, where=finite, out=np.zeros_like(values)).max()) if finite.any() else 0.0


def _usual(data: np.ndarray) -> float:
    """What the greatest size of each sample (n, electrodes) stays below for most of the time."""
    greatest = np.abs(data).max(axis=1) if data.size else np.empty(0)
    greatest = greatest[np.isfinite(greatest)]
    return float(np.percentile(greatest, _USUAL_SHARE)) if greatest.size else 0.0

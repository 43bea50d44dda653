"""Topographies of a recording: the voltage at each moment of a page, its mean over a span, and the power of a band.

Over the scalp, or by contact in the brain, which have the same numbers and another drawing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from analysis.contact_layout import MIN_CONTACTS, ContactLayout, contact_layout, intracranial_channels
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
from analysis.topography import MIN_ELECTRODES, HeadMap, ScalpLayout, average_referenced, build_head_map, scalp_layout

REFERENCE = "average reference of the map's electrodes"
AS_RECORDED = "as recorded, between two contacts"
SCALP, CONTACTS = "scalp", "contacts"
Electrodes = HeadMap | ContactLayout  # what a map is drawn on
LONGEST_VOLTAGE = 60.0  # seconds; the mean voltage of more is that of the high-pass filter
# Samples of a page are kept; of a longer page those around the cursor.
AROUND_CURSOR = 20.0
_USUAL_SHARE = 98


@dataclass(frozen=True)
class Topography(AnalysisResult):
    """Values of a map's electrodes against their average: over time, or one for the whole window.

    Either `head` or `contacts` is there, and says where each value belongs.
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
    contacts: ContactLayout | None = None

    @property
    def layout(self) -> ScalpLayout | ContactLayout | None:
        """Names and places of the electrodes; None where there are none."""
        return self.head.layout if self.head is not None else self.contacts

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


def maps_of(recording: Recording) -> tuple[str, ...]:
    """Which maps a recording may have, SCALP or CONTACTS, that of more electrodes first; one is always named."""
    scalp = sum(
        c.is_brain and c.type == "eeg" and c.pair is None and c.position is not None for c in recording.channels
    )
    contacts = len(intracranial_channels(recording))
    offered = [SCALP] if scalp >= MIN_ELECTRODES else []
    if contacts >= MIN_CONTACTS:
        offered.insert(0 if contacts > scalp else len(offered), CONTACTS)
    return tuple(offered) or (SCALP,)


def electrodes_of(recording: Recording, which: str, left_out: Mapping[str, str] | None = None) -> Electrodes:
    """What the map of one kind, SCALP or CONTACTS, is drawn on; AnalysisError says why there is none."""
    if which == CONTACTS:
        return contact_layout(recording, left_out)
    return build_head_map(scalp_layout(recording, left_out))


def electrode_names(electrodes: Electrodes) -> tuple[str, ...]:
    """The electrodes in the order of a map's values."""
    return (electrodes.layout if isinstance(electrodes, HeadMap) else electrodes).ch_names


def electrode_montage(electrodes: Electrodes) -> Montage:
    """The map's electrodes as they were recorded."""
    return Montage("as recorded", tuple(Derivation(name, name) for name in electrode_names(electrodes)))


def _referenced(values: np.ndarray, electrodes: Electrodes) -> np.ndarray:
    """Values (..., n) against their average; differences of two contacts stay as they are."""
    return values if _reference(electrodes) == AS_RECORDED else average_referenced(values)


def _reference(electrodes: Electrodes) -> str:
    between = isinstance(electrodes, ContactLayout) and electrodes.between
    return AS_RECORDED if between else REFERENCE


def samples_window(page: Window, time: float, duration: float) -> Window:
    """The span to read so that the map can follow the cursor: the page, or of a long one what lies around a time."""
    if page.duration <= LONGEST_VOLTAGE:
        return page
    start = min(max(0.0, time - AROUND_CURSOR / 2), max(0.0, duration - AROUND_CURSOR))
    return Window(start, start + AROUND_CURSOR)


def map_voltage(source: BlockSource, electrodes: Electrodes, window: Window) -> Topography:
    """Voltage of each sample of a window through the display filter; `source` has the rows of `electrode_montage`."""
    page = source.page(window)
    data = np.array(_referenced(page.data, electrodes))
    data.flags.writeable = False
    page = Page(page.window, page.ch_names, page.sfreq, data, page.first_time)
    facts = _facts("voltage", source.recording, electrodes, window, source.display_filter)
    return _on(electrodes, Topography(*facts, None, None, page, peak=_peak(data), usual=_usual(data)))


def map_mean_voltage(source: BlockSource, electrodes: Electrodes, window: Window) -> Topography:
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
    values = _referenced(inside.mean(axis=0, dtype=np.float64), electrodes)
    facts = _facts("mean voltage", source.recording, electrodes, window, source.display_filter)
    peak = _peak(values)
    return _on(electrodes, Topography(*facts, None, None, None, values, peak, peak, inside.shape[0]))


def map_band_power(
    recording: Recording, electrodes: Electrodes, window: Window, band: Band, progress: Progress | None = None
) -> Topography:
    """Power of a band at each electrode over a window, of the unfiltered signal; AnalysisError where it cannot be."""
    sfreq = recording.sfreq
    start = min(max(0, round(window.start * sfreq)), recording.n_times)
    stop = min(round(window.stop * sfreq), recording.n_times)
    seconds = segment_seconds((stop - start) / sfreq)
    kinds = {channel.name: channel for channel in recording.channels}
    limit = min(kinds[name].sfreq for name in electrode_names(electrodes)) / 2
    if limit < band.high:
        raise AnalysisError(f"{band.name} reaches {band.high:g} Hz, and the recording {limit:g} Hz: take a lower band")
    rows = RowFilter(recording, electrode_montage(electrodes), OFF)
    segments = welch_segments(start, stop, sfreq, seconds)
    density = average_density(lambda a, z: _referenced(rows.compute(a, z), electrodes).T, segments, sfreq, progress)
    if not density.counts.any():
        raise AnalysisError(f"no {seconds:g} s of this span are free of gaps: take another span")
    values = band_power(density.frequencies, density.power, band)
    facts = _facts(f"{band.name} power", recording, electrodes, window, OFF)
    peak = _peak(values)
    return _on(electrodes, Topography(*facts, None, band, None, values, peak, peak, int(density.counts.max())))


def _on(electrodes: Electrodes, values: Topography) -> Topography:
    if isinstance(electrodes, HeadMap):
        return replace(values, head=electrodes)
    return replace(values, contacts=electrodes)


def _facts(
    kind: str, recording: Recording, electrodes: Electrodes, window: Window, filters: Filters
) -> tuple[AnalysisRequest, str, str, dict[str, str]]:
    options = {**request_options(filters), "reference": _reference(electrodes)}
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

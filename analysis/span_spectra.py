"""Spectrum and spectrogram of a span of a recording, in the rows that are on screen, with what they were made from."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from analysis.errors import AnalysisError
from analysis.filtering import OFF, Filters, as_bank
from analysis.montage import Derivation, Montage
from analysis.progress import Progress
from analysis.provenance import now, software_version
from analysis.recording import Channel, Recording, Window
from analysis.results import AnalysisRequest, AnalysisResult
from analysis.row_filter import RowFilter
from analysis.spectra import (
    Density,
    Reader,
    Segments,
    average_density,
    segment_seconds,
    spectrogram,
    spectrogram_segments,
    welch_segments,
)

SIDES = ("left", "right")


@dataclass(frozen=True)
class SpanSpectrum(AnalysisResult):
    """Welch's spectrum of every row of a montage over the request's window, unfiltered unless `filtered`.

    `limits` (rows,) are the frequencies in hertz up to which each row's channels were sampled; `counted` are the
    rows of the brain that take part in a mean.
    """

    ch_names: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    sides: tuple[str, ...] = ()
    counted: tuple[bool, ...] = ()
    limits: np.ndarray = field(default_factory=lambda: np.empty(0))
    density: Density = field(default_factory=lambda: Density(np.empty(0), np.empty((0, 0)), np.empty(0, int)))
    segments: Segments = field(default_factory=lambda: Segments(0, np.empty(0, int), 0))
    sfreq: float = 0.0
    filtered: bool = False

    @property
    def resolution(self) -> float:
        """Hertz from one bin to the next: one over the length of a window."""
        return self.sfreq / self.segments.length

    def picks(self, rows: str) -> list[int]:
        """Numbers of the rows named "all", "left", "right", or by a row's own name."""
        if rows == "all":
            return [i for i, counted in enumerate(self.counted) if counted]
        if rows in SIDES:
            return [i for i, side in enumerate(self.sides) if side == rows and self.counted[i]]
        return [i for i, name in enumerate(self.ch_names) if name == rows][:1]

    def curve(self, rows: str) -> Curve:
        """Mean density of some rows; rows without signal do not count. AnalysisError where there are none."""
        found = self.picks(rows)
        with_signal = [i for i in found if self.density.counts[i]]
        if not with_signal:
            raise AnalysisError(_without_rows(rows, bool(found)))
        limit = float(self.limits[with_signal].min())
        keep = self.density.frequencies <= limit + 1e-9
        return Curve(
            rows,
            tuple(self.ch_names[i] for i in with_signal),
            self.units[with_signal[0]],
            self.density.frequencies[keep],
            self.density.power[with_signal][:, keep].mean(axis=0),
            int(self.density.counts[with_signal].max()),
        )


@dataclass(frozen=True)
class Curve:
    """A density to draw: `power` (F,) in squared `unit` a hertz, mean of the rows `ch_names` over `count` windows."""

    rows: str
    ch_names: tuple[str, ...]
    unit: str
    frequencies: np.ndarray
    power: np.ndarray
    count: int


@dataclass(frozen=True)
class SpanSpectrogram(AnalysisResult):
    """Density over time, mean of the rows `ch_names`: `power` (n, F) in squared `unit` a hertz at `times` (n,) seconds.

    NaN where a window holds a gap; `seconds` is the length of a window.
    """

    ch_names: tuple[str, ...] = ()
    unit: str = "uV"
    times: np.ndarray = field(default_factory=lambda: np.empty(0))
    frequencies: np.ndarray = field(default_factory=lambda: np.empty(0))
    power: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))
    seconds: float = 0.0
    thinned: bool = False
    filtered: bool = False


def measure_spectrum(
    recording: Recording,
    montage: Montage,
    window: Window,
    filters: Filters | None = None,
    left_out: Collection[str] = (),
    progress: Progress | None = None,
) -> SpanSpectrum:
    """Spectrum of every row of a montage; `filters` None is the unfiltered signal.

    Rows of the channels `left_out` take no part in means. AnalysisError for a span that is too short, or in a gap.
    """
    rows = _Rows(recording, montage, filters)
    start, stop = rows.span(window)
    seconds = segment_seconds((stop - start) / rows.sfreq)
    segments = welch_segments(start, stop, rows.sfreq, seconds)
    density = average_density(rows.read, segments, rows.sfreq, progress)
    if not density.counts.any():
        raise AnalysisError(f"no {seconds:g} s of this span are free of gaps: take another span")
    kinds = {channel.name: channel for channel in recording.channels}
    return SpanSpectrum(
        request=_request("spectrum", recording, montage, window, rows.filters),
        created=now(),
        software_version=software_version(),
        ch_names=montage.ch_names,
        units=tuple(kinds[row.anode].unit for row in montage.derivations),
        sides=tuple(row.side for row in montage.derivations),
        counted=tuple(_counts(row, kinds, left_out) for row in montage.derivations),
        limits=np.array([_limit(row, kinds, rows.sfreq) for row in montage.derivations]),
        density=density,
        segments=segments,
        sfreq=rows.sfreq,
        filtered=filters is not None,
    )


def measure_spectrogram(
    recording: Recording,
    montage: Montage,
    window: Window,
    rows: str,
    filters: Filters | None = None,
    left_out: Collection[str] = (),
    progress: Progress | None = None,
) -> SpanSpectrogram:
    """Spectrogram of one row, or mean of all brain rows for "all"; AnalysisError where there is no such row."""
    kinds = {channel.name: channel for channel in recording.channels}
    chosen = [r for r in montage.derivations if _is_asked_for(r, rows, kinds, left_out)]
    if rows != "all":
        chosen = chosen[:1]
    if not chosen:
        raise AnalysisError(_without_rows(rows, False))
    part = Montage(montage.name, tuple(chosen))
    reader = _Rows(recording, part, filters)
    start, stop = reader.span(window)
    segments = spectrogram_segments(start, stop, reader.sfreq)
    times, frequencies, power = spectrogram(reader.read, segments, reader.sfreq, progress)
    keep = frequencies <= min(_limit(row, kinds, reader.sfreq) for row in chosen) + 1e-9
    return SpanSpectrogram(
        request=_request("spectrogram", recording, montage, window, reader.filters),
        created=now(),
        software_version=software_version(),
        ch_names=part.ch_names,
        unit=kinds[chosen[0].anode].unit,
        times=times,
        frequencies=frequencies[keep],
        power=power[:, keep],
        seconds=segments.length / reader.sfreq,
        thinned=segments.thinned,
        filtered=filters is not None,
    )


class _Rows:
    """Rows of a montage by sample of the rate they are delivered at."""

    def __init__(self, recording: Recording, montage: Montage, filters: Filters | None) -> None:
        self.filters = filters or OFF
        self._rows = RowFilter(recording, montage, self.filters)
        self._n_times = recording.n_times
        self.sfreq = recording.sfreq / self._rows.step
        self.read: Reader = lambda start, stop: self._rows.compute(start * self._rows.step, stop * self._rows.step).T

    def span(self, window: Window) -> tuple[int, int]:
        """Samples that lie in a window, kept inside the recording."""
        last = self._n_times // self._rows.step
        start = min(max(0, round(window.start * self.sfreq)), last)
        return start, min(max(start, round(window.stop * self.sfreq)), last)


def request_options(filters: Filters) -> dict[str, str]:
    """How filters stand in a request."""
    bank = as_bank(filters)
    text = "none" if bank.page.is_off else bank.page.describe()
    return {"filter": f"{text}, some kinds of channels by their own" if bank.own else text}


def _request(kind: str, recording: Recording, montage: Montage, window: Window, filters: Filters) -> AnalysisRequest:
    return AnalysisRequest(kind, recording.id, (), montage.name, window, request_options(filters))


def _is_asked_for(row: Derivation, rows: str, kinds: Mapping[str, Channel], left_out: Collection[str]) -> bool:
    return _counts(row, kinds, left_out) if rows == "all" else row.name == rows


def _counts(row: Derivation, kinds: Mapping[str, Channel], left_out: Collection[str]) -> bool:
    names: Sequence[str] = (row.anode, *row.cathode) if len(row.cathode) == 1 else (row.anode,)
    return all(kinds[name].is_brain and name not in left_out for name in names)


def _limit(row: Derivation, kinds: Mapping[str, Channel], sfreq: float) -> float:
    """Half of the lowest rate that a row was sampled with: beyond, there is only interpolation."""
    return min(sfreq, *(kinds[name].sfreq for name in (row.anode, *row.cathode))) / 2


def _without_rows(rows: str, there: bool) -> str:
    if there:
        return "these rows hold no signal in this span: take another span or other rows"
    if rows in SIDES:
        return f"no row of this montage lies on the {rows}: choose other rows"
    return "this montage has no row of the brain: choose other rows" if rows == "all" else "choose a row"

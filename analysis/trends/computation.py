"""The one pass over a recording that its trends come from: two minutes at a time, from the page on."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from analysis.progress import Progress
from analysis.provenance import now, software_version
from analysis.recording import Recording
from analysis.results import AnalysisRequest
from analysis.trends import amplitude
from analysis.trends.result import COARSER, Trends
from analysis.trends.sources import TrendRow, TrendSources
from analysis.trends.spectra import N_FREQUENCIES, SPECTRUM_SECONDS, band_powers, decibels, window_densities

VERSION = 1  # of the numbers: raised whenever the same recording would give others
BLOCK_SECONDS = 120
_BIN_SECONDS = (2, 4, 10, 20)  # each divides a block, six times over; a page of 10 s begins with one of the first three
_MOST_BINS = 50_000
_AMPLITUDE_SECONDS, _SHORT_AMPLITUDE_SECONDS = 15, 5
_SHORT_SECONDS = 15 * 60
_ROWS = 8  # worked on at once, so that they fit a processor's cache
_MOST_VALUES = 8_000_000  # read at once
_PARTIAL_SECONDS = 1.0
_NAP_SECONDS = 0.1


def request_for(recording: Recording, sources: TrendSources) -> AnalysisRequest:
    """Everything that decides the numbers of a recording's trends."""
    options = {"version": VERSION, "rows": dict(zip((g.name for g in sources.groups), sources.names, strict=True))}
    return AnalysisRequest("trends", recording.id, (), montage="trends", options=options)


class TrendPass:
    """Computes the trends of one recording; what has been done is kept when it is stopped, and it can go on later.

    Used by one thread at a time. `result` may be read by another one meanwhile.
    """

    def __init__(self, recording: Recording, sources: TrendSources) -> None:
        self._recording = recording
        self._sources = sources
        self._sfreq = recording.sfreq
        duration = recording.duration
        self._bin = next((b for b in _BIN_SECONDS if duration / b <= _MOST_BINS), _BIN_SECONDS[-1])
        self._amplitude_bin = _AMPLITUDE_SECONDS if duration >= _SHORT_SECONDS else _SHORT_AMPLITUDE_SECONDS
        groups, bins = len(sources.groups), math.ceil(duration / self._bin)
        self._decibels = np.full((groups, bins, N_FREQUENCIES), np.nan, np.float16)
        self._coarse = np.full((groups, math.ceil(bins / COARSER), N_FREQUENCIES), np.nan, np.float16)
        self._powers = np.full((groups, bins, 4), np.nan, np.float32)
        self._amplitude = np.full((groups, math.ceil(duration / self._amplitude_bin), 2), np.nan, np.float32)
        self._done = np.zeros(max(1, math.ceil(duration / BLOCK_SECONDS)), bool)
        self._facts = Trends(
            request=request_for(recording, sources),
            created=now(),
            software_version=software_version(),
            groups=tuple(group.name for group in sources.groups),
            sources=sources.names,
            source_kind=sources.kind,
            left_out=sources.left_out,
            duration=duration,
            bin_seconds=float(self._bin),
            amplitude_seconds=float(self._amplitude_bin),
        )

    @property
    def share_done(self) -> float:
        """How much of the recording has been gone through, 0 to 1."""
        return float(self._done.mean())

    def result(self) -> Trends:
        """The trends so far, or all of them; the arrays are windows on those that the pass fills."""
        return replace(
            self._facts,
            complete=bool(self._done.all()),
            decibels=_read_only(self._decibels),
            coarse_decibels=_read_only(self._coarse),
            powers=_read_only(self._powers),
            amplitude=_read_only(self._amplitude),
        )

    def run(
        self, progress: Progress | None = None, start: float = 0.0, rest: Callable[[], float] = lambda: 0.0
    ) -> Trends:
        """Go through what is not done yet: from `start` seconds to the end, then from the beginning.

        Tells of what it has once a second as partial results. Raises Cancelled within one block. Before each block it
        leaves the processor to others for `rest()` seconds.
        """
        progress = progress or Progress()
        first = min(max(0, int(start // BLOCK_SECONDS)), self._done.size - 1)
        told = time.monotonic()
        for block in np.roll(np.arange(self._done.size), -first).tolist():
            if self._done[block]:
                continue
            _wait(rest(), progress)
            self._compute(block)
            self._done[block] = True
            progress.report(float(self._done.sum()), float(self._done.size), "trends")
            if time.monotonic() - told >= _PARTIAL_SECONDS:
                told = time.monotonic()
                progress.partial(self.result())
        return self.result()

    def _compute(self, block: int) -> None:
        start = block * BLOCK_SECONDS
        seconds = min(BLOCK_SECONDS, self._recording.duration - start)
        densities, margins = [], []
        for signal in self._signals(start, seconds):
            for at in range(0, signal.shape[0], _ROWS):
                rows = signal[at : at + _ROWS]
                densities.append(self._densities(rows, start, seconds))
                margins.append(self._margins(rows, densities[-1], seconds))
        density, found = np.concatenate(densities), np.concatenate(margins)
        at = 0
        for number, group in enumerate(self._sources.groups):
            own = slice(at, at := at + len(group.rows))
            self._store_spectrum(number, block, density[own])
            self._store_amplitude(number, block, found[own])

    def _signals(self, start: float, seconds: float) -> Iterator[np.ndarray]:
        """All rows with PAD_SECONDS on either side, float32 (rows, samples), as many at once as fit."""
        pad = math.ceil(amplitude.PAD_SECONDS * self._sfreq)
        first, stop = round(start * self._sfreq) - pad, round((start + seconds) * self._sfreq) + pad
        rows = [row for group in self._sources.groups for row in group.rows]
        size = max(1, _MOST_VALUES // (2 * (stop - first)))
        for at in range(0, len(rows), size):
            yield self._derived(rows[at : at + size], first, stop)

    def _derived(self, rows: Sequence[TrendRow], first: int, stop: int) -> np.ndarray:
        picks = sorted({pick for row in rows for pick in (row.anode, row.cathode) if pick >= 0})
        place = {pick: i for i, pick in enumerate(picks)}
        inside = max(first, 0), min(stop, self._recording.n_times)
        raw = self._recording.read(*inside, picks)
        out = np.full((len(rows), stop - first), np.nan, np.float32)
        part = out[:, inside[0] - first : inside[1] - first]
        for target, row in zip(part, rows, strict=True):
            if row.cathode < 0:
                target[:] = raw[place[row.anode]]
            else:
                np.subtract(raw[place[row.anode]], raw[place[row.cathode]], out=target)
        return out

    def _densities(self, signal: np.ndarray, start: float, seconds: float) -> np.ndarray:
        """Densities of the whole windows of a block, float32 (rows, windows, 60)."""
        count = int(seconds / SPECTRUM_SECONDS + 1e-9)
        n = round(SPECTRUM_SECONDS * self._sfreq)
        lead = math.ceil(amplitude.PAD_SECONDS * self._sfreq) - round(start * self._sfreq)
        begins = np.round((start + np.arange(count) * SPECTRUM_SECONDS) * self._sfreq).astype(np.intp) + lead
        if count == 0:
            return np.empty((signal.shape[0], 0, N_FREQUENCIES), np.float32)
        windows = np.lib.stride_tricks.sliding_window_view(signal, n, axis=1)[:, begins]
        return window_densities(windows, self._sfreq)

    def _margins(self, signal: np.ndarray, density: np.ndarray, seconds: float) -> np.ndarray:
        """Margins of each amplitude bin of a block, float32 (rows, bins, 2); flat windows count as missing."""
        per_bin = round(self._amplitude_bin * amplitude.ENVELOPE_RATE)
        bins = math.ceil(seconds / self._amplitude_bin)
        count = min(bins * per_bin, int(seconds * amplitude.ENVELOPE_RATE))
        values = np.full((signal.shape[0], bins * per_bin), np.nan, np.float32)
        values[:, :count] = amplitude.envelope(signal, self._sfreq, count)
        per_window = round(SPECTRUM_SECONDS * amplitude.ENVELOPE_RATE)
        silent = np.repeat(np.isnan(density[..., 0]), per_window, axis=1)[:, : values.shape[1]]
        values[:, : silent.shape[1]][silent] = np.nan
        return amplitude.margins(values.reshape(signal.shape[0], bins, per_bin))

    def _store_spectrum(self, group: int, block: int, density: np.ndarray) -> None:
        """Mean over the rows and windows of each bin, and of each coarse one."""
        at = block * BLOCK_SECONDS // self._bin
        mean = _mean_by_bin(density, round(self._bin / SPECTRUM_SECONDS))
        self._decibels[group, at : at + mean.shape[0]] = decibels(mean)
        self._powers[group, at : at + mean.shape[0]] = band_powers(mean)
        coarse = _mean_by_bin(density, COARSER * round(self._bin / SPECTRUM_SECONDS))
        at //= COARSER
        self._coarse[group, at : at + coarse.shape[0]] = decibels(coarse)

    def _store_amplitude(self, group: int, block: int, found: np.ndarray) -> None:
        """Median over the rows of each bin."""
        at = block * BLOCK_SECONDS // self._amplitude_bin
        self._amplitude[group, at : at + found.shape[1]] = _median(found)


def _wait(seconds: float, progress: Progress) -> None:
    """Sleep, but not through a cancellation."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        progress.check()
        time.sleep(min(left, _NAP_SECONDS))


def _read_only(array: np.ndarray) -> np.ndarray:
    shown = array.view()
    shown.flags.writeable = False
    return shown


def _mean_by_bin(density: np.ndarray, per_bin: int) -> np.ndarray:
    """Mean of (rows, windows, k) over the rows and over each `per_bin` windows: float32 (bins, k); NaN passed over."""
    windows, k = density.shape[1:]
    bins = -(-windows // per_bin)
    total, count = np.zeros((bins * per_bin, k)), np.zeros((bins * per_bin, k), np.int64)
    there = ~np.isnan(density)
    np.sum(np.where(there, density, 0), axis=0, out=total[:windows])
    np.sum(there, axis=0, out=count[:windows])
    total, count = total.reshape(bins, per_bin, k).sum(axis=1), count.reshape(bins, per_bin, k).sum(axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan).astype(np.float32)


def _median(values: np.ndarray) -> np.ndarray:
    """Median over the first axis of what is not NaN: (rows, …) -> float32 (…)."""
    ordered = np.sort(values, axis=0)  # NaN last
    present = (~np.isnan(ordered)).sum(axis=0)
    low, high = np.maximum(present - 1, 0) // 2, present // 2
    high = np.minimum(high, values.shape[0] - 1)
    a = np.take_along_axis(ordered, low[None], axis=0)[0]
    z = np.take_along_axis(ordered, high[None], axis=0)[0]
    return ((a + z) / 2).astype(np.float32)

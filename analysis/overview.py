"""The whole recording at a glance: least and greatest value of short bins, in levels, from one pass over the file.

It knows no montage and no filter, so it serves pages of more than 20 minutes and the overview bar, and nothing finer.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, cast

import numpy as np

from analysis.montage import Montage
from analysis.progress import Progress
from analysis.recording import Recording, Window
from analysis.row_filter import is_filtered
from analysis.signal_blocks import ColumnPage, column_grid

OVERVIEW_PAGE_SECONDS = 20 * 60.0
_BIN_SECONDS = 0.25
_LEVEL_FACTOR = 4
_LEAST_BINS = 4096
_MAX_BYTES = 48_000_000
_SCAN_SECONDS = 60.0
_FOLD_WIDTH = 16
_ENVELOPE_BINS = 100_000
_HALF_MAX = 65504.0


class _Scanning(Protocol):
    """A recording that can hand out all its samples in one sequential pass."""

    def scan_blocks(self, records_per_chunk: int) -> Iterator[tuple[int, np.ndarray]]: ...


@dataclass(frozen=True)
class Overview:
    """Levels of least and greatest values, coarser by four from one to the next.

    `lo[k]`, `hi[k]` are float16 (bins, channels) in units of `scale` (channels,) about `centre` (channels,); a bin of
    level k covers bin_samples * 4**k samples; NaN where there is no signal. `envelope` (n,) float32 is half the
    peak-to-peak amplitude in microvolts, median over the brain channels, over equal parts of the recording.
    """

    ch_names: tuple[str, ...]
    sfreq: float
    n_times: int
    bin_samples: int
    lo: tuple[np.ndarray, ...]
    hi: tuple[np.ndarray, ...]
    centre: np.ndarray
    scale: np.ndarray
    envelope: np.ndarray

    @property
    def duration(self) -> float:
        """Length of the recording in seconds."""
        return self.n_times / self.sfreq

    @property
    def n_bytes(self) -> int:
        """Memory of all levels."""
        return sum(a.nbytes for a in (*self.lo, *self.hi))

    def columns(self, borders: np.ndarray, picks: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Reach of the picked channels between neighbouring `borders` (columns + 1,) in seconds.

        Returns lo, hi, float32 (columns, picks), in the channels' units; NaN where there is no signal.
        """
        level = self._level(float(borders[1] - borders[0]))
        u = borders * (self.sfreq / (self.bin_samples * _LEVEL_FACTOR**level))
        first = np.floor(u[:-1]).astype(np.intp)
        last = np.maximum(np.ceil(u[1:]).astype(np.intp) - 1, first)
        n_bins = self.lo[level].shape[0]
        inside = (last >= 0) & (first < n_bins)
        first, last = np.clip(first, 0, n_bins - 1), np.clip(last, 0, n_bins - 1)
        # Only the bins of this page are made float32, and each of them once.
        base, top = int(first[0]), int(last[-1]) + 1
        bins_lo = self.lo[level][base:top, picks].astype(np.float32)
        bins_hi = self.hi[level][base:top, picks].astype(np.float32)
        lo, hi = bins_lo[first - base], bins_hi[first - base]
        for o in range(1, int((last - first).max()) + 1):
            index = np.minimum(first + o, last) - base
            np.fmin(lo, bins_lo[index], out=lo)
            np.fmax(hi, bins_hi[index], out=hi)
        lo[~inside] = np.nan
        hi[~inside] = np.nan
        _join(lo, hi)
        for array in (lo, hi):
            array *= self.scale[picks]
            array += self.centre[picks]
        return lo, hi

    def _level(self, seconds: float) -> int:
        """The coarsest level that still has three bins in a column of `seconds`."""
        per_column = seconds * self.sfreq / self.bin_samples
        level = int(math.log(max(1.0, per_column / 3), _LEVEL_FACTOR))
        return min(level, len(self.lo) - 1)


def _join(lo: np.ndarray, hi: np.ndarray) -> None:
    """Let each column reach its left neighbour, as the line between them does."""
    before_lo, before_hi = lo[:-1].copy(), hi[:-1].copy()
    present = ~np.isnan(lo[1:])
    np.copyto(lo[1:], np.fmin(lo[1:], before_hi), where=present)
    np.copyto(hi[1:], np.fmax(hi[1:], before_lo), where=present)


def overview_page(overview: Overview, recording: Recording, montage: Montage, window: Window, width: int) -> ColumnPage:
    """A page of any length without filter: the first electrode of each row as recorded.

    The median over the page is taken from rows that the filter would free of their offset.
    """
    first, seconds = column_grid(window, width)
    index = {name: i for i, name in enumerate(overview.ch_names)}
    picks = [index[row.anode] for row in montage.derivations]
    lo, hi = overview.columns((first + np.arange(width + 1)) * seconds, picks)
    centred = [i for i, pick in enumerate(picks) if is_filtered(recording.channels[pick])]
    for row in centred:
        middle = (lo[:, row] + hi[:, row]) / 2
        present = middle[~np.isnan(middle)]
        if present.size:
            offset = np.median(present)
            lo[:, row] -= offset
            hi[:, row] -= offset
    lo.flags.writeable = hi.flags.writeable = False
    empty = np.empty((0, len(picks)), np.float32)
    return ColumnPage(
        window, montage.ch_names, overview.sfreq, empty, window.start, lo, hi, first, seconds, filtered=False
    )


def blank_page(recording: Recording, montage: Montage, window: Window, width: int) -> ColumnPage:
    """The page that stands where an overview is not ready yet; incomplete, and nothing on it."""
    first, seconds = column_grid(window, width)
    blank = np.full((width, len(montage.derivations)), np.nan, np.float32)
    empty = np.empty((0, len(montage.derivations)), np.float32)
    return ColumnPage(
        window, montage.ch_names, recording.sfreq, empty, window.start, blank, blank, first, seconds, False, False
    )


def build_overview(recording: Recording, progress: Progress | None = None) -> Overview:
    """Make the overview in one pass; raises Cancelled when `progress` says that it is no longer wanted."""
    progress = progress or Progress()
    builder = _Builder(recording)
    for first, block in _scan(recording, builder.bin_samples):
        builder.add(first, block)
        progress.report(min(first + block.shape[1], recording.n_times), recording.n_times, "overview")
    return builder.finish()


def _scan(recording: Recording, bin_samples: int) -> Iterator[tuple[int, np.ndarray]]:
    """All samples in chunks: (number of the first sample, float32 (channels, samples))."""
    if hasattr(recording, "scan_blocks"):
        yield from cast(_Scanning, recording).scan_blocks(records_per_chunk=32)
        return
    size = max(bin_samples, int(_SCAN_SECONDS * recording.sfreq) // bin_samples * bin_samples)
    for first in range(0, recording.n_times, size):
        yield first, recording.read(first, min(first + size, recording.n_times))


class _Builder:
    """Collects the finest level while the pass goes on, and makes the others at its end."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        channels = len(recording.channels)
        self.bin_samples = _bin_samples(recording)
        n_bins = -(-recording.n_times // self.bin_samples)
        self._lo = np.full((n_bins, channels), np.nan, np.float16)
        self._hi = np.full((n_bins, channels), np.nan, np.float16)
        self._centre: np.ndarray | None = None
        self._scale = np.ones(channels, np.float32)

    def add(self, first: int, block: np.ndarray) -> None:
        """Take the samples `first`, … of all channels (channels, samples)."""
        if block.size == 0:
            return
        if self._centre is None:
            self._centre, self._scale = _normalisation(block)
        size = self.bin_samples
        head = min((-first) % size, block.shape[1])
        body = (block.shape[1] - head) // size * size
        if head:
            self._merge(first // size, block[:, :head].T[None])
        if body:
            at = (first + head) // size
            self._store(at, *_extremes(block[:, head : head + body], size))
        if head + body < block.shape[1]:
            self._merge((first + head + body) // size, block[:, head + body :].T[None])

    def _merge(self, at: int, samples: np.ndarray) -> None:
        """Add samples (1, n, channels) to a bin that other samples may have filled in part."""
        lo, hi = self._packed(np.fmin.reduce(samples, axis=1)), self._packed(np.fmax.reduce(samples, axis=1))
        self._lo[at : at + 1] = np.fmin(self._lo[at : at + 1], lo)
        self._hi[at : at + 1] = np.fmax(self._hi[at : at + 1], hi)

    def _store(self, at: int, lo: np.ndarray, hi: np.ndarray) -> None:
        self._lo[at : at + lo.shape[0]] = self._packed(lo)
        self._hi[at : at + hi.shape[0]] = self._packed(hi)

    def _packed(self, values: np.ndarray) -> np.ndarray:
        assert self._centre is not None
        return np.clip((values - self._centre) / self._scale, -_HALF_MAX, _HALF_MAX).astype(np.float16)

    def finish(self) -> Overview:
        """The overview of what was added."""
        los, his = [self._lo], [self._hi]
        while los[-1].shape[0] > _LEAST_BINS:
            los.append(_coarser(los[-1], np.fmin))
            his.append(_coarser(his[-1], np.fmax))
        centre = self._centre if self._centre is not None else np.zeros(self._lo.shape[1], np.float32)
        brain = [i for i, channel in enumerate(self._recording.channels) if channel.is_brain]
        picks = brain or list(range(self._lo.shape[1]))
        group = max(1, round(_BIN_SECONDS * self._recording.sfreq / self.bin_samples))
        envelope = _envelope(self._lo[:, picks], self._hi[:, picks], self._scale[picks], group)
        if envelope.size > 1 and self._recording.n_times % (group * self.bin_samples):
            envelope[-1] = envelope[-2]  # the last part is shorter, so its amplitude would seem less
        return Overview(
            ch_names=self._recording.ch_names,
            sfreq=self._recording.sfreq,
            n_times=self._recording.n_times,
            bin_samples=self.bin_samples,
            lo=tuple(los),
            hi=tuple(his),
            centre=centre,
            scale=self._scale,
            envelope=envelope,
        )


def _bin_samples(recording: Recording) -> int:
    """Samples a bin: a power of two, a quarter of a second unless the recording is very short or very large."""
    size = 2 ** max(0, round(math.log2(max(1.0, _BIN_SECONDS * recording.sfreq))))
    while size > 1 and recording.n_times / size < _LEAST_BINS:
        size //= 2
    while 4 * len(recording.channels) * recording.n_times / size > _MAX_BYTES:
        size *= 2
    return size


def _normalisation(block: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Centre and spread of each channel (channels,), so that half precision is spent on the signal, not its offset."""
    sample = block[:, :: max(1, block.shape[1] // 4096)]
    filled = np.where(np.isfinite(sample), sample, 0.0)
    centre = np.median(filled, axis=1).astype(np.float32)
    spread = np.median(np.abs(filled - centre[:, None]), axis=1).astype(np.float32)
    return centre, np.where(spread > 0, spread, 1.0).astype(np.float32)


def _extremes(block: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Least and greatest value of each `size` samples of (channels, n * size); float32 (n, channels).

    Halving with long inner loops is twice as fast as a reduction over the last axis.
    """
    channels = block.shape[0]
    bins = np.ascontiguousarray(block).reshape(-1, size)
    found = []
    for operation in (np.fmin, np.fmax) if np.isnan(block.sum()) else (np.minimum, np.maximum):
        folded, width = bins, size
        while width > _FOLD_WIDTH:
            width //= 2
            folded = operation(folded[:, :width], folded[:, width : 2 * width])
        reduced = operation.reduce(np.ascontiguousarray(folded.T), axis=0)
        found.append(reduced.reshape(channels, -1).T)
    return found[0], found[1]


def _coarser(level: np.ndarray, operation: np.ufunc) -> np.ndarray:
    """Four bins in one; the last one may have fewer."""
    whole = level.shape[0] // _LEVEL_FACTOR * _LEVEL_FACTOR
    merged = level[:whole:_LEVEL_FACTOR].astype(np.float32)
    for k in range(1, _LEVEL_FACTOR):
        merged = operation(merged, level[k:whole:_LEVEL_FACTOR].astype(np.float32))
    if whole < level.shape[0]:
        rest = operation.reduce(level[whole:].astype(np.float32), axis=0)
        merged = np.concatenate([merged, rest[None]])
    return merged.astype(np.float16)


def _envelope(lo: np.ndarray, hi: np.ndarray, scale: np.ndarray, group: int) -> np.ndarray:
    """Half of hi - lo over each `group` bins, median over channels; float32 (n,), at most _ENVELOPE_BINS of them."""
    least, greatest = _grouped(lo, group, np.fmin), _grouped(hi, group, np.fmax)
    half = (greatest.astype(np.float32) - least) * (scale / 2)
    half = _grouped(half, -(-half.shape[0] // _ENVELOPE_BINS), np.fmax)
    if not half.size:
        return np.full(half.shape[0], np.nan, np.float32)
    # A middle rank by sorting: nanmedian is many times slower, and NaN are sorted to the end.
    ordered = np.sort(half, axis=1)
    present = (~np.isnan(ordered)).sum(axis=1)
    middle = np.maximum(present - 1, 0) // 2
    return ordered[np.arange(ordered.shape[0]), middle].astype(np.float32)


def _grouped(values: np.ndarray, group: int, operation: np.ufunc) -> np.ndarray:
    """One of every `group` bins (bins, channels); the last group may be short."""
    if group <= 1:
        return values
    short = -values.shape[0] % group
    padded = np.concatenate([values, np.full((short, values.shape[1]), np.nan, values.dtype)])
    return np.asarray(operation.reduce(padded.reshape(padded.shape[0] // group, group, values.shape[1]), axis=1))

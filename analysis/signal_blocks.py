"""From a recording to what is drawn: montaged, filtered blocks on an absolute grid of time, and pages made of them.

A block is always computed from the same samples, so a sample has one value wherever a page starts, and turning a page
never changes what has been seen.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from analysis.block_cache import DEFAULT_BYTES, BlockCache
from analysis.filtering import DisplayFilter, filter_span
from analysis.montage import Montage
from analysis.pixel_columns import columns, merge_columns
from analysis.recording import Channel, Page, Recording, Window

FILTERED_TYPES = frozenset({"eeg", "ecog", "seeg", "ecg", "eog", "emg"})
SAMPLES_PAGE_SECONDS = 60.0
_CHUNK_ROWS = 32
_PARTIAL_SECONDS = 0.08


def is_filtered(channel: Channel) -> bool:
    """Whether the display filter acts on a channel: voltages of brain, heart, eyes and muscle, never DC or triggers."""
    return channel.unit == "uV" and channel.type in FILTERED_TYPES and channel.calibrated


@dataclass(frozen=True)
class ColumnPage(Page):
    """A page together with the reach of each trace in each pixel column.

    `lo` and `hi` are float32 (columns, rows); column i covers [first_column + i, first_column + i + 1) *
    column_seconds. `data` is empty (0, rows) for pages over 60 s and for incomplete ones. `filtered` is False when
    the columns come from the overview: raw, first electrode of each row, offset removed. `complete` is False while
    columns are still to come (they are NaN).
    """

    lo: np.ndarray = field(default_factory=lambda: np.empty((0, 0), np.float32))
    hi: np.ndarray = field(default_factory=lambda: np.empty((0, 0), np.float32))
    first_column: int = 0
    column_seconds: float = 0.0
    filtered: bool = True
    complete: bool = True


def column_grid(window: Window, width: int) -> tuple[int, float]:
    """Number of a page's first column and the seconds that each of its `width` columns covers."""
    # Rounded, so that pages of one length share their grid although stop - start differs in the last digits.
    seconds = round(window.duration, 9) / width
    return round(window.start / seconds), seconds


@dataclass(frozen=True)
class _Part:
    """Rows that are computed together: their places, their derivations, and whether they are filtered."""

    rows: np.ndarray
    montage: Montage
    filtered: bool


class BlockSource:
    """Pages of one recording in one montage through one filter; safe to use from several threads."""

    def __init__(
        self,
        recording: Recording,
        montage: Montage,
        display_filter: DisplayFilter,
        cache: BlockCache | None = None,
        block_seconds: float = 10.0,
        cache_bytes: int = DEFAULT_BYTES,
    ) -> None:
        self.recording = recording
        self.montage = montage
        self.display_filter = display_filter
        self._cache = cache if cache is not None else BlockCache(cache_bytes)
        self._key = (recording.id, hash(montage), display_filter)
        self._step = display_filter.decimation(recording.sfreq)
        self._block = max(1, math.ceil(block_seconds * recording.sfreq / self._step)) * self._step
        self._picks = montage.picks(recording.ch_names)
        self._names = tuple(recording.ch_names[i] for i in self._picks)
        self._parts = _parts(recording, montage, display_filter)

    @property
    def sfreq(self) -> float:
        """Rate of the pages in hertz."""
        return self.recording.sfreq / self._step

    @property
    def block_seconds(self) -> float:
        """Length of a block."""
        return self._block / self.recording.sfreq

    def page(self, window: Window) -> Page:
        """The samples of a window, with one more on either side so that the lines reach its edges."""
        first, data = self._samples(window)
        return Page(window, self.montage.ch_names, self.sfreq, data, first / self.sfreq)

    def column_page(self, window: Window, width: int) -> ColumnPage:
        """The finished page of a window for a screen of `width` pixels."""
        for page in self.column_pages(window, width, math.inf):
            if page.complete:
                return page
        raise AssertionError("the last page is complete")

    def column_pages(
        self, window: Window, width: int, partial_seconds: float = _PARTIAL_SECONDS
    ) -> Iterator[ColumnPage]:
        """The page of a window as it grows: an incomplete one every `partial_seconds`, and at last the complete one."""
        first, seconds = column_grid(window, width)
        pieces: list[tuple[int, np.ndarray, np.ndarray]] = []
        keep = window.duration <= SAMPLES_PAGE_SECONDS
        told = time.monotonic()
        for block in self._blocks(window.start, window.stop):
            if time.monotonic() - told >= partial_seconds:
                yield self._column_page(window, pieces, first, width, seconds, complete=False)
                told = time.monotonic()
            pieces.append(self._block_columns(block, seconds, keep))
        yield self._column_page(window, pieces, first, width, seconds, complete=True)

    def _column_page(
        self,
        window: Window,
        pieces: list[tuple[int, np.ndarray, np.ndarray]],
        first: int,
        width: int,
        seconds: float,
        complete: bool,
    ) -> ColumnPage:
        rows = len(self.montage.derivations)
        start, data = 0, np.empty((0, rows), np.float32)
        if complete and window.duration <= SAMPLES_PAGE_SECONDS:
            start, data = self._samples(window)
        lo, hi = merge_columns(pieces, first, width, rows)
        return ColumnPage(
            window=window,
            ch_names=self.montage.ch_names,
            sfreq=self.sfreq,
            data=data,
            first_time=start / self.sfreq,
            lo=_frozen(lo),
            hi=_frozen(hi),
            first_column=first,
            column_seconds=seconds,
            complete=complete,
        )

    def _blocks(self, start: float, stop: float) -> range:
        """Numbers of the blocks that hold some of [start, stop)."""
        first = max(0, int(start * self.recording.sfreq) // self._block)
        end = min(self.recording.n_times, math.ceil(stop * self.recording.sfreq))
        return range(first, max(first, -(-end // self._block)))

    def _samples(self, window: Window) -> tuple[int, np.ndarray]:
        """Number of the first sample (at the page's rate) and the samples (n, rows) of a window."""
        per_block = self._block // self._step
        total = -(-self.recording.n_times // self._step)
        first = min(max(0, math.floor(window.start * self.sfreq)), total)
        stop = min(total, math.ceil(window.stop * self.sfreq) + 1)
        pieces = []
        # A page that ends with a block takes its last sample from that block's own overlap, so that the next block
        # need not be computed for it.
        last = max(first // per_block, (stop - 2) // per_block)
        for block in range(first // per_block, last + 1 if stop > first else 0):
            base = block * per_block
            end = stop - base if block == last else per_block
            pieces.append(self._block_samples(block)[max(0, first - base) : end])
        if not pieces:
            return first, _frozen(np.empty((0, len(self.montage.derivations)), np.float32))
        return first, _frozen(pieces[0] if len(pieces) == 1 else np.concatenate(pieces))

    def _block_columns(self, block: int, seconds: float, keep: bool) -> tuple[int, np.ndarray, np.ndarray]:
        """First column, lo and hi of a block; `keep` says whether its samples are worth keeping as well."""
        key = (self._key, block, seconds)
        found = self._cache.get(key)
        if found is None:
            samples = self._block_samples(block, keep)
            per_block = self._block // self._step
            start = block * per_block / self.sfreq
            stop = (block * per_block + samples.shape[0] - 1) / self.sfreq
            first, last = math.floor(start / seconds), math.floor(stop / seconds)
            borders = (np.arange(first, last + 2) * seconds - start) * self.sfreq
            found = (first, *columns(samples, borders))
            self._cache.put(key, found, found[1].nbytes + found[2].nbytes)
        return found

    def _block_samples(self, block: int, keep: bool = True) -> np.ndarray:
        """Samples (n, rows) of a block and the first one of the next, so that lines join."""
        key = (self._key, block)
        samples = self._cache.get(key)
        if samples is None:
            samples = _frozen(self._compute(block))
            if keep:
                self._cache.put(key, samples, samples.nbytes)
        return samples

    def _compute(self, block: int) -> np.ndarray:
        start = block * self._block
        stop = min(start + self._block + self._step, self.recording.n_times)
        pad = self.display_filter.pad_samples(self.recording.sfreq, self._step)
        first, end = max(0, start - pad), min(self.recording.n_times, stop + pad)
        raw = self.recording.read(first, end, self._picks)
        clean = bool(np.isfinite(raw.sum(dtype=np.float64)))
        out = np.empty((-(-(stop - start) // self._step), len(self.montage.derivations)), np.float32)
        for part in self._parts:
            derived = part.montage.apply(raw, self._names)
            if not part.filtered:
                rows = _thinned(derived[:, start - first : stop - first], self._step)
            elif clean:
                rows = filter_span(derived, first, self.recording.sfreq, self.display_filter, start, stop, self._step)
            else:
                rows = self._filter_between_gaps(derived, first, start, stop)
            out[:, part.rows] = rows.T
        return out

    def _filter_between_gaps(self, derived: np.ndarray, first: int, start: int, stop: int) -> np.ndarray:
        """As filter_span, but each run without NaN by itself, and NaN between them; rows with equal gaps together."""
        out = np.full((derived.shape[0], -(-(stop - start) // self._step)), np.nan, np.float32)
        finite = np.isfinite(derived)
        patterns: dict[bytes, list[int]] = {}
        for row, mask in enumerate(np.packbits(finite, axis=1)):
            patterns.setdefault(mask.tobytes(), []).append(row)
        for rows in patterns.values():
            for begin, end in _runs(finite[rows[0]]):
                a = max(start, -(-(first + begin) // self._step) * self._step)
                z = min(stop, first + end)
                if z > a:
                    piece = filter_span(
                        derived[rows, begin:end],
                        first + begin,
                        self.recording.sfreq,
                        self.display_filter,
                        a,
                        z,
                        self._step,
                    )
                    offset = (a - start) // self._step
                    out[rows, offset : offset + piece.shape[1]] = piece
        return out


def _parts(recording: Recording, montage: Montage, display_filter: DisplayFilter) -> list[_Part]:
    """Rows in chunks that fit a processor's cache, filtered and unfiltered ones apart."""
    by_name = {channel.name: channel for channel in recording.channels}
    parts = []
    for wanted in (True, False):
        rows = [
            i
            for i, derivation in enumerate(montage.derivations)
            if (is_filtered(by_name[derivation.anode]) and not display_filter.is_off) == wanted
        ]
        for at in range(0, len(rows), _CHUNK_ROWS):
            chunk = rows[at : at + _CHUNK_ROWS]
            derivations = tuple(montage.derivations[i] for i in chunk)
            parts.append(_Part(np.array(chunk), Montage(montage.name, derivations), wanted))
    return parts


def _thinned(data: np.ndarray, step: int) -> np.ndarray:
    """Every `step` samples the one of largest size, so that no trigger is lost."""
    if step == 1:
        return data
    count = -(-data.shape[1] // step)
    padded = np.pad(data, ((0, 0), (0, count * step - data.shape[1])), mode="edge")
    groups = padded.reshape(data.shape[0], count, step)
    lo, hi = np.fmin.reduce(groups, axis=2), np.fmax.reduce(groups, axis=2)
    return np.asarray(np.where(np.abs(hi) >= np.abs(lo), hi, lo))


def _runs(mask: np.ndarray) -> list[tuple[int, int]]:
    """Half-open spans where a mask (n,) is true."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    return [(int(a), int(z)) for a, z in zip(edges[::2], edges[1::2], strict=True)]


def _frozen(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array

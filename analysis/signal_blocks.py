"""From a recording to what is drawn: montaged, filtered blocks on an absolute grid of time, and pages made of them.

A block is always computed from the same samples, so a sample has one value wherever a page starts, and turning a page
never changes what has been seen.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from analysis.block_cache import DEFAULT_BYTES, BlockCache
from analysis.filtering import Filters
from analysis.montage import Montage
from analysis.pixel_columns import columns, merge_columns
from analysis.recording import Page, Recording, Window
from analysis.row_filter import RowFilter

SAMPLES_PAGE_SECONDS = 60.0
_PARTIAL_SECONDS = 0.08
_LONG_BLOCKS = 6
# A block that holds more pages than this, on pages of a second or less, has its columns made page by page.
_MANY_PAGES = 6
# A little more than the usual page, so that the first page of a recording, with the sample after it, is one block.
BLOCK_SECONDS = 10.25


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


class BlockSource:
    """Pages of one recording in one montage through one filter; threads may share it and help each other.

    Pages up to 60 s are made of blocks of `block_seconds` whose samples are kept; longer ones of blocks six times as
    long (less of the work goes into their padding), of which only the columns are kept.
    """

    def __init__(
        self,
        recording: Recording,
        montage: Montage,
        display_filter: Filters,
        cache: BlockCache | None = None,
        block_seconds: float = BLOCK_SECONDS,
        cache_bytes: int = DEFAULT_BYTES,
    ) -> None:
        self.recording = recording
        self.montage = montage
        self.display_filter = display_filter
        self._cache = cache if cache is not None else BlockCache(cache_bytes)
        self._key = (recording.id, hash(montage), display_filter)
        self._rows = RowFilter(recording, montage, display_filter)
        step = self._rows.step
        self._block = max(1, math.ceil(block_seconds * recording.sfreq / step)) * step
        self._claims: dict[tuple[int, int], threading.Event] = {}
        self._lock = threading.Lock()

    @property
    def sfreq(self) -> float:
        """Rate of the pages in hertz."""
        return self.recording.sfreq / self._rows.step

    @property
    def block_seconds(self) -> float:
        """Length of a block of short pages."""
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
        self,
        window: Window,
        width: int,
        partial_seconds: float = _PARTIAL_SECONDS,
        wanted: Callable[[], bool] = lambda: True,
    ) -> Iterator[ColumnPage]:
        """The page of a window as it grows: an incomplete one every `partial_seconds`, and at last the complete one.

        Ends without it as soon as `wanted`, which is asked before each block, says no.
        """
        first, seconds = column_grid(window, width)
        size = self._block_size(window)
        pieces: list[tuple[int, np.ndarray, np.ndarray]] = []
        told = time.monotonic()
        for block in self._blocks(window, size):
            if not wanted():
                return
            if time.monotonic() - told >= partial_seconds:
                yield self._column_page(window, pieces, first, width, seconds, complete=False)
                told = time.monotonic()
            pieces.append(self._block_columns(block, size, seconds, first, first + width))
        yield self._column_page(window, pieces, first, width, seconds, complete=True)

    def count_blocks(self, window: Window) -> int:
        """How many blocks a page is made of."""
        return len(self._blocks(window, self._block_size(window)))

    def help_with(self, window: Window, width: int, wanted: Callable[[], bool]) -> None:
        """Make a page's blocks from its end on, for another thread that makes them from its start.

        Ends when they meet, or when `wanted` says no.
        """
        size = self._block_size(window)
        first, seconds = column_grid(window, width)
        for block in reversed(self._blocks(window, size)):
            with self._lock:
                met = (block, size) in self._claims
            if met or not wanted():
                return
            self._block_columns(block, size, seconds, first, first + width)

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

    def _block_size(self, window: Window) -> int:
        """Samples of the recording in a block of a page."""
        return self._block if window.duration <= SAMPLES_PAGE_SECONDS else _LONG_BLOCKS * self._block

    def _blocks(self, window: Window, size: int) -> range:
        """Numbers of the blocks that hold some of a window, and the sample after it."""
        step = self._rows.step
        first = max(0, math.floor(window.start * self.sfreq) * step // size)
        end = min(self.recording.n_times, (self._end(window) - 1) * step + 1)
        return range(first, max(first, -(-end // size)))

    def _end(self, window: Window) -> int:
        """Number, at the page's rate, of the sample after the last one of a window, which lies at or after its end."""
        return math.ceil(window.stop * self.sfreq) + 1

    def _samples(self, window: Window) -> tuple[int, np.ndarray]:
        """Number of the first sample (at the page's rate) and the samples (n, rows) of a window."""
        per_block = self._block // self._rows.step
        total = -(-self.recording.n_times // self._rows.step)
        first = min(max(0, math.floor(window.start * self.sfreq)), total)
        stop = min(total, self._end(window))
        pieces = []
        for block in range(first // per_block, -(-stop // per_block) if stop > first else 0):
            base = block * per_block
            # Never the sample that joins a block to the next: in the next one it has, by a hair, another value.
            pieces.append(self._block_samples(block, self._block)[max(0, first - base) : min(per_block, stop - base)])
        if not pieces:
            return first, _frozen(np.empty((0, len(self.montage.derivations)), np.float32))
        return first, _frozen(pieces[0] if len(pieces) == 1 else np.concatenate(pieces))

    def _block_columns(
        self, block: int, size: int, seconds: float, least: int, most: int
    ) -> tuple[int, np.ndarray, np.ndarray]:
        """First column, lo and hi of a block; of one with many more columns than the page, those in [least, most)."""
        key = (self._key, block, size, seconds)
        with self._claimed(block, size):
            found = self._cache.get(key)
            if found is None:
                samples = self._block_samples(block, size)
                start = block * size / self.recording.sfreq
                stop = start + (samples.shape[0] - 1) / self.sfreq
                first, last = math.floor(start / seconds), math.floor(stop / seconds)
                many = last - first >= _MANY_PAGES * (most - least)
                if many:
                    first, last = max(first, least), max(first, min(last, most - 1))
                borders = (np.arange(first, last + 2) * seconds - start) * self.sfreq
                found = (first, *columns(samples, borders))
                if not many:
                    self._cache.put(key, found, found[1].nbytes + found[2].nbytes)
        return found

    def _block_samples(self, block: int, size: int) -> np.ndarray:
        """Samples (n, rows) of a block and the first one of the next, so that lines join."""
        key = (self._key, block, size)
        samples = self._cache.get(key)
        if samples is None:
            start = block * size
            stop = min(start + size + self._rows.step, self.recording.n_times)
            samples = _frozen(self._rows.compute(start, stop))
            if size == self._block:
                self._cache.put(key, samples, samples.nbytes)
        return samples

    @contextmanager
    def _claimed(self, block: int, size: int) -> Iterator[None]:
        """Be the one thread that makes a block; whoever comes second waits and finds it made."""
        with self._lock:
            event = self._claims.get((block, size))
            mine = event is None
            if mine:
                event = self._claims[block, size] = threading.Event()
        if not mine:
            assert event is not None
            event.wait()
            yield
            return
        assert event is not None
        try:
            yield
        finally:
            with self._lock:
                del self._claims[block, size]
            event.set()


def _frozen(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array

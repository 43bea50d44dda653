"""From a wish for a window to its page, in the background; the newest wish wins and its neighbours are made ready."""

from __future__ import annotations

import logging
import math
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from PyQt6.QtCore import QObject, Qt, QTimer, pyqtSignal

from analysis.block_cache import BlockCache
from analysis.errors import RecordingError
from analysis.filtering import Filters
from analysis.montage import Montage
from analysis.overview import OVERVIEW_PAGE_SECONDS, Overview, blank_page, overview_page
from analysis.recording import Recording, Window
from analysis.signal_blocks import BlockSource, ColumnPage
from app.heap import keep_freed_memory

_READY_PAGES = 4
_REST_MS = 250  # a long page that is looked at for less is not worth filtering
_SHARE_STEP = 0.01
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Wish:
    """Everything that decides a page."""

    window: Window
    # Compared but not hashed: an average of many channels names each of them in every row.
    montage: Montage = field(hash=False)
    display_filter: Filters
    width: int


class PageLoader(QObject):
    """Answers `request` with `page_ready`; lives on one thread, works on those that `submit` lends it.

    `submit(fn)` must run fn() on another thread. Two are asked for at a time: one makes the page from its start, the
    other helps it from the end. With only one thread pages come all the same, later. `prepare(page)` is called on the
    working thread for each finished page before it is handed over, such as to draw it.
    """

    page_ready = pyqtSignal(object)  # ColumnPage; several for one request when it takes long
    filtering = pyqtSignal(float)  # how much of a long page, which is shown unfiltered meanwhile, has been filtered
    failed = pyqtSignal(object)  # exception
    _arrived = pyqtSignal(object, object)  # wish, page or exception

    def __init__(
        self,
        submit: Callable[[Callable[[], None]], Any],
        parent: QObject | None = None,
        prepare: Callable[[ColumnPage], None] | None = None,
    ) -> None:
        super().__init__(parent)
        keep_freed_memory()
        self._submit = submit
        self._prepare = prepare
        self._cache = BlockCache()
        self._lock = threading.Lock()
        # Under the lock: what to do, and whether someone is doing it.
        self._recording: Recording | None = None
        self._overview: Overview | None = None
        self._source: BlockSource | None = None
        self._wish: _Wish | None = None
        self._pending = False
        self._working = False
        self._helping = False
        self._filtering = False
        self._ready: OrderedDict[_Wish, ColumnPage] = OrderedDict()
        # Of the owner's thread.
        self._asked: _Wish | None = None
        self._answered = True
        self._handed: _Wish | None = None  # the last one, as long as it is answered by the page that is there
        self._forward = True
        self._told_share = 0.0
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(_REST_MS)
        self._rest.timeout.connect(self._on_rest)
        self._arrived.connect(self._on_arrived, Qt.ConnectionType.QueuedConnection)

    def set_recording(self, recording: Recording | None) -> None:
        """Serve another recording; pages of the last one are dropped."""
        with self._lock:
            self._recording, self._overview, self._source = recording, None, None
            self._wish, self._pending = None, False
            self._ready.clear()
        self._cache.clear()
        self._asked, self._answered, self._handed = None, True, None

    def serves(self, recording: Recording) -> bool:
        """Whether pages are made of this recording."""
        with self._lock:
            return self._recording is recording

    def set_overview(self, overview: Overview | None) -> None:
        """Take the overview, which pages of more than 20 minutes are made of."""
        with self._lock:
            self._overview = overview
        if overview is not None and self._asked is not None and _is_long(self._asked.window) and not self._answered:
            self._start(self._asked)

    def request(self, window: Window, montage: Montage, display_filter: Filters, width_px: int) -> None:
        """Want a page for `width_px` device pixels; one that is ready is handed over before this returns.

        One that was handed over last is not handed over again.
        """
        wish = _Wish(window, montage, display_filter, max(1, width_px))
        if wish == self._handed:
            return
        if self._asked is not None and window.start != self._asked.window.start:
            self._forward = window.start > self._asked.window.start
        self._asked, self._answered, self._handed = wish, False, None
        with self._lock:
            page = self._ready.get(wish)
        if page is None:
            self._start(wish)
            return
        self._hand_over(wish, page)

    def answer_again(self) -> None:
        """Hand over the page of the next request even if it was the last one: it is to be drawn otherwise."""
        self._handed = None

    def settled(self) -> bool:
        """Whether the last request has been answered in full."""
        return self._answered

    def close(self) -> None:
        """Want nothing more."""
        self.set_recording(None)

    def _start(self, wish: _Wish) -> None:
        with self._lock:
            if self._recording is None:
                return
            self._wish, self._pending = wish, True
            work, self._working = not self._working, True
            aid = not self._helping and wish not in self._ready and not _is_long(wish.window)
            self._helping = self._helping or aid
        if work:
            self._submit(self._work)
        if aid:
            self._submit(self._help)

    def _on_arrived(self, wish: _Wish, answer: ColumnPage | BaseException) -> None:
        if wish != self._asked or (self._answered and not _is_long(wish.window)):
            return
        if isinstance(answer, BaseException):
            self._answered = True
            self.failed.emit(answer)
            return
        self._hand_over(wish, answer)

    def _hand_over(self, wish: _Wish, page: ColumnPage) -> None:
        self._answered = page.complete
        self._handed = wish if page.complete and not _is_long(wish.window) else None
        self.page_ready.emit(page)
        if page.complete and _is_long(wish.window) and not page.filtered:
            self._rest.start()
        if page.complete and not _is_long(wish.window):
            # Its neighbours are made once it is painted: until then the interpreter belongs to the thread that draws.
            QTimer.singleShot(0, lambda: self._start(wish) if wish == self._asked else None)

    def _on_rest(self) -> None:
        """The reader stays on a long page: have it filtered."""
        with self._lock:
            busy, wish = self._filtering, self._asked
            if wish is None or not _is_long(wish.window) or wish in self._ready:
                return
            self._filtering = True
        if busy:
            self._rest.start()  # the thread that filters the page before is about to notice
        else:
            self._told_share = 0.0
            self._submit(self._filter_long)

    # On a thread of the pool

    def _filter_long(self) -> None:
        """Make the newest wish, a page of hours, of filtered blocks; ends as soon as another page is wanted."""
        with self._lock:
            wish, recording = self._wish, self._recording
        try:
            if wish is not None and recording is not None and _is_long(wish.window):
                self._serve_filtered(wish, recording)
        except (RecordingError, OSError, MemoryError) as error:
            # The page stays as it is, and says so; whoever reads on meets the same fault and is told of it.
            _LOG.warning("a long page could not be filtered: %s", error)
        finally:
            with self._lock:
                self._filtering = False

    def _serve_filtered(self, wish: _Wish, recording: Recording) -> None:
        source = self._source_of(wish, recording)
        count, done = source.count_blocks(wish.window), 0

        def wanted() -> bool:
            nonlocal done
            done += 1
            share = done / max(1, count)
            if share >= self._told_share + _SHARE_STEP:
                self._told_share = share
                self.filtering.emit(share)
            return self._is_wanted(wish)

        for page in source.column_pages(wish.window, wish.width, math.inf, wanted):
            self._keep(wish, page)
            self._arrived.emit(wish, page)

    def _work(self) -> None:
        """Serve the newest wish until there is none; for one that has been served, make its neighbours ready."""
        while True:
            with self._lock:
                wish, recording, overview = self._wish, self._recording, self._overview
                if wish is None or recording is None or not self._pending:
                    self._working = False
                    return
                self._pending = False
                ready = self._ready.get(wish)
            try:
                if ready is None:
                    self._serve(wish, recording, overview)
                else:
                    # It may have become ready after the wish was told that it was not.
                    self._arrived.emit(wish, ready)
                    self._make_neighbours(wish, recording)
            except Exception as error:
                # Handed to the owner whole; what it means to a person is said where errors are shown.
                self._arrived.emit(wish, error)

    def _help(self) -> None:
        """Make the newest wish's blocks from the end of the page on, until the one who serves it is met."""
        with self._lock:
            wish, recording = self._wish, self._recording
        try:
            if wish is not None and recording is not None:
                source = self._source_of(wish, recording)
                source.help_with(wish.window, wish.width, lambda: self._is_wanted(wish))
        except (RecordingError, OSError, MemoryError) as error:
            # The one who serves the page meets the same fault and tells of it.
            _LOG.debug("help with a page ended: %s", error)
        finally:
            with self._lock:
                self._helping = False

    def _is_wanted(self, wish: _Wish) -> bool:
        with self._lock:
            return self._wish is wish and wish not in self._ready and self._recording is not None

    def _serve(self, wish: _Wish, recording: Recording, overview: Overview | None) -> None:
        if _is_long(wish.window):
            make = blank_page(recording, wish.montage, wish.window, wish.width)
            if overview is not None:
                make = overview_page(overview, recording, wish.montage, wish.window, wish.width)
                if self._prepare is not None:
                    self._prepare(make)
            self._arrived.emit(wish, make)
            return
        for page in self._source_of(wish, recording).column_pages(wish.window, wish.width, wanted=self._is_idle):
            if page.complete:
                self._keep(wish, page)
            self._arrived.emit(wish, page)

    def _make_neighbours(self, wish: _Wish, recording: Recording) -> None:
        """The next page and the one before, so that turning a page costs no reading."""
        length = wish.window.duration
        steps = (length, -length) if self._forward else (-length, length)
        for step in steps:
            start = min(max(0.0, wish.window.start + step), max(0.0, recording.duration - length))
            if start == wish.window.start:
                continue
            neighbour = _Wish(Window(start, start + length), wish.montage, wish.display_filter, wish.width)
            with self._lock:
                if neighbour in self._ready:
                    continue
            source = self._source_of(wish, recording)
            for page in source.column_pages(neighbour.window, wish.width, math.inf, self._is_idle):
                self._keep(neighbour, page)

    def _source_of(self, wish: _Wish, recording: Recording) -> BlockSource:
        with self._lock:
            source = self._source
            if (
                source is None
                or source.recording is not recording
                or source.montage != wish.montage
                or source.display_filter != wish.display_filter
            ):
                source = self._source = BlockSource(recording, wish.montage, wish.display_filter, self._cache)
            return source

    def _is_idle(self) -> bool:
        """Whether no newer wish waits."""
        with self._lock:
            return not self._pending and self._recording is not None

    def _keep(self, wish: _Wish, page: ColumnPage) -> None:
        if self._prepare is not None:
            self._prepare(page)
        with self._lock:
            if self._recording is None:
                return
            self._ready[wish] = page
            self._ready.move_to_end(wish)
            while len(self._ready) > _READY_PAGES:
                self._ready.popitem(last=False)


def _is_long(window: Window) -> bool:
    return window.duration > OVERVIEW_PAGE_SECONDS

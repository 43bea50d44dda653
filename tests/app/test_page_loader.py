"""The newest wish wins, neighbours are made ready, and nothing of an old recording comes through."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np
import pytest
from PyQt6.QtCore import QThread

from analysis.errors import RecordingError
from analysis.filtering import DisplayFilter
from analysis.montage import Derivation, Montage
from analysis.overview import build_overview
from analysis.recording import Channel, Recording, Window
from analysis.signal_blocks import BlockSource, ColumnPage
from app.page_loader import PageLoader

SFREQ = 100.0
FILTER = DisplayFilter(0.5, 30.0)
MONTAGE = Montage("as recorded", (Derivation("A", "A"), Derivation("B", "B")))


class Threads:
    """Runs each piece of work on a thread of its own, and waits for all at the end."""

    def __init__(self) -> None:
        self.started: list[threading.Thread] = []

    def submit(self, work: Callable[[], None]) -> None:
        thread = threading.Thread(target=work)
        self.started.append(thread)
        thread.start()

    def join(self) -> None:
        for thread in self.started:
            thread.join(20)
            assert not thread.is_alive()


@pytest.fixture
def threads():
    made = Threads()
    yield made
    made.join()


@pytest.fixture
def recording(array_recording) -> Recording:
    data = np.random.default_rng(0).standard_normal((2, int(2000 * SFREQ))) * 20
    return array_recording([Channel(name, name, "eeg", "uV", SFREQ) for name in "AB"], data, SFREQ)


class Slow:
    """Wraps a recording's read so that it waits until it is let go, and counts."""

    def __init__(self, recording: Recording) -> None:
        self._read = recording.read
        self.go = threading.Event()
        self.entered = threading.Event()
        self.calls: list[tuple[int, int]] = []
        self.lock = threading.Lock()
        recording.read = self.read  # type: ignore[method-assign]

    def read(self, start: int, stop: int, picks=None) -> np.ndarray:
        with self.lock:
            self.calls.append((start, stop))
        self.entered.set()
        assert self.go.wait(20)
        return self._read(start, stop, picks)


def loader_of(threads: Threads, recording: Recording) -> tuple[PageLoader, list[ColumnPage]]:
    loader = PageLoader(threads.submit)
    pages: list[ColumnPage] = []
    loader.page_ready.connect(pages.append)
    loader.set_recording(recording)
    return loader, pages


def test_page_is_what_the_blocks_say(qtbot, threads, recording) -> None:
    loader, pages = loader_of(threads, recording)
    loader.request(Window(33.3, 43.3), MONTAGE, FILTER, 500)
    assert not loader.settled()
    qtbot.waitUntil(loader.settled)
    expected = BlockSource(recording, MONTAGE, FILTER).column_page(Window(33.3, 43.3), 500)
    np.testing.assert_array_equal(pages[-1].lo, expected.lo)
    np.testing.assert_array_equal(pages[-1].data, expected.data)
    assert pages[-1].complete


def test_pages_arrive_on_the_owners_thread(qtbot, threads, recording) -> None:
    loader = PageLoader(threads.submit)
    loader.set_recording(recording)
    seen = []
    loader.page_ready.connect(lambda _page: seen.append(QThread.currentThread()))
    loader.request(Window(0, 10), MONTAGE, FILTER, 500)
    qtbot.waitUntil(loader.settled)
    assert seen == [loader.thread()]


def test_next_and_previous_page_are_ready_without_waiting(qtbot, threads, recording) -> None:
    loader, pages = loader_of(threads, recording)
    loader.request(Window(50, 60), MONTAGE, FILTER, 500)
    qtbot.waitUntil(loader.settled)
    qtbot.wait(5)  # neighbours are asked for after the page is painted
    threads.join()
    for start in (60, 50, 40):
        loader.request(Window(start, start + 10), MONTAGE, FILTER, 500)
        assert pages[-1].window == Window(start, start + 10)
        assert loader.settled()
        qtbot.wait(5)
        threads.join()


def test_only_the_newest_of_many_wishes_is_answered(qtbot, threads, recording) -> None:
    slow = Slow(recording)
    loader, pages = loader_of(threads, recording)
    loader.request(Window(0, 10), MONTAGE, FILTER, 500)
    assert slow.entered.wait(20)
    for start in range(100, 1000, 100):
        loader.request(Window(start, start + 10), MONTAGE, FILTER, 500)
    slow.go.set()
    qtbot.waitUntil(loader.settled)
    threads.join()
    assert [page.window for page in pages] == [Window(900, 910)]
    # The nine wishes were not all worked off: at most what was in hand, the newest, and its neighbours.
    assert len(slow.calls) <= 8


def test_two_threads_share_a_page_and_no_block_is_made_twice(qtbot, threads, recording) -> None:
    slow = Slow(recording)
    slow.go.set()
    loader, pages = loader_of(threads, recording)
    loader.request(Window(300, 360), MONTAGE, FILTER, 500)
    qtbot.waitUntil(loader.settled)
    inside = [call for call in slow.calls if 30_000 < (call[0] + call[1]) / 2 < 36_000]
    assert len(inside) == len(set(inside)) == 6
    expected = BlockSource(recording, MONTAGE, FILTER).column_page(Window(300, 360), 500)
    np.testing.assert_array_equal(pages[-1].hi, expected.hi)


def test_late_page_of_another_recording_is_dropped(qtbot, threads, recording, array_recording) -> None:
    slow = Slow(recording)
    loader, pages = loader_of(threads, recording)
    loader.request(Window(0, 10), MONTAGE, FILTER, 500)
    assert slow.entered.wait(20)
    other = array_recording(recording.channels, np.zeros((2, 5000)), SFREQ)
    loader.set_recording(other)
    assert loader.settled()
    slow.go.set()
    threads.join()
    loader.request(Window(0, 10), MONTAGE, FILTER, 400)
    qtbot.waitUntil(loader.settled)
    assert [page.lo.shape[0] for page in pages] == [400]
    assert float(np.abs(pages[0].lo).max()) < 1e-3


def test_long_pages_wait_for_the_overview(qtbot, threads, recording) -> None:
    loader, pages = loader_of(threads, recording)
    loader.request(Window(0, 1500), MONTAGE, FILTER, 500)
    qtbot.waitUntil(lambda: len(pages) == 1)
    assert not pages[0].complete
    assert not loader.settled()
    threads.join()
    loader.set_overview(build_overview(recording))
    qtbot.waitUntil(loader.settled)
    assert pages[-1].complete
    assert not pages[-1].filtered
    assert np.isfinite(pages[-1].lo).all()


def test_long_page_that_is_looked_at_is_filtered_meanwhile(qtbot, threads, recording) -> None:
    loader, pages = loader_of(threads, recording)
    loader.set_overview(build_overview(recording))
    shares: list[float] = []
    loader.filtering.connect(shares.append)
    loader.request(Window(100, 1600), MONTAGE, FILTER, 500)
    qtbot.waitUntil(loader.settled)
    assert not pages[-1].filtered
    qtbot.waitUntil(lambda: pages[-1].filtered)
    threads.join()
    expected = BlockSource(recording, MONTAGE, FILTER).column_page(Window(100, 1600), 500)
    np.testing.assert_array_equal(pages[-1].lo, expected.lo)
    assert shares == sorted(shares)
    assert 0.9 < shares[-1] <= 1.0
    # Asked for again, it is there at once and needs no work.
    started = len(threads.started)
    loader.request(Window(100, 1600), MONTAGE, FILTER, 500)
    assert pages[-1].filtered
    assert loader.settled()
    qtbot.wait(400)
    assert len(threads.started) == started


def test_filtering_of_a_long_page_ends_when_another_is_wanted(qtbot, threads, recording) -> None:
    loader, pages = loader_of(threads, recording)
    loader.set_overview(build_overview(recording))
    loader.request(Window(0, 1500), MONTAGE, FILTER, 500)
    qtbot.waitUntil(loader.settled)
    slow = Slow(recording)
    assert slow.entered.wait(0) is False
    qtbot.waitUntil(slow.entered.is_set)
    loader.request(Window(10, 20), MONTAGE, FILTER, 500)
    slow.go.set()
    qtbot.waitUntil(loader.settled)
    threads.join()
    assert pages[-1].window == Window(10, 20)
    # What was in hand, the page and its neighbours, but not the 25 blocks of the long one.
    assert len(slow.calls) <= 8


def test_long_page_is_not_filtered_while_the_reader_moves_on(qtbot, threads, recording) -> None:
    loader, pages = loader_of(threads, recording)
    loader.set_overview(build_overview(recording))
    slow = Slow(recording)
    for start in range(0, 400, 100):
        loader.request(Window(start, start + 1500), MONTAGE, FILTER, 500)
        qtbot.waitUntil(loader.settled)
    assert slow.calls == []
    assert not any(page.filtered for page in pages)
    slow.go.set()
    loader.close()


def test_changed_filter_montage_and_width_are_other_pages(qtbot, threads, recording) -> None:
    loader, pages = loader_of(threads, recording)
    single = Montage("one", MONTAGE.derivations[:1])
    wishes = [
        (MONTAGE, FILTER, 500),
        (MONTAGE, DisplayFilter(5.0, 30.0), 500),
        (single, FILTER, 500),
        (single, FILTER, 7),
    ]
    for montage, chosen, width in wishes:
        loader.request(Window(20, 30), montage, chosen, width)
        qtbot.waitUntil(loader.settled)
    assert [page.lo.shape for page in pages] == [(500, 2), (500, 2), (500, 1), (7, 1)]
    assert np.abs(pages[0].lo - pages[1].lo).max() > 1
    np.testing.assert_array_equal(pages[0].lo[:, :1], pages[2].lo)


def test_the_page_that_is_there_is_not_handed_over_again_unless_it_is_to_be(qtbot, threads, recording) -> None:
    loader, pages = loader_of(threads, recording)
    for start in (0, 0, 40, 0):
        loader.request(Window(start, start + 10), MONTAGE, FILTER, 500)
        qtbot.waitUntil(loader.settled)
    assert [page.window.start for page in pages] == [0, 40, 0]
    loader.answer_again()
    loader.request(Window(0, 10), MONTAGE, FILTER, 500)
    assert [page.window.start for page in pages] == [0, 40, 0, 0]
    loader.set_recording(recording)
    loader.request(Window(0, 10), MONTAGE, FILTER, 500)
    qtbot.waitUntil(loader.settled)
    assert len(pages) == 5


def test_failure_is_handed_over_and_the_next_wish_served(qtbot, threads, recording) -> None:
    read = recording.read

    def broken(start: int, stop: int, picks=None) -> np.ndarray:
        raise RecordingError("the file has gone")

    recording.read = broken  # type: ignore[method-assign]
    loader, pages = loader_of(threads, recording)
    with qtbot.waitSignal(loader.failed) as told:
        loader.request(Window(0, 10), MONTAGE, FILTER, 500)
    assert str(told.args[0]) == "the file has gone"
    assert loader.settled()
    threads.join()
    recording.read = read  # type: ignore[method-assign]
    loader.request(Window(0, 10), MONTAGE, FILTER, 500)
    qtbot.waitUntil(loader.settled)
    assert len(pages) == 1


def test_closed_loader_does_nothing(qtbot, threads, recording) -> None:
    loader, pages = loader_of(threads, recording)
    loader.close()
    loader.request(Window(0, 10), MONTAGE, FILTER, 500)
    assert threads.started == []
    assert pages == []


def test_every_finished_page_is_prepared_before_it_is_handed_over(qtbot, threads, recording) -> None:
    prepared: list[ColumnPage] = []
    loader = PageLoader(threads.submit, prepare=prepared.append)
    loader.page_ready.connect(lambda page: asserted.append(any(page is made for made in prepared)))
    asserted: list[bool] = []
    loader.set_recording(recording)
    loader.request(Window(50, 60), MONTAGE, FILTER, 100)
    qtbot.waitUntil(loader.settled)
    qtbot.waitUntil(lambda: len(prepared) == 3)
    assert asserted == [True]
    assert [page.window.start for page in prepared] == [50, 60, 40]

"""Pages of blocks: one value per sample wherever a page starts, gaps never bridged, columns that fit the samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from analysis.block_cache import BlockCache
from analysis.filtering import DisplayFilter, FilterBank, filter_span
from analysis.montage import Derivation, Montage
from analysis.pixel_columns import columns
from analysis.recording import Channel, Recording, Window
from analysis.row_filter import is_filtered
from analysis.signal_blocks import BlockSource, column_grid

Make = Callable[..., Recording]
SFREQ = 200.0


def eeg(name: str, **changes: object) -> Channel:
    return replace(Channel(name, name, "eeg", "uV", SFREQ), **changes)


def noise(rows: int, seconds: float, sfreq: float = SFREQ) -> np.ndarray:
    rng = np.random.default_rng(5)
    return (20 * rng.standard_normal((rows, int(seconds * sfreq))) + 1000).astype(np.float32)


def single(names: list[str]) -> Montage:
    return Montage("as recorded", tuple(Derivation(name, name) for name in names))


@pytest.fixture
def recording(array_recording: Make) -> Recording:
    return array_recording([eeg("A"), eeg("B"), eeg("C")], noise(3, 95.3), SFREQ)


def test_sample_has_one_value_wherever_the_page_starts(recording: Recording) -> None:
    montage = single(["A", "B", "C"])
    chosen = DisplayFilter(0.5, 70.0, 50.0)
    seen: dict[int, np.ndarray] = {}
    # Some of them end where a block does, whose overlap with the next one is a hair off.
    for start in (0.0, 3.37, 7.0, 10.0, 12.34, 18.0, 20.0, 30.0):
        page = BlockSource(recording, montage, chosen, block_seconds=10.0).page(Window(start, start + 10))
        assert page.data.shape[0] in (2001, 2002)
        for i, row in enumerate(page.data):
            number = round((page.first_time + i / page.sfreq) * SFREQ)
            np.testing.assert_array_equal(seen.setdefault(number, row), row)


def test_page_equals_the_recording_filtered_in_one_piece(recording: Recording) -> None:
    chosen = DisplayFilter()
    page = BlockSource(recording, single(["A", "B", "C"]), chosen).page(Window(33.3, 63.3))
    raw = recording.read(0, recording.n_times)
    whole = filter_span(raw, 0, SFREQ, chosen, 0, recording.n_times)
    first = round(page.first_time * SFREQ)
    assert np.abs(page.data.T - whole[:, first : first + page.data.shape[0]]).max() < 0.1


def test_page_reaches_both_edges_of_its_window_and_no_further(recording: Recording) -> None:
    page = BlockSource(recording, single(["A"]), DisplayFilter()).page(Window(12.3456, 22.3456))
    last = page.first_time + (page.data.shape[0] - 1) / page.sfreq
    assert page.first_time <= 12.3456 < page.first_time + 1 / SFREQ
    assert last - 1 / SFREQ < 22.3456 <= last
    at_end = BlockSource(recording, single(["A"]), DisplayFilter()).page(Window(90.0, 100.0))
    assert at_end.data.shape[0] == round(5.3 * SFREQ)
    assert not page.data.flags.writeable


def test_montage_is_applied_before_the_filter(recording: Recording) -> None:
    both = BlockSource(recording, single(["A", "B"]), DisplayFilter()).page(Window(20, 30)).data
    pair = Montage("pair", (Derivation("A-B", "A", ("B",)),))
    difference = BlockSource(recording, pair, DisplayFilter()).page(Window(20, 30)).data
    np.testing.assert_allclose(difference[:, 0], both[:, 0] - both[:, 1], atol=2e-3)


def test_gap_is_not_bridged_and_changes_nothing_far_away(array_recording: Make) -> None:
    whole = noise(2, 60)
    holed = whole.copy()
    holed[:, int(24 * SFREQ) : int(27 * SFREQ)] = np.nan
    holed[1, int(33 * SFREQ) : int(34 * SFREQ)] = np.nan
    channels = [eeg("A"), eeg("B")]
    chosen = DisplayFilter(0.5, 70.0)
    expected = BlockSource(array_recording(channels, whole, SFREQ), single(["A", "B"]), chosen).page(Window(0, 60)).data
    got = BlockSource(array_recording(channels, holed, SFREQ), single(["A", "B"]), chosen).page(Window(0, 60)).data
    np.testing.assert_array_equal(np.isnan(got.T), np.isnan(holed))
    time = np.arange(got.shape[0]) / SFREQ
    far_a = (time < 20) | (time > 31)
    far_b = (time < 20) | (time > 38)
    assert np.abs(got[far_a, 0] - expected[far_a, 0]).max() < 0.1
    assert np.abs(got[far_b, 1] - expected[far_b, 1]).max() < 0.1
    # Beside the gap there is signal of the usual size, without the transient that 1000 uV of offset would leave.
    beside = (np.abs(time - 24) < 0.5) | (np.abs(time - 27) < 0.5)
    assert np.nanmax(np.abs(got[beside])) < 100


def test_gap_at_a_block_border_keeps_one_value_per_sample(array_recording: Make) -> None:
    holed = noise(1, 40)
    holed[:, int(9.5 * SFREQ) : int(10.5 * SFREQ)] = np.nan
    recording = array_recording([eeg("A")], holed, SFREQ)
    first = BlockSource(recording, single(["A"]), DisplayFilter()).page(Window(0, 20))
    second = BlockSource(recording, single(["A"]), DisplayFilter()).page(Window(5, 25))
    np.testing.assert_array_equal(first.data[int(5 * SFREQ) : int(20 * SFREQ)], second.data[: int(15 * SFREQ)])


@pytest.mark.parametrize(
    ("changes", "filtered"),
    [
        ({}, True),
        ({"type": "ecg"}, True),
        ({"type": "misc", "unit": "%"}, False),
        ({"type": "misc"}, False),
        ({"type": "stim"}, False),
        ({"type": "resp"}, False),
        ({"calibrated": False}, False),
    ],
)
def test_only_voltages_of_the_body_are_filtered(
    changes: dict[str, object], filtered: bool, array_recording: Make
) -> None:
    channel = eeg("A", **changes)
    assert is_filtered(channel) is filtered
    data = np.full((1, 4000), 97.0, np.float32)
    page = BlockSource(array_recording([channel], data, SFREQ), single(["A"]), DisplayFilter()).page(Window(2, 12))
    np.testing.assert_allclose(page.data, 0.0 if filtered else 97.0, atol=0.01)


def test_trigger_survives_a_lower_output_rate(array_recording: Make) -> None:
    data = np.zeros((2, 20_480), np.float32)
    data[1, 5001] = 5.0
    data[1, 7002] = -3.0
    channels = [eeg("A", sfreq=1024.0), eeg("T", type="stim", unit="")]
    page = BlockSource(array_recording(channels, data, 1024.0), single(["A", "T"]), DisplayFilter()).page(Window(0, 20))
    assert page.sfreq == 512.0
    assert page.data[2500, 1] == 5.0
    assert page.data[3501, 1] == -3.0


def test_columns_are_those_of_the_samples(recording: Recording) -> None:
    source = BlockSource(recording, single(["A", "B", "C"]), DisplayFilter())
    page = source.column_page(Window(4.004, 14.004), 900)
    assert page.lo.shape == page.hi.shape == (900, 3)
    assert page.complete
    assert page.filtered
    borders = (page.first_column + np.arange(901)) * page.column_seconds
    long = source.page(Window(3.0, 16.0))
    lo, hi = columns(long.data, (borders - long.first_time) * SFREQ)
    np.testing.assert_allclose(page.lo, lo, atol=0.02)
    np.testing.assert_allclose(page.hi, hi, atol=0.02)


def test_scrolled_page_has_the_same_columns(recording: Recording) -> None:
    source = BlockSource(recording, single(["A"]), DisplayFilter())
    here = source.column_page(Window(5.0, 15.0), 1000)
    there = source.column_page(Window(6.0, 16.0), 1000)
    assert there.first_column - here.first_column == 100
    np.testing.assert_array_equal(here.lo[100:], there.lo[:900])


def test_long_page_grows_and_holds_no_samples(recording: Recording) -> None:
    source = BlockSource(recording, single(["A"]), DisplayFilter())
    pages = list(source.column_pages(Window(0.0, 90.0), 600, partial_seconds=0.0))
    assert [page.complete for page in pages] == [False] * (len(pages) - 1) + [True]
    filled = [int((~np.isnan(page.lo)).sum()) for page in pages]
    assert filled == sorted(filled)
    assert filled[-1] == 600
    assert pages[-1].data.shape == (0, 1)


def test_page_beyond_the_recording_is_empty_there(recording: Recording) -> None:
    page = BlockSource(recording, single(["A"]), DisplayFilter()).column_page(Window(90.0, 100.0), 1000)
    last = np.flatnonzero(~np.isnan(page.lo[:, 0]))[-1]
    assert last == pytest.approx(530, abs=1)
    nothing = BlockSource(recording, single(["A"]), DisplayFilter()).column_page(Window(200.0, 210.0), 10)
    assert np.isnan(nothing.lo).all()
    assert nothing.data.shape == (0, 1)


def test_block_is_read_once_and_memory_is_bounded(array_recording: Make) -> None:
    recording = array_recording([eeg("A")], noise(1, 300), SFREQ)
    reads = []
    read = recording.read
    recording.read = lambda *args: reads.append(args) or read(*args)  # type: ignore[method-assign]
    cache = BlockCache(5 * 8004)
    source = BlockSource(recording, single(["A"]), DisplayFilter(), cache)
    for _ in range(3):
        source.page(Window(0, 20))
    assert len(reads) == 2
    for start in range(0, 290, 10):
        source.page(Window(start, start + 10))
    assert cache.n_bytes <= 5 * 8004


def test_more_rows_than_a_chunk_come_out_in_order(array_recording: Make) -> None:
    names = [f"E{i}" for i in range(70)]
    channels = [eeg(name, type="misc" if i % 5 == 0 else "eeg") for i, name in enumerate(names)]
    data = np.repeat(np.arange(70, dtype=np.float32)[:, None], 4000, axis=1)
    data += np.sin(np.arange(4000) / SFREQ * 2 * np.pi * 10).astype(np.float32) * np.arange(70)[:, None]
    page = BlockSource(array_recording(channels, data, SFREQ), single(names), DisplayFilter()).page(Window(4, 14))
    for i in range(70):
        middle = float(page.data[:, i].mean())
        assert middle == pytest.approx(i if i % 5 == 0 else 0.0, abs=0.1)
        assert float(np.ptp(page.data[:, i])) == pytest.approx(2 * i, abs=0.1 * i + 0.01)


def test_slow_recording_and_unfiltered_pages(array_recording: Make) -> None:
    slow = array_recording([eeg("A", sfreq=1.0)], np.arange(30, dtype=np.float32)[None], 1.0)
    page = BlockSource(slow, single(["A"]), DisplayFilter(None, None, None)).page(Window(3, 13))
    np.testing.assert_array_equal(page.data[:, 0], np.arange(3, 14))


def test_grid_does_not_depend_on_the_last_digits_of_the_window() -> None:
    first = column_grid(Window(0.0, 10.0), 1400)
    other = column_grid(Window(0.3, 10.3), 1400)
    assert first[1] == other[1]
    assert other[0] == 42


@pytest.mark.parametrize(("page", "blocks"), [(10.0, 1), (20.0, 2), (30.0, 3), (60.0, 6)])
def test_first_page_of_a_recording_needs_no_block_for_its_last_sample(
    array_recording: Make, page: float, blocks: int
) -> None:
    recording = array_recording([eeg("A")], noise(1, 100), SFREQ)
    reads = []
    read = recording.read
    recording.read = lambda *args: reads.append(args) or read(*args)  # type: ignore[method-assign]
    made = BlockSource(recording, single(["A"]), DisplayFilter()).column_page(Window(0, page), 500)
    assert len(reads) == blocks
    assert made.data.shape[0] == page * SFREQ + 1


def offset_eeg(rows: int, seconds: float) -> np.ndarray:
    """Noise that drifts, with electrode offsets of millivolts and a step of 300 uV: hard on a filter's edges."""
    rng = np.random.default_rng(3)
    n = int(seconds * SFREQ)
    data = np.cumsum(rng.standard_normal((rows, n)), axis=1) * 48 / SFREQ**0.5 + 10 * rng.standard_normal((rows, n))
    data += np.array([3000.0, -2000.0, 100.0])[:rows, None]
    data[0, n // 3 :] += 300
    return data.astype(np.float32)


@pytest.mark.parametrize("gap", [None, (61.0, 63.5), (155.0, 180.0)], ids=["whole", "short gap", "long gap"])
@pytest.mark.parametrize(
    "chosen",
    [
        DisplayFilter(),
        DisplayFilter(0.1, 70.0),
        DisplayFilter(1.0, 70.0, 50.0, harmonics=True),
        DisplayFilter(5.0, 15.0),
        DisplayFilter(None, 70.0, 50.0),
        FilterBank(DisplayFilter(0.5, 70.0), (("ecg", DisplayFilter(0.3, 40.0)),)),
    ],
    ids=lambda chosen: chosen.describe() if isinstance(chosen, DisplayFilter) else "bank",
)
def test_pages_of_any_length_show_the_same_samples(
    array_recording: Make, chosen: DisplayFilter | FilterBank, gap: tuple[float, float] | None
) -> None:
    """Pages above 60 s are made of blocks six times as long; each is right to 0.1 uV, so both agree to 0.2 uV.

    At the pages' borders, the recording's ends and beside gaps as well. At 7 uV/mm that is a thirty-fifth of a
    millimetre. With five samples a column, columns are exact.
    """
    data = offset_eeg(3, 305.0)
    if gap is not None:
        data[:, int(gap[0] * SFREQ) : int(gap[1] * SFREQ)] = np.nan
    recording = array_recording([eeg("A"), eeg("B"), eeg("C", type="ecg")], data, SFREQ)
    if gap is not None:
        recording.gaps = (gap,)
    source = BlockSource(recording, single(["A", "B", "C"]), chosen)
    short = [source.page(Window(a, a + 61.0)).data[: round(61 * source.sfreq)] for a in range(0, 305, 61)]
    samples = np.concatenate(short)
    for start, length in ((0.0, 305.0), (0.0, 61.0), (33.3, 120.0), (150.0, 100.0), (243.0, 62.0)):
        width = round(length * source.sfreq / 5)
        page = source.column_page(Window(start, start + length), width)
        borders = (page.first_column + np.arange(width + 1)) * page.column_seconds * source.sfreq
        lo, hi = columns(samples, borders)
        np.testing.assert_allclose(page.lo, lo, atol=0.2)
        np.testing.assert_allclose(page.hi, hi, atol=0.2)


@pytest.mark.parametrize("start", [0.0, 6.0, 17.25, 54.0])
def test_a_page_border_shows_what_the_page_across_it_shows(array_recording: Make, start: float) -> None:
    recording = array_recording([eeg("A")], offset_eeg(1, 80.0), SFREQ)
    source = BlockSource(recording, single(["A"]), DisplayFilter(0.1, 70.0))
    here, next_page = source.page(Window(start, start + 10)), source.page(Window(start + 10, start + 20))
    across = source.page(Window(start + 5, start + 15))
    joined = np.concatenate([here.data[1000:2000], next_page.data[:1000]])
    np.testing.assert_array_equal(joined, across.data[:2000])


def test_blocks_of_another_filter_of_a_kind_are_others(array_recording: Make) -> None:
    """They share a cache, in which what one kind goes through is part of the name of a block."""
    recording = array_recording([eeg("A"), eeg("ECG", type="ecg")], noise(2, 60), SFREQ)
    cache = BlockCache()
    pages = [
        BlockSource(recording, single(["A", "ECG"]), chosen, cache).page(Window(20, 30)).data
        for chosen in (DisplayFilter(), FilterBank(DisplayFilter(), (("ecg", DisplayFilter(5.0, 20.0)),)))
    ]
    np.testing.assert_array_equal(pages[0][:, 0], pages[1][:, 0])
    assert np.abs(pages[0][:, 1] - pages[1][:, 1]).max() > 5


@pytest.mark.parametrize("start", [3.21, 10.2, 40.95, 94.1])
@pytest.mark.parametrize("length", [0.1, 0.5, 1.0])
def test_pages_of_a_second_or_less_make_no_more_columns_than_they_show(recording, monkeypatch, start, length) -> None:
    made: list[int] = []

    def counted(samples: np.ndarray, borders: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        made.append(borders.size - 1)
        return columns(samples, borders)

    monkeypatch.setattr("analysis.signal_blocks.columns", counted)
    source, width = BlockSource(recording, single(["A", "B"]), DisplayFilter()), 1200
    page = source.column_page(Window(start, start + length), width)
    assert sum(made) < 6 * width  # a block of 10 s would have 12,000 to 120,000
    first, seconds = column_grid(page.window, width)
    samples = source.page(Window(start - 0.05, start + length + 0.05))
    borders = ((first + np.arange(width + 1)) * seconds - samples.first_time) * samples.sfreq
    lo, hi = columns(samples.data, borders)
    np.testing.assert_allclose(page.lo, lo, atol=0.01)
    np.testing.assert_allclose(page.hi, hi, atol=0.01)

"""The overview against the samples it was made from, whatever pieces they came in."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from analysis.montage import Derivation, Montage
from analysis.overview import Overview, blank_page, build_overview, overview_page
from analysis.progress import Cancelled, Progress
from analysis.recording import Channel, Recording, Window

Make = Callable[..., Recording]
SFREQ = 200.0


def channels(n: int) -> list[Channel]:
    return [Channel(f"E{i}", f"E{i}", "eeg", "uV", SFREQ) for i in range(n)]


def signal(rows: int, seconds: float) -> np.ndarray:
    rng = np.random.default_rng(0)
    offsets = 3000.0 * np.arange(rows)[:, None]
    return (30 * rng.standard_normal((rows, int(seconds * SFREQ))) + offsets).astype(np.float32)


def check_against(overview: Overview, data: np.ndarray, start: float, stop: float, count: int) -> None:
    borders = np.linspace(start, stop, count + 1)
    lo, hi = overview.columns(borders, range(data.shape[0]))
    step = (stop - start) / count
    slack = max(step / 3, overview.bin_samples / SFREQ) + 1 / SFREQ
    for i in range(count):
        inner = data[:, int(np.ceil(borders[i] * SFREQ)) : int(borders[i + 1] * SFREQ)]
        wide = data[:, max(0, int((borders[i] - slack - step / 3) * SFREQ)) : int((borders[i + 1] + slack) * SFREQ) + 1]
        # Half precision about the centre: 1/1000 of the deviation.
        assert (lo[i] <= inner.min(axis=1) + 0.2).all()
        assert (hi[i] >= inner.max(axis=1) - 0.2).all()
        assert (lo[i] >= wide.min(axis=1) - 0.2).all()
        assert (hi[i] <= wide.max(axis=1) + 0.2).all()


def test_columns_cover_the_samples_at_every_level(array_recording: Make) -> None:
    data = signal(3, 3000)
    overview = build_overview(array_recording(channels(3), data, SFREQ))
    assert len(overview.lo) >= 2
    for start, stop, count in ((0, 3000, 50), (100, 2500, 300), (2000, 2100, 40)):
        check_against(overview, data, start, stop, count)


class Scanned(Recording):
    """Hands out the samples of another recording in pieces of odd length, as a file of records would."""

    def __init__(self, inner: Recording, sizes: list[int]) -> None:
        super().__init__()
        self.__dict__.update(inner.__dict__)
        self._inner, self._sizes = inner, sizes

    def read(self, start: int, stop: int, picks: object = None) -> np.ndarray:
        raise AssertionError("a recording that can be scanned is scanned")

    read_native = read

    def scan_blocks(self, records_per_chunk: int) -> Iterator[tuple[int, np.ndarray]]:
        first = 0
        while first < self.n_times:
            size = self._sizes[first % len(self._sizes)]
            stop = min(first + size, self.n_times)
            if self._sizes[0] != 777 or not 40_000 <= first < 60_000:  # a gap in one of the cases
                yield first, self._inner.read(first, stop)
            first = stop


@pytest.mark.parametrize("sizes", [[1000], [333, 4097, 5], [64 * 200]])
def test_any_pieces_give_the_same_overview(array_recording: Make, sizes: list[int]) -> None:
    recording = array_recording(channels(2), signal(2, 400), SFREQ)
    expected = build_overview(recording)
    got = build_overview(Scanned(recording, sizes))
    # The first piece decides centre and scale, so only half precision differs.
    borders = np.linspace(0, 400, 200)
    for a, b in zip(expected.columns(borders, [0, 1]), got.columns(borders, [0, 1]), strict=True):
        np.testing.assert_allclose(a, b, atol=0.2)


def test_gap_is_empty(array_recording: Make) -> None:
    recording = array_recording(channels(2), signal(2, 400), SFREQ)
    overview = build_overview(Scanned(recording, [777]))
    lo, _ = overview.columns(np.linspace(0, 400, 401), [0])
    empty = np.flatnonzero(np.isnan(lo[:, 0]))
    assert empty[0] == pytest.approx(201, abs=4)
    assert empty[-1] == pytest.approx(298, abs=5)
    assert np.isnan(overview.envelope).any()
    assert not np.isnan(overview.envelope[:100]).any()


def test_neighbouring_columns_touch(array_recording: Make) -> None:
    """A staircase is drawn as a line: where the value jumps, the column reaches the one before it."""
    data = np.repeat(np.arange(20, dtype=np.float32) * 100, 2000)[None]
    overview = build_overview(array_recording(channels(1), data, SFREQ))
    lo, hi = overview.columns(np.linspace(0, 200, 501), [0])
    assert (lo[1:] <= hi[:-1] + 1e-3).all()
    assert (hi[1:] >= lo[:-1] - 1e-3).all()


def test_page_shows_the_first_electrode_without_its_offset(array_recording: Make) -> None:
    recording = array_recording(channels(3), signal(3, 3000), SFREQ)
    overview = build_overview(recording)
    montage = Montage("pair", (Derivation("E2-E0", "E2", ("E0",)), Derivation("E1-E0", "E1", ("E0",))))
    page = overview_page(overview, recording, montage, Window(0.0, 3000.0), 700)
    assert page.ch_names == ("E2-E0", "E1-E0")
    assert not page.filtered
    assert page.complete
    assert page.lo.shape == (700, 2)
    middle = np.median((page.lo + page.hi) / 2, axis=0)
    np.testing.assert_allclose(middle, 0, atol=1.0)
    # 30 uV noise: extremes over 4.3 s lie near 3.3 SD, those of a difference of two would be 1.4 times as large.
    np.testing.assert_allclose(np.median(page.hi, axis=0), 100, atol=20)


def test_own_unit_channels_keep_their_value(array_recording: Make) -> None:
    kinds = [Channel("SpO2", "SpO2", "misc", "%", 1.0)]
    recording = array_recording(kinds, np.full((1, 4000), 97.0), SFREQ)
    page = overview_page(
        build_overview(recording), recording, Montage("m", (Derivation("SpO2", "SpO2"),)), Window(0, 20), 100
    )
    np.testing.assert_allclose(page.lo, 97.0, atol=0.05)


def test_blank_page_is_incomplete(array_recording: Make) -> None:
    recording = array_recording(channels(1), signal(1, 10), SFREQ)
    page = blank_page(recording, Montage("m", (Derivation("E0", "E0"),)), Window(0, 3000), 100)
    assert not page.complete
    assert not page.filtered
    assert np.isnan(page.lo).all()


def test_envelope_is_the_amplitude_of_the_brain_channels(array_recording: Make) -> None:
    time = np.arange(int(100 * SFREQ)) / SFREQ
    wave = np.where(time < 50, 10.0, 80.0) * np.sin(2 * np.pi * 8 * time)
    kinds = [*channels(3), Channel("DC", "DC", "misc", "uV", SFREQ)]
    data = np.stack([wave, wave, wave + 500, 1e5 * np.sin(2 * np.pi * time)])
    envelope = build_overview(array_recording(kinds, data, SFREQ)).envelope
    half = envelope.size // 2
    assert np.percentile(envelope[: half - 5], 90) == pytest.approx(10, abs=1.5)
    assert np.percentile(envelope[half + 5 :], 90) == pytest.approx(80, abs=12)


def test_a_day_fits_in_memory() -> None:
    class Day(Recording):
        def __init__(self) -> None:
            super().__init__()
            self.channels = tuple(Channel(f"E{i}", "", "eeg", "uV", 256.0) for i in range(23))
            self.sfreq, self.n_times = 256.0, 256 * 86_400

        def read(self, start: int, stop: int, picks: object = None) -> np.ndarray:
            return np.zeros((23, stop - start), np.float32)

        read_native = read

        def scan_blocks(self, records_per_chunk: int) -> Iterator[tuple[int, np.ndarray]]:
            yield 0, np.zeros((23, 256), np.float32)

    overview = build_overview(Day())
    assert overview.n_bytes < 45_000_000
    assert overview.bin_samples == 64


def test_pass_ends_when_it_is_no_longer_wanted(array_recording: Make) -> None:
    class Stop(Progress):
        def report(self, done: float, total: float, message: str = "") -> None:
            raise Cancelled

    with pytest.raises(Cancelled):
        build_overview(array_recording(channels(1), signal(1, 200), SFREQ), Stop())


def test_very_short_recording(array_recording: Make) -> None:
    overview = build_overview(array_recording(channels(2), signal(2, 0.05), SFREQ))
    lo, hi = overview.columns(np.linspace(0, 0.05, 11), [0, 1])
    assert np.isfinite(lo).all()
    assert (hi >= lo).all()


def test_recording_without_channels(array_recording: Make) -> None:
    overview = build_overview(array_recording([], np.empty((0, 5000)), SFREQ))
    assert overview.envelope.size > 0
    assert np.isnan(overview.envelope).all()

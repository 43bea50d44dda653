"""The pass over a whole recording: known signals, holes, order of work, and going on after a stop."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.progress import Cancelled, Progress
from analysis.recording import Recording
from analysis.trends.computation import BLOCK_SECONDS, TrendPass
from analysis.trends.result import COARSER, Trends
from analysis.trends.sources import LEFT, RIGHT, TrendGroup, TrendRow, TrendSources
from analysis.trends.spectra import FREQUENCIES, alpha_delta_ratio, asymmetry

SFREQ = 128.0


def both_sides(**more) -> TrendSources:
    rows = (TrendRow("C3", 0), TrendRow("F3-C3", 1, 0)), (TrendRow("C4", 2), TrendRow("F4-C4", 3, 2))
    return TrendSources((TrendGroup(LEFT, rows[0]), TrendGroup(RIGHT, rows[1])), "made", **more)


def signals(seconds: float, left: float, right: float) -> np.ndarray:
    """Alpha of these amplitudes beside delta of 40 µV; the differences F3-C3 and F4-C4 hold the same."""
    t = np.arange(round(seconds * SFREQ)) / SFREQ
    alpha, delta = np.sin(2 * np.pi * 10 * t), 40 * np.sin(2 * np.pi * 2 * t)
    rows = [left * alpha + delta, right * alpha + delta]
    return np.stack([rows[0], 2 * rows[0], rows[1], 2 * rows[1]]).astype(np.float32)


def compute(recording: Recording) -> Trends:
    return TrendPass(recording, both_sides()).run()


class Watching(Progress):
    """Cancels after so many reports and keeps what it was told."""

    def __init__(self, limit: int = 10**9) -> None:
        self.limit, self.reports, self.parts = limit, [], []

    def report(self, done, total, message=""):
        self.reports.append((done, total))
        if len(self.reports) >= self.limit:
            raise Cancelled

    def partial(self, result):
        self.parts.append(result)


def test_powers_ratios_and_asymmetry_are_those_of_the_signal(make_recording):
    trends = compute(make_recording(signals(400.0, 20.0, 60.0), SFREQ))
    assert (trends.bin_seconds, trends.amplitude_seconds) == (2.0, 5.0)
    assert trends.decibels.shape == (2, 200, 60)
    assert trends.complete
    np.testing.assert_allclose(trends.powers[0, :, 2], 200.0, rtol=1e-3)
    np.testing.assert_allclose(trends.powers[1, :, 2], 1800.0, rtol=1e-3)
    np.testing.assert_allclose(trends.powers[:, :, 0], 800.0, rtol=1e-3)
    np.testing.assert_allclose(alpha_delta_ratio(trends.powers)[1], 2.25, rtol=2e-3)
    np.testing.assert_allclose(asymmetry(trends.powers[0, :, 2], trends.powers[1, :, 2]), 0.8, rtol=1e-3)
    at_ten = trends.decibels[0, :, np.flatnonzero(FREQUENCIES == 10)[0]]
    # The Hann window leaves two thirds of a sine's power in its own bin of half a hertz.
    np.testing.assert_allclose(at_ten, 10 * np.log10(200 * 2 / 3 / 0.5), atol=0.02)


def test_amplitude_is_the_same_across_the_borders_of_blocks(make_recording):
    t = np.arange(round(500 * SFREQ)) / SFREQ
    x = np.repeat((25 * np.sin(2 * np.pi * 10 * t))[None], 4, axis=0)
    x[1] *= 2
    x[3] *= 2
    trends = compute(make_recording(x, SFREQ))
    assert trends.amplitude.shape == (2, 100, 2)
    np.testing.assert_allclose(trends.amplitude[:, 1:-1], 50.0, rtol=0.01)


def test_long_recordings_have_coarser_bins(make_recording):
    class Silent(type(make_recording(np.zeros((4, 8)), 1.0))):
        def read(self, start, stop, picks=None):
            return np.zeros((4, stop - start), np.float32)

    recording = Silent(np.zeros((4, 8)), 1.0)
    for hours, expected in ((1, (2.0, 15.0)), (27, (2.0, 15.0)), (40, (4.0, 15.0)), (200, (20.0, 15.0))):
        recording.n_times = hours * 3600
        shown = TrendPass(recording, both_sides()).result()
        assert (shown.bin_seconds, shown.amplitude_seconds) == expected
        assert shown.n_bytes < 40e6


def test_the_mean_over_a_coarse_bin_is_that_of_its_windows(make_recording):
    x = np.random.default_rng(2).standard_normal((4, round(240 * SFREQ))).astype(np.float32) * 20
    recording = make_recording(x, SFREQ)
    fine, coarse = TrendPass(recording, both_sides()), TrendPass(recording, both_sides())
    coarse._bin = 20
    found, expected = coarse.run(), fine.run()
    np.testing.assert_allclose(found.powers[:, :12], expected.powers.reshape(2, 12, 10, 4).mean(axis=2), rtol=1e-4)
    power = 10 ** (expected.decibels.astype(float) / 10)
    by_six = 10 * np.log10(power.reshape(2, 20, COARSER, 60).mean(axis=2))
    np.testing.assert_allclose(expected.coarse_decibels, by_six, atol=0.03)


def test_gaps_and_flat_stretches_are_holes_and_not_zeros(make_recording):
    x = signals(600.0, 30.0, 30.0)
    x[:2, round(300 * SFREQ) : round(400 * SFREQ)] = 5.0
    trends = compute(make_recording(x, SFREQ, gaps=((100.0, 200.5),)))
    seconds = np.arange(300) * 2.0
    gap = (seconds >= 99) & (seconds < 200.5)
    flat = (seconds >= 300) & (seconds < 400)
    missing = np.isnan(trends.powers[:, :, 2])
    np.testing.assert_array_equal(missing[0], gap | flat)
    np.testing.assert_array_equal(missing[1], gap)
    np.testing.assert_array_equal(missing, np.isnan(trends.decibels[:, :, 19]))
    bins = np.arange(120) * 5.0
    hole = np.isnan(trends.amplitude[..., 0])
    assert hole[:, (bins >= 100) & (bins < 200)].all()
    assert hole[0, (bins >= 300) & (bins < 400)].all()
    assert not hole[1, (bins >= 210) & (bins < 590)].any()
    assert not np.isnan(asymmetry(*trends.powers[:, :, 2])[~(gap | flat)]).any()


def test_the_page_comes_first_and_what_is_done_is_kept_when_stopped(make_recording):
    recording = make_recording(signals(10 * BLOCK_SECONDS, 20.0, 20.0), SFREQ)
    work = TrendPass(recording, both_sides())
    with pytest.raises(Cancelled):
        work.run(Watching(limit=3), start=7.5 * BLOCK_SECONDS)
    shown = work.result()
    assert not shown.complete
    assert work.share_done == pytest.approx(0.3)
    there = ~np.isnan(shown.powers[0, :, 0]).reshape(10, -1).any(axis=1)
    assert there.tolist() == [False] * 7 + [True] * 3
    rest = Watching()
    whole = work.run(rest)
    assert len(rest.reports) == 7
    assert whole.complete
    np.testing.assert_array_equal(whole.powers, compute(recording).powers)


def test_no_more_than_a_block_is_read_at_once(make_recording):
    recording = make_recording(signals(1000.0, 20.0, 20.0), SFREQ)
    compute(recording)
    assert recording.most_read <= (BLOCK_SECONDS + 7) * SFREQ


def test_results_are_read_only_and_a_tiny_recording_has_none(make_recording):
    trends = compute(make_recording(signals(1.5, 20.0, 20.0), SFREQ))
    assert trends.complete
    assert np.isnan(trends.powers).all()
    with pytest.raises(ValueError, match="read-only"):
        trends.powers[0] = 0


def test_many_rows_are_worked_on_in_parts(make_recording, monkeypatch):
    recording = make_recording(signals(200.0, 20.0, 50.0), SFREQ)
    expected = compute(recording)
    monkeypatch.setattr("analysis.trends.computation._MOST_VALUES", 1)
    found = compute(recording)
    np.testing.assert_array_equal(found.powers, expected.powers)
    np.testing.assert_array_equal(found.amplitude, expected.amplitude)


def test_rests_are_taken_before_each_block_and_end_when_it_is_cancelled(make_recording):
    recording = make_recording(signals(3 * BLOCK_SECONDS, 20.0, 20.0), SFREQ)
    rests = []
    TrendPass(recording, both_sides()).run(rest=lambda: rests.append(0.001) or 0.001)
    assert len(rests) == 3

    class Unwanted(Progress):
        def check(self):
            raise Cancelled

    with pytest.raises(Cancelled):
        TrendPass(recording, both_sides()).run(Unwanted(), rest=lambda: 3600.0)

"""The threshold detectors against closed forms, scikit-learn, and scores made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.threshold_detectors import (
    DETECTORS,
    Measured,
    ThresholdDetector,
    average_precision,
    band_power,
    best_detector,
    events_above,
    line_length,
    measure,
    measure_simulated,
    power_share,
    score_detector,
)

FS = 200


def sine(hertz: float, size: float = 3.0, seconds: int = 4) -> np.ndarray:
    return size * np.sin(2 * np.pi * hertz * np.arange(seconds * FS) / FS)[None]


@pytest.mark.parametrize("hertz", [2, 5, 12])
def test_line_length_and_power_of_a_sine_are_those_of_the_closed_form(hertz):
    # Differences of a sine are a cosine of 2 a sin(pi f / fs), whose mean absolute value is 2 / pi of it.
    expected = 2 * 3.0 * np.sin(np.pi * hertz / FS) * 2 / np.pi
    assert line_length(sine(hertz), FS)[0, 1:] == pytest.approx(expected, rel=0.01)
    assert band_power(sine(hertz), FS)[0] == pytest.approx(3.0**2 / 2)
    assert power_share(sine(hertz), FS)[0] == pytest.approx(1)


def test_power_outside_the_band_does_not_count():
    assert band_power(sine(20), FS)[0] == pytest.approx(0, abs=1e-9)
    assert power_share(sine(20) + sine(5), FS)[0] == pytest.approx(0.5)
    assert power_share(np.zeros((2, 400)), FS) == pytest.approx(np.zeros((2, 2)))


def test_average_precision_is_that_of_scikit_learn():
    from sklearn.metrics import average_precision_score

    rng = np.random.default_rng(0)
    for _ in range(10):
        truth = rng.random(300) < 0.2
        scores = np.round(rng.normal(size=300) + truth, 1)  # with ties
        assert average_precision(truth, scores) == pytest.approx(average_precision_score(truth, scores))
    assert np.isnan(average_precision(np.zeros(5, bool), np.arange(5.0)))


def test_events_close_gaps_of_ten_seconds_and_leave_out_what_is_shorter_than_eight():
    scores = np.zeros(100)
    for first, last in ((5, 10), (20, 25), (40, 47), (60, 68)):
        scores[first:last] = 1
    assert events_above(scores, 0.5) == [(5.0, 25.0), (60.0, 68.0)]
    assert events_above(np.ones(20), 0.5) == [(0.0, 20.0)]


@pytest.mark.parametrize(("pool", "expected"), [("max", 9.0), ("top 3", 6.0), ("mean", 4.0)])
def test_channels_are_pooled_and_seconds_averaged(pool, expected):
    measured = np.repeat([[9.0], [6.0], [3.0], [1.0], [1.0]], 6, axis=1)
    assert ThresholdDetector("line length", False, pool, 5).scores(measured) == pytest.approx(expected)
    assert ThresholdDetector("line length", True, pool, 5).scores(measured) == pytest.approx(1)


def test_a_seizure_that_stands_out_is_found_by_the_best_and_its_score_is_full():
    rng = np.random.default_rng(0)
    recordings = []
    for onset in (100, 200):
        data = rng.normal(size=(4, 400 * FS))
        data[0, onset * FS : (onset + 40) * FS] += 20 * sine(4, 1.0, 40)[0]
        recordings.append(measure(data, FS, [(onset, onset + 40.0)]))
    best = best_detector(recordings)[0]
    assert best.auc_pr > 0.99
    assert best.event.f1 == 1
    assert best.false_alarms_per_hour == 0
    assert best.prevalence == pytest.approx(0.1)
    fixed = score_detector(best.detector, recordings, threshold=1e9)
    assert (fixed.event.tp, fixed.event.n_reference, fixed.event.fp) == (0, 2, 0)


def test_false_alarms_are_counted_by_the_hour():
    scores = np.zeros((1, 3600))
    scores[0, 100:120] = scores[0, 3000:3020] = 1
    one = Measured({"line length": scores}, [(100.0, 120.0)], 3600)
    said = score_detector(ThresholdDetector("line length", False, "max", 1), [one], 0.5)
    assert (said.event.tp, said.event.fp) == (1, 1)
    assert said.false_alarms_per_hour == 1.0


def test_there_are_as_many_ways_as_told():
    assert len(DETECTORS) == 3 * 2 * 3 * 4 == len({detector.name for detector in DETECTORS})


def test_simulated_seizures_are_not_found_by_a_threshold_alone():
    recordings = list(measure_simulated(range(500, 508), duration=300))
    truths = sum(len(one.truth) for one in recordings)
    assert truths
    assert 0.05 < best_detector(recordings)[0].auc_pr < 0.95

"""Probability steps, the threshold that is dragged, spans that are missing or cannot be scored."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from PyQt6.QtCore import QPoint, Qt
from PyQt6.QtGui import QColor, QImage

from analysis.recording import Window
from analysis.results import AnalysisRequest, SeizurePrediction
from viewers.probability_lane import HEIGHT, ProbabilityLane, missing_spans, steps_on
from viewers.time_scale import TimeScale

LEFT, WIDTH = 100, 508


@pytest.fixture
def prediction() -> Callable[..., SeizurePrediction]:
    def make(times, duration=1.0, probability=None, **changes) -> SeizurePrediction:
        times = np.asarray(times, float)
        values = np.zeros(times.size) if probability is None else np.asarray(probability)
        return SeizurePrediction(
            AnalysisRequest("seizure", "r", ("c",)),
            "2026-01-01T00:00:00",
            "0",
            times=times,
            durations=np.full(times.size, duration),
            probability=values.astype(np.float32),
            **{"model_title": "a model", **changes},
        )

    return make


@pytest.fixture
def lane(qtbot) -> ProbabilityLane:
    made = ProbabilityLane()
    qtbot.addWidget(made)
    made.resize(WIDTH, HEIGHT)
    made.set_left(LEFT)
    made.set_duration(100.0)
    made.set_window(Window(0.0, 10.0))
    made.show()
    return made


def line_at(image: QImage, x: int, colour: QColor) -> int:
    """The row of pixels that is most like a colour."""
    wanted = np.array(colour.getRgb()[:3])
    seen = [np.array(image.pixelColor(x, y).getRgb()[:3]) for y in range(image.height())]
    return int(np.argmin([np.abs(pixel - wanted).sum() for pixel in seen]))


def test_a_result_that_is_not_up_to_date_says_so_and_why(lane: ProbabilityLane, prediction) -> None:
    lane.set_prediction(prediction([0, 5], 5.0, [0.1, 0.9]))
    lane.set_stale("C3 marked bad since")
    assert lane.badge == "not up to date"
    assert "C3 marked bad since" in lane.toolTip()
    lane.set_prediction(None)
    assert (lane.badge, lane.toolTip()) == ("", "")
    lane.set_prediction(prediction([0, 5], 5.0, [0.1, 0.9], random_weights=True))
    assert lane.badge == "random weights"  # which is worse
    lane.set_stale("")
    assert "C3" not in lane.toolTip()


def test_step_holds_for_its_segment(lane: ProbabilityLane, prediction) -> None:
    lane.set_prediction(prediction([0, 5], 5.0, [0.1, 0.9], threshold=0.5))
    image = lane.grab().toImage()
    accent = lane.theme.colour("accent")
    low = {line_at(image, LEFT + x, accent) for x in (20, 100, 190)}
    high = {line_at(image, LEFT + x, accent) for x in (210, 300, 330)}
    assert len(low) == len(high) == 1
    room = HEIGHT - 1 - 7 - 6
    assert low.pop() - high.pop() == pytest.approx(0.8 * room, abs=1.5)


def test_threshold_is_dragged_and_told(lane: ProbabilityLane, prediction, qtbot) -> None:
    lane.set_prediction(prediction(np.arange(10), threshold=0.5))
    told: list[float] = []
    lane.threshold_changed.connect(told.append)
    y = round(1 + (HEIGHT - 1) - 6 - 0.5 * (HEIGHT - 1 - 13))
    qtbot.mousePress(lane, Qt.MouseButton.LeftButton, pos=QPoint(300, y))
    qtbot.mouseMove(lane, QPoint(300, y - 10))
    qtbot.mouseMove(lane, QPoint(300, -500))
    qtbot.mouseRelease(lane, Qt.MouseButton.LeftButton, pos=QPoint(300, -500))
    assert told[0] == pytest.approx(0.5 + 10 / (HEIGHT - 14), abs=0.03)
    assert told[-1] == lane.threshold == 0.99
    qtbot.mouseMove(lane, QPoint(300, 20))
    assert told[-1] == 0.99
    assert not lane.is_folded


def test_partial_result_does_not_take_a_held_threshold_away(lane: ProbabilityLane, prediction, qtbot) -> None:
    lane.set_prediction(prediction(np.arange(10), threshold=0.5))
    y = round(1 + (HEIGHT - 1) - 6 - 0.5 * (HEIGHT - 1 - 13))
    qtbot.mousePress(lane, Qt.MouseButton.LeftButton, pos=QPoint(300, y))
    qtbot.mouseMove(lane, QPoint(300, y - 8))
    held = lane.threshold
    lane.set_prediction(prediction(np.arange(20), threshold=0.5))
    assert lane.threshold == held > 0.5


def test_model_is_named_and_random_weights_are_said(lane: ProbabilityLane, prediction) -> None:
    lane.set_prediction(prediction(np.arange(3), random_weights=True, caveat="smears by a minute"))
    assert lane.subtitle == "a model"
    assert lane.badge == "random weights"
    assert "smears by a minute" in lane.toolTip()
    lane.set_prediction(prediction(np.arange(3)))
    assert lane.badge == ""
    lane.set_prediction(None)
    assert lane.subtitle == ""


def test_unscored_span_looks_unlike_a_low_probability(lane: ProbabilityLane, prediction) -> None:
    lane.set_prediction(prediction(np.arange(10)))
    plain = lane.grab().toImage()
    lane.set_prediction(prediction(np.arange(10), not_scored=((4.0, 6.0, "gap"),)))
    hatched = lane.grab().toImage()
    assert any(plain.pixel(LEFT + 200, y) != hatched.pixel(LEFT + 200, y) for y in range(10, 40))
    assert all(plain.pixel(LEFT + 100, y) == hatched.pixel(LEFT + 100, y) for y in range(10, 40))


@pytest.mark.parametrize(
    ("times", "not_scored", "expected"),
    [
        ([], (), [(0, 10)]),
        ([0, 1, 2], (), [(3, 10)]),
        ([8, 9, 3, 4], (), [(0, 3), (5, 8)]),
        ([0, 1], ((2.0, 9.0, "gap"),), [(9, 10)]),
        (range(10), (), []),
        ([-5, 20], ((50.0, 60.0, ""),), [(0, 10)]),
    ],
)
def test_missing_spans(prediction, times, not_scored, expected) -> None:
    found = missing_spans(prediction(sorted(times), not_scored=not_scored), 0.0, 10.0)
    assert found == expected


def test_a_day_of_segments_is_reduced_to_pixels_without_losing_a_peak() -> None:
    times = np.arange(86_400.0)
    probability = np.zeros(86_400)
    probability[43_210] = 0.97
    steps = steps_on(TimeScale(Window(0, 86_400), 1000), times, np.ones(86_400), probability)
    assert steps.left.size <= 1000
    assert steps.value.max() == pytest.approx(0.97)
    assert steps.left[steps.value.argmax()] == pytest.approx(43_210 / 86.4, abs=1.5)

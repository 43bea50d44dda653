"""The overview bar: drawn once, moves by click and drag."""

from __future__ import annotations

from datetime import datetime

import numpy as np
import pytest
from PyQt6.QtCore import QPoint, QPointF, Qt
from PyQt6.QtGui import QWheelEvent

from analysis.annotation import Annotation
from analysis.annotation_index import AnnotationIndex
from analysis.marks import Marks
from analysis.recording import Window
from analysis.results import AnalysisRequest, SeizurePrediction
from viewers.probability_lane import Steps
from viewers.readers_lane import sort_by_line
from viewers.timeline import Timeline, envelope_columns, pixel_heights

LEFT, WIDTH = 100, 1108


@pytest.fixture
def timeline(qtbot) -> Timeline:
    made = Timeline()
    qtbot.addWidget(made)
    made.resize(WIDTH, made.height())
    made.set_left(LEFT)
    made.set_facts(1000.0, None, ((400.0, 450.0),))
    made.set_window(Window(200.0, 210.0))
    made.show()
    return made


def requests(timeline: Timeline) -> list[Window]:
    told: list[Window] = []
    timeline.window_requested.connect(told.append)
    return told


def test_fifteen_thousand_marks_are_drawn_once_not_at_each_page(timeline: Timeline) -> None:
    marks = [Annotation(i / 15, 0.0, "x") for i in range(15_000)]
    timeline.set_lines(sort_by_line(Marks.of(marks), AnnotationIndex()))
    timeline.grab()
    made = timeline.pictures_made
    for start in range(0, 900, 10):
        timeline.set_window(Window(start, start + 10))
        timeline.grab()
    assert timeline.pictures_made == made


def test_click_brings_the_page_there(timeline: Timeline, qtbot) -> None:
    told = requests(timeline)
    qtbot.mouseClick(timeline, Qt.MouseButton.LeftButton, pos=QPoint(LEFT + 700, 30))
    assert len(told) == 1
    assert told[0].start == pytest.approx(695, abs=1)
    assert told[0].duration == pytest.approx(10)


def test_page_is_dragged_and_kept_inside(timeline: Timeline, qtbot) -> None:
    told = requests(timeline)
    qtbot.mousePress(timeline, Qt.MouseButton.LeftButton, pos=QPoint(LEFT + 205, 30))
    assert told == []
    for x in (305, 405, 5000):
        qtbot.mouseMove(timeline, QPoint(LEFT + x, 30))
    qtbot.mouseRelease(timeline, Qt.MouseButton.LeftButton, pos=QPoint(LEFT + 900, 30))
    assert [window.start for window in told] == pytest.approx([300, 400, 990], abs=1)
    qtbot.mouseMove(timeline, QPoint(LEFT + 100, 30))
    assert len(told) == 3


def test_click_in_the_heading_moves_nothing(timeline: Timeline, qtbot) -> None:
    told = requests(timeline)
    qtbot.mouseClick(timeline, Qt.MouseButton.LeftButton, pos=QPoint(20, 30))
    assert told == []


def test_page_of_a_day_can_still_be_seen(timeline: Timeline) -> None:
    timeline.set_facts(86_400.0, None, ())
    for start in (0.0, 40_000.0, 86_390.0):
        timeline.set_window(Window(start, start + 10))
        rect = timeline.page_rect
        assert rect.width() >= 4
        assert timeline.plot_rect.left() <= rect.left()
        assert rect.right() <= timeline.plot_rect.right() + 0.01


def test_facts_are_written(timeline: Timeline) -> None:
    for seconds, text in ((45.0, "45.0 s"), (236.0, "3 min 56 s"), (86_400.0, "24 h 00 min")):
        timeline.set_facts(seconds, None, ())
        assert timeline.subtitle == text


def test_envelope_keeps_the_greatest_value_of_each_pixel() -> None:
    envelope = np.ones(5000, np.float32)
    envelope[1234] = 50
    envelope[3000:3100] = np.nan
    x, reach = envelope_columns(envelope, 500)
    assert x.size == reach.size == 500
    assert reach[123] == 50
    assert np.isnan(reach[301:309]).all()
    x, reach = envelope_columns(envelope[:10], 500)
    assert x.tolist() == [25 + 50 * i for i in range(10)]


def test_probability_of_random_weights_is_drawn_through(timeline: Timeline) -> None:
    """Half of the pixels of a random curve are left out; a trained one is solid."""
    request = AnalysisRequest("seizure", "r", ("c",))
    images = []
    for random_weights in (False, True):
        curve = {"times": np.arange(1000.0), "durations": np.ones(1000), "probability": np.ones(1000, np.float32)}
        timeline.set_prediction(SeizurePrediction(request, "t", "0", **curve, random_weights=random_weights))
        images.append(timeline.grab().toImage())
    canvas = timeline.theme.colour("canvas").name()
    area = [(x, y) for x in range(LEFT + 600, LEFT + 620) for y in range(20, 30)]
    bare = [np.mean([image.pixelColor(x, y).name() == canvas for x, y in area]) for image in images]
    assert bare[0] == 0
    assert 0.3 < bare[1] < 0.8
    assert timeline.badge == "random weights"


def test_each_pixel_of_the_curve_is_painted_once() -> None:
    """Steps of 0.6 px would overlap, and be seen as stripes; the highest of a pixel stands for it."""
    left = np.arange(0, 60, 0.6)
    value = np.linspace(0.2, 0.8, left.size)
    heights = pixel_heights(Steps(left, left + 0.6, value), 100)
    assert (heights[:59] > 0).all()
    assert not heights[61:].any()
    assert heights[30] == pytest.approx(value[np.floor(left) == 30].max(), abs=0.01)
    wide = pixel_heights(Steps(np.array([10.0]), np.array([50.0]), np.array([0.5])), 100)
    assert np.flatnonzero(wide).tolist() == list(range(10, 50))


def test_pointing_out_a_mark_costs_no_new_picture(timeline: Timeline) -> None:
    marks = [Annotation(float(i), 0.0, "x") for i in range(1000)]
    timeline.set_lines(sort_by_line(Marks.of(marks), AnnotationIndex()))
    timeline.grab()
    made = timeline.pictures_made
    seen = set()
    for mark in marks[::100]:
        timeline.set_current_event(mark)
        image = timeline.grab().toImage()
        seen.add(bytes(image.constBits().asarray(image.sizeInBytes())))
    assert timeline.pictures_made == made
    assert len(seen) == 10


def wheel(timeline: Timeline, x: float, dy: int, modifiers=Qt.KeyboardModifier.NoModifier) -> None:
    at = QPointF(LEFT + x, 30)
    no_button, no_phase = Qt.MouseButton.NoButton, Qt.ScrollPhase.NoScrollPhase
    timeline.wheelEvent(QWheelEvent(at, at, QPoint(), QPoint(0, dy), no_button, modifiers, no_phase, False))


@pytest.mark.parametrize(
    ("press", "release", "expected"),
    [(400, 500, (200, 500)), (200, 100, (100, 400)), (400, 5000, (200, 1000)), (200, 390, (390, 400))],
)
def test_an_end_of_the_page_is_dragged_to_make_it_longer_or_shorter(timeline, qtbot, press, release, expected) -> None:
    timeline.set_window(Window(200.0, 400.0))
    told = requests(timeline)
    qtbot.mousePress(timeline, Qt.MouseButton.LeftButton, pos=QPoint(LEFT + press, 30))
    assert told == []
    qtbot.mouseMove(timeline, QPoint(LEFT + release, 30))
    qtbot.mouseRelease(timeline, Qt.MouseButton.LeftButton, pos=QPoint(LEFT + release, 30))
    assert (told[-1].start, told[-1].stop) == pytest.approx(expected, abs=2)
    qtbot.mouseMove(timeline, QPoint(LEFT + 700, 30))
    assert len(told) == 1


def test_a_narrow_page_has_no_ends_to_hold(timeline: Timeline, qtbot) -> None:
    timeline.set_window(Window(200.0, 212.0))
    told = requests(timeline)
    qtbot.mousePress(timeline, Qt.MouseButton.LeftButton, pos=QPoint(LEFT + 211, 30))
    qtbot.mouseMove(timeline, QPoint(LEFT + 311, 30))
    assert told[-1].start == pytest.approx(300, abs=1.5)
    assert told[-1].duration == pytest.approx(12)


def test_the_wheel_turns_pages_and_with_ctrl_asks_for_longer_or_shorter_ones(timeline: Timeline) -> None:
    told, zooms = requests(timeline), []
    timeline.zoom_requested.connect(lambda *values: zooms.append(values))
    wheel(timeline, 500, -120)
    assert told[-1].start == pytest.approx(210)
    wheel(timeline, 500, -60, Qt.KeyboardModifier.ControlModifier)
    wheel(timeline, 500, -60, Qt.KeyboardModifier.ControlModifier)
    wheel(timeline, 250, 120, Qt.KeyboardModifier.ControlModifier)
    assert [steps for steps, _ in zooms] == [1, -1]
    assert [time for _, time in zooms] == pytest.approx([500, 250], abs=1)
    assert len(told) == 1


def test_it_says_what_lies_at_a_time(timeline: Timeline) -> None:
    timeline.set_facts(1000.0, datetime(2026, 3, 3, 23, 59, 0), ((400.0, 450.0),))
    marks = [Annotation(100.0, 0.0, "spike"), *(Annotation(600.0, 1.0, f"m{i}") for i in range(9))]
    timeline.set_lines(sort_by_line(Marks.of(marks), AnnotationIndex()))
    assert timeline.describe(100.0).splitlines() == ["01:40  ·  Wed 04 Mar 2026 00:00:40", "spike  01:40"]
    assert timeline.describe(420.0).splitlines()[1:] == ["gap of 50.0 s"]
    assert timeline.describe(600.5).splitlines()[-1] == "…"
    assert len(timeline.describe(600.5).splitlines()) == 6
    timeline.set_facts(1000.0, None, ())
    assert timeline.describe(0.0) == "00:00"


def test_a_gap_can_be_seen_however_short_it_is(timeline: Timeline) -> None:
    timeline.set_facts(100_000.0, None, ((50_000.0, 50_001.0),))
    timeline.set_overview(None)
    image = timeline.grab().toImage()
    column = [image.pixelColor(LEFT + 500, y).name() for y in range(6, 40)]
    assert set(column) != {timeline.theme.canvas}


def test_times_along_the_edge_follow_the_clock(timeline: Timeline) -> None:
    timeline.set_facts(86_400.0, datetime(2026, 3, 3, 20, 0, 0), ())
    before = timeline.grab().toImage()
    timeline.set_clock(True)
    assert timeline.grab().toImage() != before
    timeline.set_clock(False)
    assert timeline.grab().toImage() == before

"""Who marked what: lines apart, bars that can be clicked, any number of them."""

from __future__ import annotations

from PyQt6.QtCore import QPoint, Qt

from analysis.annotation import Annotation, Review, model_author
from analysis.annotation_index import AnnotationIndex
from analysis.marks import Marks
from analysis.recording import Window
from viewers.readers_lane import Lines, ReadersLane, are_random, sort_by_line

LEFT, WIDTH = 100, 508


def test_marks_of_file_model_and_reader_lie_on_lines_of_their_own() -> None:
    marks = [Annotation(1, 1, "a"), Annotation(2, 1, "b", author="reader"), Annotation(2, 1, "b", author="sidecar")]
    events = AnnotationIndex([Annotation(3, 1, "e", author="model:m")])
    lines = sort_by_line(Marks.of(marks), events)
    authors = [[mark.author for index in lines.of_line(i) for mark in index.items] for i in range(3)]
    assert authors == [["file", "sidecar"], ["model:m"], ["reader"]]
    plain = Marks.of(marks[:1])
    assert sort_by_line(plain, events).told is plain.index


def test_bar_is_clicked(qtbot) -> None:
    lane = ReadersLane()
    qtbot.addWidget(lane)
    lane.resize(WIDTH, lane.height())
    lane.set_left(LEFT)
    lane.set_window(Window(0, 10))
    event = Annotation(5, 2, "seizure", author="model:m")
    lane.set_lines(sort_by_line(Marks.of([Annotation(1, 1, "a")]), AnnotationIndex([event])))
    told: list[Annotation] = []
    lane.event_clicked.connect(told.append)
    qtbot.mouseClick(lane, Qt.MouseButton.LeftButton, pos=QPoint(LEFT + 240, 19))
    qtbot.mouseClick(lane, Qt.MouseButton.LeftButton, pos=QPoint(LEFT + 20, 19))
    assert told == [event]


def test_hundred_thousand_bars_are_merged_to_pixels(qtbot) -> None:
    lane = ReadersLane()
    qtbot.addWidget(lane)
    lane.resize(WIDTH, lane.height())
    lane.set_left(LEFT)
    lane.set_window(Window(0, 86_400))
    marks = [Annotation(float(t), 0.5 if t % 2 else 0.0, "x") for t in range(0, 86_400, 2)]
    lane.set_lines(sort_by_line(Marks.of(marks), AnnotationIndex()))
    image = lane.grab().toImage()
    human = lane.theme.colour("human").name()
    assert sum(image.pixelColor(x, 9).name() == human for x in range(LEFT, LEFT + 400)) > 390


def test_events_of_random_weights_are_hollow_and_said(qtbot) -> None:
    lane = ReadersLane()
    qtbot.addWidget(lane)
    lane.resize(WIDTH, lane.height())
    lane.set_left(LEFT)
    lane.set_window(Window(0, 10))
    lines = sort_by_line(Marks(), AnnotationIndex([Annotation(2, 5, "sz", author="model:m")]))
    accent, canvas = lane.theme.colour("accent").name(), lane.theme.colour("canvas").name()
    middle = 19  # of the model's line: 1 + 6 + 10 + 5 / 2
    for random_weights, inside in ((False, accent), (True, canvas), (False, accent)):
        lane.set_lines(lines, random_weights)
        assert lane.grab().toImage().pixelColor(LEFT + 200, middle).name() == inside
        assert (lane.badge == "random weights") == random_weights
        assert ("mean nothing" in lane.toolTip()) == random_weights


def test_random_weights_are_known_by_the_result_or_by_the_author() -> None:
    events = AnnotationIndex([Annotation(2, 5, "sz", author=model_author("m", random_weights=True))])
    trained = AnnotationIndex([Annotation(2, 5, "sz", author=model_author("m"))])
    assert are_random(Lines(to_review=events), False)
    assert are_random(Lines(to_review=trained), True)
    assert not are_random(Lines(to_review=trained), False)
    assert not are_random(Lines(), True)
    decided = sort_by_line(Marks.of(events.items), AnnotationIndex())
    assert decided.open.items == events.items
    assert are_random(decided, False)


def lane_of(lines: Lines, qtbot) -> ReadersLane:
    lane = ReadersLane()
    qtbot.addWidget(lane)
    lane.resize(WIDTH, lane.height())
    lane.set_left(LEFT)
    lane.set_window(Window(0, 10))
    lane.set_lines(lines)
    return lane


def test_decisions_show_without_colours(qtbot) -> None:
    """To review a bar, accepted an underlined one, rejected a thin line."""
    marks = [Annotation(1, 2, "sz", author="model:m", review=Review(decision)) for decision in ("accepted", "rejected")]
    live = Annotation(1, 2, "sz", author="model:m")
    heights = []
    for lines in (
        sort_by_line(Marks(), AnnotationIndex([live])),
        *(sort_by_line(Marks.of([mark]), AnnotationIndex()) for mark in marks),
    ):
        lane = lane_of(lines, qtbot)
        image, canvas = lane.grab().toImage(), lane.theme.colour("canvas").name()
        x = LEFT + 80
        heights.append(sum(image.pixelColor(x, y).name() != canvas for y in range(10, 30)))
    review, accepted, rejected = heights
    assert rejected < review < accepted


def test_decided_events_are_clicked_on_the_line_of_the_model(qtbot) -> None:
    mark = Annotation(1, 2, "sz", author="model:m", review=Review("rejected"))
    lane = lane_of(sort_by_line(Marks.of([mark]), AnnotationIndex()), qtbot)
    with qtbot.waitSignal(lane.event_clicked) as clicked:
        qtbot.mouseClick(lane, Qt.MouseButton.LeftButton, pos=QPoint(LEFT + 80, 19))
    assert clicked.args == [mark]


def test_the_current_event_is_framed(qtbot) -> None:
    mark = Annotation(4, 2, "sz")
    lane = lane_of(sort_by_line(Marks.of([mark]), AnnotationIndex()), qtbot)
    plain = lane.grab().toImage()
    lane.set_current_event(mark)
    framed = lane.grab().toImage()
    changed = [(x, y) for x in range(LEFT, WIDTH) for y in range(38) if plain.pixel(x, y) != framed.pixel(x, y)]
    assert changed
    assert all(LEFT + 155 <= x <= LEFT + 245 for x, _ in changed)
    lane.set_current_event(None)
    assert lane.grab().toImage() == plain


def test_what_is_hidden_is_said_in_the_heading(qtbot) -> None:
    lane = lane_of(Lines(), qtbot)
    assert lane.subtitle == "file · model · you"
    lane.set_note("2 types hidden")
    assert lane.subtitle == "2 types hidden"
    lane.set_lines(Lines(), random_weights=True)
    assert (lane.subtitle, lane.badge) == ("2 types hidden", "random weights")

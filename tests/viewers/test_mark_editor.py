"""Marks under the mouse, with real mouse events on the canvas: chosen at an edge, moved by their ends, outlined."""

from __future__ import annotations

import numpy as np
import pytest
from PyQt6.QtCore import QEvent, QPoint, QPointF, Qt
from PyQt6.QtGui import QHelpEvent
from PyQt6.QtWidgets import QApplication, QToolTip

from analysis.annotation import Annotation
from analysis.marks import Marks
from analysis.montage import Derivation, Montage
from viewers.theme import THEMES
from viewers.trace_view import TraceView

LEFT, ALT = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.AltModifier
PLAIN = Qt.KeyboardModifier.NoModifier
CHAIN = Montage("pairs", tuple(Derivation(f"{a}-{b}", a, (b,)) for a, b in (("A", "B"), ("B", "C"), ("C", "D"))))


class Hand:
    """What a person does to a view, and what the editor tells of it."""

    def __init__(self, view: TraceView, qtbot) -> None:
        self.view, self.qtbot = view, qtbot
        self.chosen: list[Annotation] = []
        self.moves: list[tuple[Annotation, float, float]] = []
        self.edits: list[Annotation] = []
        view.editor.chosen.connect(self.chosen.append)
        view.editor.moved.connect(lambda *told: self.moves.append(told))
        view.editor.edit_requested.connect(self.edits.append)

    def at(self, time: float, y: float) -> QPoint:
        return QPoint(round(self.view.canvas.scale_px.x(time)), round(y))

    def show(self, *marks: Annotation) -> None:
        self.view.set_result(Marks, Marks.of(marks), has_labels=True)
        QApplication.processEvents()

    def click(self, time: float, y: float = 200.0) -> None:
        self.qtbot.mouseClick(self.view.canvas.viewport(), LEFT, pos=self.at(time, y))

    def drag(self, start: float, stop: float, y: float = 200.0, modifier=PLAIN, release: bool = True) -> None:
        viewport = self.view.canvas.viewport()
        self.qtbot.mousePress(viewport, LEFT, modifier, self.at(start, y))
        for part in (0.3, 0.7, 1.0):
            self.qtbot.mouseMove(viewport, self.at(start + part * (stop - start), y))
        if release:
            self.qtbot.mouseRelease(viewport, LEFT, modifier, self.at(stop, y))


@pytest.fixture
def hand(qtbot, eeg_channels, make_page) -> Hand:
    view = TraceView()
    qtbot.addWidget(view)
    view.resize(1108, 426)
    view.set_facts(100.0, None, ())
    view.set_montage(CHAIN, eeg_channels("A", "B", "C", "D"))
    view.show()
    qtbot.waitExposed(view)
    view.show_page(make_page(np.zeros((2001, 3)), CHAIN.ch_names, 20.0))
    return Hand(view, qtbot)


SPAN = Annotation(23.0, 3.0, "span", id=1)


def test_an_edge_is_clicked_and_a_click_beside_it_lets_go(hand: Hand) -> None:
    hand.show(SPAN)
    hand.click(26.0)
    assert hand.chosen == [SPAN]
    hand.view.set_current_event(SPAN)
    hand.click(24.5)
    assert hand.chosen == [SPAN]
    assert hand.view.editor.selected is None


def test_clicks_go_through_the_marks_at_one_place(hand: Hand) -> None:
    marks = [Annotation(23.0, 0.0, "a", id=1), Annotation(23.0, 1.0, "b", id=2), Annotation(23.0, 2.0, "c", id=3)]
    hand.show(*marks)
    for expected in ("a", "b", "c", "a"):
        hand.click(23.0)
        assert hand.chosen[-1].description == expected
        hand.view.set_current_event(hand.chosen[-1])


def test_a_mark_of_other_rows_is_not_clicked(hand: Hand) -> None:
    hand.show(Annotation(23.0, 3.0, "local", ("A", "B"), id=1))
    rows = hand.view.rows
    assert rows is not None
    hand.click(23.0, float(rows.centre[2]))
    assert hand.chosen == []
    hand.click(23.0, float(rows.centre[0]))
    assert len(hand.chosen) == 1


@pytest.mark.parametrize(
    ("mark", "grabbed", "dropped", "onset", "stop"),
    [
        (SPAN, 26.0, 28.5, 23.0, 28.5),
        (SPAN, 23.0, 21.5, 21.5, 26.0),
        (SPAN, 23.0, 29.0, 26.0, 26.0),  # ends do not pass one another
        (SPAN, 26.0, 20.5, 23.0, 23.0),
        (Annotation(23.0, 0.0, "moment", id=1), 23.0, 25.0, 25.0, 25.0),
        (Annotation(10.0, 16.0, "from before the page", id=1), 26.0, 25.0, 10.0, 25.0),
    ],
)
def test_an_end_of_the_chosen_mark_is_dragged(hand: Hand, mark, grabbed, dropped, onset, stop) -> None:
    hand.show(mark)
    hand.view.set_current_event(mark)
    hand.drag(grabbed, dropped)
    ((moved, new_onset, new_stop),) = hand.moves
    assert moved is mark
    assert (new_onset, new_stop) == pytest.approx((onset, stop), abs=0.011)
    assert new_onset == round(new_onset, 3)
    assert new_stop == round(new_stop, 3)
    if onset == mark.onset:
        assert new_onset == mark.onset
    if stop == mark.stop:
        assert new_stop == mark.stop


def test_a_drag_at_an_edge_of_a_mark_that_is_not_chosen_selects_a_span(hand: Hand) -> None:
    hand.show(SPAN)
    spans = []
    hand.view.span_selected.connect(spans.append)
    hand.drag(23.0, 25.0)
    assert hand.moves == []
    assert spans[-1].duration == pytest.approx(2.0, abs=0.02)


def test_the_whole_mark_moves_by_its_grip_or_with_alt_and_by_nothing_else(hand: Hand) -> None:
    hand.show(SPAN)
    hand.view.set_current_event(SPAN)
    hand.drag(24.0, 25.0)  # inside: a selection
    assert hand.moves == []
    hand.view.set_current_event(SPAN)
    hand.drag(24.0, 25.25, modifier=ALT)
    grip = hand.view.canvas.band_height + 5
    hand.drag(24.5, 23.5, grip)
    label = hand.view.canvas.band.placed[0].rect.center()
    time = hand.view.canvas.scale_px.time(label.x())
    hand.drag(time, time + 2, label.y(), ALT)
    hand.drag(time, time + 2, label.y())  # the name moves nothing
    assert [(round(a, 1), round(z, 1)) for _mark, a, z in hand.moves] == [(24.2, 27.2), (22.0, 25.0), (25.0, 28.0)]


def test_a_whole_mark_stays_within_the_recording(hand: Hand) -> None:
    late = Annotation(26.0, 3.0, "late", id=1)
    hand.view.set_facts(30.0, None, ())
    hand.view.set_montage(CHAIN, ())
    hand.show(late)
    hand.view.set_current_event(late)
    hand.drag(27.0, 29.9, modifier=ALT)
    assert hand.moves[0][1:] == pytest.approx((27.0, 30.0), abs=0.001)


def test_a_trembling_hand_and_escape_move_nothing(hand: Hand) -> None:
    hand.show(SPAN)
    hand.view.set_current_event(SPAN)
    hand.drag(26.0, 26.02)
    hand.drag(26.0, 28.0, release=False)
    assert hand.view.editor.cancel()
    hand.qtbot.mouseRelease(hand.view.canvas.viewport(), LEFT, PLAIN, hand.at(28.0, 200))
    assert not hand.view.editor.cancel()
    assert hand.moves == []


def test_a_double_click_on_name_or_edge_asks_to_edit(hand: Hand) -> None:
    hand.show(SPAN)
    viewport = hand.view.canvas.viewport()
    hand.qtbot.mouseDClick(viewport, LEFT, pos=hand.at(26.0, 200))
    hand.qtbot.mouseDClick(viewport, LEFT, pos=hand.view.canvas.band.placed[0].rect.center().toPoint())
    assert hand.edits == [SPAN, SPAN]
    hand.qtbot.mouseDClick(viewport, LEFT, pos=hand.at(24.5, 200))
    assert len(hand.edits) == 2


def test_the_shape_of_the_mouse_tells_what_can_be_done(hand: Hand) -> None:
    hand.show(SPAN)
    shapes = []
    for chosen, time in ((None, 24.5), (None, 26.0), (SPAN, 26.0), (SPAN, 24.5)):
        hand.view.set_current_event(chosen)
        hand.qtbot.mouseMove(hand.view.canvas.viewport(), hand.at(time, 200))
        shapes.append(hand.view.canvas.cursor().shape())
    shape = Qt.CursorShape
    assert shapes == [shape.CrossCursor, shape.PointingHandCursor, shape.SizeHorCursor, shape.CrossCursor]


def test_resting_on_a_mark_tells_all_of_it(hand: Hand, monkeypatch) -> None:
    hand.show(SPAN, Annotation(24.0, 1.0, "inner", ("A",), id=2))
    told: list[str] = []
    monkeypatch.setattr(QToolTip, "showText", lambda _place, text, _widget: told.append(text))
    for time, y in ((24.5, float(hand.view.rows.centre[0])), (24.5, float(hand.view.rows.centre[2])), (29.0, 200.0)):
        place = hand.at(time, y)
        event = QHelpEvent(QEvent.Type.ToolTip, place, hand.view.canvas.mapToGlobal(place))
        QApplication.sendEvent(hand.view.canvas.viewport(), event)
    assert told[0].index("inner") < told[0].index("span")
    assert "inner" not in told[1]
    assert told[2] == ""


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_the_chosen_mark_is_outlined_on_its_rows_only(hand: Hand, theme) -> None:
    local = Annotation(23.0, 3.0, "local", ("A", "B"), id=1)
    hand.view.set_theme(theme)
    hand.show(local)
    bare = hand.view.canvas.grab().toImage()
    hand.view.set_current_event(local)
    outlined = hand.view.canvas.grab().toImage()
    rows = hand.view.rows
    assert rows is not None
    middle = QPointF(hand.view.canvas.scale_px.x(24.5), 0)

    def differs(y: float) -> bool:
        x = round(middle.x())
        return bare.pixelColor(x, round(y)) != outlined.pixelColor(x, round(y))

    assert differs(rows.band(0)[1] - 2)
    assert not differs(float(rows.centre[2]))


def test_the_name_of_the_chosen_mark_is_written_where_it_found_no_room(hand: Hand) -> None:
    crowd = [Annotation(20 + i / 10, 0.0, f"a long name {i}", id=i + 1) for i in range(90)]
    hand.show(*crowd)
    chosen = crowd[80]
    assert all(item.label.annotation is not chosen for item in hand.view.canvas.band.placed)
    bare = hand.view.canvas.grab().toImage()
    hand.view.set_current_event(chosen)
    top = round(hand.view.canvas.band_height) + 9
    x = round(hand.view.canvas.scale_px.x(chosen.onset)) + 30
    assert hand.view.canvas.grab().toImage().pixelColor(x, top + 9) != bare.pixelColor(x, top + 9)


def test_marks_of_hidden_overlays_cannot_be_pointed_at(hand: Hand) -> None:
    from viewers.overlays.base import OverlayState

    hand.show(SPAN)
    hand.view.set_overlay_state("Annotations", OverlayState(visible=False))
    hand.click(26.0)
    assert hand.chosen == []


def test_the_key_that_hides_all_hides_the_chosen_mark_too(hand: Hand) -> None:
    bare = hand.view.canvas.grab().toImage()
    hand.view.set_current_event(SPAN)
    hand.view.hide_overlays(True)
    assert hand.view.canvas.grab().toImage() == bare
    hand.view.hide_overlays(False)
    assert hand.view.canvas.grab().toImage() != bare


def test_another_recording_lets_go(hand: Hand) -> None:
    told = []
    hand.view.editor.selected_changed.connect(told.append)
    hand.view.set_current_event(SPAN)
    hand.view.set_facts(50.0, None, ())
    assert told == [SPAN, None]

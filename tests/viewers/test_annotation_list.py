"""The list of annotations: order, choice, steps, and a hundred thousand rows."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.annotation import Annotation, model_author
from app.time_text import elapsed
from viewers.annotation_list import AnnotationList, item_text, source_text


@pytest.fixture
def events(qtbot) -> AnnotationList:
    widget = AnnotationList(elapsed)
    qtbot.addWidget(widget)
    return widget


def marks(*onsets: float, author: str = "file") -> list[Annotation]:
    return [Annotation(t, 1.0, f"at {t:g}", author=author) for t in onsets]


def test_sorted_by_onset_whoever_says_it(events):
    events.set_items([*marks(5, 1), *marks(3, author="model:x")])
    assert [a.onset for a in events.items()] == [1, 3, 5]


def test_steps_start_at_the_page_and_stop_at_the_ends(events, qtbot):
    events.set_items(marks(1, 3, 5))
    with qtbot.waitSignal(events.picked) as first:
        events.step(1, from_time=2.0)
    assert first.args[0].onset == 3
    events.step(1, 0.0)
    with qtbot.waitSignal(events.picked) as last:
        events.step(1, 0.0)
    assert last.args[0].onset == 5
    events.step(-1, 0.0)
    assert events.selected().onset == 3


def test_a_step_back_without_a_choice_goes_before_the_page(events):
    events.set_items(marks(1, 3, 5))
    events.step(-1, from_time=4.0)
    assert events.selected().onset == 3


def test_the_choice_survives_new_items(events):
    items = marks(1, 3, 5)
    events.set_items(items)
    events.select(items[1])
    events.set_items([*items, *marks(2, author="model:x")])
    assert events.selected() == items[1]
    events.set_items(marks(9))
    assert events.selected() is None


def test_nothing_happens_in_an_empty_list(events, qtbot):
    with qtbot.assertNotEmitted(events.picked):
        events.step(1, 0.0)


def test_a_hundred_thousand_rows_are_drawn_lazily(events, monkeypatch):
    events.resize(240, 300)
    drawn: list[int] = []
    paint = type(events.delegate).paint
    monkeypatch.setattr(
        type(events.delegate), "paint", lambda self, p, o, i: (drawn.append(i.row()), paint(self, p, o, i))[1]
    )
    events.set_items([Annotation(t / 10, 0.0, "x") for t in range(100_000)])
    events.show()
    events.grab()
    assert 0 < len(set(drawn)) < 50


def test_a_model_is_told_apart_in_words(events):
    events.set_items([Annotation(1, 2, "Seizure", author="model:Brainmaze A", confidence=0.94)])
    text = events.model().index(0).data()
    assert text == "00:01 Seizure (model)"


@pytest.mark.parametrize(
    ("author", "source", "text"),
    [
        ("file", "file", "Seizure"),
        (model_author("MVPFormer-S"), "model", "Seizure  p 0.90"),
        # How sure random weights are means nothing, so the room is spent on saying what they are.
        (model_author("MVPFormer-tiny", random_weights=True), "random weights", "Seizure"),
    ],
)
def test_who_says_it_and_how_sure(author, source, text):
    event = Annotation(1.0, 2.0, "sz", confidence=0.9, author=author)
    assert (source_text(event), item_text(event)) == (source, text)
    assert event.is_model == author.startswith("model:")


def test_source_of_random_weights_is_drawn(events, qtbot):
    events.resize(230, 200)
    images = []
    for random_weights in (False, True):
        events.set_items([Annotation(1.0, 2.0, "sz", author=model_author("m", random_weights))])
        images.append(events.grab().toImage())
    assert images[0] != images[1]


def test_events_are_put_between_marks_that_stay_sorted(events):
    given = tuple(marks(5, 1, 3))
    events.set_items(given, marks(3, 0, author="model:x"))
    assert [(a.onset, a.is_model) for a in events.items()] == [(0, True), (1, False), (3, False), (3, True), (5, False)]
    first = events._model._sorted_marks
    events.set_items(given, marks(4, author="model:x"))
    assert [a.onset for a in events.items()] == [1, 3, 4, 5]
    assert events._model._sorted_marks is first
    events.set_items(given)
    assert [a.onset for a in events.items()] == [1, 3, 5]


@pytest.mark.parametrize("count", [3, 500])
def test_few_and_many_events_come_in_the_same_order(events, count):
    found = marks(*np.random.default_rng(0).uniform(0, 100, count).round(1).tolist(), author="model:x")
    given = tuple(marks(*range(0, 100, 3)))
    events.set_items(given, found)
    assert events.items() == sorted((*given, *found), key=lambda a: a.onset)
    for item in (given[5], found[-1]):
        events.select(item)
        assert events.selected() == item


def test_one_of_several_at_an_onset_is_found(events):
    items = [Annotation(2.0, float(i), "x") for i in range(5)]
    events.set_items(items)
    events.select(items[3])
    assert events.selected() is items[3]
    events.select(Annotation(2.0, 9.0, "x"))
    assert events.selected() is items[3]

"""What a stream was heard to do: joined in order, never with a hole, asked for once, forgotten in time."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from analysis.analyses import Analysis, NamedArray
from analysis.recording import Window
from analysis.results import AnalysisRequest
from analysis.stream_spans import step_times
from app import hearing
from app.analysis_results import Wish
from app.hearing import Hearing
from app.session import ModelChoice

PATH = "/somewhere/night.edf"
MODEL = ModelChoice("NeurDuo", "random:neurduo:tiny:0")


def make_wish(kind, start, stop, model=MODEL, **options):
    values = {"normalisation": "causal", "precision": "float32", "reset_gap": 60.0, "history": 0.0} | options
    return Wish(kind, (model,), Window(start, stop), tuple(values.items()), "cpu", f"{kind} {start} {stop}")


def heard(start, stop):
    """Both analyses of the steps that begin in [start, stop); the rate of each step is its time."""
    times = np.arange(np.ceil(start * 2 - 1e-6) / 2, stop - 1e-6, 0.5)
    if not times.size:
        return {}
    facts = {"first_time": times[0], "step_seconds": 0.5, "write_seconds": 2.0, "resets": []}
    request = AnalysisRequest("streams", "abc", ("digest",), window=Window(start, stop))
    written = times[(np.round(times * 2) % 4) == 3]

    def analysis(arrays):
        made = {n: NamedArray(v, a, "1", "") for n, (v, a) in arrays.items()}
        return Analysis(
            request, "", "1", arrays=made, facts=facts, labels={"channel": ("C3",)}, title="t", models=("m",)
        )

    steps, step = len(times), ("step",)
    streams = {
        "time": (times - times[0], step), "fast": (times, step),
        "fast_by_channel": (times[:, None], ("step", "channel")), "slow_time": (written - times[0], ("write",)),
        "slow": (written, ("write",)), "slow_by_channel": (written[:, None], ("write", "channel")),
        "fast_at_writes": (written, ("write",)),
    }  # fmt: skip
    memory = {
        "time": (times - times[0], step), "weights": (np.ones((steps, 1, 8)), ("step", "channel", "slot")),
        "slot_time": (np.zeros((steps, 8)), ("step", "slot")), "gate": (times[:, None], ("step", "channel")),
        "share": (times[:, None], ("step", "channel")),
    }  # fmt: skip
    return {"streams": analysis(streams), "memory": analysis(memory)}


def hear(known, wish, pieces=1, twice=False):
    """Answer what is asked for a wish in pieces, as the engine would; gives back the ask."""
    ask = known.ask(wish, PATH)
    bounds = np.linspace(ask.start, ask.stop, pieces + 1)
    for at, (low, high) in enumerate(pairwise(bounds)):
        for _ in range(2 if twice else 1):
            known.take(ask, heard(low, high), done=at == pieces - 1)
    known.leave(ask)
    return ask


def test_the_stream_is_heard_from_the_recordings_first_second_and_then_on():
    known = Hearing()
    first = hear(known, make_wish("streams", 20.0, 30.0), pieces=3, twice=True)
    assert (first.start, first.stop) == (0.0, 30.0)
    assert first.arguments["path"] == PATH
    assert "kind" not in first.arguments
    assert known.heard_to == 30.0
    second = hear(known, make_wish("streams", 30.2, 40.2))
    assert (second.start, second.stop) == (30.0, 40.2)
    answer = known.answer(make_wish("streams", 5.0, 40.2))
    assert step_times(answer).tolist() == np.arange(5.0, 40.2, 0.5).tolist()
    np.testing.assert_array_equal(answer.values("fast"), step_times(answer))
    third = known.ask(make_wish("streams", 35.0, 45.0), PATH)
    assert 40.2 < third.start <= 40.5  # the step that begins at 40 s has been heard
    assert third.stop == 45.0


def test_what_is_under_way_is_heard_to_its_end_before_more_is_asked():
    known = Hearing()
    ask = known.ask(make_wish("streams", 0.0, 10.0), PATH)
    assert known.ask(make_wish("memory", 0.0, 10.0), PATH) is ask  # one pass for both
    assert known.ask(make_wish("streams", 50.0, 60.0), PATH) is ask
    known.leave(ask)
    assert known.ask(make_wish("streams", 50.0, 60.0), PATH).stop == 60.0


def test_a_cancelled_ask_goes_on_where_it_was_left():
    known = Hearing()
    ask = known.ask(make_wish("streams", 0.0, 60.0), PATH)
    known.take(ask, heard(0.0, 12.0), done=False)
    known.leave(ask)
    assert not known.knows(make_wish("streams", 0.0, 20.0))
    assert known.knows(make_wish("streams", 0.0, 11.0))
    again = hear(known, make_wish("streams", 0.0, 60.0))
    assert 11.5 < again.start <= 12.0
    times = step_times(known.answer(make_wish("streams", 0.0, 60.0)))
    assert np.unique(np.diff(times)).tolist() == [0.5]


def test_what_does_not_follow_is_not_taken():
    known = Hearing()
    hear(known, make_wish("streams", 0.0, 10.0))
    ask = known.ask(make_wish("streams", 0.0, 30.0), PATH)
    late = hearing.Ask(20.0, 30.0, ask.arguments, ask.key)
    known.take(late, heard(20.0, 30.0), done=True)
    assert known.heard_to == 10.0
    assert step_times(known.drawn(make_wish("streams", 0.0, 10.0)))[-1] == 9.5


def test_recall_is_kept_of_the_span_heard_last_and_asked_again_for_another(monkeypatch):
    monkeypatch.setattr(hearing, "_MOST_RECALL", 40)
    known = Hearing()
    hear(known, make_wish("memory", 0.0, 60.0), pieces=4)
    assert known.knows(make_wish("memory", 45.0, 55.0))
    early = make_wish("memory", 5.0, 15.0)
    assert not known.knows(early)
    assert known.knows(make_wish("streams", 5.0, 15.0))
    ask = hear(known, early)
    assert ask.start <= 5.0
    assert ask.stop == 15.0
    assert step_times(known.answer(early)).tolist() == np.arange(5.0, 15.0, 0.5).tolist()
    assert known.heard_to == 60.0  # going back changes nothing of what was heard


def test_a_span_without_signal_is_known_and_has_no_answer():
    known = Hearing()
    hear(known, make_wish("streams", 0.0, 10.0))
    ask = known.ask(make_wish("streams", 20.0, 30.0), PATH)
    known.take(ask, {}, done=True)
    for kind in hearing.HEARD:
        wish = make_wish(kind, 20.0, 30.0)
        assert known.knows(wish)
        assert known.answer(wish) is None


def test_at_most_so_much_is_asked_while_the_page_runs():
    known = Hearing()
    ask = known.ask(make_wish("streams", 500.0, 510.0), PATH, most=60.0)
    assert (ask.start, ask.stop) == (0.0, 60.0)


@pytest.mark.parametrize(
    "other",
    [
        {"model": ModelChoice("NeurDuo", "random:neurduo:tiny:1")},
        {"reset_gap": 30.0},
        {"normalisation": "window"},
    ],
)
def test_another_model_or_choice_begins_anew(other):
    known = Hearing()
    hear(known, make_wish("streams", 0.0, 10.0))
    changed = make_wish("streams", 10.0, 20.0, **other)
    assert known.drawn(changed) is None
    assert not known.knows(changed)
    old = known.ask(make_wish("streams", 10.0, 20.0), PATH)
    assert known.ask(changed, PATH).start == 0.0
    known.take(old, heard(10.0, 20.0), done=True)  # comes too late
    assert known.drawn(changed) is None


def test_histories_and_comparisons_are_not_heard():
    assert Hearing.serves(make_wish("streams", 0.0, 10.0))
    assert Hearing.serves(make_wish("memory", 0.0, 10.0))
    assert not Hearing.serves(make_wish("timescales", 0.0, 10.0))
    assert not Hearing.serves(make_wish("streams", 0.0, 10.0, history=120.0))

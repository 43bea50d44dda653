"""Spans of a stream that are joined and cut are what one pass over all of them gives."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.engine.neurduo_listen import listen
from analysis.progress import Progress
from analysis.recording import Window
from analysis.stream_spans import covers, cut, end_of, join, step_times, write_times

MODEL = "random:neurduo:tiny:3"
OPTIONS = {"normalisation": "causal", "reset_gap": 60.0}


class Ear(Progress):
    """Keeps all that is told."""

    def __init__(self) -> None:
        self.heard = []

    def partial(self, result):
        self.heard.append(result)


def hear(path, start, duration):
    ear = Ear()
    rest = listen(path, [MODEL], start, duration, OPTIONS, "cpu", progress=ear)
    return [*ear.heard, *([rest] if rest else [])]


@pytest.fixture(scope="module")
def recording(shared):
    return shared / "recordings" / "scalp-seizure-46ch" / "demo_edf.edf"


@pytest.fixture(scope="module")
def whole(recording):
    """What one pass over 30 s gives."""
    parts = hear(recording, 0.0, 30.0)
    return {kind: join([part[kind] for part in parts]) for kind in ("streams", "memory")}


def assert_same(found, expected):
    assert found.facts["first_time"] == pytest.approx(expected.facts["first_time"])
    for name, array in expected.arrays.items():
        np.testing.assert_allclose(found.values(name), array.values, rtol=2e-5, atol=2e-5, err_msg=name)


def test_pieces_heard_one_after_the_other_join_to_what_one_pass_gives(recording, whole):
    pieces = []
    for start, duration in ((0.0, 3.0), (3.0, 0.7), (3.7, 10.0), (13.7, 16.3)):
        pieces += hear(recording, start, duration)
    for kind, expected in whole.items():
        joined = join([piece[kind] for piece in pieces])
        assert_same(joined, expected)
        assert joined.facts["n_steps"] == 60
        for fact in {"fast_median", "slow_median", "fast_above_slow", "compared_writes"} & set(expected.facts):
            assert joined.facts[fact] == pytest.approx(expected.facts[fact], rel=1e-5)


def test_going_back_gives_the_same_again(recording, whole):
    hear(recording, 20.0, 5.0)
    for kind, expected in whole.items():
        again = join([piece[kind] for piece in hear(recording, 8.0, 4.0)])
        part = cut(expected, 8.0, 12.0)
        for name in set(part.arrays) - {"fast_at_writes"}:
            np.testing.assert_allclose(again.values(name), part.values(name), rtol=2e-4, atol=2e-5, err_msg=name)


def test_a_cut_holds_the_steps_that_overlap_it(whole):
    part = cut(whole["streams"], 4.2, 9.6)
    assert step_times(part).tolist() == np.arange(4.0, 9.6, 0.5).tolist()
    assert write_times(part).tolist() == [5.5, 7.5, 9.5]
    assert part.facts["first_time"] == 4.0
    assert part.facts["n_steps"] == 12
    assert part.request.window == Window(4.2, 9.6)
    assert end_of(part) == 10.0
    assert covers(part, Window(4.2, 9.6))
    assert not covers(part, Window(4.2, 12.0))
    assert not covers(part, Window(1.0, 9.0))
    at_writes, fast = part.values("fast_at_writes"), part.values("fast")
    assert at_writes[0] == pytest.approx(fast[0:4].mean(), rel=1e-5)
    assert at_writes[1] == pytest.approx(fast[4:8].mean(), rel=1e-5)
    assert part.facts["fast_median"] == pytest.approx(float(np.median(fast)))
    assert cut(whole["streams"], 40.0, 50.0) is None


def test_slots_keep_the_time_they_were_written(whole):
    memory = cut(whole["memory"], 20.0, 21.0)
    written = memory.values("slot_time") + memory.facts["first_time"]
    np.testing.assert_allclose(written[0], np.arange(5.5, 20.0, 2.0), atol=1e-4)

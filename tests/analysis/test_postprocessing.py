"""The two rules of appendix E against plain step-by-step forms and worked examples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.errors import AnalysisError
from analysis.postprocessing import EpisodeRule, OnlineRule, Rule, choose_rule, derive_events, describe_rule


def spans(probability: list[float], step: float, rule: Rule, threshold: float = 0.5) -> list[tuple[float, float]]:
    times = np.arange(len(probability)) * step
    events = derive_events(times, np.full(len(times), step), np.array(probability), threshold, rule, "model:test")
    return [(event.onset, event.stop) for event in events]


def plain_episodes(positive: list[bool], step: float, rule: EpisodeRule) -> list[tuple[float, float]]:
    events: list[list[float]] = []  # onset, stop, count
    for i, yes in enumerate(positive):
        if not yes:
            continue
        if events and i * step - events[-1][1] <= rule.merge_gap:
            events[-1][1] = (i + 1) * step
            events[-1][2] += 1
        else:
            events.append([i * step, (i + 1) * step, 1])
    return [(a, b) for a, b, n in events if b - a >= rule.min_duration and n >= rule.min_positive]


def plain_online(positive: list[bool], step: int, rule: OnlineRule) -> list[tuple[float, float]]:
    """Whole seconds only: a window of `window` seconds ending at t reports when it holds `min_positive` or more."""
    seconds = [yes for yes in positive for _ in range(step)]
    window = int(rule.window)
    covered = [False] * (len(seconds) + 2 * window)
    for t in range(1, len(seconds) + window):
        inside = range(max(0, t - window), min(t, len(seconds)))
        if sum(seconds[k] for k in inside) >= rule.min_positive:
            for k in range(t - window, t):
                covered[k + window] = True
    events: list[tuple[float, float]] = []
    run: list[int] = []
    for k in range(len(covered) + 1):
        if k < len(covered) and covered[k]:
            run.append(k - window)
        elif run:
            inside_run = [s for s in run if 0 <= s < len(seconds) and seconds[s]]
            first, last = inside_run[0], inside_run[-1]
            while first > 0 and seconds[first - 1]:
                first -= 1
            while last + 1 < len(seconds) and seconds[last + 1]:
                last += 1
            if events and first <= events[-1][1] - 1:
                events[-1] = (events[-1][0], float(last + 1))
            else:
                events.append((float(first), float(last + 1)))
            run = []
    return events


@settings(deadline=None, max_examples=150)
@given(
    st.lists(st.booleans(), max_size=200),
    st.sampled_from([0.5, 1.0, 5.0]),
    st.sampled_from([EpisodeRule(), EpisodeRule(20, 10, 2), EpisodeRule(0, 5, 1)]),
)
def test_episodes_agree_with_the_plain_form(positive: list[bool], step: float, rule: EpisodeRule) -> None:
    assert spans([float(p) for p in positive], step, rule) == plain_episodes(positive, step, rule)


@settings(deadline=None, max_examples=300)
@given(
    st.lists(st.sampled_from([True, False, False, False]), max_size=80),
    st.sampled_from([1, 2, 5]),
    st.sampled_from([OnlineRule(), OnlineRule(5, 20), OnlineRule(2, 4)]),
)
def test_online_agrees_with_the_plain_form(positive: list[bool], step: int, rule: OnlineRule) -> None:
    assert spans([float(p) for p in positive], step, rule) == plain_online(positive, step, rule)


def test_worked_examples_of_the_episode_rule() -> None:
    quiet, loud = [0.0], [0.9]
    assert spans(loud * 4, 5.0, EpisodeRule()) == []  # 20 s, but only 4 responses
    assert spans(loud * 5, 5.0, EpisodeRule()) == [(0, 25)]
    assert spans(loud * 5, 2.0, EpisodeRule()) == []  # 5 responses, but only 10 s
    assert spans(loud * 3 + quiet * 60 + loud * 2, 5.0, EpisodeRule()) == [(0, 325)]  # 300 s apart: joined
    assert spans(loud * 3 + quiet * 61 + loud * 2, 5.0, EpisodeRule()) == []


def test_worked_examples_of_the_online_rule() -> None:
    assert spans([0.9] * 5, 0.5, OnlineRule()) == []  # 2.5 s
    assert spans([0.9] * 6, 0.5, OnlineRule()) == [(0, 3)]
    assert spans([0, 1, 0, 0, 0, 1, 0, 0, 0, 1], 1.0, OnlineRule()) == [(1, 10)]
    assert spans([0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1], 1.0, OnlineRule()) == []


def test_threshold_is_inclusive_and_confidence_is_the_mean_of_positive_responses() -> None:
    p = np.array([0.5, 0.7, 0.1, 0.9], np.float32)
    (event,) = derive_events(np.arange(4) * 5.0, np.full(4, 5.0), p, 0.5, EpisodeRule(min_positive=3), "model:x")
    assert (event.onset, event.stop, event.description, event.author) == (0, 20, "sz", "model:x")
    assert event.confidence == pytest.approx((0.5 + 0.7 + 0.9) / 3, abs=1e-4)
    assert event.is_model


def test_gaps_between_segments_are_not_positive_time() -> None:
    times, durations = np.array([0.0, 1.0, 60.0]), np.ones(3)
    events = derive_events(times, durations, np.ones(3), 0.5, OnlineRule(), "model:x")
    assert events == ()


def test_default_rule_follows_the_length_of_the_recording() -> None:
    assert choose_rule("auto", 1799.9) == OnlineRule()
    assert choose_rule("auto", 1800) == EpisodeRule()
    assert choose_rule("E.2", 1e6) == OnlineRule()
    with pytest.raises(AnalysisError, match=r"'nonsense': choose one of auto, E\.1, E\.2"):
        choose_rule("nonsense", 10)


def test_provenance_names_every_constant() -> None:
    assert describe_rule(EpisodeRule()) == {
        "name": "E.1",
        "title": "episodes",
        "merge_gap": 300.0,
        "min_duration": 20.0,
        "min_positive": 5,
    }

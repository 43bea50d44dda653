"""From a curve of seizure probability to events: the paper's rules (MVPFormer, appendix E) with visible constants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from analysis.annotation import Annotation
from analysis.errors import AnalysisError

AUTO = "auto"
LONG_RECORDING = 1800.0  # seconds; from here on the rule for episodes is the default
EVENT_TYPE = "sz"
_TOUCHING = 1e-6


@dataclass(frozen=True)
class EpisodeRule:
    """Episodic post-processing (appendix E.1), times in seconds.

    Responses at or above the threshold are joined when they lie within `merge_gap` of each other; what is then
    shorter than `min_duration` or has fewer than `min_positive` positive responses is dropped.
    """

    merge_gap: float = 300.0
    min_duration: float = 20.0
    min_positive: int = 5

    name = "E.1"
    title = "episodes"


@dataclass(frozen=True)
class OnlineRule:
    """Online thresholding (appendix E.2), times in seconds.

    A seizure is reported where at least `min_positive` seconds out of `window` are positive; the event reaches from the
    first to the last positive response of those windows.
    """

    min_positive: float = 3.0
    window: float = 10.0

    name = "E.2"
    title = "online"


Rule = EpisodeRule | OnlineRule
RULES: dict[str, type[EpisodeRule] | type[OnlineRule]] = {rule.name: rule for rule in (EpisodeRule, OnlineRule)}


def choose_rule(name: str, duration: float) -> Rule:
    """The rule called "E.1" or "E.2"; "auto" is E.1 for recordings of half an hour or longer and E.2 for shorter."""
    if name == AUTO:
        return EpisodeRule() if duration >= LONG_RECORDING else OnlineRule()
    if name not in RULES:
        raise AnalysisError(f"no rule for events is called {name!r}: choose one of {AUTO}, {', '.join(RULES)}")
    return RULES[name]()


def describe_rule(rule: Rule) -> Mapping[str, Any]:
    """The rule's name and all its constants, for the provenance of a result."""
    return {"name": rule.name, "title": rule.title, **asdict(rule)}


def rule_of(described: Mapping[str, Any]) -> Rule:
    """The rule that `describe_rule` described."""
    return RULES[described["name"]](**{name: described[name] for name in described if name not in ("name", "title")})


def stated_rule(card: Mapping[str, Any]) -> Rule | None:
    """The rule for events with which a checkpoint's threshold was chosen; None where its card states none."""
    rule = card.get("event_rule")
    if not isinstance(rule, Mapping):
        return None
    return EpisodeRule(float(rule["merge_gap"]), float(rule["min_duration"]), int(rule.get("min_positive", 1)))


def derive_events(
    times: np.ndarray, durations: np.ndarray, probability: np.ndarray, threshold: float, rule: Rule, author: str
) -> tuple[Annotation, ...]:
    """Events of a probability curve: segments (n,) sorted by onset in seconds, with their lengths and p in 0..1.

    A response is positive when p >= threshold. Each event is an annotation `sz` whose confidence is the mean p of its
    positive responses. Fast enough to follow a dragged threshold over a day of half-second steps.
    """
    positive = np.flatnonzero(probability >= threshold)
    if not len(positive):
        return ()
    onsets, stops = times[positive], times[positive] + durations[positive]
    first, last = _episodes(onsets, stops, rule) if isinstance(rule, EpisodeRule) else _online(onsets, stops, rule)
    sums = np.concatenate([[0.0], np.cumsum(probability[positive], dtype=np.float64)])
    confidence = (sums[last + 1] - sums[first]) / (last + 1 - first)
    return tuple(
        Annotation(onset, stop - onset, EVENT_TYPE, (), round(share, 4), author)
        for onset, stop, share in zip(onsets[first].tolist(), stops[last].tolist(), confidence.tolist(), strict=True)
    )


def _groups(onsets: np.ndarray, stops: np.ndarray, gap: float) -> tuple[np.ndarray, np.ndarray]:
    """First and last index of each group of responses that are at most `gap` seconds apart."""
    breaks = np.flatnonzero(onsets[1:] - stops[:-1] > gap + _TOUCHING)
    return np.concatenate([[0], breaks + 1]), np.concatenate([breaks, [len(onsets) - 1]])


def _episodes(onsets: np.ndarray, stops: np.ndarray, rule: EpisodeRule) -> tuple[np.ndarray, np.ndarray]:
    first, last = _groups(onsets, stops, rule.merge_gap)
    long_enough = stops[last] - onsets[first] >= rule.min_duration - _TOUCHING
    kept = long_enough & (last - first + 1 >= rule.min_positive)
    return first[kept], last[kept]


def _online(onsets: np.ndarray, stops: np.ndarray, rule: OnlineRule) -> tuple[np.ndarray, np.ndarray]:
    run_first, run_last = _groups(onsets, stops, 0.0)
    starts, ends = onsets[run_first], stops[run_last]
    begin, end = _reporting_times(starts, ends, rule)
    if not len(begin):
        return np.empty(0, int), np.empty(0, int)
    # The windows behind each stretch of reporting times cover (begin - window, end]; those that overlap are one event.
    joined = np.flatnonzero(begin[1:] - rule.window > end[:-1])
    covered_from = begin[np.concatenate([[0], joined + 1])] - rule.window
    covered_to = end[np.concatenate([joined, [len(end) - 1]])]
    first_run = np.searchsorted(ends, covered_from + _TOUCHING, side="left")
    last_run = np.searchsorted(starts, covered_to - _TOUCHING, side="right") - 1
    # A long run may reach out of one stretch into the next, which makes them one event.
    apart = np.flatnonzero(first_run[1:] > last_run[:-1])
    first_run = first_run[np.concatenate([[0], apart + 1])]
    last_run = last_run[np.concatenate([apart, [len(last_run) - 1]])]
    return run_first[first_run], run_last[last_run]


def _reporting_times(starts: np.ndarray, ends: np.ndarray, rule: OnlineRule) -> tuple[np.ndarray, np.ndarray]:
    """Stretches of time t whose window (t - window, t] holds enough positive seconds, as (begin, end) arrays.

    The positive seconds in the window are piecewise linear in t, with knots where a run enters or leaves the window.
    """
    knots = np.concatenate([starts, ends, starts + rule.window, ends + rule.window])
    knots.sort(kind="stable")
    edges = np.stack([starts, ends], axis=1).ravel()
    lengths = np.stack([np.zeros_like(starts), ends - starts], axis=1).ravel()
    total = np.cumsum(lengths)
    inside = np.interp(knots, edges, total) - np.interp(knots - rule.window, edges, total)
    above = inside >= rule.min_positive - _TOUCHING
    rising = np.flatnonzero(above[1:] & ~above[:-1]) + 1
    falling = np.flatnonzero(above[:-1] & ~above[1:])
    return (
        _crossing(knots, inside, rising - 1, rising, rule.min_positive),
        _crossing(knots, inside, falling + 1, falling, rule.min_positive),
    )


def _crossing(knots: np.ndarray, inside: np.ndarray, below: np.ndarray, above: np.ndarray, level: float) -> np.ndarray:
    """Where the line from knot `below` to knot `above` reaches the level."""
    rise = inside[above] - inside[below]
    share = np.clip((level - inside[below]) / np.where(rise > 0, rise, 1.0), 0.0, 1.0)
    return knots[below] + share * (knots[above] - knots[below])

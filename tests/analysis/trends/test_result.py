"""Trends as a result: stored, read back, and what they say of their sources."""

from __future__ import annotations

import numpy as np

from analysis.result_store import ResultStore
from analysis.trends.computation import TrendPass, request_for
from analysis.trends.result import Trends
from analysis.trends.sources import LEFT, RIGHT, TrendGroup, TrendRow, TrendSources

SOURCES = TrendSources(
    (TrendGroup(LEFT, (TrendRow("C3-P3", 0, 1),)), TrendGroup(RIGHT, (TrendRow("C4", 2),))),
    "bipolar derivations",
    (("F3", "flat"),),
)


def trends(make_recording) -> Trends:
    rng = np.random.default_rng(3)
    return TrendPass(make_recording(rng.standard_normal((3, 20_000)) * 20, 200.0, gaps=((30, 40),)), SOURCES).run()


def test_stored_trends_come_back_equal(make_recording, tmp_path):
    made = trends(make_recording)
    store = ResultStore(tmp_path)
    assert store.put(made)
    found = store.get(made.request.key())
    assert isinstance(found, Trends)
    for name in ("decibels", "coarse_decibels", "powers", "amplitude"):
        np.testing.assert_array_equal(getattr(found, name), getattr(made, name))
        assert getattr(found, name).dtype == getattr(made, name).dtype
    assert (found.sources, found.left_out, found.groups) == (made.sources, made.left_out, made.groups)
    assert (found.bin_seconds, found.duration, found.complete) == (made.bin_seconds, 100.0, True)


def test_another_choice_of_rows_is_another_request(make_recording):
    recording = make_recording(np.zeros((3, 200)), 200.0)
    fewer = TrendSources((SOURCES.groups[0], TrendGroup(RIGHT, (TrendRow("C2", 2),))), SOURCES.kind)
    assert request_for(recording, SOURCES).key() == request_for(recording, SOURCES).key()
    assert request_for(recording, SOURCES).key() != request_for(recording, fewer).key()


def test_it_says_what_it_was_computed_from(make_recording):
    text = trends(make_recording).describe_sources()
    assert text.splitlines() == [
        "Computed from bipolar derivations, whatever montage is shown.",
        "Left: C3-P3",
        "Right: C4",
        "Left out: F3 (flat)",
    ]

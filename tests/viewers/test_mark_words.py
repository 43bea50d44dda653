"""Marks in words: state by a sign, times to a millisecond, and nothing of a file taken for markup."""

from __future__ import annotations

from datetime import datetime

import pytest

from analysis.annotation import RANDOM_WEIGHTS, Annotation, Review
from viewers.mark_words import exact_time, name_of, seconds_of, span_words, tell_all, tip_of

START = datetime(2026, 3, 4, 10, 41, 2, 500_000)


@pytest.mark.parametrize(
    ("mark", "name"),
    [
        (Annotation(1, 1, "sz"), "Seizure (file)"),
        (Annotation(1, 1, "Spike", author="reader"), "Spike (you)"),
        (Annotation(1, 1, "", author="sidecar"), "mark (sidecar)"),
        (Annotation(1, 1, "x", author="reader", review=Review("rejected")), "✗ x (you)"),
        (Annotation(1, 1, "x", author="reader", review=Review(changed="2026")), "✎ x (you)"),
        (Annotation(1, 1, "sz", (), 0.94, "model:m", review=Review("accepted")), "✓ Seizure, model  p 0.94"),
        (
            Annotation(1, 1, "sz", (), 0.5, "model:m", review=Review("accepted", changed="2026")),
            "✓✎ Seizure, model  p 0.50",
        ),
        (
            Annotation(1, 1, "sz", (), 0.5, "model:m", review=Review("rejected", changed="2026")),
            "✗✎ Seizure, model  p 0.50",
        ),
        (Annotation(1, 1, "event", author=f"model:m ({RANDOM_WEIGHTS})"), f"Event, model ({RANDOM_WEIGHTS})"),
    ],
)
def test_a_name_says_state_and_author(mark: Annotation, name: str) -> None:
    assert name_of(mark) == name


@pytest.mark.parametrize("seconds", [0.0, 0.001, 59.999, 60.0, 3599.9994, 3600.0, 86_399.5])
def test_times_read_back(seconds: float) -> None:
    assert seconds_of(exact_time(seconds)) == pytest.approx(seconds, abs=5e-4)


@pytest.mark.parametrize("text", ["", "soon", "1:2:3:4", "-5", "nan", "inf", "1::2"])
def test_what_is_no_time_is_none(text: str) -> None:
    assert seconds_of(text) is None


def test_a_span_says_when_how_long_and_at_what_time_of_day() -> None:
    assert span_words(15.2, 44.1, START) == "00:15.200 – 00:44.100, 28.900 s (10:41:17.700)"
    assert span_words(15.2, 15.2) == "00:15.200"


def test_all_that_is_known_is_told() -> None:
    review = Review("accepted", "AB", "2026-03-04T09:00:00Z", "fast <b>onset</b>", "Epileptic-seizure", "2026", "2027")
    mark = Annotation(1, 2, "Seizure", ("F7", "T7"), 0.5, "reader", (("side", "left"), ("empty", "")), review=review)
    lines = tell_all(mark, START)
    for part in ("F7, T7", "confidence 0.50", "made 2026", "changed 2027", "accepted by AB", "Epileptic-seizure"):
        assert any(part in line for line in lines), part
    assert "“fast <b>onset</b>”" in lines
    assert lines[-1] == "side: left"
    assert "fast &lt;b&gt;onset&lt;/b&gt;" in tip_of([mark])


def test_a_tip_of_many_marks_tells_some_and_counts_the_rest() -> None:
    tip = tip_of([Annotation(float(i), 0, f"mark {i}") for i in range(30)])
    assert "mark 3" in tip
    assert "mark 4" not in tip
    assert tip.endswith("and 26 more here")

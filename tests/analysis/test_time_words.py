"""Lengths of time in words, also where rounding carries over."""

from __future__ import annotations

import pytest

from analysis.time_words import duration_words


@pytest.mark.parametrize(
    ("seconds", "words", "exact"),
    [
        (0, "0.0 s", "0 s"),
        (4.235, "4.2 s", "4.235 s"),
        (45, "45.0 s", "45 s"),
        (59.96, "1 min 00 s", "59.96 s"),
        (119.7, "2 min 00 s", "2 min 00 s"),
        (236, "3 min 56 s", "3 min 56 s"),
        (3599.7, "1 h 00 min", "1 h 00 min 00 s"),
        (3629, "1 h 00 min", "1 h 00 min 29 s"),
        (7199, "2 h 00 min", "1 h 59 min 59 s"),
        (86400, "24 h 00 min", "24 h 00 min 00 s"),
    ],
)
def test_lengths_in_words(seconds: float, words: str, exact: str) -> None:
    assert duration_words(seconds) == words
    assert duration_words(seconds, exact=True) == exact

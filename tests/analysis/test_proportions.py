"""The interval of a share: against the values that the formula's author gives, and at its ends."""

from __future__ import annotations

import pytest

from analysis.proportions import wilson_interval


@pytest.mark.parametrize(
    ("hits", "count", "expected"),
    [(0, 10, (0.0, 0.2775)), (10, 10, (0.7225, 1.0)), (81, 263, (0.2553, 0.3662)), (15, 148, (0.0624, 0.1605))],
)
def test_intervals_are_those_of_the_literature(hits, count, expected):
    """Newcombe 1998, Statistics in Medicine 17:857, Table I, method 3; the first two by hand."""
    assert wilson_interval(hits, count) == pytest.approx(expected, abs=1e-4)


def test_nothing_is_known_of_nothing():
    assert wilson_interval(0, 0) == (0.0, 1.0)

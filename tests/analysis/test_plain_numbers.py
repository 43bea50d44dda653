"""Numbers are written to a millionth, and no longer than they need."""

from __future__ import annotations

import pytest

from analysis.plain_numbers import number


@pytest.mark.parametrize(
    ("value", "text"),
    [(12.0, "12"), (0.5, "0.5"), (1 / 3, "0.333333"), (-0.0000001, "0"), (100.0, "100"), (-2.5, "-2.5")],
)
def test_numbers_have_no_needless_digits(value, text):
    assert number(value) == text

"""Ticks of the small plots."""

from __future__ import annotations

import pytest

from viewers.panels.plot import decade_ticks, linear_ticks


@pytest.mark.parametrize(
    ("low", "high", "most", "texts"),
    [
        (0.0, 40.0, 5, ["0", "10", "20", "30", "40"]),
        (0.0, 1.0, 4, ["0.0", "0.5", "1.0"]),
        (-12.0, 13.0, 5, ["−10", "−5", "0", "5", "10"]),
        (3.0, 3.0, 5, []),
    ],
)
def test_ticks_are_round(low, high, most, texts):
    assert [text for _, text in linear_ticks(low, high, most)] == texts


def test_decades_are_written_as_people_read_them():
    assert decade_ticks(-2.2, 1.1) == [(-2.0, "0.01"), (-1.0, "0.1"), (0.0, "1"), (1.0, "10")]
    assert [text for _, text in decade_ticks(-5, -4)] == ["10⁻⁵", "10⁻⁴"]
    assert [text for _, text in decade_ticks(5, 6)] == ["10⁵", "10⁶"]

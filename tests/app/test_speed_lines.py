"""What `predict` prints of its speed, its batches and its number format."""

from __future__ import annotations

from typing import Any

import pytest

from app.report_text import speed_lines


@pytest.mark.parametrize(
    ("precision", "size", "lines"),
    [
        ({"format": "float32"}, 1, ["12.3 hours of recording per minute (cpu, one at a time, float32)"]),
        (
            {"format": "bfloat16", "largest_difference": 0.00123, "tolerance": 0.01, "compared": 8},
            64,
            [
                "12.3 hours of recording per minute (cpu, batches of up to 64, bfloat16)",
                "bfloat16 and float32 differ by at most 0.0012 in the first 8 probabilities, 0.01 allowed",
            ],
        ),
        (
            {"format": "float32", "reason": "bfloat16 failed: no kernel"},
            2,
            ["12.3 hours of recording per minute (cpu, batches of up to 2, float32)", "bfloat16 failed: no kernel"],
        ),
        (
            {"format": "float32", "largest_difference": None, "tolerance": 0.01, "compared": 1, "reason": "too much"},
            2,
            [
                "12.3 hours of recording per minute (cpu, batches of up to 2, float32)",
                "bfloat16 gives no numbers in the first 1 probabilities",
            ],
        ),
    ],
)
def test_speed_and_check_are_told(precision: dict[str, Any], size: int, lines: list[str]) -> None:
    facts = {"hours_per_minute": 12.345, "batch_size": size, "device": "cpu", "precision": precision}
    assert speed_lines(facts) == lines


def test_of_a_result_of_before_nothing_is_told() -> None:
    assert speed_lines({"device": "cpu"}) == []

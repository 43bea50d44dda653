"""Verdicts follow their limits, and say them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from analysis.engine.trust_verdicts import (
    of_agreement,
    of_completeness,
    of_orders,
    of_randomisation,
    of_truth,
    without_truth,
)

NAN = math.nan


@pytest.mark.parametrize(("gap", "holds"), [(0.0, True), (0.0099, True), (0.01, False), (0.4, False)])
def test_completeness(gap: float, holds: bool) -> None:
    verdict = of_completeness(gap, 64, 0.01)
    assert verdict.holds is holds
    assert verdict.limit == "gap below 1%"
    assert "with 64 points" in verdict.sentence
    assert ("choose another baseline" in verdict.sentence) is not holds


@pytest.mark.parametrize(
    ("signed", "holds", "words"),
    [
        ({"occlusion": 0.9, "keep one": 0.5, "Grad-CAM": -0.2, "RMS": 0.1}, True, "0.90 with occlusion"),
        ({"occlusion": 0.9, "keep one": 0.49, "Grad-CAM": 0.9, "RMS": 0.1}, False, "0.49 with keep one"),
        (
            {"occlusion": 0.9, "keep one": 0.6, "Grad-CAM": NAN, "RMS": 0.85},
            True,
            "0.85 with the plain RMS, so that it mostly shows amplitude.",
        ),
        ({"occlusion": NAN, "keep one": NAN, "Grad-CAM": 0.3, "RMS": 0.1}, None, "No other method"),
    ],
)
def test_agreement(signed: dict[str, float], holds: bool | None, words: str) -> None:
    verdict = of_agreement(signed, 0.95)
    assert verdict.holds is holds
    assert words in verdict.sentence
    assert "nan" not in verdict.sentence
    assert verdict.limit == "rho of at least 0.5 with occlusion and keep one"


@pytest.mark.parametrize(
    ("rho", "holds", "words"),
    [
        ([0.1, -0.2, 0.05], True, "depends on the weights"),
        ([0.4, -0.4, 0.4], False, "a part of the map"),  # a sign that turns is no loss of likeness
        ([0.9, 0.95, 1.0], False, "shows the signal, not the model"),
        ([NAN, NAN, NAN], None, "the same everywhere"),
    ],
)
def test_randomisation(rho: list[float], holds: bool | None, words: str) -> None:
    verdict = of_randomisation({"IG signed": np.array(rho), "RMS": np.ones(3)}, 190)
    assert verdict.holds is holds
    assert words in verdict.sentence
    assert "below 0.3" in verdict.limit
    assert holds is None or "RMS 1.00" in verdict.sentence


@pytest.mark.parametrize(
    ("deletion", "insertion", "holds", "words"),
    [
        (-1.0, 11.0, True, "hangs on what the map names first"),
        (-1.0, 5.0, False, "is needed, but"),
        (5.0, 11.0, False, "other parts make it as well"),
        (5.0, 5.0, False, "no more than on any other part"),
    ],
)
def test_orders(deletion: float, insertion: float, holds: bool, words: str) -> None:
    chance = np.linspace(0, 10, 41)
    verdict = of_orders(deletion, insertion, (chance, chance), "channels")
    assert verdict.holds is holds
    assert words in verdict.sentence
    assert "random: 0.25 to 9.75" in verdict.sentence


@pytest.mark.parametrize(
    ("rank", "rival", "redrawn", "holds", "words"),
    [
        (1.0, 8.0, 10.0, True, "the plain RMS does not find it"),
        (2.0, 1.0, 9.0, True, "the plain RMS finds it as well"),
        (3.0, 9.0, 2.0, False, "not found"),
        (7.0, 9.0, 10.0, False, "not found"),
    ],
)
def test_truth(rank: float, rival: float, redrawn: float, holds: bool, words: str) -> None:
    verdict = of_truth(rank, rival, np.full(5, redrawn), 19, ["T7", "T7"])
    assert verdict.holds is holds
    assert words in verdict.sentence
    assert "(T7)" in verdict.sentence


def test_without_a_truth_nothing_is_decided() -> None:
    verdict = without_truth("there is no night.truth.json beside the recording")
    assert (verdict.holds, verdict.limit) == (None, "")
    assert verdict.sentence == "Not available: there is no night.truth.json beside the recording."

"""Figures of NeurDuo's analyses: what is drawn is what was found, and it says what it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.engine.analyze import analyze
from analysis.figures.draw import figure_bytes, make_figure


@pytest.fixture(scope="module")
def found(shared: Path) -> dict[str, Any]:
    parity = shared / "parity" / "neurduo"
    recording = shared / "recordings" / "broken" / "edfplus_d_gap.edf"
    table = {"checkpoint": parity / "tiny/tiny_checkpoint.pt", "head": parity / "heads/tiny_heads.safetensors"}
    kinds = ("streams", "timescales", "memory", "stages")
    return {kind: analyze(kind, recording, [table], device="cpu") for kind in kinds}


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("streams", ["Relative change per second", "memory write", "Fast stream by channel", "Fp1"]),
        ("timescales", ["Nominal time constants by block", "never trained", "slow 1", "fast 3"]),
        ("memory", ["Recall of each slot", "2 s before it", "Mean gate", "Cz"]),
        ("stages", ["Likeliest class of each 5 s", "background", "seizure"]),
    ],
)
def test_the_words_of_each_figure(kind: str, words: list[str], found: Any) -> None:
    svg = figure_bytes(found[kind], "svg").decode()
    for word in (*words, "Random weights", "Research use only"):
        assert word in svg


def test_both_rates_and_the_resets_are_drawn(found: Any) -> None:
    result = found["streams"]
    top = make_figure(result).axes[0]
    fast, slow = top.lines[0], top.lines[1]
    np.testing.assert_allclose(fast.get_ydata(), result.values("fast"))
    np.testing.assert_allclose(slow.get_ydata(), result.values("slow"))
    np.testing.assert_allclose(slow.get_xdata(), result.values("slow_time"))
    assert [line.get_xdata()[0] for line in top.lines[2:-1]] == result.facts["resets"]


def test_the_untrained_model_is_drawn_beside(found: Any) -> None:
    result = found["timescales"]
    blocks = make_figure(result).axes[0]
    medians = sorted(float(line.get_ydata()[0]) for line in blocks.lines if len(line.get_ydata()) == 1)
    names = ("fast_median", "slow_median", "untrained_fast_median", "untrained_slow_median")
    np.testing.assert_allclose(medians, np.sort(np.concatenate([result.values(name) for name in names])), rtol=1e-5)


def test_recall_is_drawn_by_slot(found: Any) -> None:
    result = found["memory"]
    image = make_figure(result).axes[0].images[0]
    np.testing.assert_allclose(image.get_array(), result.values("weights").mean(1).T)

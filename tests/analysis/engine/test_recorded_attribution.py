"""Attribution of a re-referenced window, taken back to the channels as they were recorded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from analysis.engine.analyze import analyze


@pytest.fixture(scope="module")
def scalp(shared: Path) -> str:
    return str(shared / "recordings" / "scalp-seizure-46ch" / "demo_edf.edf")


@pytest.mark.parametrize("smooth", [0, 2])
def test_a_model_behind_a_median_is_mapped_back_and_the_sum_stays(scalp: str, smooth: int) -> None:
    options = {"windows": 1, "window": 10, "baseline": "mean", "smooth": smooth}
    found = analyze("integrated-gradients", scalp, ["random:mvpformer:tiny"], 16, 10, options)
    seen, recorded = (found.values(name).astype(np.float64) for name in ("attribution", "recorded"))
    assert recorded.shape == seen.shape
    size = np.abs(seen).sum((1, 2))
    assert np.abs(recorded.sum((1, 2)) - seen.sum((1, 2))).max() < 1e-5 * size.max()
    # At every moment too, and not by being the same.
    assert np.abs((recorded - seen).sum(1)).max() < 1e-5 * np.abs(seen).sum(1).max()
    assert np.abs(recorded - seen).max() > 1e-3 * np.abs(seen).max()
    assert any("against a common reference" in note for note in found.notes)
    assert len(found.labels["site"]) == len(found.labels["channel"])
    assert "Fp1" in found.labels["site"]


def test_a_model_that_is_given_what_was_recorded_needs_no_second_map(scalp: str) -> None:
    options = {"windows": 1, "baseline": "zero"}
    found = analyze("integrated-gradients", scalp, ["random:axon:tiny"], 20, 10, options)
    assert "recorded" not in found.arrays
    assert not any("reference" in note for note in found.notes)

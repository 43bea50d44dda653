"""Similarity, rank and planes of windows of every family on a real recording."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from analysis.engine.analyze import analyze
from analysis.errors import AnalysisError

FAMILIES = ("random:axon", "random:prise-eeg", "random:mvpformer", "random:neurduo")


@pytest.fixture(scope="module")
def scalp(shared: Path) -> Path:
    return shared / "recordings" / "scalp-seizure-46ch" / "demo_edf.edf"


@pytest.fixture(scope="module")
def seizure(shared: Path) -> Path:
    return next((shared / "recordings" / "scalp-seizure-42ch").glob("*.edf"))


@pytest.mark.parametrize("checkpoint", FAMILIES)
def test_a_model_compared_with_itself(scalp: Path, checkpoint: str) -> None:
    found = analyze("cka", scalp, [checkpoint], 0, 45, {"rows": "tokens"})
    layers = found.labels["row_layer"]
    assert len(layers) == len(set(layers)) >= 4
    assert layers[-1] in ("final norm", "output")
    for name in ("cka", "cka_unbiased"):
        table = found.values(name)
        assert table.shape == (len(layers), len(layers))
        np.testing.assert_allclose(np.diag(table), 1.0, atol=1e-5)
        np.testing.assert_allclose(table, table.T, atol=1e-5)
    assert found.facts["n_rows"] > 100


def test_two_models_are_compared_by_window(scalp: Path) -> None:
    found = analyze("cka", scalp, ["random:axon", "random:prise-eeg"], 0, 45, {"window": 5})
    assert found.values("cka").shape == (7, 7)
    assert found.facts["n_rows"] == 9
    assert any("unbiased" in note for note in found.notes)
    with pytest.raises(AnalysisError, match="rows=windows"):
        analyze("cka", scalp, ["random:axon", "random:prise-eeg"], 0, 45, {"rows": "tokens"})
    with pytest.raises(AnalysisError, match="needs 1 to 2 checkpoints, not 3"):
        analyze("cka", scalp, ["random:axon"] * 3, 0, 45)


def test_too_few_windows_are_refused_in_place_of_empty_tables(scalp: Path) -> None:
    with pytest.raises(AnalysisError, match=r"3 windows cannot tell .* 4 are needed .*rows=tokens"):
        analyze("cka", scalp, ["random:prise-eeg"], 0, 30)
    with pytest.raises(AnalysisError, match=r"^1 window cannot tell"):
        analyze("cka", scalp, ["random:prise-eeg"], 0, 7)
    with pytest.raises(AnalysisError, match=r"or windows shorter than 10 s$"):
        analyze("cka", scalp, ["random:prise-eeg", "random:axon"], 0, 10)


def test_what_seizures_share_gives_shared_experts(seizure: Path, scalp: Path) -> None:
    found = analyze("cka", seizure, ["random:prise-eeg"], None, None, {"groups": "seizure", "windows": 12})
    assert found.facts["n_between"] > 0
    ratio = found.values("between") / found.values("within")
    np.testing.assert_allclose(found.values("ratio"), ratio, rtol=1e-5)
    np.testing.assert_allclose(found.values("shared_ratio"), 1 / (1 + np.exp(-10 * (ratio - 1))), rtol=1e-4)
    assert ((found.values("shared_experts") >= 0) & (found.values("shared_experts") <= 7)).all()
    with pytest.raises(AnalysisError, match="choose a span with both"):
        analyze("cka", seizure, ["random:prise-eeg"], 180, 50, {"groups": "seizure"})


@pytest.mark.parametrize("checkpoint", FAMILIES)
def test_ranks_lie_between_one_and_the_width(scalp: Path, checkpoint: str) -> None:
    found = analyze("effective-rank", scalp, [checkpoint], 0, 45)
    rank = found.values("effective_rank")
    assert ((rank >= 1) & (rank <= 64)).all()
    assert found.labels["layer"][-1] in ("final norm", "output")


def test_recordings_a_model_cannot_take_end_in_a_clear_line(shared: Path) -> None:
    ecog = next((shared / "recordings" / "ecog-seizure-mat").rglob("*.mat"))
    with pytest.raises(AnalysisError, match="no channel is at a place this model knows"):
        analyze("cka", ecog, ["random:prise-eeg"], 0, 20)
    with pytest.raises(AnalysisError, match="give at least 5 s"):
        analyze("effective-rank", ecog, ["random:mvpformer"], 0, 3)

"""Token maps: distances from the window's mean token, in the model's own grid, on channels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from analysis.engine import token_maps
from analysis.engine.analyze import analyze
from analysis.engine.token_maps import token_distances

FAMILIES = {"axon": 1.0, "prise-eeg": 1.0, "mvpformer": 5.0, "neurduo": 0.5}


def test_distances_are_those_from_the_mean_over_the_root_mean_square() -> None:
    tokens = torch.randn(2, 3, 4, 5, dtype=torch.float64)
    found = token_distances(tokens)
    for window in range(2):
        flat = tokens[window].reshape(-1, 5)
        length = (flat - flat.mean(0)).norm(dim=1)
        torch.testing.assert_close(found[window].flatten(), length / length.square().mean().sqrt())
    assert token_distances(torch.ones(1, 2, 2, 3)).abs().max() == 0


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_brings_maps_of_its_channels(shared: Path, family: str) -> None:
    scalp = shared / "recordings" / "scalp-seizure-46ch" / "demo_edf.edf"
    found = analyze("cka", scalp, [f"random:{family}"], 10, 10, {"rows": "tokens"})
    maps, onsets = found.values("row_map"), found.values("row_onset")
    assert maps.shape == (len(found.labels["row_layer"]), len(found.labels["row_channel"]), len(onsets))
    assert found.facts["row_token_seconds"] == FAMILIES[family]
    assert onsets[0] == 0
    assert onsets[-1] + found.facts["row_token_seconds"] <= 10.0 + 1e-6
    if family != "prise-eeg":  # of groups the channels' numbers are means
        np.testing.assert_allclose(np.square(maps).mean((1, 2)), 1.0, rtol=1e-4)
    assert (maps >= 0).all()
    assert "column_map" not in found.arrays


def test_two_models_bring_one_each_and_long_spans_none(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scalp = shared / "recordings" / "scalp-seizure-46ch" / "demo_edf.edf"
    models = ["random:axon", "random:prise-eeg"]
    found = analyze("cka", scalp, models, 0, 20, {"window": 5})
    assert found.values("row_map").shape[-1] == len(found.values("row_onset"))
    assert found.values("column_map").shape[-1] == len(found.values("column_onset")) == 20
    monkeypatch.setattr(token_maps, "MOST_VALUES", 100)
    found = analyze("cka", scalp, models, 0, 20, {"window": 5})
    assert not [name for name in found.arrays if name.endswith("_map")]
    assert any("token maps are left out" in note for note in found.notes)

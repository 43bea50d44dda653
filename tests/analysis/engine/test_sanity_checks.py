"""The kind sanity-checks: a linear readout and a blind explainer, every family, the truth, cancelling and seeds."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from analysis.engine import redrawn_weights
from analysis.engine.analyze import analyze, prepared
from analysis.engine.attribution import rank_correlation
from analysis.engine.compared_maps import METHODS, RMS, SIGNED, UNSIGNED, gradient_maps, path_gradients, signal_map
from analysis.engine.explained import Explained
from analysis.engine.inputs import LoadedModel
from analysis.engine.redrawn_weights import RedrawnCopy
from analysis.engine.sanity_checks import check_maps
from analysis.engine.sanity_findings import REDRAWN_MAPS
from analysis.engine.trust_verdicts import of_randomisation
from analysis.progress import Cancelled, Progress
from analysis.simulation.truth import Seizure, Truth, write_truth
from models.random_checkpoints import load_any

FAMILIES = ("random:axon:tiny", "random:prise-eeg:tiny", "random:mvpformer:tiny")
FEW: dict[str, Any] = {"seeds": 1, "orders": 2, "cascade": False}
QUICK = "random:mvpformer:tiny"


def _readout(seed: int) -> torch.nn.Module:
    torch.manual_seed(seed)
    network = torch.nn.Linear(6 * 40, 1)
    network.config = None
    return network


def test_a_linear_readout_decorrelates_and_a_blind_explainer_is_exposed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redrawn_weights, "drawn_model", lambda _family, _config, seed: _readout(seed))
    model = LoadedModel(_readout(0), SimpleNamespace(model_name="a linear readout"))  # type: ignore[arg-type]
    copied = RedrawnCopy(model)
    assert copied.depths == ("bias", "weight")
    signal = torch.randn(1, 6, 40, generator=torch.Generator().manual_seed(5))
    one = torch.ones(6, 1)

    def maps_of(network: torch.nn.Module) -> dict[str, np.ndarray]:
        window = Explained(signal, one, one, lambda x: network(x.flatten(1)), nullcontext, 4.0, 0.0)
        values = path_gradients(window, torch.zeros_like(signal), 0, Progress())
        return {name: m.finest for name, m in (gradient_maps(values, 4.0) | {RMS: signal_map(window)}).items()}

    own = maps_of(model.network)
    rho: dict[str, list[list[float]]] = {SIGNED: [], UNSIGNED: [], RMS: []}
    for seed in range(5):
        found = [maps_of(copied.model.network) for _ in copied.draws(seed)]
        for name, rows in rho.items():
            rows.append([rank_correlation(own[name], each[name]) for each in found])
    assert np.allclose(np.array(rho[SIGNED])[:, 0], 1.0)  # the bias has no part in the map
    assert np.abs(np.array(rho[SIGNED])[:, 1]).mean() < 0.3
    assert np.array(rho[UNSIGNED])[:, 1].mean() > 0.3  # amplitude stays
    assert np.allclose(rho[RMS], 1.0)
    last = {name: np.array(rows)[:, 1] for name, rows in rho.items()}
    assert of_randomisation(last, 60).holds is True
    assert of_randomisation({SIGNED: last[RMS]}, 60).holds is False


@pytest.fixture(scope="module")
def scalp(shared: Path) -> Path:
    return shared / "recordings" / "scalp-seizure-46ch" / "demo_edf.edf"


@pytest.mark.parametrize("checkpoint", FAMILIES)
def test_every_family_is_checked(scalp: Path, checkpoint: str) -> None:
    found = analyze("sanity-checks", scalp, [checkpoint], 20, 10, FEW)
    n_channels = len(found.labels["channel"])
    assert found.values("by_channel").shape == (1, len(METHODS), n_channels)
    assert np.isfinite(found.values("by_channel")).all()
    assert np.isfinite(found.values("by_second")[0, METHODS.index("Grad-CAM")]).all()
    np.testing.assert_allclose(np.diag(found.values("agreement")), 1, atol=1e-6)
    likeness = found.values("likeness")
    assert likeness.shape == (len(REDRAWN_MAPS), 1, 1, 1)
    np.testing.assert_allclose(likeness[REDRAWN_MAPS.index(RMS)], 1, atol=1e-6)
    assert np.abs(likeness[REDRAWN_MAPS.index(SIGNED)]).max() < 0.95
    whole, none = found.values("deletion")[:, 0], found.values("deletion")[:, -1]
    np.testing.assert_allclose(found.values("insertion")[:, -1], whole)
    np.testing.assert_allclose(whole - none, found.facts["change_of_model"], rtol=1e-3, atol=1e-5)
    pinned = checkpoint == "random:prise-eeg:tiny"
    assert (found.facts["change"] == pytest.approx(found.facts["change_of_model"], rel=1e-3, abs=1e-5)) is not pinned
    assert any("held fixed along the path" in note for note in found.notes) is pinned
    assert [verdict["check"] for verdict in found.facts["verdicts"]] == [
        "completeness", "agreement", "randomisation", "deletion and insertion", "truth",
    ]  # fmt: skip
    assert "no demo_edf.truth.json" in found.facts["verdicts"][-1]["sentence"]
    assert "truth" not in found.arrays


def test_layers_are_drawn_anew_from_the_head_down_and_a_seed_gives_the_same(scalp: Path) -> None:
    found = analyze("sanity-checks", scalp, [QUICK], 20, 10, {**FEW, "cascade": True, "seeds": 2})
    assert found.labels["depth"] == ("head", "block 2", "block 1", "block 0", "input")
    np.testing.assert_allclose(found.values("likeness_mean"), found.values("likeness").mean((1, 2)), atol=1e-6)
    first, again = (analyze("sanity-checks", scalp, [QUICK], 20, 10, FEW) for _ in range(2))
    other = analyze("sanity-checks", scalp, [QUICK], 20, 10, {**FEW, "seed": 9})
    for name, array in first.arrays.items():
        np.testing.assert_array_equal(array.values, again.values(name), err_msg=name)
    assert not np.array_equal(first.values("likeness"), other.values("likeness"))
    assert not np.array_equal(first.values("deletion_area_random"), other.values("deletion_area_random"))
    np.testing.assert_array_equal(first.values("by_channel"), other.values("by_channel"))
    # All at once is the end of layer after layer.
    np.testing.assert_array_equal(found.values("likeness")[:, :, :1, -1:], first.values("likeness"))


def test_seconds_of_channels_can_be_deleted(scalp: Path) -> None:
    found = analyze("sanity-checks", scalp, [QUICK], 20, 10, {**FEW, "parts": "channel-seconds"})
    known = np.isfinite(found.values("deletion_area"))
    assert known.tolist() == [name != "keep one" for name in METHODS]
    signed, occlusion = METHODS.index(SIGNED), METHODS.index("occlusion")
    assert np.isfinite(found.values("agreement_by_second")[signed, occlusion])


@pytest.fixture
def simulated(scalp: Path, tmp_path: Path) -> Path:
    path = tmp_path / "simulated.edf"
    path.symlink_to(scalp)
    names = ("Fp1", "F7", "T3", "T5", "O1", "C3")
    topography = dict(zip(names, (0.1, 0.6, 1.0, 0.5, -0.1, 0.2), strict=True))
    seizure = Seizure(22.0, 30.0, "left temporal", (-0.07, 0.0, 0.0), "T3", ("T3", "F7", "T5"), topography, 80.0, 3.0,
                      2.0, 18.0, 2.0, (), 20.0)  # fmt: skip
    truth = Truth(1, 256.0, 60.0, "none", "10-20", names, {}, (), (seizure,), (), (), {}, "1.0")
    write_truth(tmp_path / "simulated.truth.json", truth)
    return path


def test_a_known_focus_is_looked_for_in_every_map_and_in_models_without_knowledge(simulated: Path) -> None:
    found = analyze("sanity-checks", simulated, [QUICK], 20, 10, {**FEW, "seeds": 2})
    table = found.values("truth")
    assert table.shape == (len(METHODS), 4)
    assert np.isfinite(table).all()
    assert ((table[:, 0] >= 1) & (table[:, 0] <= 6)).all()
    np.testing.assert_array_equal(table[:, 1], table[:, 0] <= 3)
    redrawn = found.values("truth_redrawn")
    assert redrawn.shape == (len(METHODS), 2, 4)
    np.testing.assert_array_equal(redrawn[METHODS.index(RMS), 0], table[METHODS.index(RMS)])
    assert found.facts["truth"]["seizures"][0]["focus_channel"] == "T3"
    assert "(T3)" in found.facts["verdicts"][-1]["sentence"]
    before = analyze("sanity-checks", simulated, [QUICK], 0, 10, {**FEW, "baseline": "mean"})
    assert "no window holds a simulated seizure" in before.facts["verdicts"][-1]["sentence"]


class _Tired(Progress):
    """Cancels in the midst of a part, and keeps what it was told."""

    def __init__(self, word: str) -> None:
        self.word, self.told = word, []

    def report(self, done: float, total: float, message: str = "") -> None:
        self.told.append((done, total, message))
        if message.startswith(self.word) and done % 1 > 0.3:
            raise Cancelled


@pytest.mark.parametrize("word", ["maps of window 1 of 1", "deletion", "seed 1 of 2, re-drawn down to: block 1"])
def test_a_cancel_leaves_the_model_as_it_was(scalp: Path, word: str) -> None:
    fresh = load_any(QUICK).state_dict()
    progress = _Tired(word)
    options = {**FEW, "cascade": True, "seeds": 2}
    with prepared("sanity-checks", scalp, [QUICK], 20, 10, options, "cpu", Progress(), ()) as (_, inputs):
        with pytest.raises(Cancelled):
            check_maps(inputs, progress)
        state = inputs.model.network.state_dict()
        assert all(torch.equal(value, fresh[name]) for name, value in state.items())
    parts = [told for told in progress.told if told[2].startswith(("maps", "deletion", "seed"))]
    assert {total for _, total, _ in parts} == {12}
    assert [done for done, _, _ in parts] == sorted(done for done, _, _ in parts)

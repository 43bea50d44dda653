"""The table of models and the door through which one is loaded."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import FrozenInstanceError, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from models.errors import CheckpointError
from models.mvpformer.config import MVPFormerConfig
from models.registry import MODELS, load_model, untrained_model

KINDS = {
    "seizure", "channel-map", "attention", "gates", "gate-interventions", "relation-mass", "streams", "timescales",
    "memory", "experts", "cka", "effective-rank", "integrated-gradients", "grad-cam", "occlusion", "group-attribution",
    "prediction", "embedding", "lesion", "stages", "group-interventions", "dynamic-groups", "gradient-geometry",
    "sanity-checks",
}  # fmt: skip
SMALL = MVPFormerConfig(n_embd=16, n_layer=1, n_head=2, n_head_kv=1, n_inner=8, size_input=64, task="classification")


def test_the_table_costs_no_import_of_torch() -> None:
    code = "import sys, models.registry; sys.exit('torch' in sys.modules)"
    root = Path(__file__).resolve().parents[2]
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode == 0


@pytest.mark.parametrize("name", MODELS)
def test_every_entry_is_complete(name: str) -> None:
    spec = MODELS[name]
    assert spec.name == name
    assert spec.title
    assert is_dataclass(spec.config)
    assert spec.config.from_dict.__self__ is spec.config
    assert spec.input.sfreq > 0
    assert spec.input.n_times > 0
    assert spec.capabilities <= KINDS
    rules = spec.loading_rules()
    for part in ("looks_like", "resolve", "weights", "published_state", "preprocessing", "labels", "size_name"):
        assert callable(getattr(rules, part)), part
    assert isinstance(rules.WINDOW_FIELDS, tuple)  # empty where no size of the model depends on the window
    assert set(rules.WINDOW_FIELDS) <= {"n_segments", "window_seconds"}


def test_a_loaded_model_keeps_the_contract(golden_mvpformer: Path, golden_signal: Tensor) -> None:
    model: Any = load_model(golden_mvpformer / "tiny_base.pt", head=golden_mvpformer / "tiny_head.pt", device="cpu")
    assert isinstance(model, torch.nn.Module)
    assert model.family == "mvpformer"
    assert not model.training
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}
    assert {parameter.device.type for parameter in model.parameters()} == {"cpu"}
    with pytest.raises(FrozenInstanceError):
        model.config.n_segments = 3
    assert replace(model.config, n_segments=20).n_segments == 20
    assert "n_segments" in {field.name for field in fields(model.config)}
    assert model.tokens(signal=golden_signal[:1, :3]).shape == (1, 3, 7, 64)
    assert model.logits(signal=golden_signal[:1, :3]).shape == (1, 2)


def test_a_generative_model_has_no_logits(generative: Any, golden_signal: Tensor) -> None:
    with pytest.raises(CheckpointError, match=r"no classification head \(.*tiny_base.pt\): give a head file"):
        generative.logits(signal=golden_signal)
    assert not generative.checkpoint.has_classifier
    assert generative.checkpoint.labels == ()


def test_paths_may_be_text(golden_mvpformer: Path) -> None:
    model: Any = load_model(str(golden_mvpformer / "tiny_base.pt"), config=str(golden_mvpformer / "tiny_config.json"))
    assert model.checkpoint.path == golden_mvpformer / "tiny_base.pt"


def test_an_untrained_model_says_so_and_follows_its_seed() -> None:
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    models: list[Any] = [untrained_model("mvpformer", SMALL, seed=seed) for seed in (1, 1, 2)]
    assert torch.equal(torch.random.get_rng_state(), before), "the caller's random numbers are left alone"
    weights = [model.blocks[0].mlp.up.weight for model in models]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])
    facts = models[0].checkpoint
    assert facts.random_weights
    assert "random weights" in facts.notes[0]
    assert (facts.path, facts.digests, facts.labels) == (None, (), ("background", "seizure"))
    assert facts.n_params == sum(parameter.numel() for parameter in models[0].parameters())
    assert models[0].logits(signal=torch.randn(1, 2, 3, 64)).shape == (1, 2)


def test_an_untrained_model_starts_as_the_published_training_does() -> None:
    model: Any = untrained_model("mvpformer", replace(SMALL, n_embd=64, n_inner=256, lora_rank=4))
    assert (model.encoder.norm.weight == 1).all()
    assert model.blocks[0].mlp.up.weight.std().item() == pytest.approx(0.02, rel=0.05)
    assert (model.blocks[0].attention.query.lora_B == 0).all()

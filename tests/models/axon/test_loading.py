"""Published files and our container make the same AXON; what does not fit is refused in words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from models.axon.config import AXON, AxonConfig
from models.axon.loading import expected_shapes
from models.checkpoint import describe, save_container
from models.errors import CheckpointError
from models.registry import load_model


@pytest.fixture
def published(shared: Path) -> Path:
    return shared / "parity" / "axon" / "tiny.safetensors"


def test_nothing_of_the_published_file_is_left_over(published: Path) -> None:
    facts = describe(published)
    assert facts["keys"] == {"used": 76, "missing": [], "unknown": [], "unused": []}
    assert (facts["family"], facts["size"], facts["random_weights"]) == ("axon", "tiny", True)
    assert sum(facts["parameters"].values()) == facts["n_params"] == 271_279


def test_the_names_of_the_published_size_are_those_of_the_specification() -> None:
    shapes = expected_shapes(AXON)
    assert shapes["encoder.blocks.21.attn.axis_gate.mlp.2.weight"] == (2, 128)
    assert shapes["encoder.blocks.0.ffn.in_proj.weight"] == (4096, 512)
    assert shapes["encoder.patch_embed.weight"] == (512, 200)
    assert not any(name.startswith("final_layer") for name in shapes)


def test_a_container_gives_the_same_model(model: Any, signal: Tensor, positions: Tensor, tmp_path: Path) -> None:
    path = tmp_path / "axon.safetensors"
    save_container(model, path)
    again: Any = load_model(path)
    assert again.config == model.config
    assert again.checkpoint.random_weights
    with torch.no_grad():
        assert torch.equal(again.logits(signal, positions), model.logits(signal, positions))


def test_an_encoder_alone_has_no_logits_and_takes_a_head_file(
    model: Any, signal: Tensor, positions: Tensor, tmp_path: Path
) -> None:
    state = {name: tensor.contiguous() for name, tensor in model.state_dict().items()}
    base, head = tmp_path / "base.safetensors", tmp_path / "head.safetensors"
    config = {"embed_dim": 32, "depth": 2, "num_heads": 4}
    save_file({k: v for k, v in state.items() if k.startswith("encoder")}, base, {"config": json.dumps(config)})
    save_file({k: v for k, v in state.items() if k.startswith("final")}, head)
    with pytest.raises(CheckpointError, match="head without its encoder"):
        load_model(head)
    bare: Any = load_model(base)
    with pytest.raises(CheckpointError, match=r"no classification head \(.*base.safetensors\)"):
        bare.logits(signal, positions)
    whole: Any = load_model(base, head=head)
    with torch.no_grad():
        assert torch.equal(whole.logits(signal, positions), model.logits(signal, positions))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda s: s.pop("encoder.final_norm.weight"), "lacks encoder.final_norm.weight"),
        (lambda s: s.update({"encoder.extra": torch.zeros(2)}), "does not know, encoder.extra"),
        (lambda s: s.update({"encoder.final_norm.weight": torch.zeros(3)}), r"has the shape \(3,\)"),
    ],
)
def test_files_that_do_not_fit_are_refused(published: Path, tmp_path: Path, change: Any, words: str) -> None:
    state = load_file(published)
    change(state)
    path = tmp_path / "bad.safetensors"
    save_file(state, path, {"config": json.dumps(describe(published)["config"])})
    with pytest.raises(CheckpointError, match=words):
        load_model(path)


def test_an_unknown_size_needs_its_configuration(published: Path, tmp_path: Path) -> None:
    path = tmp_path / "unknown.safetensors"
    save_file(load_file(published), path)
    with pytest.raises(CheckpointError, match="does not state its own"):
        load_model(path)
    (tmp_path / "config.json").write_text(json.dumps({"embed_dim": 64, "depth": 3, "num_heads": 4, "colour": 1}))
    with pytest.raises(CheckpointError, match="unknown fields colour"):
        load_model(path)
    (tmp_path / "config.json").write_text(json.dumps({"embed_dim": 64, "depth": 3, "num_heads": 4}))
    assert isinstance(load_model(path).config, AxonConfig)


def test_too_short_a_signal_is_refused(model: Any, positions: Tensor) -> None:
    with pytest.raises(ValueError, match="199 samples fill no patch"):
        model.tokens(torch.zeros(1, 5, 199), positions)

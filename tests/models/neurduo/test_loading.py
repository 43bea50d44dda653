"""Published files and our container make the same NeurDuo; what does not fit is refused in words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from models.checkpoint import FORMAT, describe, save_container
from models.errors import CheckpointError
from models.neurduo.config import SMALL
from models.neurduo.loading import published_state
from models.neurduo.model import NeurDuo
from models.neurduo.tokenizer import SpectralTokenizer
from models.registry import load_model, untrained_model


@pytest.fixture
def backbone(neurduo_parity: Path) -> dict[str, Tensor]:
    return load_file(neurduo_parity / "tiny" / "tiny.safetensors")


@pytest.fixture
def head(neurduo_parity: Path) -> dict[str, Tensor]:
    return load_file(neurduo_parity / "heads" / "tiny_heads.safetensors")


@pytest.fixture
def config(neurduo_parity: Path) -> dict[str, Any]:
    return json.loads((neurduo_parity / "tiny" / "tiny_config.json").read_text())


def same(one: Any, other: Any) -> bool:
    mine, theirs = one.state_dict(), other.state_dict()
    return set(mine) == set(theirs) and all(torch.equal(tensor, theirs[name]) for name, tensor in mine.items())


def test_description_of_the_official_file(neurduo_parity: Path, tiny: Any) -> None:
    facts = describe(neurduo_parity / "tiny" / "tiny_checkpoint.pt")
    assert json.loads(json.dumps(facts)) == facts
    assert (facts["family"], facts["size"], facts["random_weights"]) == ("neurduo", "tiny", True)
    assert facts["keys"] == {"used": 127, "missing": [], "unknown": [], "unused": []}
    assert (facts["n_params"], facts["backbone_params"]) == (84_426, 74_042)
    assert facts["n_params"] == sum(facts["parameters"].values()) == sum(p.numel() for p in tiny.parameters())
    assert any("training state after 1 updates" in note for note in facts["notes"])
    assert facts["preprocessing"]["sampling_rate"] == 256
    assert facts["preprocessing"]["window_seconds"] == 32
    assert facts["labels"] == []


def test_all_forms_of_the_same_file_give_the_same_model(
    tiny: Any, neurduo_parity: Path, backbone: dict[str, Tensor], config: Any, tmp_path: Path
) -> None:
    assert same(load_model(neurduo_parity / "tiny" / "tiny.safetensors"), tiny)
    nested, bare, own = tmp_path / "nested.pt", tmp_path / "bare.pt", tmp_path / "own.safetensors"
    torch.save({"student": backbone, "config": config, "epoch": 3}, nested)
    torch.save(backbone, bare)
    save_container(tiny, own)
    (tmp_path / "size.json").write_text(json.dumps(config))
    assert same(load_model(nested), tiny)
    assert same(load_model(bare, config=tmp_path / "size.json"), tiny)
    again: Any = load_model(own)
    assert same(again, tiny)
    assert (again.config, again.checkpoint.random_weights) == (tiny.config, True)
    assert describe(own)["format"] == FORMAT
    del backbone["spatial_mixer.norm.weight"]
    torch.save(backbone, bare)
    with pytest.raises(CheckpointError, match=r"lacks spatial_mixer.norm.weight \(.*bare.pt\)"):
        load_model(bare, config=tmp_path / "size.json")


def test_a_head_on_its_backbone(fine_tuned: Any, tmp_path: Path) -> None:
    head = fine_tuned.config.head
    assert (head.channels, head.unit_steps, head.context_units) == (("FP1", "F7", "T7", "O2", "CZ"), 10, 4)
    assert (head.normalisation, head.d_token, head.d_hidden) == ("sequence", 6, 32)
    facts = fine_tuned.checkpoint
    assert facts.labels == ("background", "seizure")
    assert facts.has_classifier
    assert len(facts.digests) == 2
    assert facts.preprocessing["highpass"] is None
    assert (facts.preprocessing["unit_seconds"], facts.preprocessing["window_seconds"]) == (5, 20)
    assert any("Channels and units of the head are those of config.json" in note for note in facts.notes)
    own = tmp_path / "own.safetensors"
    save_container(fine_tuned, own, labels=["rest", "seizure"])
    again: Any = load_model(own)
    assert same(again, fine_tuned)
    assert (again.config, again.checkpoint.labels) == (fine_tuned.config, ("rest", "seizure"))


@pytest.mark.parametrize("task", ["sequence", "window"])
def test_a_whole_fine_tuned_model_in_one_file(
    task: str, fine_tuned: Any, backbone: dict[str, Tensor], head: dict[str, Tensor], config: Any, tmp_path: Path
) -> None:
    names = {name: tensor for name, tensor in backbone.items() if not name.startswith("future_")}
    readout = {name.removeprefix("st_head."): tensor for name, tensor in head.items() if name.startswith("st_head.")}
    if task == "sequence":
        state = {f"base.backbone.{name}": tensor for name, tensor in names.items()} | head
        state |= {f"base.classifier.{name}": tensor for name, tensor in readout.items()}
    else:
        state = {f"backbone.{name}": tensor for name, tensor in names.items()}
        state |= {f"classifier.{name}": tensor for name, tensor in readout.items()}
    path, sizes = tmp_path / "model.pt", tmp_path / "sizes.json"
    torch.save(state, path)
    sizes.write_text(json.dumps(config | {"channels": ["FP1", "F7", "T7", "O2", "CZ"], "seg_sec": 5, "context_len": 4}))
    model: Any = load_model(path, config=sizes)
    assert not model.config.has_predictor
    assert (model.context is None) == (task == "window")
    assert model.config.head.normalisation == task
    assert torch.equal(model.readout.mlp[1].weight, fine_tuned.readout.mlp[1].weight)
    assert len(describe(path, config=sizes)["keys"]["unused"]) == (8 if task == "sequence" else 0)
    sizes.write_text(json.dumps(config))
    with pytest.raises(CheckpointError, match=r"nothing says which channels this head reads \(.*model.pt\)"):
        load_model(path, config=sizes)


def test_published_sizes_need_no_configuration(tmp_path: Path) -> None:
    path = tmp_path / "latest.pt"
    model = untrained_model("neurduo", SMALL)
    torch.save(published_state(model.state_dict(), SMALL), path)
    again: Any = load_model(path)
    assert again.config == SMALL
    assert again.checkpoint.size == "Small"
    assert any("recognised by their shapes" in note for note in again.checkpoint.notes)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda s: s.pop("memory_writer.score.weight"), "lacks memory_writer.score.weight"),
        (lambda s: s.pop("signal_patch_encoder.proj.weight"), "lacks signal_patch_encoder.proj.weight"),
        (lambda s: s.update({"fast_backbone.extra": torch.zeros(2)}), "does not know, fast_backbone.extra"),
        (lambda s: s.update({"spatial_mixer.norm.bias": torch.zeros(3)}), r"has the shape \(3,\).*asks for \(32,\)"),
        (lambda s: s.update({"spatial_mixer.norm.bias": torch.zeros(32).int()}), "int32 values, not weights"),
        (lambda s: s.update({"spatial_mixer.norm.bias": torch.full((32,), torch.nan)}), "not finite numbers"),
    ],
)
def test_files_that_do_not_fit_are_refused(
    backbone: dict[str, Tensor], config: Any, tmp_path: Path, change: Any, words: str
) -> None:
    change(backbone)
    path = tmp_path / "bad.safetensors"
    save_file(backbone, path)
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(CheckpointError, match=words) as caught:
        load_model(path)
    assert str(path) in str(caught.value)


def test_an_unknown_size_needs_its_configuration(backbone: dict[str, Tensor], config: Any, tmp_path: Path) -> None:
    path, sizes = tmp_path / "model.safetensors", tmp_path / "config.json"
    save_file(backbone, path)
    with pytest.raises(CheckpointError, match="none of the published sizes Small, Base, Large and does not state"):
        load_model(path)
    sizes.write_text(json.dumps({"n_embd": 3}))  # of another kind
    with pytest.raises(CheckpointError, match="does not state its own"):
        load_model(path)
    config["model"]["fast_num_layers"] = 0
    sizes.write_text(json.dumps(config))
    with pytest.raises(CheckpointError, match=r"does not describe a NeurDuo-EEG, fast_num_layers must be.*config.json"):
        load_model(path, config=sizes)
    config["model"]["fast_num_layers"] = 5
    sizes.write_text(json.dumps(config))
    with pytest.raises(CheckpointError, match=r"lacks fast_backbone.stack.norms.4.weight"):
        load_model(path)


def test_heads_that_cannot_be_used(neurduo_parity: Path, head: dict[str, Tensor], tmp_path: Path) -> None:
    base = neurduo_parity / "tiny" / "tiny_checkpoint.pt"
    path = tmp_path / "head.safetensors"
    save_file(head, path)
    with pytest.raises(CheckpointError, match="head without its backbone"):
        load_model(path)
    with pytest.raises(CheckpointError, match="nothing says which channels"):
        load_model(base, head=path)
    with pytest.raises(CheckpointError, match="this head file holds a whole model"):
        load_model(base, head=base)
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"channels": ["FP1", "F7", "T7"]}))
    with pytest.raises(CheckpointError, match="50 tokens, which are no whole number for 3 channels"):
        load_model(base, head=path)
    config.write_text(json.dumps({"channels": ["FP1", "F7", "T7", "O2", "CZ"], "seg_sec": 30}))
    with pytest.raises(CheckpointError, match="seg_sec is 30 s, but the head reads 10 steps"):
        load_model(base, head=path)
    del head["context.norm.bias"]
    save_file(head, path)
    config.write_text(json.dumps({"channels": ["FP1", "F7", "T7", "O2", "CZ"]}))
    with pytest.raises(CheckpointError, match=r"lacks context.norm.bias \(.*head.safetensors\)"):
        load_model(base, head=path)


def test_a_model_without_a_head_says_so(tiny: Any, small: Any, small_inputs: Any) -> None:
    with pytest.raises(CheckpointError, match=r"no classification head \(.*tiny_checkpoint.pt\)"):
        tiny.unit_embeddings(torch.zeros(1, 5, 10, 56))
    assert not tiny.checkpoint.has_classifier
    bare = small(codebook_size=20)
    bare.predictor = None
    with pytest.raises(CheckpointError, match="neither a prediction head nor a classification head"):
        bare.logits(**small_inputs)


def test_wrong_shapes_are_refused(tiny: Any, fine_tuned: Any) -> None:
    with pytest.raises(ValueError, match=r"chunks must have the shape \(batch, steps, channels, 128\)"):
        tiny.tokens(torch.zeros(1, 4, 2, 64))
    with pytest.raises(ValueError, match=r"reference_ids must have the shape"):
        tiny.tokens(torch.zeros(1, 4, 2, 128), reference_ids=torch.zeros(3))
    with pytest.raises(ValueError, match="this head reads 5 channels, not 2"):
        fine_tuned.logits(torch.zeros(1, 40, 2, 128))
    with pytest.raises(ValueError, match="15 steps are not whole units of 10"):
        fine_tuned.logits(torch.zeros(1, 15, 5, 128))


@pytest.mark.parametrize("name", ["tiny_checkpoint.pt", "tiny.safetensors", "real.safetensors"])
def test_tokenizers(name: str, neurduo_parity: Path, tmp_path: Path) -> None:
    path = neurduo_parity / "tokenizer" / name
    model: Any = load_model(path)
    assert isinstance(model, SpectralTokenizer)
    assert (model.family, model.checkpoint.random_weights) == ("neurduo-tokenizer", True)
    assert model.vq.initted.dtype == torch.bool
    assert bool(model.vq.initted)
    own = tmp_path / "own.safetensors"
    save_container(model, own)
    assert same(load_model(own), model)
    facts = describe(path)
    assert facts["n_params"] == sum(p.numel() for p in model.parameters())
    assert facts["buffer_values"] == sum(b.numel() for b in model.buffers())
    assert facts["keys"]["unused"] == []
    with pytest.raises(CheckpointError, match="a tokenizer takes no head"):
        load_model(path, head=path)


def test_a_tokenizer_that_does_not_fit_is_refused(neurduo_parity: Path, tmp_path: Path) -> None:
    state = load_file(neurduo_parity / "tokenizer" / "tiny.safetensors")
    path = tmp_path / "bad.safetensors"
    del state["vq.cluster_size"]
    save_file(state, path)
    with pytest.raises(CheckpointError, match=r"lacks vq\.cluster_size"):
        load_model(path)
    state["vq.cluster_size"] = torch.zeros(3)
    save_file(state, path)
    with pytest.raises(CheckpointError, match=r"vq.cluster_size has the shape \(3,\)"):
        load_model(path)


def test_an_untrained_model_says_so_and_follows_its_seed() -> None:
    one, two, other = (untrained_model("neurduo", SMALL, seed=seed) for seed in (1, 1, 2))
    assert isinstance(one, NeurDuo)
    assert same(one, two)
    assert not torch.equal(one.fast.blocks[0].in_proj.weight, other.fast.blocks[0].in_proj.weight)
    assert one.checkpoint is not None
    assert one.checkpoint.random_weights

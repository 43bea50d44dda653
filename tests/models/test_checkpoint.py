"""Recognising, describing and writing checkpoints; what each family does with its files is tested with the family."""

from __future__ import annotations

import errno
import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor

from models.checkpoint import FORMAT, describe, save_container
from models.errors import CheckpointError
from models.registry import Checkpoint, load_model


def test_facts_of_a_base_with_its_head(golden_mvpformer: Path, classifier: Any) -> None:
    facts = classifier.checkpoint
    assert isinstance(facts, Checkpoint)
    assert (facts.model_name, facts.size, facts.config) == ("mvpformer", "tiny", classifier.config)
    assert facts.path == golden_mvpformer / "tiny_base.pt"
    assert facts.digests == (
        "b3ddb6b48a0bd60998f76c7fb53b23058577976f3f057c9360d4e614fa03c2e6",
        "a174a5d409044277ee33c7329525523a0f7103bf44e3de95b63c89a187a2f8bd",
    )
    assert facts.labels == ("background", "seizure")
    assert facts.has_classifier
    assert facts.n_params_used == sum(parameter.numel() for parameter in classifier.parameters())
    assert facts.n_params - facts.n_params_used == 3 * 2560 + 3 * 64, "seizure_embeddings and the second norms"
    assert facts.random_weights
    assert "random weights" in facts.notes[0]
    expected = {"sampling_rate": 512, "highpass": 0.5, "lowpass": 120, "order": 4, "reference": "median", "unit": "uV"}
    expected |= {"segment_seconds": 5, "n_segments": 14, "window_seconds": 70, "normalisation": "none"}
    assert expected.items() <= facts.preprocessing.items()


def test_pt_and_safetensors_twins_give_the_same_model(golden_mvpformer: Path, classifier: Any) -> None:
    twin = load_model(golden_mvpformer / "tiny_base.safetensors", golden_mvpformer / "tiny_head.safetensors")
    assert all(torch.equal(tensor, twin.state_dict()[name]) for name, tensor in classifier.state_dict().items())
    assert twin.checkpoint.random_weights


def test_description_is_json_and_agrees_with_the_loaded_model(golden_mvpformer: Path, classifier: Any) -> None:
    description = describe(golden_mvpformer / "tiny_base.pt", golden_mvpformer / "tiny_head.pt")
    assert json.loads(json.dumps(description)) == description
    facts = classifier.checkpoint
    assert description["n_params"] == facts.n_params == sum(description["parameters"].values())
    assert (description["sha256"], description["head_sha256"]) == facts.digests
    assert description["notes"] == list(facts.notes)
    assert (description["family"], description["size"], description["dtype"]) == ("mvpformer", "tiny", "float32")
    assert description["lora"] == {"present": True, "rank": 8, "alpha": 16, "folded": "no"}
    assert description["format"] == "published MVPFormer, pytorch"


@pytest.mark.parametrize("which", ["generative", "classifier", "folded"])
def test_a_container_gives_back_the_same_model(
    which: str, generative: Any, classifier: Any, golden_signal: Tensor, golden_mvpformer: Path, tmp_path: Path
) -> None:
    model = generative if which == "generative" else classifier
    if which == "folded":
        model = load_model(golden_mvpformer / "tiny_base.pt", golden_mvpformer / "tiny_head.pt")
        model.fold_lora()
    path = tmp_path / "model.safetensors"
    save_container(model, path)
    again: Any = load_model(path)
    assert again.config == model.config
    state = again.state_dict()
    assert set(state) == set(model.state_dict())
    assert all(torch.equal(tensor, state[name]) for name, tensor in model.state_dict().items())
    assert torch.equal(again.tokens(signal=golden_signal[:, :2]), model.tokens(signal=golden_signal[:, :2]))
    assert again.checkpoint.labels == model.checkpoint.labels
    assert again.checkpoint.preprocessing == model.checkpoint.preprocessing
    assert again.checkpoint.random_weights, "a copy of random weights is still random"
    assert again.checkpoint.card == {"trained": False}
    assert describe(path)["format"] == FORMAT
    assert describe(path)["keys"]["missing"] == []
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.safetensors"]


def test_a_container_states_everything_in_its_header(classifier: Any, tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    card = {"trained": True, "licence": "CC0", "limits": "simulated EEG only"}
    preprocessing = classifier.checkpoint.preprocessing | {"highpass": 1.0}
    save_container(classifier, path, card=card, preprocessing=preprocessing, labels=["rest", "seizure"])
    with safe_open(path, framework="pt") as file:
        metadata = file.metadata()
    assert (metadata["format"], metadata["family"]) == (FORMAT, "mvpformer")
    assert set(metadata) == {"format", "family", "config", "preprocessing", "labels", "card"}
    facts = load_model(path).checkpoint
    assert (facts.card, facts.labels, facts.preprocessing["highpass"]) == (card, ("rest", "seizure"), 1.0)
    assert not facts.random_weights
    assert facts.notes == ()


def test_a_window_given_by_configuration_counts_for_a_container(classifier: Any, tmp_path: Path) -> None:
    path, config = tmp_path / "model.safetensors", tmp_path / "window.json"
    save_container(classifier, path)
    config.write_text('{"n_segments": 20}')
    shutil.copyfile(config, tmp_path / "config.json")
    assert load_model(path).config == classifier.config, "what merely lies beside a container does not count"
    model: Any = load_model(path, config=config)
    assert model.config == replace(classifier.config, n_segments=20)
    assert model.checkpoint.preprocessing["n_segments"] == 20
    assert model.checkpoint.preprocessing["window_seconds"] == 100


def test_training_that_nobody_states_is_told(generative: Any, golden_mvpformer: Path, tmp_path: Path) -> None:
    state = load_file(golden_mvpformer / "tiny_base.safetensors")
    state["seizure_embeddings"] += 1  # another file than the known random one
    path = tmp_path / "other.safetensors"
    save_file(state, path)
    facts = load_model(path, config=golden_mvpformer / "tiny_config.json").checkpoint
    assert not facts.random_weights
    assert any(note.startswith("Training not stated") for note in facts.notes)


def edit_header(source: Path, target: Path, **changes: str | None) -> None:
    """A copy of a container with other header entries; None removes one."""
    with safe_open(source, framework="pt") as file:
        metadata = file.metadata()
    metadata = {name: value for name, value in (metadata | changes).items() if value is not None}
    save_file(load_file(source), target, metadata=metadata)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "cerebroscope/2"}, r"has the format cerebroscope/2, not cerebroscope/1"),
        ({"family": "another"}, 'looks like a checkpoint of "another"'),
        ({"family": None}, "choose a checkpoint of MVPFormer"),
        ({"config": None}, 'no readable "config"'),
        ({"config": "[1, 2]"}, 'no readable "config"'),
        ({"config": '{"n_embd": 64}'}, "header does not describe an MVPFormer, missing fields"),
        ({"card": "{"}, 'no readable "card"'),
        ({"labels": "3"}, 'no readable "labels"'),
        ({"preprocessing": None}, 'no readable "preprocessing"'),
    ],
)
def test_a_bad_header_is_refused(changes: dict[str, Any], message: str, classifier: Any, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.safetensors", tmp_path / "bad.safetensors"
    save_container(classifier, good)
    edit_header(good, bad, **changes)
    with pytest.raises(CheckpointError, match=message):
        load_model(bad)


def test_a_container_that_does_not_fit_its_configuration_is_refused(classifier: Any, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.safetensors", tmp_path / "bad.safetensors"
    save_container(classifier, good)
    config = json.loads(safe_open(good, framework="pt").metadata()["config"])
    edit_header(good, bad, config=json.dumps(config | {"n_channels": 17}))
    with pytest.raises(CheckpointError, match=r"channel_embedding.weight has the shape \(16, 64\).*\(17, 64\)"):
        load_model(bad)


def test_another_family_is_named(classifier: Any, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.safetensors", tmp_path / "bad.safetensors"
    save_container(classifier, good)
    edit_header(good, bad, family="another")
    with pytest.raises(CheckpointError, match='a checkpoint of "another", which cannot be read here'):
        load_model(bad)


def test_a_head_of_another_family_is_refused(shared: Path, golden_mvpformer: Path) -> None:
    head = shared / "parity" / "neurduo" / "heads" / "tiny_heads.safetensors"
    with pytest.raises(CheckpointError, match=rf"this head is not for an MVPFormer \({head}\): choose a head"):
        load_model(golden_mvpformer / "tiny_base.pt", head=head)


def test_weights_of_no_known_family_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "resnet.pt"
    torch.save({"conv1.weight": torch.ones(3)}, path)
    with pytest.raises(CheckpointError, match=r"no family that this program knows, first conv1.weight"):
        load_model(path)


@pytest.mark.parametrize("fails", ["disk full", "no folder"])
def test_a_container_that_cannot_be_written_leaves_nothing(
    fails: str, generative: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.safetensors" if fails == "disk full" else tmp_path / "nowhere" / "model.safetensors"

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    if fails == "disk full":
        monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CheckpointError, match=r"cannot be written, No (space left|such file)"):
        save_container(generative, path)
    assert list(tmp_path.iterdir()) == []


def test_an_older_container_survives_a_failed_write(
    generative: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(b"the old one")

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CheckpointError):
        save_container(generative, path)
    assert path.read_bytes() == b"the old one"

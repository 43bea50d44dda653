"""Models asked for by name: the same weights for the same name, random said, and one line for a name that is none."""

from __future__ import annotations

import pytest
import torch

from models.checkpoint import save_container
from models.errors import CheckpointError
from models.random_checkpoints import SIZES, describe_any, is_random_name, load_any

TINY = [name for name, sizes in SIZES.items() if "tiny" in sizes]


@pytest.mark.parametrize("family", TINY)
def test_what_is_said_of_a_name_is_what_the_model_has(family):
    facts, model = describe_any(f"random:{family}:tiny:7"), load_any(f"random:{family}:tiny:7")
    assert facts["random_weights"] is True
    assert facts["n_params"] == sum(p.numel() for p in model.parameters())
    assert facts["labels"] == list(model.checkpoint.labels)
    assert (facts["family"], facts["size"]) == (model.family, "tiny")
    assert facts["card"] == {"trained": False, "seed": 7}


@pytest.mark.parametrize("size", [(family, size) for family, sizes in SIZES.items() for size in sizes], ids=":".join)
def test_every_size_can_be_described_without_its_weights(size):
    facts = describe_any("random:{}:{}".format(*size))
    assert facts["n_params"] > 100_000
    assert sum(facts["parameters"].values()) == facts["n_params"]
    assert facts["path"] == "random:{}:{}:0".format(*size)


@pytest.mark.parametrize("family", TINY)
def test_parts_are_counted_as_in_a_file_of_the_same_model(family, tmp_path):
    path = tmp_path / "model.safetensors"
    model = load_any(f"random:{family}:tiny:3")
    save_container(model, path)
    counted = {name: count for name, count in describe_any(str(path))["parameters"].items() if count}
    buffers = sum(buffer.numel() for buffer in model.buffers() if family == "prise-eeg")  # in the file, but not learned
    facts = describe_any(f"random:{family}:tiny:3")
    assert set(facts["parameters"]) == set(counted)
    assert sum(counted.values()) - sum(facts["parameters"].values()) == buffers


def test_a_file_is_described_as_it_is(tmp_path):
    path = tmp_path / "model.safetensors"
    save_container(load_any("random:axon:tiny:3"), path)
    facts = describe_any(str(path))
    assert facts["random_weights"] is True
    assert facts["path"] == str(path)
    assert len(facts["sha256"]) == 64


def test_a_seed_decides_the_weights():
    one, same, other = (load_any(f"random:axon:tiny:{seed}").state_dict() for seed in (3, 3, 4))
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert any(not torch.equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("random:elephant", "no family of models is called 'elephant'"),
        ("random:axon:huge", "axon has no size 'huge'"),
        ("random:axon:tiny:x", "the seed must be a whole number"),
    ],
)
def test_a_name_that_is_none_ends_in_one_line(name, words):
    assert is_random_name(name)
    with pytest.raises(CheckpointError, match=words):
        describe_any(name)

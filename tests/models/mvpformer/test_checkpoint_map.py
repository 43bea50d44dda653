"""Names, shapes and counts against the lists of the published sizes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from models.mvpformer.checkpoint_map import HEAD, UNUSED_BUFFERS, local_name, looks_like, unused_names, used_shapes
from models.mvpformer.config import PUBLISHED_SIZES
from models.mvpformer.model import MVPFormer

VARIANTS = {"base": {"task": "generation"}, "lora_classifier": {"task": "classification", "lora_rank": 8}}


@pytest.mark.parametrize("size", ["S", "M"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_names_shapes_and_counts_of_the_published_models(
    published_keys: dict[str, Any], size: str, variant: str
) -> None:
    keys, counts = published_keys[size][variant], published_keys[size][f"{variant}_counts"]
    config = replace(PUBLISHED_SIZES[size], **VARIANTS[variant])
    used, unused = used_shapes(config), unused_names(config)
    assert not set(used) & set(unused)
    assert {*used, *unused} == set(keys)
    assert len(keys) == counts["entries"]
    assert used == {name: tuple(keys[name]["shape"]) for name in used}
    assert {name for name in unused if name.endswith(UNUSED_BUFFERS)} == {
        name for name, entry in keys.items() if entry["kind"] == "buffer"
    }

    with torch.device("meta"):
        model = MVPFormer(config)
    state = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    assert state == {local_name(name): shape for name, shape in used.items()}
    n_params = {name: parameter.numel() for name, parameter in model.named_parameters()}
    assert sum(n_params.values()) == counts["parameters_used_in_forward"]
    idle = sum(torch.Size(keys[name]["shape"]).numel() for name in unused if keys[name]["kind"] == "parameter")
    assert sum(n_params.values()) + idle == counts["parameters"]
    assert sum(count for name, count in n_params.items() if "lora" in name) == counts["lora_parameters"]
    assert n_params["head.weight"] == counts["head_parameters"]


@pytest.mark.parametrize("size", ["S", "M"])
def test_a_head_file_holds_the_lora_matrices_and_the_head(published_keys: dict[str, Any], size: str) -> None:
    config = replace(PUBLISHED_SIZES[size], **VARIANTS["lora_classifier"])
    expected = {name for name in used_shapes(config) if "lora" in name or name == HEAD}
    assert expected == set(published_keys[size]["head_file_keys"])


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["mvpformer.ln_f.weight", "anything"], True),
        (["mvpformer.h.0.attn.q_attn.lora_A"], True),
        ([HEAD], True),
        ([HEAD, "class_loss.weight"], True),
        ([HEAD, "encoder.blocks.0.attn.axis_gate.mlp.0.bias"], False),
        (["student.fast_backbone.stack.blocks.0.D"], False),
        ([], False),
    ],
)
def test_what_looks_like_an_mvpformer(names: list[str], expected: bool) -> None:
    assert looks_like(names) is expected

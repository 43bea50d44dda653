"""Sizes: what is refused, and the names of the published ones."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, asdict, replace
from typing import Any

import pytest

from models.mvpformer.config import MVPFORMER_M, MVPFORMER_S, MVPFormerConfig, size_name

SIZES = {"n_embd": 64, "n_layer": 3, "n_head": 4, "n_head_kv": 2, "n_inner": 96}


def test_published_sizes() -> None:
    assert (MVPFORMER_S.head_dim, MVPFORMER_S.kv_width, MVPFORMER_S.n_segments) == (64, 256, 25)
    assert (MVPFORMER_M.head_dim, MVPFORMER_M.kv_width, MVPFORMER_M.segment_seconds) == (128, 1024, 5.0)


def test_a_dictionary_and_back() -> None:
    config = MVPFormerConfig(**SIZES, task="classification", n_segments=14)
    assert MVPFormerConfig.from_dict(asdict(config)) == config
    assert config.head_outputs == 2
    assert replace(config, task="generation").head_outputs == 64
    with pytest.raises(FrozenInstanceError):
        config.n_segments = 3  # type: ignore[misc]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_heads": 4}, "unknown fields n_heads"),
        ({"n_layer": 0}, "n_layer"),
        ({"n_layer": 2.0}, "n_layer"),
        ({"n_segments": 111}, "n_segments"),
        ({"n_segments": True}, "n_segments"),
        ({"n_head": 3}, "multiple"),
        ({"n_head_kv": 3}, "multiple"),
        ({"lora_rank": -1}, "lora_rank"),
        ({"lora_alpha": 0}, "lora_alpha"),
        ({"dropout": 1.0}, "dropout"),
        ({"task": "regression"}, "task"),
        ({"size_input": 13}, "size_input"),
        ({"layer_norm_epsilon": float("nan")}, "layer_norm_epsilon"),
    ],
)
def test_sizes_no_model_can_have_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MVPFormerConfig.from_dict(SIZES | changes)


def test_missing_sizes_are_named() -> None:
    with pytest.raises(ValueError, match="n_embd, n_inner"):
        MVPFormerConfig.from_dict({"n_layer": 3, "n_head": 4, "n_head_kv": 2})


@pytest.mark.parametrize(
    ("config", "name"),
    [
        (MVPFORMER_S, "S"),
        (replace(MVPFORMER_M, task="classification", lora_rank=8, n_segments=100), "M"),
        (replace(MVPFORMER_S, n_inner=1729), "other"),
        (MVPFormerConfig(**SIZES), "tiny"),
    ],
)
def test_size_name(config: MVPFormerConfig, name: str) -> None:
    assert size_name(config) == name

"""Sizes from shapes and from the JSON files that come with checkpoints."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from models.mvpformer import published_config
from models.mvpformer.checkpoint_map import used_shapes
from models.mvpformer.config import MVPFORMER_M, MVPFORMER_S, MVPFormerConfig


@pytest.fixture
def nested(golden_mvpformer: Path) -> dict[str, Any]:
    return json.loads((golden_mvpformer / "tiny_config.json").read_text())


def test_the_nested_form(nested: dict[str, Any]) -> None:
    config = published_config.read(nested, None)
    assert config == MVPFormerConfig(
        n_embd=64,
        n_layer=3,
        n_head=4,
        n_head_kv=2,
        n_inner=96,
        n_positions=32,
        n_channels=16,
        n_segments=14,
        lora_rank=8,
    )
    assert published_config.states_window(nested)


def test_a_flat_file_may_hold_only_what_differs() -> None:
    assert published_config.read({"n_segments": 100}, MVPFORMER_S) == replace(MVPFORMER_S, n_segments=100)
    assert published_config.states_window({"n_segments": 100})
    assert not published_config.states_window({"n_embd": 64})


@pytest.mark.parametrize("config", [MVPFORMER_S, MVPFORMER_M])
def test_published_sizes_are_recognised_by_their_shapes(config: MVPFormerConfig) -> None:
    for task in ("generation", "classification"):
        assert published_config.recognise(used_shapes(replace(config, task=task))) == config
    shapes = used_shapes(replace(config, n_layer=config.n_layer - 1))
    assert published_config.recognise(shapes) is None
    assert published_config.recognise({}) is None


def put(section: str, name: str, value: Any) -> Callable[[dict[str, Any]], None]:
    return lambda values: values[section].__setitem__(name, value) if section else values.__setitem__(name, value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("base", "activation_function", "gelu"), "base.activation_function is 'gelu', only 'silu'"),
        (put("base", "global_att", False), "global_att"),
        (put("encoder", "mode", "periodization"), "encoder.mode"),
        (put("encoder", "levels", 7), "encoder.levels is 7, but the other fields make it 8"),
        (put("encoder", "coefficients", 2560), "2610"),
        (put("classifier", "lora_scaling", 16), "lora_scaling is 16"),
        (put("signal", "unit", "volt"), "signal.unit"),
        (put("signal", "segments", 33), "n_segments"),
        (put("base", "n_heads", 4), "unknown field base.n_heads"),
        (put("", "model_type", "gpt2"), "unknown field model_type"),
        (put("", "encoder", 3), "encoder must be a table"),
        (lambda values: values["base"].pop("n_inner"), "n_inner"),
    ],
)
def test_what_is_not_understood_is_refused(
    nested: dict[str, Any], change: Callable[[dict[str, Any]], Any], message: str
) -> None:
    change(nested)
    with pytest.raises(ValueError, match=message):
        published_config.read(nested, None)

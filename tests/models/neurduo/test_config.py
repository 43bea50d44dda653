"""Sizes: the published ones to the last tensor, and what cannot be a size."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import torch

from models.neurduo import checkpoint_map
from models.neurduo.config import (
    PUBLISHED_SIZES,
    SMALL,
    ContextConfig,
    HeadConfig,
    NeurDuoConfig,
    TokenizerConfig,
    size_name,
)
from models.neurduo.heads import ContextHead
from models.neurduo.model import NeurDuo
from models.neurduo.published_config import read_head, recognise_head

BACKBONES = {"Small": 4_703_554, "Base": 24_313_122, "Large": 67_830_946}
PREDICTORS = {"Small": 642_176, "Base": 1_371_168, "Large": 2_133_856}
HEAD = HeadConfig(("T7", "P8"), 60, 2, 100)


@pytest.mark.parametrize("name", PUBLISHED_SIZES)
def test_names_shapes_and_counts_are_the_published_ones(name: str, neurduo_parity: Path) -> None:
    keys = json.loads((neurduo_parity / "keys" / f"{name.lower()}_keys.json").read_text())
    config = PUBLISHED_SIZES[name]
    assert NeurDuoConfig.from_published(keys["config"]) == config
    expected = {key: tuple(entry["shape"]) for key, entry in keys["tensors"].items()}
    assert list(checkpoint_map.shapes(config).items()) == list(expected.items())
    with torch.device("meta"):
        model = NeurDuo(config)
    mine = {key: tuple(tensor.shape) for key, tensor in model.state_dict().items()}
    assert mine == {checkpoint_map.local_name(key): shape for key, shape in expected.items()}
    assert model.predictor is not None
    predictor = sum(parameter.numel() for parameter in model.predictor.parameters())
    total = sum(parameter.numel() for parameter in model.parameters())
    assert (predictor, total - predictor) == (PREDICTORS[name], BACKBONES[name])
    assert size_name(config) == name


@pytest.mark.parametrize("task", ["chbmit", "faced"])
def test_fine_tuned_models_have_the_published_tensors(task: str, neurduo_parity: Path) -> None:
    keys = json.loads((neurduo_parity / "keys" / f"finetune_{task}_small_keys.json").read_text())
    shapes = {key: tuple(entry["shape"]) for key, entry in keys["tensors"].items()}
    prefix = "st_head." if task == "chbmit" else "classifier."
    head = {key.removeprefix(prefix): v for key, v in shapes.items() if key.startswith((prefix, "context."))}
    channels = [f"C{i}" for i in range(15 if task == "chbmit" else 30)]
    config = read_head({"channels": channels}, head, 0.5)
    assert config is not None
    assert (config.n_tokens, config.d_token) == (keys["n_tokens"], keys["d_token"])
    made = checkpoint_map.head_shapes(448, config)
    assert {key.removeprefix("st_head."): shape for key, shape in made.items()} == head
    assert sum(checkpoint_map.size(shape) for shape in made.values()) == keys["head"]
    context = sum(checkpoint_map.size(shape) for key, shape in made.items() if key.startswith("context."))
    assert context == keys["context"]
    known = recognise_head(head)
    assert (known is None) == (task == "faced")
    if known:
        assert known[0].channels[:3] == ("FP1", "F7", "T7")
        assert (known[0].unit_steps, known[0].context_units, known[0].normalisation) == (60, 20, "sequence")


@pytest.mark.parametrize(("outputs", "count"), [(2, 1_753_090), (5, 1_753_861)])
def test_the_context_head_has_the_published_size(outputs: int, count: int) -> None:
    head = ContextHead(256, outputs, ContextConfig())
    assert sum(parameter.numel() for parameter in head.parameters()) == count


@pytest.mark.parametrize("kind", ["real", "tiny"])
def test_tokenizer_tensors(kind: str, neurduo_parity: Path) -> None:
    folder = neurduo_parity / "tokenizer"
    config = TokenizerConfig.from_published(json.loads((folder / f"{kind}_config.json").read_text()))
    keys = json.loads((folder / f"{kind}_keys.json").read_text())
    shapes = checkpoint_map.tokenizer_shapes(config)
    assert list(shapes.items()) == [(key, tuple(entry["shape"])) for key, entry in keys["tensors"].items()]
    learned = sum(checkpoint_map.size(shape) for key, shape in shapes.items() if not key.startswith("vq."))
    assert learned == keys["parameters"]


@pytest.mark.parametrize("config", [SMALL, replace(SMALL, head=HEAD, has_predictor=False)])
def test_a_configuration_survives_json(config: NeurDuoConfig) -> None:
    assert NeurDuoConfig.from_dict(json.loads(json.dumps(asdict(config)))) == config


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"fast_dim": 0}, "fast_dim must be a whole number of at least 1"),
        ({"channel_attn_heads": 3}, "fast_dim must be a multiple"),
        ({"patch_kernel_sizes": (3, 4)}, "must be odd"),
        ({"patch_kernel_sizes": ()}, "patch_kernel_sizes must be a whole number"),
        ({"channel_attn_every": -1}, "channel_attn_every must be a whole number of at least 0"),
        ({"sampling_rate_hz": 0.0}, "sampling_rate_hz must be above 0"),
    ],
)
def test_sizes_that_no_model_can_have(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        replace(SMALL, **changes)


def test_tables_that_describe_no_model() -> None:
    table = asdict(SMALL)
    with pytest.raises(ValueError, match="unknown fields colour"):
        NeurDuoConfig.from_dict(table | {"colour": 1})
    del table["slow_dim"]
    with pytest.raises(ValueError, match="missing fields slow_dim"):
        NeurDuoConfig.from_dict(table)
    with pytest.raises(ValueError, match="chunk_stride_samples must be 128"):
        NeurDuoConfig.from_published(asdict(SMALL) | {"chunk_stride_samples": 32})
    with pytest.raises(ValueError, match="name each channel of the head once"):
        HeadConfig(("T7", "T7"), 60, 2, 100)

"""Counts of parameters and tokens as published (spec section 1), and what a configuration refuses."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from models.axon.config import AXON, DENSE, DENSE_L, VARIANTS, AxonConfig, size_name
from models.axon.model import Axon
from models.axon.pretraining import AxonPretraining


def _count(kind: type, config: AxonConfig) -> int:
    with torch.device("meta"):
        return sum(parameter.numel() for parameter in kind(config).parameters())


@pytest.mark.parametrize(
    ("config", "encoder", "total"),
    [
        (AXON, 118_563_928, 141_874_664),
        (DENSE, None, 115_860_368),
        (DENSE_L, None, 142_528_072),
        (AxonConfig(variant="with-global"), None, 164_991_230),
    ],
)
def test_parameters_are_as_published(config: AxonConfig, encoder: int | None, total: int) -> None:
    assert _count(AxonPretraining, config) == total
    if encoder is not None:
        assert _count(Axon, config) == encoder


@pytest.mark.parametrize("d", [64, 512])
def test_both_formulas_of_the_specification_hold_at_other_widths(d: int) -> None:
    config = AxonConfig(embed_dim=d, num_heads=8, gate_reduction=4)
    h = d // 4
    gates = 2 * (d * h + h + 2 * h + 2)
    encoder = 22 * (8 * d**2 + 8 * d + gates + 12 * d**2 + 9 * d + 2 * d) + 200 * d + 6 * d + d
    assert _count(Axon, config) == encoder
    x = 4 * (4 * d**2 + 4 * d + 12 * d**2 + 9 * d + 2 * d) + 22 * d**2 + d
    x += (d**2 + d + 200 * d + 200) + (200 * d + 200) + 3 * d + (d**2 + d) + (3 * d + d + 2 * d)
    assert _count(AxonPretraining, config) == encoder + x


def test_a_block_has_the_parameters_of_the_table() -> None:
    with torch.device("meta"):
        block = Axon(replace(AXON, depth=1)).encoder.blocks[0]
    parts = {
        "attention": ("attn.temporal", "attn.spatial"),
        "gates": ("attn.axis_gate", "attn.scale_gate"),
        "ffn": ("ffn",),
        "norms": ("norm",),
    }
    counts = {
        part: sum(p.numel() for name, p in block.named_parameters() if name.startswith(starts))
        for part, starts in parts.items()
    }
    assert counts == {"attention": 2_101_248, "gates": 131_844, "ffn": 3_150_336, "norms": 1_024}
    assert sum(p.numel() for p in block.parameters()) == 5_384_452


@pytest.mark.parametrize(("seconds", "patches"), [(4, 4), (10, 11), (30, 33), (0.9, 0), (1, 1)])
def test_patches_of_a_window(seconds: float, patches: int) -> None:
    assert AXON.n_patches(round(200 * seconds)) == patches


def test_trailing_samples_that_fill_no_patch_are_told() -> None:
    assert AXON.samples_used(2100) == 2000
    assert AXON.samples_used(199) == 0


def test_what_makes_no_model_is_refused_by_name() -> None:
    for values, word in (
        ({"embed_dim": 30, "num_heads": 8}, "embed_dim"),
        ({"variant": "new"}, "variant"),
        ({"depth": 0}, "depth"),
        ({"dropout": 1.0}, "dropout"),
        ({"colour": "blue"}, "colour"),
        ({"n_outputs": -1}, "n_outputs"),
    ):
        with pytest.raises(ValueError, match=word):
            AxonConfig.from_dict(values)


def test_the_window_of_the_paper_is_five_patches_in_all() -> None:
    assert (AXON.radius, AxonConfig(window="span").radius) == (5, 2)


def test_sizes_have_names() -> None:
    assert size_name(replace(AXON, n_outputs=2)) == "published"
    assert size_name(AxonConfig(embed_dim=64)) == "tiny"
    assert size_name(DENSE) == "other"
    assert len(set(VARIANTS)) == 10

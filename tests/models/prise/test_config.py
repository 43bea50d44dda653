"""Counts of parameters as published, and the formula (spec sections 1 and 11)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from models.prise.config import PRISE_B, VARIANTS, PriseConfig, size_name
from models.prise.electrodes import ALIASES, ELECTRODES, N_DYNAMIC, N_STATIC, REGIONS, channel_indices
from models.prise.model import Prise


def _count(config: PriseConfig) -> int:
    with torch.device("meta"):
        return sum(parameter.numel() for parameter in Prise(config).parameters())


def _formula(c: PriseConfig) -> int:
    d, f, dt = c.embed_dim, c.expert_dim, c.time_dim
    front = sum(64 * q + 64 + 128 + 4096 * q + 64 + 128 for q in (7, 15, 31))
    front += 6144 * dt + dt + 2 * dt + dt**2 + dt + 129 * 128 + 128
    blocks = c.n_blocks * (4 * d**2 + 27 * d * f + 8 * d + 2 * d)
    rest = 90 * d + 42 * d + 90 * 18 + 24 + d + 2 * d + 256 * d + 256 + 129 * d + 129
    return blocks + (c.n_tokenizer + c.n_decoder) * d + front + rest


@pytest.mark.parametrize(
    ("name", "total"),
    [("XS", 9_401_005), ("S", 27_045_421), ("B", 41_055_405), ("L", 78_875_053), ("XL", 125_355_181)],
)
def test_variants_have_the_parameters_of_the_specification(name: str, total: int) -> None:
    assert _count(VARIANTS[name]) == _formula(VARIANTS[name]) == total
    assert size_name(VARIANTS[name]) == name


def test_activated_parameters_front_end_and_head() -> None:
    assert _count(PRISE_B) - PRISE_B.n_activated_savings == 18_052_269
    assert _count(replace(PRISE_B, n_outputs=4)) == 43_811_121
    with torch.device("meta"):
        assert sum(p.numel() for p in Prise(PRISE_B).front_end.parameters()) == 1_877_696
    assert PRISE_B.n_blocks == 12
    assert sum(PRISE_B.n_shared) == 6


def test_the_selector_is_added_in_fine_tuning() -> None:
    assert _count(replace(PRISE_B, has_selector=True)) - _count(PRISE_B) == 384 * 24 + 24


def test_electrodes_and_groups_are_those_of_the_specification() -> None:
    assert len(ELECTRODES) == len(set(ELECTRODES)) == 90
    assert (N_STATIC, N_DYNAMIC) == (18, 24)
    assert set().union(*REGIONS.values()) == set(ELECTRODES)
    assert all(new in ELECTRODES for new in ALIASES.values())
    assert channel_indices(["fp1", "T3", "M2"]) == [ELECTRODES.index(name) for name in ("FP1", "T7", "A2")]
    with pytest.raises(ValueError, match="no electrode ECG"):
        channel_indices(["Cz", "ECG"])
    with pytest.raises(ValueError, match="same electrode: T3, T7"):
        channel_indices(["T3", "T7"])


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"embed_dim": 100}, "multiple"),
        ({"n_shared": (1,)}, "n_shared needs 12"),
        ({"n_shared": (8,) + (0,) * 11}, "from 0 to 7"),
        ({"ffn": "wide"}, "ffn"),
        ({"n_group": 3}, "n_group"),
        ({"beta": -1.0}, "beta"),
        ({"colour": 1}, "colour"),
        ({"n_selected": 25}, "n_selected"),
    ],
)
def test_what_makes_no_model_is_refused(changes: dict[str, Any], word: str) -> None:
    with pytest.raises(ValueError, match=word):
        PriseConfig.from_dict(changes)

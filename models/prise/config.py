"""Sizes and choices of a PRiSE-EEG (spec sections 1, 6, 7 and 11)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from models.prise.electrodes import N_DYNAMIC

N_POOL = 8
REFERENCE_PROFILE = (2, 1, 1, 1, 1)  # extra shared experts of the first blocks, none in the rest (our definition)
_COUNTS = ("embed_dim", "expert_dim", "n_tokenizer", "n_group", "n_temporal", "n_decoder", "num_heads", "n_kv_head")
_MORE_COUNTS = ("top_k", "frequency_dim", "conv_dim", "n_selected", "n_patches", "patch_size")


@dataclass(frozen=True)
class PriseConfig:
    """Everything that decides the shape and the arithmetic of one model.

    `n_shared` is how many experts of each block's pool of 8 are shared, block by block in the order tokenizer,
    temporal and group in turn, decoder. `ffn` "dense" is the pilot, whose blocks have one feed-forward of
    `dense_dim`. `n_patches` is the number of seconds the head was made for; `n_outputs` is 0 without a head.
    `beta` is the strength of the static groups. The head reads all group tokens (paper), or with `pool` "channel" the
    decoder's tokens of each channel alone, whose scores a smooth maximum of `pool_sharpness` joins.
    """

    embed_dim: int = 384
    expert_dim: int = 256
    n_tokenizer: int = 2
    n_group: int = 4
    n_temporal: int = 4
    n_decoder: int = 2
    num_heads: int = 8
    n_kv_head: int = 8
    top_k: int = 1
    n_shared: tuple[int, ...] = (*REFERENCE_PROFILE, 0, 0, 0, 0, 0, 0, 0)
    ffn: Literal["moe", "dense"] = "moe"
    dense_dim: int = 1024
    frequency_dim: int = 128
    conv_dim: int = 64
    dropout: float = 0.1
    drop_path: float = 0.1
    rope_theta: float = 1e5
    beta: float = 2.0
    has_selector: bool = False
    n_selected: int = 12
    n_outputs: int = 0
    n_patches: int = 10
    patch_size: int = 256
    sampling_rate_hz: float = 256.0
    lora_rank: int = 0
    lora_alpha: float = 16.0
    pool: Literal["groups", "channel"] = "groups"
    pool_sharpness: float = 4.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_shared", tuple(self.n_shared))
        for name in (*_COUNTS, *_MORE_COUNTS, "dense_dim", "n_outputs", "lora_rank"):
            value, least = getattr(self, name), 0 if name in ("n_outputs", "lora_rank") else 1
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise ValueError(f"{name} must be a whole number of at least {least}, not {value!r}")
        if self.n_group != self.n_temporal:
            raise ValueError("n_group and n_temporal must be equal: the blocks take turns")
        if self.embed_dim % self.num_heads or self.num_heads % self.n_kv_head:
            raise ValueError("embed_dim must be a multiple of num_heads, and num_heads of n_kv_head")
        if self.embed_dim // self.num_heads % 2:
            raise ValueError("the width of a head must be even")
        if self.embed_dim <= self.frequency_dim:
            raise ValueError("embed_dim must be above frequency_dim")
        if self.top_k > N_POOL or self.n_selected > N_DYNAMIC:
            raise ValueError(f"top_k is at most {N_POOL} and n_selected at most {N_DYNAMIC}")
        if len(self.n_shared) != self.n_blocks or not all(0 <= s <= N_POOL - self.top_k for s in self.n_shared):
            raise ValueError(f"n_shared needs {self.n_blocks} numbers from 0 to {N_POOL - self.top_k}")
        if self.ffn not in ("moe", "dense"):
            raise ValueError(f"ffn must be moe or dense, not {self.ffn!r}")
        if self.pool not in ("groups", "channel"):
            raise ValueError(f"pool must be groups or channel, not {self.pool!r}")
        if not isinstance(self.pool_sharpness, int | float) or not self.pool_sharpness > 0:
            raise ValueError(f"pool_sharpness must be a number above 0, not {self.pool_sharpness!r}")
        if not self.beta >= 0:
            raise ValueError(f"beta must be at least 0, not {self.beta!r}")

    @property
    def n_blocks(self) -> int:
        """Blocks in all."""
        return self.n_tokenizer + self.n_group + self.n_temporal + self.n_decoder

    @property
    def time_dim(self) -> int:
        """Features from the waveform."""
        return self.embed_dim - self.frequency_dim

    @property
    def n_activated_savings(self) -> int:
        """Parameters that a token does not meet: the pool's experts that are neither shared nor chosen for it."""
        if self.ffn == "dense":
            return 0
        return sum(N_POOL - s - self.top_k for s in self.n_shared) * 3 * self.embed_dim * self.expert_dim

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> PriseConfig:
        """Build from field names and values; a name that is not a field is a ValueError."""
        unknown = sorted(set(values) - {field.name for field in fields(cls)})
        if unknown:
            raise ValueError(f"unknown fields {', '.join(unknown)}")
        return cls(**values)

    def with_allocation(self, n_shared: Sequence[int]) -> PriseConfig:
        """The same model with other numbers of shared experts."""
        return replace(self, n_shared=tuple(n_shared))


def reference_profile(n_blocks: int) -> tuple[int, ...]:
    """Extra shared experts by block where no pilot was run (our definition)."""
    return (*REFERENCE_PROFILE, *(0,) * n_blocks)[:n_blocks]


def _variant(width: int, expert: int, tokenizer: int, group: int, decoder: int) -> PriseConfig:
    blocks = tokenizer + 2 * group + decoder
    return PriseConfig(width, expert, tokenizer, group, group, decoder, n_shared=reference_profile(blocks))


VARIANTS: Mapping[str, PriseConfig] = {
    "XS": _variant(256, 160, 1, 2, 1),
    "S": _variant(320, 320, 1, 3, 1),
    "B": _variant(384, 256, 2, 4, 2),
    "L": _variant(448, 384, 2, 5, 2),
    "XL": _variant(640, 256, 2, 8, 2),
}
PRISE_B = VARIANTS["B"]
TINY_WIDTH = 160
_FREE = (
    "n_shared",
    "has_selector",
    "n_outputs",
    "n_patches",
    "beta",
    "lora_rank",
    "lora_alpha",
    "dropout",
    "drop_path",
    "pool",
    "pool_sharpness",
)


def size_name(config: PriseConfig) -> str:
    """The letter of a variant, "tiny" for a width of at most 160, otherwise "other"."""
    fixed = {field.name for field in fields(PriseConfig)} - set(_FREE)
    for name, variant in VARIANTS.items():
        if all(getattr(variant, field) == getattr(config, field) for field in fixed):
            return name
    return "tiny" if config.embed_dim <= TINY_WIDTH else "other"

"""Sizes of an MVPFormer (paper appendix B; where paper and published code differ, the code's values)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

Task = Literal["generation", "classification"]

REQUIRED_FIELDS = ("n_embd", "n_layer", "n_head", "n_head_kv", "n_inner")


def _check_sizes(config: MVPFormerConfig) -> None:
    """Refuse sizes that no model can have, as a ValueError that names the field."""
    counts = (*REQUIRED_FIELDS, "n_positions", "n_channels", "size_input", "n_segments", "n_classes", "num_negatives")
    for name in counts:
        value = getattr(config, name)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ValueError(f"{name} must be a whole number of at least 1, not {value!r}")
    for name in ("window_segments", "lora_rank"):
        value = getattr(config, name)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise ValueError(f"{name} must be a whole number of at least 0, not {value!r}")
    for name in ("layer_norm_epsilon", "sampling_rate_hz", "lora_alpha", "temperature"):
        value = getattr(config, name)
        if not isinstance(value, int | float) or isinstance(value, bool) or not value > 0:
            raise ValueError(f"{name} must be a number above 0, not {value!r}")
    if not isinstance(config.dropout, int | float) or not 0 <= config.dropout < 1:
        raise ValueError(f"dropout must be at least 0 and below 1, not {config.dropout!r}")
    if config.task not in ("generation", "classification"):
        raise ValueError(f"task must be generation or classification, not {config.task!r}")
    if config.n_embd % config.n_head or config.n_head % config.n_head_kv:
        raise ValueError("n_embd must be a multiple of n_head, and n_head of n_head_kv")
    if config.n_segments > config.n_positions:
        raise ValueError(
            f"n_segments ({config.n_segments}) is more than the {config.n_positions} rows of the time table"
        )
    if config.size_input < 2 * 7:
        raise ValueError(f"size_input must be at least 14 samples, not {config.size_input}")


@dataclass(frozen=True)
class MVPFormerConfig:
    """Everything that decides the shape and the arithmetic of one model; field names follow the published code.

    `n_segments` is the number of segments of the window the checkpoint was trained with: the rows of its time table
    count from the window's end, so a model answers as it was trained to only at this length. `size_input` is the
    length of a segment in samples. `lora_rank` is 0 where the model has no low-rank update.
    """

    n_embd: int
    n_layer: int
    n_head: int
    n_head_kv: int
    n_inner: int
    n_positions: int = 110
    n_channels: int = 128
    layer_norm_epsilon: float = 1e-5
    size_input: int = 2560
    sampling_rate_hz: float = 512.0
    n_segments: int = 25
    window_segments: int = 10
    task: Task = "generation"
    n_classes: int = 2
    lora_rank: int = 0
    lora_alpha: float = 16.0
    dropout: float = 0.1
    num_negatives: int = 30
    temperature: float = 0.1

    def __post_init__(self) -> None:
        _check_sizes(self)

    @property
    def head_dim(self) -> int:
        """Width of one head."""
        return self.n_embd // self.n_head

    @property
    def kv_width(self) -> int:
        """Width of all key (or value) heads together."""
        return self.n_head_kv * self.head_dim

    @property
    def head_outputs(self) -> int:
        """Outputs of the head: a predicted embedding, or one number per class."""
        return self.n_embd if self.task == "generation" else self.n_classes

    @property
    def segment_seconds(self) -> float:
        """Length of one segment in seconds."""
        return self.size_input / self.sampling_rate_hz

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> MVPFormerConfig:
        """Build from field names and values; a name that is not a field, or a missing one, is a ValueError."""
        known = {field.name for field in fields(cls)}
        unknown = sorted(set(values) - known)
        if unknown:
            raise ValueError(f"unknown fields {', '.join(unknown)}")
        missing = sorted(name for name in REQUIRED_FIELDS if name not in values)
        if missing:
            raise ValueError(f"missing fields {', '.join(missing)}")
        return cls(**values)


MVPFORMER_S = MVPFormerConfig(n_embd=768, n_layer=12, n_head=12, n_head_kv=4, n_inner=1728)
MVPFORMER_M = MVPFormerConfig(n_embd=2048, n_layer=24, n_head=16, n_head_kv=8, n_inner=5632)
PUBLISHED_SIZES: Mapping[str, MVPFormerConfig] = {"S": MVPFORMER_S, "M": MVPFORMER_M}
TINY_WIDTH = 128

# What may differ between two files of the same published size.
_FREE_FIELDS = (
    "n_segments",
    "task",
    "n_classes",
    "lora_rank",
    "lora_alpha",
    "dropout",
    "num_negatives",
    "temperature",
)


def size_name(config: MVPFormerConfig) -> str:
    """ "S" or "M" for the published sizes, "tiny" for an embedding of at most 128, otherwise "other"."""
    for name, published in PUBLISHED_SIZES.items():
        if replace(published, **{field: getattr(config, field) for field in _FREE_FIELDS}) == config:
            return name
    return "tiny" if config.n_embd <= TINY_WIDTH else "other"

"""Sizes and choices of an AXON (paper sections 3 and 4; where paper and public code differ, both, by name)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

Variant = Literal[
    "axon", "dense", "divided", "fixed", "token-gated", "with-global", "decay", "head-split", "three-scale", "knn"
]
VARIANTS: tuple[Variant, ...] = (
    *("axon", "dense", "divided", "fixed", "token-gated", "with-global", "decay", "head-split", "three-scale", "knn"),
)
_COUNTS = (
    *("patch_size", "patch_stride", "embed_dim", "depth", "num_heads", "ffn_expansion", "temporal_window"),
    *("gate_reduction", "head_hidden_dim", "n_neighbours"),
)
_CHOICES: Mapping[str, tuple[str, ...]] = {
    "variant": VARIANTS,
    "spatial_encoder": ("reference", "paper"),
    "position_unit": ("cm", "mm"),
    "scale_gate": ("token", "layer"),
    "window": ("radius", "span"),
    "pool": ("mean", "channel"),
}
_LEAST_GATE_WIDTH = 16
_SHORTEST_SCALE = 2  # patches, of the variant with three windows


@dataclass(frozen=True)
class AxonConfig:
    """Everything that decides the shape and the arithmetic of one model; the first names follow the public code.

    `variant` is one of the paper's Table 12. `temporal_window` is a radius in patches (public code) or, with `window`
    "span", all the patches of the window (paper). `spatial_encoder` and `position_unit` say how positions become
    features: the public code's small network on centimetres, or the paper's linear map on millimetres. `scale_gate`
    is one weight a token (public code) or one a layer (paper). `n_outputs` is 0 without a classification head, which
    is given the mean of all tokens (paper), or with `pool` "channel" each channel's own, whose scores a smooth maximum
    of `pool_sharpness` joins.
    """

    patch_size: int = 200
    patch_stride: int = 180
    embed_dim: int = 512
    depth: int = 22
    num_heads: int = 8
    ffn_expansion: int = 4
    temporal_window: int = 5
    gate_reduction: int = 4
    head_hidden_dim: int = 128
    n_outputs: int = 0
    dropout: float = 0.3
    sampling_rate_hz: float = 200.0
    variant: Variant = "axon"
    spatial_encoder: Literal["reference", "paper"] = "reference"
    position_unit: Literal["cm", "mm"] = "cm"
    scale_gate: Literal["token", "layer"] = "token"
    window: Literal["radius", "span"] = "radius"
    n_neighbours: int = 6
    pool: Literal["mean", "channel"] = "mean"
    pool_sharpness: float = 4.0

    def __post_init__(self) -> None:
        for name in (*_COUNTS, "n_outputs"):
            value, least = getattr(self, name), 0 if name == "n_outputs" else 1
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise ValueError(f"{name} must be a whole number of at least {least}, not {value!r}")
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                raise ValueError(f"{name} must be one of {', '.join(choices)}, not {getattr(self, name)!r}")
        if not isinstance(self.dropout, int | float) or not 0 <= self.dropout < 1:
            raise ValueError(f"dropout must be at least 0 and below 1, not {self.dropout!r}")
        if not isinstance(self.sampling_rate_hz, int | float) or not self.sampling_rate_hz > 0:
            raise ValueError(f"sampling_rate_hz must be a number above 0, not {self.sampling_rate_hz!r}")
        if not isinstance(self.pool_sharpness, int | float) or not self.pool_sharpness > 0:
            raise ValueError(f"pool_sharpness must be a number above 0, not {self.pool_sharpness!r}")
        if self.embed_dim % self.num_heads or self.embed_dim % 2:
            raise ValueError("embed_dim must be even and a multiple of num_heads")

    @property
    def radius(self) -> int:
        """How many patches away the short window reaches."""
        return self.temporal_window if self.window == "radius" else (self.temporal_window - 1) // 2

    @property
    def gate_width(self) -> int:
        """Hidden units of a gate."""
        return max(_LEAST_GATE_WIDTH, self.embed_dim // self.gate_reduction)

    @property
    def has_axis_gate(self) -> bool:
        """Whether each token (or, in "fixed", each layer) weighs time against space."""
        return self.variant not in ("dense", "divided")

    @property
    def scales(self) -> tuple[int | None, ...]:
        """Radius in patches of each temporal branch, None for one without a limit; empty without a temporal path."""
        if self.variant == "dense":
            return ()
        if self.variant in ("divided", "fixed", "token-gated", "head-split", "knn"):
            return (None,)
        if self.variant == "three-scale":
            return (_SHORTEST_SCALE, self.radius, None)
        return (self.radius, None)

    @property
    def n_paths(self) -> int:
        """Paths that the axis gate mixes: time, space and, in "with-global", all tokens."""
        return 3 if self.variant == "with-global" else 2

    def n_patches(self, n_times: int) -> int:
        """Patches in so many samples: floor((n - size) / stride) + 1, none where they do not fill one."""
        return max(0, (n_times - self.patch_size) // self.patch_stride + 1)

    def samples_used(self, n_times: int) -> int:
        """Samples that fall into a patch; the trailing ones that fill none are not used."""
        patches = self.n_patches(n_times)
        return self.patch_size + (patches - 1) * self.patch_stride if patches else 0

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> AxonConfig:
        """Build from field names and values; a name that is not a field is a ValueError."""
        unknown = sorted(set(values) - {field.name for field in fields(cls)})
        if unknown:
            raise ValueError(f"unknown fields {', '.join(unknown)}")
        return cls(**values)


AXON = AxonConfig()
DENSE = AxonConfig(variant="dense")
DENSE_L = AxonConfig(variant="dense", embed_dim=568)
TINY_WIDTH = 128


def size_name(config: AxonConfig) -> str:
    """ "published" for the sizes of the public checkpoint, "tiny" for a width of at most 128, otherwise "other"."""
    free = {
        name: getattr(config, name) for name in ("n_outputs", "head_hidden_dim", "dropout", "pool", "pool_sharpness")
    }
    if config == replace(AXON, **free):
        return "published"
    return "tiny" if config.embed_dim <= TINY_WIDTH else "other"

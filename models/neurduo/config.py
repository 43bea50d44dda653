"""Sizes of a NeurDuo-EEG and of its spectral tokenizer (paper table 1 and appendix A.1; field names of the code)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, replace
from typing import Any, Literal

Normalisation = Literal["sequence", "window"]
Pool = Literal["all", "channel"]

TINY_WIDTH = 128


def _check_count(name: str, value: Any, least: int = 1) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, not {value!r}")


def _check_fields(kind: type[Any], values: Mapping[str, Any]) -> None:
    """A name that is no field, or a field that has no value, is a ValueError."""
    known = {item.name for item in fields(kind)}
    if unknown := sorted(set(values) - known):
        raise ValueError(f"unknown fields {', '.join(unknown)}")
    required = {item.name for item in fields(kind) if item.default is MISSING}
    if missing := sorted(required - set(values)):
        raise ValueError(f"missing fields {', '.join(missing)}")


@dataclass(frozen=True)
class ContextConfig:
    """The causal head over consecutive units (paper appendix D.2.4): Mamba blocks of the readout's width."""

    n_layers: int = 2
    expand: int = 4
    d_state: int = 16
    d_conv: int = 4

    def __post_init__(self) -> None:
        for name in ("n_layers", "expand", "d_state", "d_conv"):
            _check_count(name, getattr(self, name))


@dataclass(frozen=True)
class HeadConfig:
    """A fine-tuned readout: which channels, in which order, over how many steps of 0.5 s, to how many outputs.

    `context` is None for a window task. `context_units` units go through the backbone as one sequence;
    `normalisation` says over what the input's mean and deviation were taken in fine-tuning: the whole "sequence", or
    each unit's own "window". With the `pool` "all" the readout lays all tokens of a unit side by side (paper); with
    "channel" it reads each channel alone, and a smooth maximum of `pool_sharpness` joins their scores (our definition).
    """

    channels: tuple[str, ...]
    unit_steps: int
    n_outputs: int
    d_token: int
    d_hidden: int = 256
    context: ContextConfig | None = None
    context_units: int = 1
    normalisation: Normalisation = "window"
    pool: Pool = "all"
    pool_sharpness: float = 4.0

    def __post_init__(self) -> None:
        for name in ("unit_steps", "n_outputs", "d_token", "d_hidden", "context_units"):
            _check_count(name, getattr(self, name))
        if not self.channels or len(set(self.channels)) != len(self.channels):
            raise ValueError("channels must name each channel of the head once")
        if self.normalisation not in ("sequence", "window"):
            raise ValueError(f"normalisation must be sequence or window, not {self.normalisation!r}")
        if self.pool not in ("all", "channel") or (self.pool == "channel" and self.context is not None):
            raise ValueError(f"pool must be all, or channel without a context, not {self.pool!r}")
        if not isinstance(self.pool_sharpness, int | float) or not self.pool_sharpness > 0:
            raise ValueError(f"pool_sharpness must be a number above 0, not {self.pool_sharpness!r}")

    @property
    def n_tokens(self) -> int:
        """Tokens of one unit that the readout takes: token channel * unit_steps + step, or those of one channel."""
        return self.unit_steps * (1 if self.pool == "channel" else len(self.channels))

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> HeadConfig:
        """Build from field names and values; a name that is no field, or a missing one, is a ValueError."""
        _check_fields(cls, values)
        context = values.get("context")
        if context is not None:
            _check_fields(ContextConfig, context)
            context = ContextConfig(**context)
        return cls(**{**values, "channels": tuple(values["channels"]), "context": context})


@dataclass(frozen=True)
class NeurDuoConfig:
    """Everything that decides the shape and the arithmetic of one model; no size has a default.

    `has_predictor` tells whether there is a next-code prediction head, `head` describes a fine-tuned one.
    """

    token_dim: int
    patch_hidden_dim: int
    patch_kernel_sizes: tuple[int, ...]
    metadata_hidden_dim: int
    max_reference_types: int
    fast_dim: int
    slow_dim: int
    fast_num_layers: int
    slow_num_layers: int
    fast_d_state: int
    slow_d_state: int
    fast_expand_factor: int
    slow_expand_factor: int
    fast_conv_kernel_size: int
    slow_conv_kernel_size: int
    channel_attn_every: int
    channel_attn_heads: int
    queue_size: int
    writer_window: int
    memory_bank_size: int
    write_every_n_steps: int
    codebook_size: int
    predictor_hidden_dim: int
    chunk_samples: int = 128
    coord_dim: int = 3
    sampling_rate_hz: float = 256.0
    has_predictor: bool = True
    head: HeadConfig | None = None

    def __post_init__(self) -> None:
        free = {"patch_kernel_sizes", "channel_attn_every", "sampling_rate_hz", "has_predictor", "head"}
        for item in fields(self):
            if item.name not in free:
                _check_count(item.name, getattr(self, item.name))
        _check_count("channel_attn_every", self.channel_attn_every, least=0)
        for size in self.patch_kernel_sizes or ("none",):
            _check_count("patch_kernel_sizes", size)
        if any(size % 2 == 0 for size in self.patch_kernel_sizes):
            raise ValueError(f"patch_kernel_sizes must be odd, not {self.patch_kernel_sizes}")
        if not self.sampling_rate_hz > 0:
            raise ValueError(f"sampling_rate_hz must be above 0, not {self.sampling_rate_hz!r}")
        if self.fast_dim % self.channel_attn_heads:
            raise ValueError("fast_dim must be a multiple of channel_attn_heads")

    @property
    def z_dim(self) -> int:
        """Width of the output: the fast state beside the slow half."""
        return self.fast_dim + self.slow_dim

    @property
    def step_seconds(self) -> float:
        """Length of one chunk."""
        return self.chunk_samples / self.sampling_rate_hz

    @property
    def write_seconds(self) -> float:
        """Time between two memory writes."""
        return self.step_seconds * self.write_every_n_steps

    @property
    def pooled_steps(self) -> int:
        """How many fast states a write pools at most."""
        return min(self.queue_size, self.writer_window)

    @property
    def n_channel_attention(self) -> int:
        """How many channel-attention blocks there are."""
        return self.fast_num_layers // self.channel_attn_every if self.channel_attn_every else 0

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> NeurDuoConfig:
        """Build from field names and values; a name that is no field, or a missing one, is a ValueError."""
        _check_fields(cls, values)
        head = values.get("head")
        kernels = tuple(values["patch_kernel_sizes"])
        return cls(**{**values, "patch_kernel_sizes": kernels, "head": HeadConfig.from_dict(head) if head else None})

    @classmethod
    def from_published(cls, values: Mapping[str, Any]) -> NeurDuoConfig:
        """Build from the `model` table of a published configuration, whose other names have no effect here.

        Overlapping chunks were never trained and are a ValueError.
        """
        known = {item.name for item in fields(cls)} - {"sampling_rate_hz", "has_predictor", "head"}
        config = cls.from_dict({name: value for name, value in values.items() if name in known})
        stride = values.get("chunk_stride_samples", config.chunk_samples)
        if stride != config.chunk_samples:
            raise ValueError(f"chunk_stride_samples must be {config.chunk_samples} as the chunk, not {stride!r}")
        return config


SMALL = NeurDuoConfig(
    token_dim=256,
    patch_hidden_dim=128,
    patch_kernel_sizes=(3, 7, 15),
    metadata_hidden_dim=64,
    max_reference_types=64,
    fast_dim=256,
    slow_dim=192,
    fast_num_layers=6,
    slow_num_layers=3,
    fast_d_state=16,
    slow_d_state=16,
    fast_expand_factor=2,
    slow_expand_factor=2,
    fast_conv_kernel_size=4,
    slow_conv_kernel_size=3,
    channel_attn_every=2,
    channel_attn_heads=4,
    queue_size=16,
    writer_window=8,
    memory_bank_size=8,
    write_every_n_steps=4,
    codebook_size=2048,
    predictor_hidden_dim=256,
)
BASE = replace(
    SMALL,
    token_dim=480,
    patch_hidden_dim=192,
    fast_dim=480,
    slow_dim=320,
    fast_num_layers=10,
    slow_num_layers=5,
    predictor_hidden_dim=480,
)
LARGE = replace(
    SMALL,
    token_dim=672,
    patch_hidden_dim=256,
    fast_dim=672,
    slow_dim=448,
    fast_num_layers=15,
    slow_num_layers=7,
    predictor_hidden_dim=672,
)
PUBLISHED_SIZES: Mapping[str, NeurDuoConfig] = {"Small": SMALL, "Base": BASE, "Large": LARGE}


def size_name(config: NeurDuoConfig) -> str:
    """ "Small", "Base" or "Large" for the published sizes, "tiny" for a token of at most 128, otherwise "other"."""
    backbone = replace(config, head=None, has_predictor=True)
    for name, published in PUBLISHED_SIZES.items():
        if backbone == published:
            return name
    return "tiny" if config.token_dim <= TINY_WIDTH else "other"


@dataclass(frozen=True)
class TokenizerConfig:
    """Sizes of a spectral tokenizer (paper section 3.1); the remaining fields decide its training only."""

    chunk_samples: int
    codebook_size: int
    code_dim: int
    enc_dim: int
    enc_layers: int
    dec_hidden_dim: int
    ema_decay: float = 0.99
    commitment_beta: float = 1.0
    codebook_eps: float = 1e-5
    dead_code_threshold: float = 1.0
    amp_weight: float = 1.0
    phase_weight: float = 1.0

    def __post_init__(self) -> None:
        for name in ("chunk_samples", "codebook_size", "code_dim", "enc_dim", "enc_layers", "dec_hidden_dim"):
            _check_count(name, getattr(self, name))

    @property
    def n_bins(self) -> int:
        """Bins of the one-sided spectrum of a chunk."""
        return self.chunk_samples // 2 + 1

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> TokenizerConfig:
        """Build from field names and values; a name that is no field, or a missing one, is a ValueError."""
        _check_fields(cls, values)
        return cls(**values)

    @classmethod
    def from_published(cls, values: Mapping[str, Any]) -> TokenizerConfig:
        """Build from a published configuration, whose other names have no effect here."""
        known = {item.name for item in fields(cls)}
        return cls.from_dict({name: value for name, value in values.items() if name in known})


TOKENIZER = TokenizerConfig(
    chunk_samples=128, codebook_size=2048, code_dim=64, enc_dim=128, enc_layers=2, dec_hidden_dim=128
)

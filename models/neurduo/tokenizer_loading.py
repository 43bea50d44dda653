"""How published files, or our container, make a spectral tokenizer; what `models.checkpoint` asks of this family."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from models.errors import CheckpointError
from models.neurduo.checkpoint_map import (
    TOKENIZER_PREFIXES,
    looks_like_tokenizer,
    size,
    tokenizer_shapes,
)
from models.neurduo.config import TOKENIZER, TokenizerConfig
from models.tensor_file import ConfigFile, TensorFile

if TYPE_CHECKING:
    import torch

WINDOW_FIELDS = ("window_seconds",)
looks_like = looks_like_tokenizer
_FLAG = "vq.initted"
_TRAINING = ("optimizer.", "scheduler.")


@dataclass(frozen=True)
class Resolution:
    """How a file makes a tokenizer: its configuration, and where each tensor comes from."""

    config: TokenizerConfig
    prefix: str
    take: Mapping[str, TensorFile]
    missing: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    n_params: int = 0
    n_params_used: int = 0
    parameters: Mapping[str, int] = field(default_factory=dict)
    published_size: bool = False
    details: Mapping[str, Any] = field(default_factory=dict)


def resolve(
    base: TensorFile, head: TensorFile | None, given: ConfigFile | None, stated: Mapping[str, Any] | None
) -> Resolution:
    """Decide how the file makes a tokenizer, or refuse it with a CheckpointError."""
    if head is not None:
        raise CheckpointError(f"a tokenizer takes no head ({head.path}): leave it out")
    prefix = next((p for p in TOKENIZER_PREFIXES if f"{p}input_proj.weight" in base.shapes), None)
    if prefix is None:
        raise CheckpointError(f"this tokenizer lacks input_proj.weight ({base.path}): choose a complete checkpoint")
    config = _find_config(base, given, stated)
    expected = tokenizer_shapes(config)
    _check(base, prefix, expected)
    take = {prefix + name: base for name in expected}
    idle = tuple(name for name in base.shapes if name not in take and not name.startswith(_TRAINING))
    learned = sum(size(shape) for name, shape in expected.items() if not name.startswith("vq."))
    buffers = sum(size(shape) for name, shape in expected.items() if name.startswith("vq."))
    return Resolution(
        config,
        prefix,
        take,
        unused=idle,
        n_params=learned,
        n_params_used=learned,
        parameters={"encoder and decoder": learned},
        published_size=size_name(config) == "published",
        details={"buffer_values": buffers},
    )


def weights(resolution: Resolution) -> dict[str, torch.Tensor]:
    """Name -> tensor, one for every parameter and buffer."""
    prefix = resolution.prefix
    state = {name.removeprefix(prefix): file.read_weights(name) for name, file in resolution.take.items()}
    state[_FLAG] = state[_FLAG] != 0
    return state


def published_state(state: Mapping[str, torch.Tensor], config: TokenizerConfig) -> dict[str, torch.Tensor]:
    """A tokenizer's state under the published names, for the container."""
    return {name: state[name] for name in tokenizer_shapes(config)}


def preprocessing(config: TokenizerConfig) -> dict[str, Any]:
    """The signal it was trained on, as the backbone."""
    from models.neurduo.loading import PRETRAINING_STEPS

    return {
        "sampling_rate": 256.0,
        "highpass": 0.5,
        "lowpass": 75.0,
        "order": 4,
        "notch": "mains",
        "reference": "none",
        "unit": "uV",
        "normalisation": "window",
        "chunk_seconds": config.chunk_samples / 256.0,
        "window_seconds": PRETRAINING_STEPS * config.chunk_samples / 256.0,
    }


def labels(_: TokenizerConfig) -> tuple[str, ...]:
    """A tokenizer tells no classes."""
    return ()


def size_name(config: TokenizerConfig) -> str:
    """ "published", "tiny" for an encoder narrower than that, otherwise "other"."""
    if tokenizer_shapes(config) == tokenizer_shapes(TOKENIZER):
        return "published"
    return "tiny" if config.enc_dim < TOKENIZER.enc_dim else "other"


def _find_config(base: TensorFile, given: ConfigFile | None, stated: Mapping[str, Any] | None) -> TokenizerConfig:
    """The sizes: of a file that was asked for, of the container's header, the file's own, or by shapes."""
    own = {name.removeprefix("config."): value for name, value in base.extras.items() if name.startswith("config.")}
    try:
        if given is not None and given.asked_for:
            return TokenizerConfig.from_published(given.values)
        if stated is not None:
            return TokenizerConfig.from_dict(stated)
        if own:
            return TokenizerConfig.from_published(own)
        return _from_shapes(base)
    except (ValueError, TypeError, KeyError) as error:
        raise CheckpointError(
            f"its configuration does not describe a tokenizer, {error} ({base.path}): give one with --config"
        ) from error


def _from_shapes(base: TensorFile) -> TokenizerConfig:
    """Every size of a tokenizer can be seen in its tensors; KeyError where one is missing."""
    prefix = next(p for p in TOKENIZER_PREFIXES if f"{p}input_proj.weight" in base.shapes)
    width, features = base.shapes[f"{prefix}input_proj.weight"]
    blocks = {name.removeprefix(prefix).split(".")[1] for name in base.shapes if "per_channel_blocks." in name}
    codes, code_dim = base.shapes[f"{prefix}vq.embedding"]
    hidden = base.shapes[f"{prefix}decoder.0.weight"][0]
    return TokenizerConfig(features - 2, codes, code_dim, width, len(blocks), hidden)


def _check(base: TensorFile, prefix: str, expected: Mapping[str, tuple[int, ...]]) -> None:
    """Refuse a missing name and the first tensor of another shape."""
    for name, shape in expected.items():
        own = prefix + name
        if own not in base.shapes:
            raise CheckpointError(f"this tokenizer lacks {own} ({base.path}): choose a complete checkpoint")
        if base.shapes[own] != shape:
            raise CheckpointError(
                f"{own} has the shape {base.shapes[own]}, but its configuration asks for {shape} ({base.path}): "
                "give the configuration that belongs to this file"
            )

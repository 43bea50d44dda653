"""How our container makes one PRiSE-EEG; what `models.checkpoint` asks of this family. Nothing was published."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from models.common.loading import Resolution, find_config, read_weights, resolve_names, shapes_of
from models.errors import CheckpointError
from models.prise.config import VARIANTS, PriseConfig, size_name
from models.tensor_file import ConfigFile, TensorFile

if TYPE_CHECKING:
    import torch

__all__ = ["labels", "looks_like", "preprocessing", "published_state", "resolve", "size_name", "weights"]

WINDOW_FIELDS = ("window_seconds",)
_TITLE = "a PRiSE-EEG"
_PARTS = {
    "front_end": "front end",
    "tokenizer": "tokenizer",
    "encoder": "encoder",
    "decoder": "decoder",
    "head": "head",
    "selector": "selector",
}


def looks_like(names: Iterable[str]) -> bool:
    """Whether these are the names of the tensors of a PRiSE-EEG."""
    names = set(names)
    return {"static_groups.delta", "dynamic_groups.gamma", "channel_embedding"} <= names


def resolve(
    base: TensorFile, head: TensorFile | None, given: ConfigFile | None, stated: Mapping[str, Any] | None
) -> Resolution:
    """Decide how a file makes one model, or refuse it with a CheckpointError."""
    if head is not None:
        raise CheckpointError(f"a PRiSE-EEG keeps its head in the same file ({head.path}): give the checkpoint alone")
    config = find_config(_TITLE, PriseConfig, base, given, stated)
    if config is None:
        raise CheckpointError(
            f"this PRiSE-EEG does not state its sizes ({base.path}): put its config.json beside it or give one "
            "with --config"
        )
    found = resolve_names(_TITLE, config, expected_shapes(config), part, base)
    details = {
        "n_params_activated": found.n_params_used - config.n_activated_savings,
        "shared_experts": list(config.n_shared),
    }
    return replace(found, published_size=size_name(config) in VARIANTS, details=details)


def weights(resolution: Resolution) -> dict[str, torch.Tensor]:
    """Name -> float32 tensor, one for every parameter of the model."""
    return read_weights(resolution)


def published_state(state: Mapping[str, torch.Tensor], config: PriseConfig) -> dict[str, torch.Tensor]:
    """A model's state by name, for the container."""
    return {name: state[name] for name in expected_shapes(config)}


def preprocessing(config: PriseConfig) -> dict[str, Any]:
    """The signal PRiSE-EEG was trained on (spec section 2)."""
    return {
        "sampling_rate": config.sampling_rate_hz,
        "highpass": 1.0,
        "lowpass": 100.0,
        "notch": [50.0, 60.0],
        "reference": "as recorded",
        "unit": "any",
        "normalisation": "z-score per channel and window",
        "window_seconds": float(config.n_patches),
        "stride_seconds": float(config.n_patches),
    }


def labels(config: PriseConfig) -> tuple[str, ...]:
    """Names of the classes; empty without a head."""
    if config.n_outputs == 2:
        return ("background", "seizure")
    return tuple(f"class {i}" for i in range(config.n_outputs))


def expected_shapes(config: PriseConfig) -> dict[str, tuple[int, ...]]:
    """Shape of every tensor of a model of this configuration, by name."""
    from models.prise.model import Prise

    return shapes_of(lambda: Prise(config))


def part(name: str) -> str:
    """Which line of the parameter table a name counts in."""
    first = name.split(".")[0]
    if ".ffn." in name:
        return "experts"
    return _PARTS.get(first.removesuffix("_norm"), "groups and embeddings")

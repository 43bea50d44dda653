"""How a published file, or our container, makes one AXON; what `models.checkpoint` asks of this family.

Names here are those of the public checkpoint, so that every name maps to itself and none is left over.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from models.axon.config import AxonConfig, size_name
from models.common.loading import Resolution, find_config, read_weights, resolve_names, shapes_of
from models.errors import CheckpointError
from models.tensor_file import ConfigFile, TensorFile

if TYPE_CHECKING:
    import torch

__all__ = ["labels", "looks_like", "preprocessing", "published_state", "resolve", "size_name", "weights"]

WINDOW_FIELDS: tuple[str, ...] = ()  # no size of the model depends on the window, so a container's own counts
WINDOW_SECONDS = 10.0
HEAD = "final_layer."
_TITLE = "an AXON"


def looks_like(names: Iterable[str]) -> bool:
    """Whether these are the names of the tensors of an AXON or of its head."""
    names = set(names)
    if names and all(map(_of_head, names)):
        return True
    return "encoder.patch_embed.weight" in names and any(name.endswith("attn.axis_gate.mlp.0.weight") for name in names)


def resolve(
    base: TensorFile, head: TensorFile | None, given: ConfigFile | None, stated: Mapping[str, Any] | None
) -> Resolution:
    """Decide how the files make one model, or refuse them with a CheckpointError.

    `head` is a file with the classification head alone (`final_layer.…`), `given` a configuration file, `stated` the
    configuration in a container's header.
    """
    if all(map(_of_head, base.shapes)):
        raise CheckpointError(
            f"this is a classification head without its encoder ({base.path}): "
            "give the encoder as the checkpoint and this file as its head"
        )
    if head is not None and not any(map(_of_head, head.shapes)):
        raise CheckpointError(f"this file holds no AXON head ({head.path}): choose one with {HEAD}0 and {HEAD}3")
    config = find_config(_TITLE, AxonConfig, base, given, stated)
    notes = () if config is not None else ("Sizes are those of the published checkpoint, found by its shapes.",)
    if config is None:
        config = _published(base)
    source = head or base
    outputs = source.shapes.get(f"{HEAD}3.weight", (0,))[0]
    hidden = source.shapes.get(f"{HEAD}0.weight", (config.head_hidden_dim,))[0]
    config = replace(config, n_outputs=outputs, head_hidden_dim=hidden)
    found = resolve_names(_TITLE, config, expected_shapes(config), part, base, head, _of_head)
    return replace(
        found, notes=notes, published_size=size_name(config) == "published", details={"variant": config.variant}
    )


def weights(resolution: Resolution) -> dict[str, torch.Tensor]:
    """Name -> float32 tensor, one for every parameter of the model."""
    return read_weights(resolution)


def published_state(state: Mapping[str, torch.Tensor], config: AxonConfig) -> dict[str, torch.Tensor]:
    """A model's state under the published names, for the container."""
    return {name: state[name] for name in expected_shapes(config)}


def preprocessing(config: AxonConfig) -> dict[str, Any]:
    """The signal AXON was trained on (paper, pretraining; spec section 2)."""
    return {
        "sampling_rate": config.sampling_rate_hz,
        "highpass": 0.5,
        "lowpass": 99.5,
        "notch": [50.0, 60.0],
        "reference": "as recorded",
        "unit": "any",
        "normalisation": "z-score per channel and window, clipped at 15 standard deviations",
        "window_seconds": WINDOW_SECONDS,
        "stride_seconds": WINDOW_SECONDS,
    }


def labels(config: AxonConfig) -> tuple[str, ...]:
    """Names of the classes; empty without a head."""
    if config.n_outputs == 2:
        return ("background", "seizure")
    return tuple(f"class {i}" for i in range(config.n_outputs))


def expected_shapes(config: AxonConfig) -> dict[str, tuple[int, ...]]:
    """Shape of every tensor of a model of this configuration, by name."""
    from models.axon.model import Axon

    return shapes_of(lambda: Axon(config))


def _published(base: TensorFile) -> AxonConfig:
    """The configuration of the published size, where the shapes are those."""
    config = AxonConfig()
    if base.shapes.get("encoder.patch_embed.weight") != (config.embed_dim, config.patch_size):
        raise CheckpointError(
            f"this AXON has not the published size and does not state its own ({base.path}): "
            "put its config.json beside it or give one with --config"
        )
    return config


def _of_head(name: str) -> bool:
    return name.startswith(HEAD)


def part(name: str) -> str:
    """Which line of the parameter table a name counts in."""
    if _of_head(name):
        return "head"
    if "_gate." in name:
        return "gates"
    if ".attn." in name:
        return "attention"
    if ".ffn." in name:
        return "feed-forward"
    return "norms" if "norm" in name else "embedding"

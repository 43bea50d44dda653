"""How a published file, or our container, makes one AXON; what `models.checkpoint` asks of this family.

Names here are those of the public checkpoint, so that every name maps to itself and none is left over.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from models.axon.config import AxonConfig, size_name
from models.errors import CheckpointError
from models.tensor_file import ConfigFile, TensorFile

if TYPE_CHECKING:
    import torch

__all__ = ["labels", "looks_like", "preprocessing", "published_state", "resolve", "size_name", "weights"]

WINDOW_FIELDS = ("window_seconds",)
WINDOW_SECONDS = 10.0
HEAD = "final_layer."
PARTS = ("embedding", "attention", "gates", "feed-forward", "norms", "head")
_LISTED = 5


@dataclass(frozen=True)
class Resolution:
    """How a file makes a model: its configuration, the file of each name, and what to tell."""

    config: AxonConfig
    take: Mapping[str, TensorFile]
    notes: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    n_params: int = 0
    n_params_used: int = 0
    parameters: Mapping[str, int] = field(default_factory=dict)
    published_size: bool = False
    details: Mapping[str, Any] = field(default_factory=dict)


def looks_like(names: Iterable[str]) -> bool:
    """Whether these are the names of the tensors of an AXON or of its head."""
    names = set(names)
    if names and all(name.startswith(HEAD) for name in names):
        return True  # a head alone
    return "encoder.patch_embed.weight" in names and any(name.endswith("attn.axis_gate.mlp.0.weight") for name in names)


def resolve(
    base: TensorFile, head: TensorFile | None, given: ConfigFile | None, stated: Mapping[str, Any] | None
) -> Resolution:
    """Decide how the files make one model, or refuse them with a CheckpointError.

    `head` is a file with the classification head alone (`final_layer.…`), `given` a configuration file, `stated` the
    configuration in a container's header.
    """
    if all(name.startswith(HEAD) for name in base.shapes):
        raise CheckpointError(
            f"this is a classification head without its encoder ({base.path}): "
            "give the encoder as the checkpoint and this file as its head"
        )
    config, notes = _find_config(base, given, stated)
    source = head or base
    outputs = source.shapes.get(f"{HEAD}3.weight", (0,))[0]
    hidden = source.shapes.get(f"{HEAD}0.weight", (config.head_hidden_dim,))[0]
    config = replace(config, n_outputs=outputs, head_hidden_dim=hidden)
    shapes = expected_shapes(config)
    if head is not None and not any(name.startswith(HEAD) for name in head.shapes):
        raise CheckpointError(f"this file holds no AXON head ({head.path}): choose one with {HEAD}0 and {HEAD}3")
    take = {name: head if head is not None and name.startswith(HEAD) else base for name in shapes}
    _check(take, shapes)
    strange = [name for name in base.shapes if name not in shapes]
    if strange:
        raise CheckpointError(
            f"this checkpoint has names that an AXON does not know, {_shown(strange)} ({base.path}): "
            "choose a file that holds an AXON and nothing else, or the configuration that belongs to it"
        )
    unused = tuple(name for file in (base, head) if file for name in file.shapes if take.get(name) is not file)
    counts = dict.fromkeys(PARTS, 0)
    for name, shape in shapes.items():
        counts[_part(name)] += math.prod(shape)
    used = sum(counts.values())
    total = used + sum(math.prod((head or base).shapes.get(name, (0,))) for name in unused)
    published = size_name(config) == "published"
    return Resolution(
        config, take, tuple(notes), (), unused, (), total, used, counts, published, {"variant": config.variant}
    )


def weights(resolution: Resolution) -> dict[str, torch.Tensor]:
    """Name -> float32 tensor, one for every parameter of the model."""
    return {name: file.read_weights(name) for name, file in resolution.take.items()}


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
    import torch

    from models.axon.model import Axon

    with torch.device("meta"):
        return {name: tuple(tensor.shape) for name, tensor in Axon(config).state_dict().items()}


def _find_config(
    base: TensorFile, given: ConfigFile | None, stated: Mapping[str, Any] | None
) -> tuple[AxonConfig, list[str]]:
    """The configuration that is stated, given, in the file's header, or what the shapes of the published size say."""
    for source, values in (("header", stated), ("file", given.values if given else None), ("header", _in_header(base))):
        if values is None:
            continue
        try:
            return AxonConfig.from_dict(values), []
        except (ValueError, TypeError) as error:
            where = given.path if source == "file" and given else base.path
            raise CheckpointError(
                f"the configuration does not describe an AXON, {error} ({where}): give the one that belongs to the file"
            ) from error
    config = AxonConfig()
    if base.shapes.get("encoder.patch_embed.weight") != (config.embed_dim, config.patch_size):
        raise CheckpointError(
            f"this AXON has not the published size and does not state its own ({base.path}): "
            "put its config.json beside it or give one with --config"
        )
    return config, ["Sizes are those of the published checkpoint, found by its shapes."]


def _in_header(base: TensorFile) -> Mapping[str, Any] | None:
    """A configuration in the header of a file that is not our container."""
    text = base.metadata.get("config")
    if text is None or base.is_container:
        return None
    try:
        values = json.loads(text)
    except ValueError:
        return None
    return values if isinstance(values, dict) else None


def _check(take: Mapping[str, TensorFile], shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Refuse missing names, and the first tensor of another shape or of values that are no weights."""
    missing = [name for name, file in take.items() if name not in file.shapes]
    if missing:
        file = take[missing[0]]
        raise CheckpointError(
            f"this checkpoint lacks {_shown(missing)} ({file.path}): "
            "choose a complete AXON file, or the configuration that belongs to it"
        )
    for name, file in take.items():
        if file.shapes[name] != shapes[name]:
            raise CheckpointError(
                f"{name} has the shape {file.shapes[name]}, but its configuration asks for {shapes[name]} "
                f"({file.path}): give the configuration that belongs to this file"
            )
        if not file.dtypes[name].startswith(("float", "bfloat")):
            raise CheckpointError(
                f"{name} holds {file.dtypes[name]} values, not weights ({file.path}): choose an AXON file"
            )


def _part(name: str) -> str:
    if name.startswith(HEAD):
        return "head"
    if "_gate." in name:
        return "gates"
    if ".attn." in name:
        return "attention"
    if ".ffn." in name:
        return "feed-forward"
    return "norms" if "norm" in name else "embedding"


def _shown(names: list[str]) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more

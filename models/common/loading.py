"""What families have in common whose files name every tensor as the model here does.

The rules of such a family are its names, sizes and words; how files are checked and refused is the same for all.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from models.errors import CheckpointError
from models.tensor_file import ConfigFile, TensorFile

if TYPE_CHECKING:
    import torch

_LISTED = 5

Config = TypeVar("Config")


class _Configurable(Protocol):
    """A class of configurations."""

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Any:
        """Build from field names and values; ValueError for what makes none."""


@dataclass(frozen=True)
class Resolution:
    """How files make a model: its configuration, the file of each name, and what to tell (see `models.checkpoint`)."""

    config: Any
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


def find_config(
    title: str,
    kind: type[_Configurable],
    base: TensorFile,
    given: ConfigFile | None,
    stated: Mapping[str, Any] | None,
) -> Any:
    """The configuration that a container states, a file gives, or a header of another kind holds; None without any.

    CheckpointError where one is there and makes no model.
    """
    sources = ((base.path, stated), (given.path if given else base.path, given.values if given else None))
    for path, values in (*sources, (base.path, _in_header(base))):
        if values is None:
            continue
        try:
            return kind.from_dict(values)
        except (ValueError, TypeError) as error:
            raise CheckpointError(
                f"the configuration does not describe {title}, {error} ({path}): give the one that belongs to the file"
            ) from error
    return None


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


def resolve_names(
    title: str,
    config: Any,
    shapes: Mapping[str, tuple[int, ...]],
    parts: Callable[[str], str],
    base: TensorFile,
    head: TensorFile | None = None,
    of_head: Callable[[str], bool] = lambda _name: False,
) -> Resolution:
    """Take every tensor of `shapes` from `base`, or from `head` those `of_head`; refuse what does not fit.

    `parts` gives the part of the model that a name is counted with. CheckpointError names the first fault.
    """
    take = {name: head if head is not None and of_head(name) else base for name in shapes}
    _check(title, take, shapes)
    strange = [name for name in base.shapes if name not in shapes]
    if strange:
        raise CheckpointError(
            f"this checkpoint has names that {title} does not know, {shown(strange)} ({base.path}): "
            f"choose a file that holds {title} and nothing else, or the configuration that belongs to it"
        )
    unused = tuple(name for file in (base, head) if file for name in file.shapes if take.get(name) is not file)
    counts: dict[str, int] = {}
    for name, shape in shapes.items():
        counts[parts(name)] = counts.get(parts(name), 0) + math.prod(shape)
    used = sum(counts.values())
    total = used + sum(math.prod((head or base).shapes.get(name, (0,))) for name in unused)
    return Resolution(config, take, unused=unused, n_params=total, n_params_used=used, parameters=counts)


def _check(title: str, take: Mapping[str, TensorFile], shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Refuse missing names, and the first tensor of another shape or of values that are no weights."""
    missing = [name for name, file in take.items() if name not in file.shapes]
    if missing:
        raise CheckpointError(
            f"this checkpoint lacks {shown(missing)} ({take[missing[0]].path}): "
            f"choose a complete file of {title}, or the configuration that belongs to it"
        )
    for name, file in take.items():
        if file.shapes[name] != shapes[name]:
            raise CheckpointError(
                f"{name} has the shape {file.shapes[name]}, but its configuration asks for {shapes[name]} "
                f"({file.path}): give the configuration that belongs to this file"
            )
        if not file.dtypes[name].startswith(("float", "bfloat")):
            raise CheckpointError(
                f"{name} holds {file.dtypes[name]} values, not weights ({file.path}): choose a file of {title}"
            )


def read_weights(resolution: Resolution) -> dict[str, torch.Tensor]:
    """Name -> float32 tensor, one for every parameter of the model."""
    return {name: file.read_weights(name) for name, file in resolution.take.items()}


def shapes_of(build: Callable[[], torch.nn.Module]) -> dict[str, tuple[int, ...]]:
    """Shape of every tensor of a model by name, without its numbers."""
    import torch

    with torch.device("meta"):
        return {name: tuple(tensor.shape) for name, tensor in build().state_dict().items()}


def shown(names: Iterable[str]) -> str:
    """The first few names, and how many more there are."""
    names = list(names)
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more

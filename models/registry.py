"""The models there are and how to get one; torch is imported only when a model is built."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

from models import checkpoint
from models.families import MODELS, Checkpoint, InputSpec, ModelSpec

if TYPE_CHECKING:
    import torch

__all__ = ["MODELS", "Checkpoint", "InputSpec", "ModelSpec", "load_model", "untrained_model"]


def load_model(
    path: str | PathLike[str],
    head: str | PathLike[str] | None = None,
    device: str | torch.device = "cpu",
    config: str | PathLike[str] | None = None,
) -> torch.nn.Module:
    """The model in a checkpoint file, in evaluation mode and float32 on `device`.

    `head` is a classification head file that goes on top of a base file, `config` a JSON file with sizes the
    checkpoint does not state. The model has `.family`, `.config`, `.checkpoint`, `.tokens(**inputs)` and, with a
    classification head, `.logits(**inputs)`. Raises CheckpointError; weights are never left random.
    """
    return checkpoint.load(path, head=head, device=device, config=config)


def untrained_model(name: str, config: Any, seed: int = 0, device: str | torch.device = "cpu") -> torch.nn.Module:
    """A model of this family with seeded random weights, said so by its `.checkpoint`: the reference of "untrained"."""
    return checkpoint.initialise(MODELS[name], config, seed=seed, device=device)

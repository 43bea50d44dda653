"""What the layers of any model make of a recording, as rows of numbers: one row a token, or one a window.

Letters: B windows of a batch, D width.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from analysis.engine.inputs import Inputs, LoadedModel
from analysis.engine.model_inputs import ModelInput, model_input
from analysis.errors import AnalysisError
from analysis.progress import Progress
from models.axon import introspection as axon
from models.mvpformer import introspection as mvpformer
from models.neurduo import introspection as neurduo
from models.prise import introspection as prise

# Tokens of a batch by layer, (B, …, D), the axes between being the model's grid.
_Layers = Callable[[Any, Mapping[str, Any]], Mapping[str, Tensor]]


def _axon(model: Any, arguments: Mapping[str, Any]) -> Mapping[str, Tensor]:
    return axon.layer_outputs(model, **arguments)


def _mvpformer(model: Any, arguments: Mapping[str, Any]) -> Mapping[str, Tensor]:
    with torch.no_grad():
        return mvpformer.layer_outputs(model, model.embed(arguments["signal"]))


def _prise(model: Any, arguments: Mapping[str, Any]) -> Mapping[str, Tensor]:
    return prise.block_outputs(model, **arguments)


def _neurduo(model: Any, arguments: Mapping[str, Any]) -> Mapping[str, Tensor]:
    return neurduo.step_outputs(model, **arguments)


_FAMILIES: Mapping[str, _Layers] = {
    "axon": _axon,
    "mvpformer": _mvpformer,
    "prise-eeg": _prise,
    "neurduo": _neurduo,
}


@dataclass(frozen=True)
class Layers:
    """The layers of one model on the windows of a recording."""

    source: ModelInput
    model: LoadedModel

    def batches(self, progress: Progress, text: str, size: int | None = None) -> Iterator[Mapping[str, Tensor]]:
        """Tokens (B, …, D) of each layer by name, batch by batch."""
        for arguments in self.source.batches(progress, text, size):
            yield _FAMILIES[self.model.family](self.model.network, arguments)


def layers_of(
    inputs: Inputs, model: LoadedModel, seconds: float, most: int | None = None, progress: Progress | None = None
) -> Layers:
    """The layers of a model on windows of `seconds`; AnalysisError for a family that is not given in windows."""
    if model.family not in _FAMILIES:
        raise AnalysisError(f"the layers of {model.title} cannot be compared yet: choose another model")
    return Layers(model_input(inputs, model, seconds, most, progress), model)


def window_rows(tokens: Tensor) -> Tensor:
    """One row (B, D) a window: the mean of its tokens (B, …, D)."""
    return tokens.flatten(1, -2).mean(1)


def token_rows(tokens: Tensor) -> Tensor:
    """One row a token, (rows, D)."""
    return tokens.flatten(0, -2)

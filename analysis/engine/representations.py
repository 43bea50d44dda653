"""What the layers of any model make of a recording, as rows of numbers: one row a token, or one a window.

Letters: B windows of a batch, D width.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
# Which axis of a layer's tokens (B, …, D) stands for channels; families that lack one have tokens of groups.
_CHANNEL_AXIS: Mapping[str, int] = {"axon": 1, "mvpformer": 2, "neurduo": 1}
_GROUP_AXIS = 2


@dataclass(frozen=True)
class Layers:
    """The layers of one model on the windows of a recording."""

    source: ModelInput
    model: LoadedModel

    def batches(self, progress: Progress, text: str, size: int | None = None) -> Iterator[Mapping[str, Tensor]]:
        """Tokens (B, …, D) of each layer by name, batch by batch."""
        for _, tokens in self.with_arguments(progress, text, size):
            yield tokens

    def with_arguments(
        self, progress: Progress, text: str, size: int | None = None
    ) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Tensor]]]:
        """The same, each batch with what the model was given."""
        for arguments in self.source.batches(progress, text, size):
            yield arguments, _FAMILIES[self.model.family](self.model.network, arguments)

    def only(self, windows: Sequence[int]) -> Layers:
        """The same layers on some of the windows, by their numbers, in that order."""
        plan = self.source.plan
        fewer = replace(plan, onsets=plan.onsets[list(windows)], span_of=tuple(plan.span_of[i] for i in windows))
        return replace(self, source=replace(self.source, plan=fewer))

    @property
    def has_channels(self) -> bool:
        """Whether tokens are of channels; those of PRiSE-EEG are of groups."""
        return self.model.family in _CHANNEL_AXIS

    def pick_channels(self, tokens: Tensor, channels: Sequence[int]) -> Tensor:
        """Tokens (B, …, D) of some channels."""
        index = torch.tensor(list(channels), device=tokens.device)
        return tokens.index_select(_CHANNEL_AXIS[self.model.family], index)

    def by_channel(self, values: Tensor) -> Tensor:
        """Values of tokens (B, …) in the order (B, channels or groups, times)."""
        return values if _CHANNEL_AXIS.get(self.model.family, _GROUP_AXIS) == 1 else values.transpose(1, 2)


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

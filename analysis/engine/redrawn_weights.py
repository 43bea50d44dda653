"""A copy of a model whose weights are drawn anew from the output down to the input (Adebayo et al. 2018, section 3).

The model itself is never touched. A weight is drawn as an untrained model of the same configuration has it, norms at
one and biases at zero included, so that the deepest point is a model that has learned nothing; a weight that an
untrained model does not have in this shape has its values shuffled.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from analysis.engine.inputs import LoadedModel
from models.random_checkpoints import drawn_model

EVERYTHING = "all weights"
REDRAWN = (
    "Weights are re-drawn as an untrained model of the same configuration begins, from the output down to the input, "
    "in a copy of the model"
)
_FIRST_SEED = 10_000  # apart from the small seeds that models with random weights are asked for by

# From the output to the input: what a stage is called, and how the names of its weights begin; * is a number, and such
# a stage stands for one of each number, the highest first.
_ORDER: Mapping[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "axon": (
        ("head", ("final_layer", "encoder.final_norm")),
        ("block *", ("encoder.blocks.*",)),
        ("input", ("encoder.spatial_pos_embed", "encoder.patch_embed")),
    ),
    "prise-eeg": (
        ("head", ("head", "encoder_norm")),
        ("encoder *", ("encoder.*",)),
        ("tokenizer *", ("tokenizer.*",)),
        ("groups", ("static_queries", "dynamic_queries", "static_groups", "dynamic_groups", "selector")),
        ("input", ("channel_embedding", "front_end")),
    ),
    "mvpformer": (
        ("head", ("head", "final_norm")),
        ("block *", ("blocks.*",)),
        ("input", ("time_table", "channel_table", "encoder")),
    ),
    "neurduo": (
        ("head", ("context", "readout")),
        ("retrieval", ("retrieval", "slow.final_norm")),
        ("slow *", ("slow.blocks.*", "slow.norms.*", "slow.residuals.*", "slow.channel_attn.*")),
        ("writer", ("writer", "fast.final_norm")),
        ("fast *", ("fast.blocks.*", "fast.norms.*", "fast.residuals.*", "fast.channel_attn.*")),
        ("input", ("input_norm", "metadata_encoder", "signal_encoder")),
    ),
}


@dataclass(frozen=True)
class Stage:
    """Weights that are drawn anew together: what they are called, and their names in the model's state."""

    title: str
    names: tuple[str, ...]


def stages_of(network: nn.Module, family: str) -> tuple[Stage, ...]:
    """The stages of a model from the output to the input; what no stage names goes with the last one.

    A family that is not in the table has its parts in the reverse of the order in which they were made.
    """
    names = list(network.state_dict())
    order = _ORDER.get(family) or tuple((part, (part,)) for part in reversed(_parts(names)))
    stages: list[Stage] = []
    left = set(names)
    for title, prefixes in order:
        for number in _numbers(names, prefixes):
            begins = tuple(prefix.replace("*", number) for prefix in prefixes)
            taken = tuple(name for name in names if name in left and _begins(name, begins))
            if taken:
                left -= set(taken)
                stages.append(Stage(title.replace("*", number), taken))
    rest = tuple(name for name in names if name in left)
    return (*stages[:-1], Stage(stages[-1].title, stages[-1].names + rest))


def _parts(names: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(name.split(".")[0] for name in names))


def _numbers(names: Sequence[str], prefixes: Sequence[str]) -> list[str]:
    """The numbers that * stands for, the highest first; one empty text where nothing is numbered."""
    patterns = [re.compile(re.escape(prefix).replace(r"\*", r"(\d+)") + r"(\.|$)") for prefix in prefixes]
    if not any(pattern.groups > 1 for pattern in patterns):
        return [""]
    found = {int(m.group(1)) for name in names for p in patterns if p.groups > 1 and (m := p.match(name))}
    return [str(number) for number in sorted(found, reverse=True)]


def _begins(name: str, prefixes: Sequence[str]) -> bool:
    return any(name == prefix or name.startswith(f"{prefix}.") for prefix in prefixes)


class RedrawnCopy:
    """A copy of a model, and the ways to draw its weights anew; `depths` are the titles of the points that it stops at.

    With `cascade` it stops after each stage, else only when all weights are re-drawn.
    """

    def __init__(self, model: LoadedModel, cascade: bool = True) -> None:
        self._original = model
        self.model = LoadedModel(copy.deepcopy(model.network), model.facts)
        stages = stages_of(model.network, model.family)
        if not cascade:
            stages = (Stage(EVERYTHING, tuple(name for stage in stages for name in stage.names)),)
        self._stages = stages
        self.depths = tuple(stage.title for stage in stages)

    def draws(self, seed: int) -> Iterator[int]:
        """Begin with the weights of the model, draw one stage after the other anew, and stop at each depth from 0."""
        state = self.model.network.state_dict()
        _write(state, self._original.network.state_dict())
        fresh = self._fresh(seed)
        for depth, stage in enumerate(self._stages):
            _write(state, {name: fresh[name] for name in stage.names})
            yield depth

    def _fresh(self, seed: int) -> dict[str, Tensor]:
        network = self._original.network
        drawn = drawn_model(self._original.family, network.config, _FIRST_SEED + seed).state_dict()
        generator = torch.Generator().manual_seed(_FIRST_SEED + seed)
        return {
            name: drawn[name] if name in drawn and drawn[name].shape == value.shape else _shuffled(value, generator)
            for name, value in network.state_dict().items()
        }


def _write(state: Mapping[str, Tensor], values: Mapping[str, Tensor]) -> None:
    with torch.no_grad():
        for name, value in values.items():
            state[name].copy_(value)


def _shuffled(value: Tensor, generator: torch.Generator) -> Tensor:
    order = torch.randperm(value.numel(), generator=generator).to(value.device)
    return value.flatten()[order].reshape(value.shape)

"""Which weights are trained: all, low-rank updates of linear maps (merged in the end), or the head alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torch import nn
from torch.nn.utils import parametrize

from analysis.engine.training.recipe import ModelRecipe
from analysis.errors import AnalysisError
from models.mvpformer.lora import LoRALinear
from models.prise.lora import LowRankUpdate

HEADS = {
    "axon": ("final_layer.",),
    "prise-eeg": ("head.",),
    "mvpformer": ("head.",),
    "neurduo": ("readout.", "context."),
    "neurduo-tokenizer": (),
}
FRONTS = {
    "axon": ("encoder.patch_embed.", "encoder.spatial_pos_embed."),
    "prise-eeg": ("front_end.", "channel_embedding"),
    "mvpformer": ("encoder.",),
    "neurduo": ("signal_encoder.", "metadata_encoder."),
    "neurduo-tokenizer": ("input_proj.",),
}


def begin_tuning(model: Any, recipe: ModelRecipe) -> None:
    """Freeze what is not trained, and add updates; AnalysisError where there is no head to train."""
    heads = HEADS[model.family]
    if recipe.tuning != "full":
        if not any(name.startswith(heads) for name, _ in model.named_parameters()):
            raise AnalysisError(
                f"this {model.family} has no classification head to tune (the recipe): train it with the objective "
                "seizure, or take the tuning full"
            )
        for name, parameter in model.named_parameters():
            parameter.requires_grad_(name.startswith(heads))
    if recipe.tuning == "lora":
        add_updates(model, heads, recipe.lora_rank, recipe.lora_alpha, recipe.lora_maps)
    if recipe.freeze_gates and hasattr(model, "freeze_gates"):
        model.freeze_gates()


def add_updates(
    model: nn.Module, without: tuple[str, ...], rank: int, alpha: float, maps: tuple[str, ...] = ()
) -> None:
    """Let the weights of linear maps learn by W + alpha / r * A B, but those whose names begin with `without`.

    Where `maps` are given only those are chosen whose names hold one of them; AnalysisError where none does.
    """
    chosen = [
        (name, module)
        for name, module in model.named_modules()
        if isinstance(module, nn.Linear | LoRALinear)
        and not f"{name}.".startswith(without)
        and (not maps or any(part in name for part in maps))
    ]
    if not chosen:
        raise AnalysisError(f"no linear map is called {', '.join(maps)} (the recipe): correct model.lora_maps")
    for _, module in chosen:
        update = LowRankUpdate(module.weight, rank, alpha)
        parametrize.register_parametrization(module, "weight", update, unsafe=True)


def merged(model: nn.Module, bare: nn.Module) -> nn.Module:
    """The model's weights in `bare`, a model of the same configuration without updates, in which they are merged."""
    own = model.state_dict()
    state = {}
    for name in bare.state_dict():
        place, _, leaf = name.rpartition(".")
        # A weight with an update has other names in the state, and is worked out where it is asked for.
        state[name] = own[name] if name in own else getattr(model.get_submodule(place), leaf)
    bare.load_state_dict({name: value.detach().cpu() for name, value in state.items()})
    return bare


def set_training(module: nn.Module, model: Any, probe: bool) -> None:
    """Training mode, but for a backbone under a linear probe, which answers as it will in use."""
    module.train()
    if probe:
        heads = HEADS[model.family]
        for name, part in model.named_modules():
            if name and not f"{name}.".startswith(heads):
                part.training = False


def frozen_backbone(model: Any) -> Iterator[nn.Parameter]:
    """The weights that stand still while the head settles."""
    heads = HEADS[model.family]
    return (parameter for name, parameter in model.named_parameters() if not name.startswith(heads))

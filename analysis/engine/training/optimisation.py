"""AdamW with the papers' exceptions, the learning rate over the steps, and the moving average of weights."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

from analysis.engine.training.recipe import OptimiserRecipe, ScheduleRecipe
from analysis.engine.training.tuning import FRONTS, HEADS

_NO_DECAY = ("A_log", "_table", "_embedding", "_embed.", "_queries", "groups.delta")


def make_optimiser(module: nn.Module, model: Any, recipe: OptimiserRecipe) -> torch.optim.AdamW:
    """AdamW over all weights that are trained.

    Biases, norms, position tables and the state space's A and D do not decay (NeurDuo, appendix A.1); head and input
    layers have rates of their own. Each group keeps its factor in "scale".
    """
    own = {id(parameter): name for name, parameter in model.named_parameters()}
    groups: dict[tuple[float, float], list[nn.Parameter]] = {}
    for name, parameter in module.named_parameters():
        if not parameter.requires_grad:
            continue
        decay = 0.0 if parameter.ndim < 2 or any(word in name for word in _NO_DECAY) else recipe.weight_decay
        scale = _scale(own.get(id(parameter), ""), model.family, recipe)
        groups.setdefault((decay, scale), []).append(parameter)
    tables = [
        {"params": parameters, "weight_decay": decay, "scale": scale, "lr": recipe.learning_rate * scale}
        for (decay, scale), parameters in groups.items()
    ]
    return torch.optim.AdamW(tables, lr=recipe.learning_rate, betas=recipe.betas, eps=recipe.epsilon)


def _scale(name: str, family: str, recipe: OptimiserRecipe) -> float:
    if name.startswith(HEADS[family]):
        return recipe.head
    return recipe.front if name.startswith(FRONTS[family]) else 1.0


def rate_factor(step: int, steps: int, recipe: ScheduleRecipe) -> float:
    """What the learning rate is multiplied with at a step (from 0) of so many."""
    rise = round(recipe.warm_up * steps)
    if step < rise:
        return recipe.warm_up_from + (1 - recipe.warm_up_from) * (step + 1) / rise
    if recipe.kind == "constant":
        return 1.0
    length = recipe.period or max(1, steps - rise)
    share = ((step - rise) % length if recipe.period else step - rise) / length
    return recipe.floor + (1 - recipe.floor) * 0.5 * (1 + math.cos(math.pi * min(share, 1.0)))


def set_rate(optimiser: torch.optim.Optimizer, rate: float) -> None:
    """Set the learning rate of every group, each by its own factor."""
    for group in optimiser.param_groups:
        group["lr"] = rate * group["scale"]


class MovingAverage:
    """Exponential moving average of the weights that are trained; early on it follows sooner."""

    def __init__(self, module: nn.Module, decay: float) -> None:
        self._decay = decay
        self.values = {n: p.detach().clone() for n, p in module.named_parameters() if p.requires_grad and decay > 0}

    @torch.no_grad()
    def follow(self, module: nn.Module, step: int) -> None:
        """Move towards the weights after a step (from 0)."""
        if not self.values:
            return
        decay = min(self._decay, (1 + step) / (10 + step))
        for name, parameter in module.named_parameters():
            if name in self.values:
                self.values[name].lerp_(parameter, 1 - decay)

    @torch.no_grad()
    def swap(self, module: nn.Module) -> None:
        """Exchange average and weights; a second time puts both back."""
        for name, parameter in module.named_parameters():
            if name in self.values:
                kept: Tensor = parameter.detach().clone()
                parameter.copy_(self.values[name])
                self.values[name] = kept

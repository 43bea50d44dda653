"""Pretraining of PRiSE-EEG: masked times, masked channels, and the next second (spec section 8).

Letters: B batch, T patches, C channels, P samples of a patch, D width.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import torch
from torch import Tensor

from models.prise.experts import BALANCE_WEIGHT, Mixture
from models.prise.front_end import split_patches
from models.prise.model import Prise

Task = Literal["forecast", "time", "channel"]
TASK_WEIGHTS = {"forecast": 0.34, "time": 0.33, "channel": 0.33}
MASK_SHARE = 0.5
_LEAST = 1e-12


def draw_hidden(task: Task, shape: tuple[int, int, int], generator: torch.Generator) -> Tensor:
    """Which patches are hidden, bool (B, T, C): half of the times, half of the channels, or none to forecast."""
    batch, patches, channels = shape
    hidden = torch.zeros(shape, dtype=torch.bool)
    if task == "forecast":
        return hidden
    n = patches if task == "time" else channels
    order = torch.rand(batch, n, generator=generator).argsort(-1)
    chosen = order < round(MASK_SHARE * n)
    return hidden | (chosen[:, :, None] if task == "time" else chosen[:, None, :])


def pretraining_loss(model: Prise, signal: Tensor, index: Tensor, task: Task, hidden: Tensor) -> Tensor:
    """The weighted loss of one task on `signal` (B, C, samples), `hidden` (B, T, C), with the experts' balance."""
    patches = split_patches(signal, model.config.patch_size)
    with _heard(model) as heard:
        x = model.features(signal, index, hidden)
        dynamic = hidden if task == "channel" else None
        bias = model.bias(signal, index, dynamic)
        if task == "time":  # nothing is known of a hidden second
            bias = _without_dynamic(bias, hidden[..., 0], len(model.static_queries))
        keep = torch.ones(len(signal), bias.shape[2], device=signal.device)
        h = model.encode(model.tokenize(x, bias), keep, causal=task == "forecast")
        wave, spectrum = model.decode(h, keep, index)
    targets = patches, model.front_end.spectrum(patches)
    if task == "forecast":
        errors = [made[:, :-1] - target[:, 1:] for made, target in zip((wave, spectrum), targets, strict=True)]
    else:
        errors = [(made - target)[hidden] for made, target in zip((wave, spectrum), targets, strict=True)]
    rmse = sum((error.square().mean() + _LEAST).sqrt() for error in errors) / len(errors)
    balance = [mixture.balance_loss(tokens.reshape(len(signal), -1, tokens.shape[-1])) for mixture, tokens in heard]
    return TASK_WEIGHTS[task] * rmse + BALANCE_WEIGHT * torch.stack([*balance, signal.new_zeros(())]).sum()


def _without_dynamic(bias: Tensor, hidden: Tensor, n_static: int) -> Tensor:
    """M with the dynamic biases of hidden times (B, T) set to 0."""
    static, dynamic = bias[:, :, :n_static], bias[:, :, n_static:]
    return torch.cat([static, dynamic.masked_fill(hidden[..., None, None], 0.0)], 2)


@contextmanager
def _heard(model: Prise) -> Iterator[list[tuple[Mixture, Tensor]]]:
    """What every mixture is given, in the order of the blocks."""
    heard: list[tuple[Mixture, Tensor]] = []
    mixtures = [block.ffn for block in model.blocks() if isinstance(block.ffn, Mixture)]
    handles = [
        mixture.register_forward_pre_hook(lambda module, inputs: heard.append((module, inputs[0])))
        for mixture in mixtures
    ]
    try:
        yield heard
    finally:
        for handle in handles:
            handle.remove()


@contextmanager
def balanced_step(model: Prise) -> Iterator[None]:
    """Around a step of the optimiser: counts the tokens of each expert, and settles the biases afterwards."""
    loads: dict[Mixture, Tensor] = {}
    mixtures = [block.ffn for block in model.blocks() if isinstance(block.ffn, Mixture)]

    def count(mixture: Mixture, load: Tensor) -> None:
        loads[mixture] = loads.get(mixture, torch.zeros_like(load)) + load

    handles = [
        mixture.routing.register_forward_hook(lambda _m, _i, routing, owner=mixture: count(owner, routing.load))
        for mixture in mixtures
    ]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
    for mixture, load in loads.items():
        mixture.settle_bias(load)

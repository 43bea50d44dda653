"""Grad-CAM on the token grid of a model: which tokens of a layer speak for a class (spec sections of each model).

Letters: B windows, C channels, T patches, G groups, D width.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from analysis.analyses import Findings, NamedArray
from analysis.engine.explained import check_classifier, target_class
from analysis.engine.inputs import Inputs
from analysis.engine.model_inputs import ModelInput, model_input
from analysis.engine.recorded_attribution import channel_labels
from analysis.errors import AnalysisError
from analysis.progress import Progress
from models.axon.model import Axon
from models.mvpformer.model import MVPFormer
from models.prise.introspection import tokenizer_attention
from models.prise.model import Prise

_Map = Callable[[Any, Mapping[str, Any], int, int], Tensor]


def weighted_map(tokens: Tensor, gradient: Tensor, axes: tuple[int, ...]) -> Tensor:
    """ReLU(sum_d w_d tok_d), w_d the mean of the gradient over the token `axes` of each window; (B, …)."""
    weights = gradient.mean(axes, keepdim=True)
    return torch.relu((weights * tokens).sum(-1))


def _with_gradient(module: torch.nn.Module, run: Callable[[], Tensor], target: int) -> tuple[Tensor, Tensor]:
    """What a module gives out while the model runs, and the class score's gradient with respect to it."""
    kept: list[Tensor] = []

    def hook(_module: Any, _inputs: Any, output: Tensor) -> Tensor:
        leaf = output.detach().requires_grad_()
        kept.append(leaf)
        return leaf

    handle = module.register_forward_hook(hook)
    try:
        score = run()[:, target].sum()
    finally:
        handle.remove()
    return kept[-1].detach(), torch.autograd.grad(score, kept[-1])[0]


def _axon(model: Axon, arguments: Mapping[str, Any], target: int, layer: int) -> Tensor:
    """(B, C, T)."""
    module = _stage([*model.encoder.blocks, model.encoder.final_norm], layer)
    tokens, gradient = _with_gradient(module, lambda: model.scores(model.tokens(**arguments)), target)
    return weighted_map(tokens, gradient, (1, 2))


def _mvpformer(model: MVPFormer, arguments: Mapping[str, Any], target: int, layer: int) -> Tensor:
    """(B, C, T)."""
    if layer in (-1, len(model.blocks)):
        layer = len(model.blocks) - 1
    embeddings = model.embed(arguments["signal"]).detach()
    module = _stage([*model.blocks], layer)

    def run() -> Tensor:
        last = model.tokens_from_embeddings(embeddings)[:, -1]
        scores: Tensor = model.head(last.mean(1))
        return scores

    tokens, gradient = _with_gradient(module, run, target)  # (B, T, C, E)
    return weighted_map(tokens, gradient, (1, 2)).transpose(1, 2)


def _prise(model: Prise, arguments: Mapping[str, Any], target: int, _layer: int) -> Tensor:
    """(B, C, T): each group's evidence, shared out over the channels that its tokens looked at (spec section 10.3)."""
    tokens, gradient = _with_gradient(model.encoder_norm, lambda: model.logits(**arguments), target)
    evidence = weighted_map(tokens, gradient, (1,))  # (B, T, G)
    attention = tokenizer_attention(model, arguments["signal"], arguments["channels"])
    return (evidence[..., None] * attention).sum(2).transpose(1, 2)


_FAMILIES: Mapping[str, tuple[_Map, Callable[[Any], float]]] = {
    "axon": (_axon, lambda model: model.config.patch_stride / model.config.sampling_rate_hz),
    "mvpformer": (_mvpformer, lambda model: model.config.segment_seconds),
    "prise-eeg": (_prise, lambda _model: 1.0),
}


def explain_tokens(inputs: Inputs, progress: Progress) -> Findings:
    """Grad-CAM of a class by channel and patch, window by window."""
    check_classifier(inputs.model)
    make, step_of = _FAMILIES[inputs.model.family]
    target, layer = target_class(inputs.model, inputs.options["target"]), inputs.options["layer"]
    source = model_input(inputs, inputs.model, inputs.options["window"], inputs.options["windows"], progress)
    maps = []
    for arguments in source.batches(progress, "Grad-CAM", 1):
        try:
            maps.append(make(inputs.model.network, arguments, target, layer).cpu().numpy())
        except ValueError as error:
            raise AnalysisError(f"this {inputs.model.title} cannot answer, {error}: choose other windows") from error
    values = np.concatenate(maps)
    step = step_of(inputs.model.network)
    arrays = {
        "evidence": NamedArray(values, ("window", "channel", "patch"), "1", "gradient-weighted tokens, ReLU", "paper"),
        "by_channel": NamedArray(values.mean(-1), ("window", "channel"), "1", "mean over a channel's patches"),
        "by_patch": NamedArray(values.mean(1), ("window", "patch"), "1", "mean over the channels"),
        "patch_onset": NamedArray(
            _onsets(source, step, values.shape[-1]), ("window", "patch"), "s", "begin, after the first window's onset"
        ),
    }
    facts = {
        "method": "Grad-CAM",
        "target": inputs.model.facts.labels[target],
        "layer": "last" if layer < 0 else layer,
        "patch_seconds": step,
        "first_window": float(source.plan.onsets[0]),
        "window_seconds": source.plan.seconds,
    }
    return Findings(arrays, facts, channel_labels(source.plan), source.plan.notes, source.describe())


def _onsets(source: ModelInput, step: float, count: int) -> np.ndarray:
    onsets: np.ndarray = source.window_onsets()[:, None] + step * np.arange(count)
    return onsets


def _stage(modules: list[torch.nn.Module], layer: int) -> torch.nn.Module:
    """A stage by its number, -1 for the last one; ValueError for one that is not there."""
    if not -1 <= layer < len(modules):
        raise ValueError(f"there is no layer {layer}: the layers are 0 to {len(modules) - 1}, or -1 for the last")
    return modules[layer]

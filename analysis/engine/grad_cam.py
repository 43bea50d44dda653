"""Grad-CAM on the token grid of a model: which tokens of a layer speak for a class (spec sections of each model).

Letters: B windows, C channels, T patches, G groups, D width.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from analysis.analyses import Findings, NamedArray, Source
from analysis.engine.explained import carried_notes, carried_of, explained_input, target_class
from analysis.engine.inputs import Inputs, LoadedModel
from analysis.engine.model_inputs import ModelInput
from analysis.engine.neurduo_span import SpanScore, SpanScores
from analysis.engine.recorded_attribution import channel_labels
from analysis.errors import AnalysisError
from analysis.progress import Progress
from models.axon.model import Axon
from models.mvpformer.model import MVPFormer
from models.neurduo.model import NeurDuo
from models.prise.introspection import tokenizer_attention
from models.prise.model import Prise

Layers = dict[str, nn.Module]


@dataclass(frozen=True)
class _Family:
    """The layers of a model by name, whose numbers are their places; how long a patch is; and how a map is made.

    `make` takes the model, the arguments of a window, the class, and the layer's name.
    """

    layers: Callable[[Any], Layers]
    step: Callable[[Any], float]
    make: Callable[[Any, Mapping[str, Any], int, str], Tensor]


def weighted_map(tokens: Tensor, gradient: Tensor, axes: tuple[int, ...]) -> Tensor:
    """ReLU(sum_d w_d tok_d), w_d the mean of the gradient over the token `axes` of each window; (B, …)."""
    weights = gradient.mean(axes, keepdim=True)
    return torch.relu((weights * tokens).sum(-1))


def layer_gradient(module: nn.Module, run: Callable[[], Tensor], target: int) -> list[tuple[Tensor, Tensor]]:
    """What a module gives out at each of its calls while the model runs, and the class score's gradient to that."""
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
    gradients = torch.autograd.grad(score, kept)
    return [(leaf.detach(), gradient) for leaf, gradient in zip(kept, gradients, strict=True)]


def _axon_layers(model: Axon) -> Layers:
    return {**_numbered("block", model.encoder.blocks), "final norm": model.encoder.final_norm}


def _axon(model: Axon, arguments: Mapping[str, Any], target: int, layer: str) -> Tensor:
    """(B, C, T)."""
    module = _axon_layers(model)[layer]
    ((tokens, gradient),) = layer_gradient(module, lambda: model.scores(model.tokens(**arguments)), target)
    return weighted_map(tokens, gradient, (1, 2))


def _mvpformer_layers(model: MVPFormer) -> Layers:
    return _numbered("block", model.blocks)


def _mvpformer(model: MVPFormer, arguments: Mapping[str, Any], target: int, layer: str) -> Tensor:
    """(B, C, T)."""
    embeddings = model.embed(arguments["signal"]).detach()

    def run() -> Tensor:
        last = model.tokens_from_embeddings(embeddings)[:, -1]
        scores: Tensor = model.head(last.mean(1))
        return scores

    ((tokens, gradient),) = layer_gradient(_mvpformer_layers(model)[layer], run, target)  # (B, T, C, E)
    return weighted_map(tokens, gradient, (1, 2)).transpose(1, 2)


def _prise_layers(model: Prise) -> Layers:
    blocks = [*model.tokenizer, *model.encoder]
    return {**dict(zip(model.block_names(), blocks, strict=False)), "final norm": model.encoder_norm}


def _prise(model: Prise, arguments: Mapping[str, Any], target: int, layer: str) -> Tensor:
    """(B, C, T): each group's evidence, shared out over the channels that its tokens looked at (spec section 10.3)."""
    ((tokens, gradient),) = layer_gradient(_prise_layers(model)[layer], lambda: model.logits(**arguments), target)
    if tokens.ndim == 3:  # blocks of time take (B G, T, D), all others (B T, G, D)
        batch = len(arguments["signal"])
        tokens, gradient = tokens.unflatten(0, (batch, -1)), gradient.unflatten(0, (batch, -1))
        if layer.startswith("time"):
            tokens, gradient = tokens.transpose(1, 2), gradient.transpose(1, 2)
    evidence = weighted_map(tokens, gradient, (1,))  # (B, T, G)
    attention = tokenizer_attention(model, arguments["signal"], arguments["channels"])
    return (evidence[..., None] * attention).sum(2).transpose(1, 2)


def _neurduo_layers(model: NeurDuo) -> Layers:
    """The output, which the head reads, is no module of the model: each span has one of its own for it."""
    return {**_numbered("fast", model.fast.residuals), OUTPUT: nn.Identity()}


def span_evidence(model: NeurDuo, span: SpanScore, target: int, layer: str) -> Tensor:
    """(C, S) of the channels of the head and the steps whose middle lies in a span; weights are of these tokens."""
    module = span.output if layer == OUTPUT else _neurduo_layers(model)[layer]
    parts = layer_gradient(module, lambda: span(span.signal, again=False), target)
    steps = span.steps_inside()[0]
    tokens, gradient = (torch.cat(both, dim=1)[None, :, steps] for both in zip(*parts, strict=True))
    return weighted_map(tokens, gradient, (1, 2))[0]


def _numbered(name: str, modules: Iterable[nn.Module]) -> Layers:
    return {f"{name} {i}": module for i, module in enumerate(modules)}


OUTPUT = "output"
_FAMILIES: Mapping[str, _Family] = {
    "axon": _Family(_axon_layers, lambda model: model.config.patch_stride / model.config.sampling_rate_hz, _axon),
    "mvpformer": _Family(_mvpformer_layers, lambda model: model.config.segment_seconds, _mvpformer),
    "prise-eeg": _Family(_prise_layers, lambda _model: 1.0, _prise),
}


def layer_names(model: LoadedModel) -> list[str]:
    """What the layers are called whose tokens can be looked at; a layer's number is its place."""
    find = _neurduo_layers if model.family == "neurduo" else _FAMILIES[model.family].layers
    return list(find(model.network))


def chosen_layer(model: LoadedModel, number: int) -> str:
    """The name of a layer by its number, -1 for the last one; AnalysisError lists those there are."""
    names = layer_names(model)
    if not -1 <= number < len(names):
        there = ", ".join(f"{i} ({name})" for i, name in enumerate(names))
        raise AnalysisError(f"there is no layer {number} in this {model.title}: choose {there}, or -1 for the last")
    return names[number]


def explain_tokens(inputs: Inputs, progress: Progress) -> Findings:
    """Grad-CAM of a class by channel and patch, window by window."""
    source = explained_input(inputs, progress)
    target = target_class(inputs.model, inputs.options["target"])
    layer = chosen_layer(inputs.model, inputs.options["layer"])
    if inputs.model.family == "neurduo":
        step = inputs.model.network.config.step_seconds
        values, onsets = _of_spans(inputs, source, target, layer, progress)
    else:
        step = _FAMILIES[inputs.model.family].step(inputs.model.network)
        values = _of_windows(source, target, layer, progress)
        onsets = source.window_onsets()
    return _findings(inputs, source, layer, step, values, onsets)


def _of_windows(source: ModelInput, target: int, layer: str, progress: Progress) -> np.ndarray:
    """(windows, C, T)."""
    maps = []
    for arguments in source.batches(progress, "Grad-CAM", 1):
        try:
            make = _FAMILIES[source.model.family].make
            maps.append(make(source.model.network, arguments, target, layer).cpu().numpy())
        except ValueError as error:
            raise AnalysisError(f"this {source.model.title} cannot answer, {error}: choose other windows") from error
    return np.concatenate(maps)


def _of_spans(
    inputs: Inputs, source: ModelInput, target: int, layer: str, progress: Progress
) -> tuple[np.ndarray, np.ndarray]:
    """(windows, C, T), and when the first step of each begins after the first window's onset, in seconds."""
    spans, config = SpanScores(source, carried_of(inputs), progress), source.model.network.config
    n_steps = round(source.plan.seconds / config.step_seconds)
    values = np.zeros((len(source.plan.onsets), len(source.plan.ch_names), n_steps))
    begins = []
    for number, onset in enumerate(source.plan.onsets.tolist()):
        progress.report(number, len(values), "Grad-CAM")
        span, at = spans.at(onset, progress)
        found = span_evidence(source.model.network, span, target, layer)[spans.in_head].cpu().numpy()
        short = n_steps - found.shape[1]  # steps that begin before anything is read
        values[number, spans.in_plan, short:] = found
        begins.append(at - short * config.step_seconds)
    return values, np.array(begins) - source.plan.onsets[0]


def _findings(
    inputs: Inputs, source: ModelInput, layer: str, step: float, values: np.ndarray, onsets: np.ndarray
) -> Findings:
    onsets = onsets[:, None] + step * np.arange(values.shape[-1])
    origin: Source = "our definition" if inputs.model.family == "neurduo" else "paper"
    axes = ("window", "channel", "patch")
    arrays = {
        "evidence": NamedArray(values, axes, "1", "gradient-weighted tokens, ReLU", origin),
        "by_channel": NamedArray(values.mean(-1), ("window", "channel"), "1", "mean over a channel's patches"),
        "by_patch": NamedArray(values.mean(1), ("window", "patch"), "1", "mean over the channels"),
        "patch_onset": NamedArray(onsets, ("window", "patch"), "s", "begin, after the first window's onset"),
    }
    facts = {
        "method": "Grad-CAM",
        "target": inputs.model.facts.labels[target_class(inputs.model, inputs.options["target"])],
        "layer": "last" if inputs.options["layer"] < 0 else inputs.options["layer"],
        "layer_name": layer,
        "patch_seconds": step,
        "first_window": float(source.plan.onsets[0]),
        "window_seconds": source.plan.seconds,
    }
    notes = (*source.plan.notes, *carried_notes(inputs), f"Tokens of the layer {layer}.")
    return Findings(arrays, facts, channel_labels(source.plan), notes, source.describe())

"""MVPFormer's attention on a recording: what flows between channels and between times, and the state it expects.

Definitions follow the completion of the paper's appendices (G.10 and S17, our definition). Letters: B windows,
T segments, C channels, H heads, N = T * C tokens (token = segment * C + channel), d head width.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from analysis.analyses import Findings, NamedArray
from analysis.engine.inputs import Inputs
from analysis.engine.model_inputs import ModelInput, model_input
from analysis.errors import AnalysisError
from analysis.progress import Progress
from analysis.seizure_marks import seizures
from models.mvpformer.attention import AttentionParts
from models.mvpformer.introspection import attention_parts
from models.mvpformer.model import MVPFormer
from models.mvpformer.objective import draw_random_segments, similarity
from models.registry import untrained_model

_LEAST_SEGMENTS = 3


@dataclass(frozen=True)
class ChannelMaps:
    """One layer's maps between channels by head, (H, C, C): of the channel term alone, and of what flows in the end."""

    term: Tensor
    realised: Tensor


def channel_maps(parts: AttentionParts, n_channels: int, width: int) -> ChannelMaps:
    """Maps of one layer: mean over windows and segments; rows are queries and sum to one."""
    by_query = parts.channel.unflatten(2, (-1, n_channels))  # (B, H, T, C, C)
    term = (by_query / math.sqrt(width)).softmax(-1).mean((0, 2))
    weights = parts.probabilities.unflatten(2, (-1, n_channels)).unflatten(-1, (-1, n_channels))  # (B, H, T, C, T, C)
    return ChannelMaps(term, weights.sum(-2).mean((0, 2)))


def lag_mass(parts: AttentionParts, n_channels: int) -> Tensor:
    """P(D), (H, T): attention on the segment D before, summed over its channels, mean over tokens that have one."""
    weights = parts.probabilities.unflatten(2, (-1, n_channels)).unflatten(-1, (-1, n_channels)).sum(-1)
    by_time = weights.mean((0, 3))  # (H, T, T): query segment, key segment
    n = by_time.shape[-1]
    return torch.stack([by_time.diagonal(-lag, 1, 2).mean(-1) for lag in range(n)], -1)


def term_shares(parts: AttentionParts, n_channels: int) -> Tensor:
    """Share of the content, time and channel term in the scores, (H, 3): mean |.| over allowed pairs, normalised."""
    content = parts.content.unflatten(2, (-1, n_channels)).unflatten(-1, (-1, n_channels))  # (B, H, T, C, T, C)
    n = content.shape[2]
    allowed = torch.ones(n, n, dtype=torch.bool).tril()
    mean_content = content.abs().mean((0, 3, 5))[:, allowed].mean(-1)
    time = parts.time.unflatten(2, (-1, n_channels)).abs().mean((0, 3))[:, allowed].mean(-1)
    channel = parts.channel.abs().mean((0, 2, 3))
    table = torch.stack([mean_content, time, channel], -1)
    return table / table.sum(-1, keepdim=True).clamp_min(1e-30)


def row_entropy(maps: Tensor) -> Tensor:
    """Entropy of the rows of maps (…, C, C) over that of equal ones, mean over the rows."""
    return -torch.special.xlogy(maps, maps).sum(-1).mean(-1) / math.log(maps.shape[-1])


def asymmetry(maps: Tensor) -> Tensor:
    """|M - M^T| / |M| of maps (…, C, C), Frobenius."""
    return (maps - maps.transpose(-1, -2)).norm(dim=(-2, -1)) / maps.norm(dim=(-2, -1))


def prior_map(model: MVPFormer, n_channels: int) -> Tensor:
    """(layers, H, C, C): w . Q[distance] / sqrt(d), the channel term without a signal; a function of |c - c'|."""
    maps = []
    zeros = torch.zeros(1, 1, n_channels, model.config.n_embd, device=model.channel_table.device)
    with torch.no_grad():
        for block in model.blocks:
            attention: Any = block.attention
            heads = attention.split_heads(zeros, model.time_table[-1:], model.channel_table[:n_channels])
            scores = torch.einsum("kd,ksd->ks", heads.bias[2], heads.channel_key) / math.sqrt(attention.head_dim)
            place = torch.arange(n_channels)
            row = n_channels - 1 - (place[:, None] - place[None]).abs()
            group = model.config.n_head // model.config.n_head_kv
            maps.append(scores[:, row].repeat_interleave(group, 0))
    return torch.stack(maps)


def channel_map(inputs: Inputs, progress: Progress) -> Findings:
    """The C x C maps of every layer and head: the channel term, what flows, and both of random weights beside them."""
    model: MVPFormer = inputs.model.network
    source = _source(inputs, progress)
    n = len(source.plan.ch_names)
    width = model.config.head_dim
    found = _mean_maps(model, source, n, width, progress)
    fresh: Any = untrained_model("mvpformer", model.config, seed=inputs.options["seed"])
    random = _mean_maps(fresh.to(source.device), source, n, width, progress)
    axes = ("layer", "head", "channel", "other_channel")
    strength = found.realised.mean((0, 1)).sum(0) - found.realised.mean((0, 1)).diagonal()

    def named(values: Tensor, names: tuple[str, ...], meaning: str) -> NamedArray:
        return NamedArray(values.cpu().numpy(), names, "1", meaning, "our definition")

    by_head = ("layer", "head")
    arrays = {
        "term": named(found.term, axes, "channel term alone, softmax over the other channel, mean over the window"),
        "flow": named(found.realised, axes, "attention that flows, summed over times, mean over the window"),
        "prior": named(prior_map(model, n), axes, "channel term without a signal, before the softmax"),
        "random_term": named(random.term, axes, "the channel term of random weights"),
        "random_flow": named(random.realised, axes, "the attention that flows with random weights"),
        "strength": named(strength, ("channel",), "attention received from other channels, mean over layers and heads"),
        "entropy": named(row_entropy(found.term), by_head, "entropy of the term's rows over that of equal ones"),
        "asymmetry": named(asymmetry(found.term), by_head, "|M - M^T| / |M| of the channel term"),
        "from_random": named((found.term - random.term).norm(dim=(-2, -1)), by_head, "distance from random weights"),
    }
    labels = {"channel": source.plan.ch_names, "other_channel": source.plan.ch_names}
    notes = (
        *source.plan.notes,
        "The published code uses the distance of channel numbers without its sign: the prior map is symmetric and "
        "depends on the order of the channels.",
    )
    return Findings(arrays, _facts(inputs, source), labels, notes, source.describe())


def attention(inputs: Inputs, progress: Progress) -> Findings:
    """Attention by lag, with and without the content term, and the shares of the three terms, by layer and head."""
    model: MVPFormer = inputs.model.network
    source = _source(inputs, progress)
    n, width = len(source.plan.ch_names), model.config.head_dim
    sums: list[Tensor] = []
    for embeddings in _embeddings(model, source, progress):
        made = attention_parts(
            model, embeddings, keep=lambda p: (lag_mass(p, n), term_shares(p, n), _without(p, n, width))
        )
        parts = [torch.stack([made[i][k] for i in sorted(made)]) for k in range(3)]
        sums = [a + b for a, b in zip(sums, parts, strict=True)] if sums else parts
    count = len(source.plan.onsets)
    arrays = {
        "by_lag": _named(sums[0] / count, ("layer", "head", "lag"), "attention on the segment so long before"),
        "by_lag_without_content": _named(
            sums[2] / count, ("layer", "head", "lag"), "the same of the time and channel terms alone"
        ),
        "share": _named(sums[1] / count, ("layer", "head", "term"), "share of a term in the scores"),
    }
    seconds = model.config.segment_seconds
    labels = {
        "lag": tuple(f"{i * seconds:g} s" for i in range(sums[0].shape[-1])),
        "term": ("content", "time", "channel"),
    }
    facts = {**_facts(inputs, source), "content_window_segments": model.config.window_segments}
    return Findings(arrays, facts, labels, source.plan.notes, source.describe())


def _without(parts: AttentionParts, n_channels: int, width: int) -> Tensor:
    """Lag mass of attention whose content term is nothing."""
    score = parts.time[..., :, None] + parts.channel[..., None, :]  # (B, H, TC, T, C)
    n = parts.time.shape[-1]
    query = torch.arange(parts.time.shape[2], device=score.device) // n_channels
    later = query[:, None] < torch.arange(n, device=score.device)[None]
    flat = (score / math.sqrt(width)).masked_fill(later[:, :, None], -math.inf).flatten(-2).softmax(-1)
    return lag_mass(parts._replace(probabilities=flat), n_channels)


def prediction(inputs: Inputs, progress: Progress) -> Findings:
    """Cosine of the predicted with the actual next segment, the one after it, and a random one (paper appendix C.2)."""
    model: MVPFormer = inputs.model.network
    if model.has_classifier:
        where = inputs.model.facts.path or "made here"
        raise AnalysisError(
            f"this MVPFormer has a classification head in place of its predictions ({where}): "
            "give the base file without a head"
        )
    source = _source(inputs, progress)
    generator = torch.Generator().manual_seed(inputs.options["seed"])
    values: dict[str, list[np.ndarray]] = {"true": [], "two_step": [], "random": []}
    for embeddings in _embeddings(model, source, progress):
        with torch.no_grad():
            made = model.predictions_from_embeddings(embeddings)
        found = similarity(made, embeddings, draw_random_segments(embeddings.shape[1], generator))
        for name, value in found._asdict().items():
            values[name].append(value[0].cpu().numpy())
    onsets = source.window_onsets()
    seconds = model.config.segment_seconds
    n = values["true"][0].shape[0]
    times = onsets[:, None] + seconds * np.arange(1, n + 1)
    marked = seizures(inputs.recording.annotations)
    first = float(source.plan.onsets[0])
    ictal = [[any(a < first + t + seconds and z > first + t for a, z in marked) for t in row] for row in times]
    meanings = {
        "true": "cosine with the next segment",
        "two_step": "cosine with the segment after the next",
        "random": "cosine with a random segment of the window",
    }
    steps = {"true": "step", "two_step": "step_but_one", "random": "step"}
    arrays = {
        name: NamedArray(np.stack(values[name]), ("window", steps[name], "channel"), "1", text, "paper")
        for name, text in meanings.items()
    }
    arrays["time"] = NamedArray(times, ("window", "step"), "s", "begin of what is predicted, after the first window")
    arrays["seizure"] = NamedArray(np.array(ictal, float), ("window", "step"), "1", "1 in a marked seizure")
    facts = {**_facts(inputs, source), "means": {name: float(np.mean(v)) for name, v in values.items()}}
    return Findings(arrays, facts, {"channel": source.plan.ch_names}, source.plan.notes, source.describe())


def _source(inputs: Inputs, progress: Progress) -> ModelInput:
    """The windows of the analysis, as long as the model was trained with, as far as the span allows."""
    model: MVPFormer = inputs.model.network
    seconds = float(inputs.options["window"]) or model.config.n_segments * model.config.segment_seconds
    source = model_input(inputs, inputs.model, seconds, inputs.options["windows"], progress)
    if round(source.plan.seconds / model.config.segment_seconds) < _LEAST_SEGMENTS:
        least = _LEAST_SEGMENTS * model.config.segment_seconds
        raise AnalysisError(
            f"{source.plan.seconds:g} s hold too few segments ({inputs.recording.path}): give at least {least:g} s"
        )
    return source


def _embeddings(model: MVPFormer, source: ModelInput, progress: Progress) -> Iterator[Tensor]:
    for arguments in source.batches(progress, "attention", 1):
        with torch.no_grad():
            yield model.embed(arguments["signal"])


def _mean_maps(model: MVPFormer, source: ModelInput, n: int, width: int, progress: Progress) -> ChannelMaps:
    """Maps (layers, H, C, C), mean over the windows."""
    sums: list[Tensor] = []
    for embeddings in _embeddings(model, source, progress):
        made = attention_parts(model, embeddings, keep=lambda parts: channel_maps(parts, n, width))
        parts = [torch.stack([getattr(made[i], name) for i in sorted(made)]) for name in ("term", "realised")]
        sums = [a + b for a, b in zip(sums, parts, strict=True)] if sums else parts
    count = len(source.plan.onsets)
    return ChannelMaps(sums[0] / count, sums[1] / count)


def _named(values: Tensor, axes: tuple[str, ...], meaning: str) -> NamedArray:
    return NamedArray(values.cpu().numpy(), axes, "1", meaning, "our definition")


def _facts(inputs: Inputs, source: ModelInput) -> dict[str, Any]:
    segment = inputs.model.network.config.segment_seconds
    return {
        "n_windows": len(source.plan.onsets),
        "segments": round(source.plan.seconds / segment),
        "segment_seconds": segment,
        "first_window": float(source.plan.onsets[0]),
        "window_seconds": source.plan.seconds,
    }

"""MVPFormer's attention between the channels of a recording, and what its channel codes alone would do.

Definitions follow the completion of the paper's appendix G.10 (our definition). Letters: B windows, T segments, C
channels, H heads, N = T * C tokens (token = segment * C + channel), d head width, E width of the codes.
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
from analysis.attention_maps import (
    asymmetry,
    code_distances,
    distance,
    implied_map,
    physical_distances,
    row_entropy,
    softmax_rows,
    strength_in,
    strength_out,
)
from analysis.engine.inputs import Inputs
from analysis.engine.model_inputs import ModelInput, model_input
from analysis.errors import AnalysisError
from analysis.progress import Progress
from models.mvpformer.attention import AttentionParts
from models.mvpformer.introspection import attention_parts
from models.mvpformer.model import MVPFormer
from models.registry import untrained_model

_LEAST_SEGMENTS = 3
_MAPS = ("prior", "term", "flow")
_MEANINGS = {
    "prior": "channel term without a signal, before the softmax",
    "term": "channel term alone, softmax over the other channel, mean over the window",
    "flow": "attention that flows, summed over times, mean over the window",
}
_TOEPLITZ = (
    "The published code uses the distance of channel numbers without its sign: the prior map is symmetric Toeplitz in "
    "the number of the channel, so the order of the channels matters."
)


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


def codes_by_separation(model: MVPFormer, n_channels: int) -> np.ndarray:
    """Rows (C, E) of the channel table, that of separation 0 first, as C channels use them."""
    return model.channel_table[:n_channels].detach().flip(0).double().cpu().numpy()


def channel_map(inputs: Inputs, progress: Progress) -> Findings:
    """The C x C maps of every layer and head with those of random weights, their numbers, and the codes' distances."""
    model: MVPFormer = inputs.model.network
    source = model_windows(inputs, progress)
    n = len(source.plan.ch_names)
    fresh: Any = untrained_model("mvpformer", model.config, seed=inputs.options["seed"])
    fresh = fresh.to(source.device)
    own, random = (_maps_of(network, source, n, progress) for network in (model, fresh))
    axes = ("layer", "head", "channel", "other_channel")
    arrays = {name: _named(own[name], axes, _MEANINGS[name]) for name in _MAPS}
    arrays |= {f"random_{name}": _named(random[name], axes, f"{_MEANINGS[name]}; random weights") for name in _MAPS}
    arrays |= _strengths(own["flow"]) | _numbers(own, random) | _codes(model, fresh, source, n)
    labels = dict.fromkeys(("channel", "other_channel"), source.plan.ch_names)
    labels["map"] = _MAPS
    n_located = int(np.isfinite(source.plan.positions).all(1).sum())
    facts = {**window_facts(inputs, source), "n_located": n_located, "initial_seed": inputs.options["seed"]}
    return Findings(arrays, facts, labels, (*source.plan.notes, _TOEPLITZ), source.describe())


def _maps_of(model: MVPFormer, source: ModelInput, n: int, progress: Progress) -> dict[str, np.ndarray]:
    """The three maps (layers, H, C, C) of a model by name, mean over the windows."""
    found = _mean_maps(model, source, n, model.config.head_dim, progress)
    prior = prior_map(model, n)
    return {
        name: values.double().cpu().numpy()
        for name, values in zip(_MAPS, (prior, found.term, found.realised), strict=True)
    }


def _strengths(flow: np.ndarray) -> dict[str, NamedArray]:
    axes = ("layer", "head", "channel")
    scale = "as a multiple of its share under even attention"
    return {
        "strength_in": _named(strength_in(flow), axes, f"attention received from other channels, {scale}"),
        "strength_out": _named(strength_out(flow), axes, f"attention given to other channels, {scale}"),
    }


def _numbers(own: dict[str, np.ndarray], random: dict[str, np.ndarray]) -> dict[str, NamedArray]:
    """Summary numbers by map, layer and head; the prior map's rows become shares for their entropy."""
    axes = ("map", "layer", "head")

    def entropies(maps: dict[str, np.ndarray]) -> np.ndarray:
        return np.stack([row_entropy(softmax_rows(maps[m]) if m == "prior" else maps[m]) for m in _MAPS])

    shares = "entropy of the rows (of the prior map: of their softmax) over log C"
    return {
        "entropy": _named(entropies(own), axes, shares),
        "random_entropy": _named(entropies(random), axes, f"{shares}; random weights"),
        "asymmetry": _named(np.stack([asymmetry(own[m]) for m in _MAPS]), axes, "|M - M^T| / |M|, Frobenius"),
        "random_asymmetry": _named(
            np.stack([asymmetry(random[m]) for m in _MAPS]), axes, "|M - M^T| / |M|, Frobenius; random weights"
        ),
        "from_random": _named(
            np.stack([distance(own[m], random[m]) for m in _MAPS]), axes, "Frobenius distance from random weights"
        ),
    }


def _codes(model: MVPFormer, fresh: MVPFormer, source: ModelInput, n: int) -> dict[str, NamedArray]:
    """Distances between the codes of separations, what they imply for the channels, and how far apart these are."""
    between, initial = (code_distances(codes_by_separation(network, n)) for network in (model, fresh))
    implied = "distance of the code of |c - c'| from the code of 0, in the space of the channel codes"
    pair = ("channel", "other_channel")
    millimetres = 1000 * physical_distances(source.plan.positions.astype(np.float64))
    return {
        "code_distance": _named(between, ("separation", "other_separation"), "distance between two channel codes"),
        "random_code_distance": _named(
            initial, ("separation", "other_separation"), "distance between two channel codes of random weights"
        ),
        "implied": _named(implied_map(between), pair, implied),
        "random_implied": _named(implied_map(initial), pair, f"{implied}; random weights"),
        "physical": NamedArray(millimetres, pair, "mm", "distance of the electrodes in space"),
    }


def model_windows(inputs: Inputs, progress: Progress) -> ModelInput:
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


def embeddings_of(model: MVPFormer, source: ModelInput, progress: Progress, text: str) -> Iterator[Tensor]:
    """(1, T, C, E) of one window after the other; `text` says what is being done."""
    for arguments in source.batches(progress, text, 1):
        with torch.no_grad():
            yield model.embed(arguments["signal"])


def window_facts(inputs: Inputs, source: ModelInput) -> dict[str, Any]:
    """What windows the numbers are from."""
    segment = inputs.model.network.config.segment_seconds
    return {
        "n_windows": len(source.plan.onsets),
        "segments": round(source.plan.seconds / segment),
        "segment_seconds": segment,
        "first_window": float(source.plan.onsets[0]),
        "window_seconds": source.plan.seconds,
    }


def _mean_maps(model: MVPFormer, source: ModelInput, n: int, width: int, progress: Progress) -> ChannelMaps:
    """Maps (layers, H, C, C), mean over the windows."""
    sums: list[Tensor] = []
    for embeddings in embeddings_of(model, source, progress, "attention"):
        made = attention_parts(model, embeddings, keep=lambda parts: channel_maps(parts, n, width))
        parts = [torch.stack([getattr(made[i], name) for i in sorted(made)]) for name in ("term", "realised")]
        sums = [a + b for a, b in zip(sums, parts, strict=True)] if sums else parts
    count = len(source.plan.onsets)
    return ChannelMaps(sums[0] / count, sums[1] / count)


def _named(values: np.ndarray, axes: tuple[str, ...], meaning: str) -> NamedArray:
    return NamedArray(values, axes, "1", meaning, "our definition")

"""PRiSE-EEG on a recording: which experts carry its tokens, and which groups decide what it says."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from analysis.analyses import Findings, NamedArray
from analysis.engine.inputs import Inputs, LoadedModel
from analysis.engine.model_inputs import ModelInput, model_input
from analysis.errors import AnalysisError
from analysis.progress import Progress
from analysis.readers import open_recording
from analysis.recording import Window
from models.prise.config import N_POOL
from models.prise.electrodes import LAGS, N_STATIC, NETWORKS, REGIONS, STATIC_GROUPS, WINDOWS, dynamic_group_names
from models.prise.experts import Routing
from models.prise.interventions import with_pinned_routing
from models.prise.introspection import prior_preservation, routings
from models.prise.model import Prise

_NODES = 32  # of the Gauss-Legendre rule
_SECONDS = "second"


def expert_routing(inputs: Inputs, progress: Progress) -> Findings:
    """Share of tokens that each routed expert of each block gets, over all and second by second (spec section 6)."""
    model: Prise = inputs.model.network
    source = model_input(inputs, inputs.model, inputs.options["window"], inputs.options["windows"], progress)
    usage = _usage(model, source, progress)
    names = model.block_names()
    load = _mean_load(usage)
    seconds = source.window_onsets()[:, None] + np.arange(usage.shape[1] // len(source.plan.onsets))
    mixtures: list[Any] = [block.ffn for block in model.blocks()]
    arrays = {
        "load": NamedArray(load, ("block", "expert"), "1", "share of the routed tokens, no number for shared experts"),
        "usage": NamedArray(usage, ("block", _SECONDS, "expert"), "1", "share of a second's tokens"),
        "second_onset": NamedArray(seconds.ravel(), (_SECONDS,), "s", "onset after the first window's"),
        "load_entropy": NamedArray(_entropy(load), ("block",), "1", "entropy of the load over that of an even one"),
        "n_shared": NamedArray(np.array([m.n_shared for m in mixtures]), ("block",), "1", "experts of the pool shared"),
    }
    notes = list(source.plan.notes)
    facts: dict[str, Any] = {"first_window": float(source.plan.onsets[0]), "n_seconds": usage.shape[1]}
    if inputs.options["other"]:
        other = _other_usage(inputs, model, progress)
        facts["routing_similarity"] = _cosine(load, other)
        arrays["other_load"] = NamedArray(other, ("block", "expert"), "1", "load in the other recording")
        notes.append(f"Cosine of the usage vectors of both recordings: {facts['routing_similarity']:.3f}.")
    labels = {"block": tuple(names), "expert": tuple(str(i) for i in range(1, N_POOL + 1))}
    return Findings(arrays, facts, labels, tuple(notes), source.describe())


def _usage(model: Prise, source: ModelInput, progress: Progress) -> np.ndarray:
    """Share of each second's tokens by expert: (blocks, seconds, experts), NaN for shared experts."""
    parts = []
    for arguments in source.batches(progress, "routing"):
        found = _or_refuse(partial(routings, model, **arguments), source.model)
        patches = arguments["signal"].shape[-1] // model.config.patch_size
        batch = len(arguments["signal"])
        parts.append(
            np.stack([_by_second(routing, shape, name, batch, patches) for name, (routing, shape) in found.items()])
        )
    return np.concatenate(parts, 1)


def _by_second(routing: Routing, shape: tuple[int, ...], name: str, batch: int, patches: int) -> np.ndarray:
    """One block's shares (batch * patches, experts)."""
    chosen = routing.experts.view(*shape, -1)
    if name.startswith("time"):  # (B G, T, k)
        by_time = chosen.unflatten(0, (batch, -1)).transpose(1, 2).flatten(0, 1).flatten(1)
    else:  # (B T, rows, k)
        by_time = chosen.flatten(1)
    assert by_time.shape[0] == batch * patches
    counts = torch.zeros(batch * patches, N_POOL + 1).scatter_add_(1, by_time.cpu(), torch.ones(by_time.shape))
    share = (counts[:, 1:] / counts.sum(1, keepdim=True)).numpy()
    share[:, routing.load.cpu().numpy() < 0] = np.nan
    return share


def _mean_load(usage: np.ndarray) -> np.ndarray:
    """Mean over the seconds of shares (blocks, seconds, experts); a shared expert is NaN in all of them."""
    mean: np.ndarray = usage.mean(1)
    return mean


def _entropy(load: np.ndarray) -> np.ndarray:
    """Entropy of each block's load (blocks, experts) over that of an even one; NaN with one routed expert."""
    values = []
    for row in load:
        there = row[~np.isnan(row)]
        share = there[there > 0] / there.sum()
        values.append(-(share * np.log(share)).sum() / math.log(len(there)) if len(there) > 1 else math.nan)
    return np.array(values)


def _other_usage(inputs: Inputs, model: Prise, progress: Progress) -> np.ndarray:
    """The load in another recording, over a span of the same length from its start."""
    with open_recording(inputs.options["other"]) as recording:
        length = min(inputs.window.duration, recording.duration)
        beside = Inputs(recording, Window(0.0, length), inputs.models, inputs.options, inputs.device)
        source = model_input(beside, inputs.model, inputs.options["window"], inputs.options["windows"], progress)
        return _mean_load(_usage(model, source, progress))


def _cosine(first: np.ndarray, second: np.ndarray) -> float:
    a, b = np.nan_to_num(first).ravel(), np.nan_to_num(second).ravel()
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


def group_attribution(inputs: Inputs, progress: Progress) -> Findings:
    """Integrated Gradients of a class score with respect to the groups' biases (spec section 10.1 and 10.2).

    The bias M is followed from 0 on a straight line, with 32 Gauss-Legendre nodes, every token staying with the experts
    that it has at the end (our definition: their choice jumps, and jumps have no gradient); a group's score is the sum
    of |M * mean gradient| over heads, times and channels.
    """
    model: Prise = inputs.model.network
    if model.head is None:
        raise AnalysisError(
            f"this PRiSE-EEG has no classification head ({inputs.model.facts.path or 'made here'}): "
            "choose a fine-tuned checkpoint"
        )
    target = _target(inputs.model, inputs.options["target"])
    source = model_input(inputs, inputs.model, float(model.config.n_patches), inputs.options["windows"], progress)
    if source.plan.seconds != model.config.n_patches:
        raise AnalysisError(
            f"this head was made for {model.config.n_patches} s, not for {source.plan.seconds:g} s "
            f"({inputs.recording.path}): choose a span of at least {model.config.n_patches} s"
        )
    total = np.zeros((N_STATIC + WINDOWS * len(LAGS), len(source.plan.ch_names)))
    signed = np.zeros_like(total)
    change = explained = 0.0
    for arguments in source.batches(progress, "attribution", 1):
        parts, difference = _integrate(model, arguments, target, progress)
        total += parts.abs().sum((0, 1, 2)).cpu().numpy()
        signed += parts.sum((0, 1, 2)).cpu().numpy()
        change, explained = change + difference, explained + float(parts.sum())
    return _attributed(inputs, model, source, total, signed, (change, explained), target)


def _integrate(model: Prise, arguments: dict[str, Any], target: int, progress: Progress) -> tuple[Tensor, float]:
    """Attribution (B, T, H, G, C) of one window, and the difference of the score that it should add up to."""
    index = model.index(arguments["channels"])
    with torch.no_grad():
        x, bias = model.features(arguments["signal"], index), model.bias(arguments["signal"], index)
        keep = model.kept_groups(x)
    full = bias[:, :, None].expand(-1, -1, model.config.num_heads, -1, -1)

    def score(m: Tensor) -> Tensor:
        return model.classify(model.encode(model.tokenize(x, m), keep))[:, target].sum()

    def run() -> None:
        with torch.no_grad():
            score(full)

    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    gradient = torch.zeros_like(full)
    with with_pinned_routing(model, run):
        for node, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
            progress.check()
            leaf = (float(node) * full).detach().requires_grad_()
            gradient += float(weight) * torch.autograd.grad(score(leaf), leaf)[0]
        with torch.no_grad():
            difference = float(score(full) - score(torch.zeros_like(full)))
    return full * gradient, difference


def _attributed(
    inputs: Inputs,
    model: Prise,
    source: ModelInput,
    total: np.ndarray,
    signed: np.ndarray,
    sums: tuple[float, float],
    target: int,
) -> Findings:
    score = total.sum(1)
    static, dynamic = score[:N_STATIC], score[N_STATIC:].reshape(WINDOWS, len(LAGS))
    whole = max(float(score.sum()), 1e-30)
    change, explained = sums
    lost = prior_preservation(model, [source.plan.sites[i] or n for i, n in enumerate(source.plan.ch_names)])

    def named(values: np.ndarray, axes: tuple[str, ...], meaning: str) -> NamedArray:
        return NamedArray(values, axes, "1", meaning, "our definition")

    arrays = {
        "share": NamedArray(score / whole, ("group",), "1", "share of |attribution|, over heads and times", "paper"),
        "by_region": named(static[: len(REGIONS)] / whole, ("region",), "share by region"),
        "by_network": named(static[len(REGIONS) :] / whole, ("network",), "share by network (rough projections)"),
        "by_window": named(dynamic.sum(1) / whole, ("quarter",), "share of the dynamic groups by quarter of a second"),
        "by_lag": named(dynamic.sum(0) / whole, ("lag",), "share of the dynamic groups by lag"),
        "channel": named(total.sum(0) / whole, ("channel",), "share by channel, over all groups"),
        "signed": named(signed, ("group", "channel"), "attribution, summed over heads and times"),
    }
    labels = {
        "group": (*STATIC_GROUPS, *dynamic_group_names()),
        "region": tuple(REGIONS),
        "network": tuple(NETWORKS),
        "quarter": ("0-250 ms", "250-500 ms", "500-750 ms", "750-1000 ms"),
        "lag": tuple(f"{1000 * lag / 256:.0f} ms" for lag in LAGS),
        "channel": source.plan.ch_names,
    }
    residual = change - explained
    facts = {
        "target": inputs.model.facts.labels[target],
        "n_windows": len(source.plan.onsets),
        "score_change": change,
        "completeness_residual": residual,
        "completeness_relative": abs(residual) / max(abs(change), 1e-12),
        "prior": {"ratio": lost.ratio, "inside": lost.inside, "outside": lost.outside, "gap": lost.gap},
        "first_window": float(source.plan.onsets[0]),
        "window_seconds": source.plan.seconds,
    }
    notes = (
        *source.plan.notes,
        f"Completeness: the attributions add up to {explained:.4g}, the score changes by {change:.4g}.",
    )
    return Findings(arrays, facts, labels, notes, source.describe())


def _target(model: LoadedModel, name: str) -> int:
    """Which class: by its name, or the last one; AnalysisError lists the names."""
    labels = model.facts.labels
    if name == "last":
        return len(labels) - 1
    if name not in labels:
        raise AnalysisError(f"this model has no class {name!r}: choose one of {', '.join(labels)}, or last")
    return labels.index(name)


def _or_refuse(work: Callable[[], Any], model: LoadedModel) -> Any:
    try:
        return work()
    except ValueError as error:
        raise AnalysisError(f"this {model.title} cannot answer, {error}: choose another checkpoint") from error

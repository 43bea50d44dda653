"""Which groups of electrodes decide what a PRiSE-EEG says of a recording."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from analysis.analyses import Findings, NamedArray
from analysis.engine.explained import target_class
from analysis.engine.inputs import Inputs, LoadedModel
from analysis.engine.model_inputs import ModelInput, model_input
from analysis.errors import AnalysisError
from analysis.progress import Progress
from models.prise.electrodes import (
    LAGS,
    N_STATIC,
    NETWORKS,
    REGIONS,
    SAMPLES_PER_SECOND,
    STATIC_GROUPS,
    WINDOWS,
    dynamic_group_names,
)
from models.prise.interventions import with_pinned_routing
from models.prise.introspection import prior_preservation
from models.prise.model import Prise

QUARTERS = ("0-250 ms", "250-500 ms", "500-750 ms", "750-1000 ms")
LAG_NAMES = tuple(f"{1000 * lag / SAMPLES_PER_SECOND:.0f} ms" for lag in LAGS)
_NODES = 32  # of the Gauss-Legendre rule


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
    target = target_class(inputs.model, inputs.options["target"])
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
        return model.classify(model.encode(model.tokenize(x, m), keep), index)[:, target].sum()

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

    prior = np.array([lost.ratio, lost.inside, lost.outside, lost.gap])
    arrays = {
        "share": NamedArray(score / whole, ("group",), "1", "share of |attribution|, over heads and times", "paper"),
        "by_region": named(static[: len(REGIONS)] / whole, ("region",), "share by region"),
        "by_network": named(static[len(REGIONS) :] / whole, ("network",), "share by network (rough projections)"),
        "by_window": named(dynamic.sum(1) / whole, ("quarter",), "share of the dynamic groups by quarter of a second"),
        "by_lag": named(dynamic.sum(0) / whole, ("lag",), "share of the dynamic groups by lag"),
        "channel": named(total.sum(0) / whole, ("channel",), "share by channel, over all groups"),
        "by_channel": named(total / whole, ("group", "channel"), "share by group and channel"),
        "signed": named(signed, ("group", "channel"), "attribution, summed over heads and times"),
        "by_window_and_lag": named(dynamic / whole, ("quarter", "lag"), "share of the dynamic groups"),
        "prior": NamedArray(prior, ("preservation",), "1", "what training left of the static groups", "paper"),
    }
    labels = {
        "group": (*STATIC_GROUPS, *dynamic_group_names()),
        "region": tuple(REGIONS),
        "network": tuple(NETWORKS),
        "quarter": QUARTERS,
        "lag": LAG_NAMES,
        "channel": source.plan.ch_names,
        "site": tuple(site or "" for site in source.plan.sites),
        "preservation": ("|Δ| / |M_s|", "mean bias in groups", "mean bias outside", "gap"),
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


def or_refuse(work: Callable[[], Any], model: LoadedModel) -> Any:
    """What a model says it cannot do, in the words of an analysis."""
    try:
        return work()
    except ValueError as error:
        raise AnalysisError(f"this {model.title} cannot answer, {error}: choose another checkpoint") from error

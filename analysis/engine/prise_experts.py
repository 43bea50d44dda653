"""Which experts of a PRiSE-EEG carry the tokens of a recording, and how alike that is in other recordings."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import torch

from analysis.analyses import Findings, NamedArray
from analysis.engine.inputs import Inputs
from analysis.engine.model_inputs import ModelInput, model_input
from analysis.engine.other_recordings import beside, short_names
from analysis.engine.prise_groups import or_refuse
from analysis.progress import Progress
from models.prise.allocation import ALLOCATIONS, allocation
from models.prise.config import N_POOL
from models.prise.experts import Routing
from models.prise.introspection import routings
from models.prise.model import Prise

_SECONDS = "second"


def expert_routing(inputs: Inputs, progress: Progress) -> Findings:
    """Share of tokens that each routed expert of each block gets, over all and second by second (spec section 6).

    With other recordings, also the cosine of the usage vectors of all of them (section 10.4, our definition).
    """
    model: Prise = inputs.model.network
    source = model_input(inputs, inputs.model, inputs.options["window"], inputs.options["windows"], progress)
    usage = expert_usage(model, source, progress)
    load = mean_load(usage)
    seconds = source.window_onsets()[:, None] + np.arange(usage.shape[1] // len(source.plan.onsets))
    mixtures: list[Any] = [block.ffn for block in model.blocks()]
    splits = np.array([allocation(name, model.config) for name in ALLOCATIONS])
    arrays = {
        "load": NamedArray(load, ("block", "expert"), "1", "share of the routed tokens, no number for shared experts"),
        "usage": NamedArray(usage, ("block", _SECONDS, "expert"), "1", "share of a second's tokens"),
        "second_onset": NamedArray(seconds.ravel(), (_SECONDS,), "s", "onset after the first window's"),
        "load_entropy": NamedArray(_entropy(load), ("block",), "1", "entropy of the load over that of an even one"),
        "n_shared": NamedArray(np.array([m.n_shared for m in mixtures]), ("block",), "1", "experts of the pool shared"),
        "allocations": NamedArray(
            splits, ("allocation", "block"), "1", "experts of the pool shared by other allocations", "our definition"
        ),
    }
    notes = list(source.plan.notes)
    facts: dict[str, Any] = {
        "first_window": float(source.plan.onsets[0]),
        "n_seconds": usage.shape[1],
        "n_windows": len(source.plan.onsets),
        "window_seconds": source.plan.seconds,
        "top_k": model.config.top_k,
    }
    labels = {
        "block": tuple(model.block_names()),
        "expert": tuple(str(i) for i in range(1, N_POOL + 1)),
        "allocation": tuple(ALLOCATIONS),
    }
    if inputs.options["other"]:
        labels["recording"] = _compare(inputs, model, load, arrays, facts, progress)
        labels["other_recording"] = labels["recording"]
    return Findings(arrays, facts, labels, tuple(notes), source.describe())


def _compare(
    inputs: Inputs,
    model: Prise,
    load: np.ndarray,
    arrays: dict[str, NamedArray],
    facts: dict[str, Any],
    progress: Progress,
) -> tuple[str, ...]:
    """Add the load in the other recordings and the similarity of all; returns the recordings' names."""
    loads = [load]
    with beside(inputs, inputs.options["other"]) as others:
        for other in others:
            source = model_input(other, other.model, other.options["window"], other.options["windows"], progress)
            loads.append(mean_load(expert_usage(model, source, progress)))
        names = short_names([inputs, *others])
    similarity = np.array([[routing_similarity(a, b) for b in loads] for a in loads])
    arrays["other_load"] = NamedArray(
        np.stack(loads[1:]), ("of_other", "block", "expert"), "1", "load in the other recordings"
    )
    arrays["routing_similarity"] = NamedArray(
        similarity, ("recording", "other_recording"), "1", "cosine of the usage vectors", "our definition"
    )
    facts["routing_similarity"] = float(similarity[0, 1])
    return names


def expert_usage(model: Prise, source: ModelInput, progress: Progress) -> np.ndarray:
    """Share of each second's tokens by expert: (blocks, seconds, experts), NaN for shared experts."""
    parts = []
    for arguments in source.batches(progress, "routing"):
        found = or_refuse(partial(routings, model, **arguments), source.model)
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


def mean_load(usage: np.ndarray) -> np.ndarray:
    """Mean over the seconds of shares (blocks, seconds, experts); a shared expert is NaN in all of them."""
    mean: np.ndarray = usage.mean(1)
    return mean


def routing_similarity(first: np.ndarray, second: np.ndarray) -> float:
    """Cosine of two loads (blocks, experts), each normalised by block; shared experts do not count."""
    a, b = np.nan_to_num(first).ravel(), np.nan_to_num(second).ravel()
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


def _entropy(load: np.ndarray) -> np.ndarray:
    """Entropy of each block's load (blocks, experts) over that of an even one; NaN with one routed expert."""
    values = []
    for row in load:
        there = row[~np.isnan(row)]
        share = there[there > 0] / there.sum()
        values.append(-(share * np.log(share)).sum() / math.log(len(there)) if len(there) > 1 else math.nan)
    return np.array(values)

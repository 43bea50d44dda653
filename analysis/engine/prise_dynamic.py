"""Which channels move together in the dynamic groups of a PRiSE-EEG: their lag correlations (spec section 4.2)."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch

from analysis.analyses import Findings, NamedArray
from analysis.engine.inputs import Inputs
from analysis.engine.model_inputs import model_input
from analysis.engine.prise_groups import LAG_NAMES, QUARTERS, or_refuse
from analysis.progress import Progress
from models.prise.electrodes import LAGS, SAMPLES_PER_SECOND, WINDOW_SAMPLES, WINDOWS
from models.prise.introspection import dynamic_correlation
from models.prise.model import Prise

_CHANNELS = ("channel", "later_channel")


def dynamic_groups(inputs: Inputs, progress: Progress) -> Findings:
    """rho of every channel with every later one, by second, quarter of it and lag; which groups the model keeps."""
    model: Prise = inputs.model.network
    source = model_input(inputs, inputs.model, inputs.options["window"], inputs.options["windows"], progress)
    correlations, biases, kept = [], [], []
    with torch.inference_mode():
        for arguments in source.batches(progress, "correlations"):
            index = or_refuse(partial(model.index, arguments["channels"]), inputs.model)
            rho = dynamic_correlation(model, arguments["signal"])
            correlations.append(rho.flatten(0, 1).cpu().numpy())
            biases.append(model.dynamic_groups.from_correlation(rho).flatten(0, 1).cpu().numpy())
            groups = model.kept_groups(model.features(arguments["signal"], index))
            kept.append(groups[:, -WINDOWS * len(LAGS) :].cpu().numpy())
    correlation = np.concatenate(correlations)
    n, names = len(correlation), source.plan.ch_names
    bias = np.concatenate(biases).reshape(n, WINDOWS, len(LAGS), len(names))
    seconds = source.window_onsets()[:, None] + np.arange(n // len(source.plan.onsets))
    size = np.abs(correlation)
    apart = ~np.eye(len(names), dtype=bool)
    strength = size[..., apart].mean((0, -1)) if apart.any() else np.zeros((WINDOWS, len(LAGS)))
    arrays = {
        "correlation": NamedArray(
            correlation, ("second", "quarter", "lag", *_CHANNELS), "1",
            "correlation of a channel with one that is later by a lag, within a quarter of a second", "our definition",
        ),
        "mean_size": NamedArray(
            size.mean((0, 1)), ("lag", *_CHANNELS), "1", "mean size of the correlation over the span", "our definition"
        ),
        "strength": NamedArray(
            strength, ("quarter", "lag"), "1", "mean size of the correlation between different channels",
            "our definition",
        ),
        "bias": NamedArray(
            bias, ("second", "quarter", "lag", "channel"), "1", "bias of the dynamic groups to the channels",
            "our definition",
        ),
        "kept": NamedArray(
            np.concatenate(kept).mean(0).reshape(WINDOWS, len(LAGS)), ("quarter", "lag"), "1",
            "share of the windows in which the model keeps a group", "our definition",
        ),
        "second_onset": NamedArray(seconds.ravel(), ("second",), "s", "onset after the first window's"),
    }  # fmt: skip
    facts = {
        "n_windows": len(source.plan.onsets),
        "first_window": float(source.plan.onsets[0]),
        "window_seconds": source.plan.seconds,
        "quarter_seconds": WINDOW_SAMPLES / SAMPLES_PER_SECOND,
        "lag_seconds": [lag / SAMPLES_PER_SECOND for lag in LAGS],
        "has_selector": model.selector is not None,
    }
    labels = {"channel": names, "later_channel": names, "quarter": QUARTERS, "lag": LAG_NAMES}
    return Findings(arrays, facts, labels, source.plan.notes, source.describe())

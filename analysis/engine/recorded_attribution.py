"""Attribution taken back from what a model was given to the channels as they were recorded."""

from __future__ import annotations

import numpy as np
from torch import Tensor

from analysis.attribution_maps import gradient_of, unreferenced
from analysis.engine.explained import Explained
from analysis.engine.model_windows import WindowPlan

REFERENCE_NOTE = (
    "The model was given the channels against a common reference; the map on the traces is that of the channels as "
    "they were recorded, each with what it did through that reference."
)


def is_referenced(plan: WindowPlan) -> bool:
    """Whether the model was given other differences than were recorded."""
    return plan.settings.reference != "none"


def on_recording(
    plan: WindowPlan, number: int, window: Explained, baseline: Tensor, plain: Tensor, values: Tensor
) -> np.ndarray:
    """Attribution `values` (C, N) of a window of a plan, to the recorded channels (C, N) float64; the sum stays.

    `plain` (C, N) is the attribution before it was smoothed, whose gradient says what the reference did. The baseline
    counts as a signal without a reference of its own.
    """
    parts = plan.reference_parts_at(plan.span_of[number], window.onset).astype(np.float64)
    attribution, product = (each.detach().cpu().double().numpy() for each in (values, plain))
    difference = (window.signal - baseline)[0].detach().cpu().double().numpy()
    gradient = gradient_of(product, difference) / window.scale.cpu().double().numpy()
    return unreferenced(gradient, attribution, parts)


def channel_labels(plan: WindowPlan) -> dict[str, tuple[str, ...]]:
    """The channels, and the electrode that each is at, empty where that is not known."""
    return {"channel": plan.ch_names, "site": tuple(site or "" for site in plan.sites)}

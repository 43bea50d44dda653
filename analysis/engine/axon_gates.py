"""AXON's gates on a recording: which axis each layer listens to, and what happens when it may not choose."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

from analysis.analyses import Findings, NamedArray, Source
from analysis.engine.inputs import Inputs
from analysis.engine.model_inputs import ModelInput, model_input
from analysis.engine.model_windows import WindowPlan
from analysis.errors import AnalysisError
from analysis.progress import Progress
from models.axon.config import AxonConfig
from models.axon.interventions import INTERVENTIONS, Calibration, calibrate, intervene
from models.axon.introspection import (
    COLLAPSE_RATIO,
    Gates,
    collect_gates,
    dense_relation_mass,
    dispersion,
    entropy_ratio,
    uniform_mass,
)
from models.axon.model import Axon, mean_over_tokens

_BATCH_TOKENS = 4096
Answer = TypeVar("Answer")
_MASSES = ("itself", "channel", "time", "off_axis")


@dataclass(frozen=True)
class AxonWindows:
    """The windows of an analysis as AXON takes them."""

    source: ModelInput
    config: AxonConfig

    @property
    def plan(self) -> WindowPlan:
        """Which windows and channels."""
        return self.source.plan

    @property
    def positions(self) -> Tensor:
        """Positions (C, 3) in metres."""
        return torch.from_numpy(self.plan.positions).to(self.source.device)

    @property
    def n_patches(self) -> int:
        """Patches of a window."""
        return self.config.n_patches(round(self.plan.seconds * self.config.sampling_rate_hz))

    def batches(self, progress: Progress, text: str) -> Iterator[Tensor]:
        """Signals (B, C, samples), z-scored and clipped as in the paper's pretraining."""
        size = max(1, _BATCH_TOKENS // (len(self.plan.ch_names) * max(1, self.n_patches)))
        for arguments in self.source.batches(progress, text, size):
            yield arguments["signal"]

    def patch_onsets(self) -> np.ndarray:
        """Where the patches begin, seconds after the first window's onset, (windows, patches)."""
        step = self.config.patch_stride / self.config.sampling_rate_hz
        onsets: np.ndarray = self.source.window_onsets()[:, None] + step * np.arange(self.n_patches)
        return onsets


def axon_windows(inputs: Inputs, progress: Progress, most: int | None = None) -> AxonWindows:
    """Plan the windows of an analysis; AnalysisError when there is none, or none that holds a patch."""
    source = model_input(inputs, inputs.model, float(inputs.options["window"]), most, progress)
    return AxonWindows(source, inputs.model.network.config)


def gate_profile(inputs: Inputs, progress: Progress) -> Findings:
    """Weights of both gates by layer, window, channel and patch, with profile and spread (spec section 8.1-8.3)."""
    model: Axon = inputs.model.network
    windows = axon_windows(inputs, progress, inputs.options["windows"])
    parts = [_collect(model, batch, windows.positions) for batch in windows.batches(progress, "gates")]
    axis = np.concatenate([part[0] for part in parts], 1)  # (layers, windows, C, T)
    short = np.concatenate([part[1] for part in parts], 1) if parts[0][1] is not None else None
    arrays = {
        "temporal": NamedArray(
            axis, ("layer", "window", "channel", "patch"), "1", "weight of the temporal path", "paper"
        ),
        "patch_onset": NamedArray(
            windows.patch_onsets(), ("window", "patch"), "s", "begin of a patch, after the first window's onset"
        ),
        **_profile(axis),
    }
    one_scale = windows.n_patches <= model.config.radius + 1
    if short is not None and not one_scale:
        arrays["short"] = NamedArray(
            short, ("layer", "window", "channel", "patch"), "1", "weight of the short window", "reference"
        )
        arrays["short_mean"] = NamedArray(short.mean((1, 2, 3)), ("layer",), "1", "mean weight of the short window")
    notes = list(windows.plan.notes)
    if one_scale and short is not None:
        notes.append(
            f"A window of {windows.n_patches} patches holds only one scale: both temporal branches are the same."
        )
    if len(windows.plan.onsets) == 1:
        notes.append("D_content needs at least two windows and is not defined for one.")
    return _findings(windows, arrays, notes, {"n_windows": len(windows.plan.onsets), "collapse": COLLAPSE_RATIO})


def _collect(model: Axon, batch: Tensor, positions: Tensor) -> tuple[np.ndarray, np.ndarray | None]:
    gates: Gates = _or_refuse(lambda: collect_gates(model, batch, positions))
    axis = np.stack([gates.axis[i][..., 0].cpu().numpy() for i in sorted(gates.axis)])
    if not gates.scale:
        return axis, None
    return axis, np.stack([gates.scale[i][..., 0].cpu().numpy() for i in sorted(gates.scale)])


def _profile(axis: np.ndarray) -> dict[str, NamedArray]:
    """What is drawn by layer, of temporal weights (layers, windows, C, T)."""
    weights = [torch.from_numpy(np.stack([layer, 1 - layer], -1)) for layer in axis]
    spread = [dispersion(torch.tensor(layer)) for layer in axis]
    content = [s.content if s.content is not None else np.nan for s in spread]

    def by_layer(values: object, meaning: str, source: Source) -> NamedArray:
        return NamedArray(np.asarray(values), ("layer",), "1", meaning, source)

    return {
        "mean": by_layer(axis.mean((1, 2, 3)), "mean temporal weight over tokens", "paper"),
        "sd": by_layer(axis.std((1, 2, 3)), "standard deviation of the temporal weight over tokens", "paper"),
        "entropy_ratio": by_layer(
            [entropy_ratio(w) for w in weights], "mean entropy of the two weights over that of equal ones", "paper"
        ),
        "d_token": by_layer([s.token for s in spread], "D_token: spread over all tokens", "our definition"),
        "d_position": by_layer([s.position for s in spread], "spread of the means by position", "our definition"),
        "d_content": by_layer(
            content, "D_content: spread within positions, corrected for the number of windows", "our definition"
        ),
    }


def gate_interventions(inputs: Inputs, progress: Progress) -> Findings:
    """How class probabilities and the mean token move when the gates are replaced (spec section 8.4)."""
    model: Axon = inputs.model.network
    windows = axon_windows(inputs, progress)
    gate = inputs.options["gate"]
    batches = list(windows.batches(progress, "reading"))
    calibration: Calibration = _or_refuse(
        lambda: calibrate(
            model,
            [{"signal": batch, "positions": windows.positions} for batch in batches],
            gate,
            inputs.options["calibration"],
        )
    )
    learned = _answers(model, batches, windows.positions)
    answers = []
    for i, kind in enumerate(INTERVENTIONS):
        progress.report(i, len(INTERVENTIONS), kind.replace("_", " "))
        with intervene(model, kind, calibration, inputs.options["seed"], gate):
            answers.append(_answers(model, batches, windows.positions))
    pooled = np.stack([answer[0] for answer in answers])  # (interventions, windows, D)
    own = learned[0]
    cosine = (pooled * own).sum(-1) / (np.linalg.norm(pooled, axis=-1) * np.linalg.norm(own, axis=-1))
    arrays = {
        "cosine": NamedArray(
            cosine, ("intervention", "window"), "1", "cosine of the mean token with that of the learned gates",
            "our definition",
        ),
        "window_onset": NamedArray(
            windows.plan.onsets - windows.plan.onsets[0], ("window",), "s", "begin of a window, after the first one's"
        ),
    }  # fmt: skip
    if learned[1] is not None:
        scores = np.stack([answer[1] for answer in answers if answer[1] is not None])
        arrays["probability"] = NamedArray(
            learned[1], ("window", "class"), "1", "class probabilities with the learned gates"
        )
        arrays["probability_change"] = NamedArray(
            scores - learned[1], ("intervention", "window", "class"), "1", "change of the class probabilities", "paper"
        )
    facts = {"gate": gate, "n_windows": len(windows.plan.onsets), "calibration_windows": calibration.n_windows}
    labels = {"intervention": tuple(INTERVENTIONS), "class": tuple(inputs.model.facts.labels)}
    return _findings(windows, arrays, list(windows.plan.notes), facts, labels)


def _answers(model: Axon, batches: list[Tensor], positions: Tensor) -> tuple[np.ndarray, np.ndarray | None]:
    """Mean tokens (windows, D) and, with a head, class probabilities (windows, K)."""
    with torch.inference_mode():
        pooled = torch.cat([mean_over_tokens(model.tokens(batch, positions), None) for batch in batches])
        scores = model.classify(pooled).softmax(-1).cpu().numpy() if model.config.n_outputs else None
    return pooled.cpu().numpy(), scores


def relation_masses(inputs: Inputs, progress: Progress) -> Findings:
    """Share of a dense model's attention on itself, its channel, its time, and neither (spec section 8.5)."""
    model: Axon = inputs.model.network
    windows = axon_windows(inputs, progress, inputs.options["windows"])
    sums: np.ndarray | None = None
    count = 0
    for batch in windows.batches(progress, "attention"):
        for single in batch:
            masses = _or_refuse(partial(dense_relation_mass, model, single[None], windows.positions))
            table = np.array([[getattr(masses[i], name) for name in _MASSES] for i in sorted(masses)])
            sums = table if sums is None else sums + table
            count += 1
    assert sums is not None
    prior = uniform_mass(len(windows.plan.ch_names), windows.n_patches)
    equal = np.array([getattr(prior, name) for name in _MASSES])
    arrays = {
        "mass": NamedArray(sums / count, ("layer", "relation"), "1", "share of attention, mean over tokens", "paper"),
        "uniform": NamedArray(equal, ("relation",), "1", "share if all tokens counted alike", "paper"),
    }
    labels: dict[str, tuple[str, ...]] = {"relation": ("itself", "same channel", "same time", "neither")}
    return _findings(windows, arrays, list(windows.plan.notes), {"n_windows": count}, labels)


def _or_refuse(work: Callable[[], Answer]) -> Answer:
    """What a model says it cannot do, in the words of an analysis."""
    try:
        return work()
    except ValueError as error:
        raise AnalysisError(f"this AXON cannot answer, {error}: choose another checkpoint or analysis") from error


def _findings(
    windows: AxonWindows,
    arrays: dict[str, NamedArray],
    notes: list[str],
    facts: dict[str, object],
    labels: dict[str, tuple[str, ...]] | None = None,
) -> Findings:
    plan = windows.plan
    layers = {"layer": tuple(f"{i}" for i in range(windows.config.depth))}
    return Findings(
        arrays,
        {
            **facts,
            "first_window": float(plan.onsets[0]),
            "window_seconds": plan.seconds,
            "patch_seconds": windows.config.patch_size / windows.config.sampling_rate_hz,
            "variant": windows.config.variant,
            "left_out": [list(pair) for pair in plan.left_out],
        },
        {"channel": plan.ch_names, **layers, **(labels or {})},
        tuple(notes),
        windows.source.describe(),
    )

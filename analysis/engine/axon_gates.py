"""AXON's gates on a recording: which axis each layer listens to; and where a dense model's attention goes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
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
from analysis.recording import SCALP_TYPES
from analysis.topography import scalp_layout, source_of_positions
from models.axon.config import AxonConfig
from models.axon.introspection import (
    COLLAPSE_RATIO,
    Gates,
    collect_gates,
    dense_relation_mass,
    dispersion,
    entropy_ratio,
    uniform_mass,
)
from models.axon.model import Axon

_BATCH_TOKENS = 4096
Answer = TypeVar("Answer")
_MASSES = ("itself", "channel", "time", "off_axis")


@dataclass(frozen=True)
class AxonWindows:
    """The windows of an analysis as AXON takes them."""

    source: ModelInput
    config: AxonConfig
    recording: Path
    positions_from: str
    is_intracranial: bool

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

    @property
    def has_one_scale(self) -> bool:
        """Whether the shortest window reaches over all patches, so that the temporal branches are the same."""
        scales = self.config.scales
        return bool(scales) and scales[0] is not None and scales[0] >= self.n_patches - 1

    @property
    def notes(self) -> tuple[str, ...]:
        """What of each window is not looked at, and where the model was not trained."""
        inside = ("These contacts lie inside the head, and AXON was trained on scalp EEG [our definition].",)
        return (*(inside if self.is_intracranial else ()), *self._unused())

    def _unused(self) -> tuple[str, ...]:
        rate = self.config.sampling_rate_hz
        samples = round(self.plan.seconds * rate)
        unused = samples - self.config.samples_used(samples)
        if not unused:
            return ()
        return (f"The last {unused / rate:g} s of each window fill no patch and are not looked at [our definition].",)

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
    names = frozenset(source.plan.ch_names)
    channels = [channel for channel in inputs.recording.channels if channel.name in names]
    return AxonWindows(
        source,
        inputs.model.network.config,
        Path(inputs.recording.path),
        source_of_positions(channels),
        not all(channel.type in SCALP_TYPES for channel in channels),
    )


def gate_profile(inputs: Inputs, progress: Progress) -> Findings:
    """Weights of both gates by layer, window, channel and patch, with profile and spread (spec section 8.1-8.3)."""
    model: Axon = inputs.model.network
    windows = axon_windows(inputs, progress, inputs.options["windows"])
    parts = [_collect(inputs, batch, windows.positions) for batch in windows.batches(progress, "gates")]
    axis = np.concatenate([part[0] for part in parts], 1)  # (layers, windows, C, T, paths)
    axes = ("layer", "window", "channel", "patch")
    arrays = {
        "temporal": NamedArray(axis[..., 0], axes, "1", "weight of the temporal path", "paper"),
        "patch_onset": NamedArray(
            windows.patch_onsets(), ("window", "patch"), "s", "begin of a patch, after the first window's onset"
        ),
        **_profile(axis),
        **_places(inputs, windows.plan.ch_names),
    }
    if axis.shape[-1] > 2:
        arrays["global"] = NamedArray(axis[..., 2], axes, "1", "weight of the path over all tokens", "paper")
    notes = list(windows.plan.notes)
    if parts[0][1] is not None:
        if windows.has_one_scale:
            patches = f"{windows.n_patches} patch{'es' if windows.n_patches > 1 else ''}"
            notes.append(
                f"A window of {patches} holds only one scale: both temporal branches are the same [reference]."
            )
        else:
            short = np.concatenate([part[1] for part in parts if part[1] is not None], 1)
            arrays.update(_scale_profile(short, "reference" if model.config.scale_gate == "token" else "paper"))
    if len(windows.plan.onsets) == 1:
        notes.append("D_content needs at least two windows and is not defined for one.")
    facts: dict[str, object] = {"n_windows": len(windows.plan.onsets), "collapse": COLLAPSE_RATIO}
    labels: dict[str, tuple[str, ...]] = {"coordinate": ("right", "front")} if "place" in arrays else {}
    return axon_findings(windows, arrays, notes, facts, labels)


def _collect(inputs: Inputs, batch: Tensor, positions: Tensor) -> tuple[np.ndarray, np.ndarray | None]:
    """Axis gates (layers, windows, C, T, paths), and weights (layers, windows, C, T) of the short window."""
    gates: Gates = or_refuse(inputs, lambda: collect_gates(inputs.model.network, batch, positions))
    axis = np.stack([gates.axis[i].cpu().numpy() for i in sorted(gates.axis)])
    if not gates.scale:
        return axis, None
    return axis, np.stack([gates.scale[i][..., 0].cpu().numpy() for i in sorted(gates.scale)])


def _profile(axis: np.ndarray) -> dict[str, NamedArray]:
    """What is drawn by layer, of axis gates (layers, windows, C, T, paths)."""
    temporal = axis[..., 0]
    spread = [dispersion(torch.tensor(layer)) for layer in temporal]
    content = [s.content if s.content is not None else np.nan for s in spread]

    def by_layer(values: object, meaning: str, source: Source) -> NamedArray:
        return NamedArray(np.asarray(values), ("layer",), "1", meaning, source)

    return {
        "mean": by_layer(temporal.mean((1, 2, 3)), "mean temporal weight over tokens", "paper"),
        "sd": by_layer(temporal.std((1, 2, 3)), "standard deviation of the temporal weight over tokens", "paper"),
        "entropy_ratio": by_layer(
            [entropy_ratio(torch.from_numpy(layer)) for layer in axis],
            "mean entropy of a token's weights over that of equal ones",
            "paper",
        ),
        "d_token": by_layer([s.token for s in spread], "D_token: spread over all tokens", "our definition"),
        "d_position": by_layer([s.position for s in spread], "spread of the means by position", "our definition"),
        "d_content": by_layer(
            content, "D_content: spread within positions, corrected for the number of windows", "our definition"
        ),
    }


def _scale_profile(short: np.ndarray, source: Source) -> dict[str, NamedArray]:
    """The scale gate, of weights (layers, windows, C, T) of the short window."""
    return {
        "short": NamedArray(
            short, ("layer", "window", "channel", "patch"), "1", "weight of the short window", source
        ),
        "short_mean": NamedArray(
            short.mean((1, 2, 3)), ("layer",), "1", "mean weight of the short window over tokens", source
        ),
        "short_sd": NamedArray(
            short.std((1, 2, 3)), ("layer",), "1", "standard deviation of the short window's weight over tokens", source
        ),
    }  # fmt: skip


def _places(inputs: Inputs, ch_names: tuple[str, ...]) -> dict[str, NamedArray]:
    """Where the channels lie on a drawing of the head; nothing where the recording has too few electrodes for one."""
    try:
        layout = scalp_layout(inputs.recording)
    except AnalysisError:
        return {}
    found = dict(zip(layout.ch_names, layout.points, strict=True))
    points = np.array([found.get(name, (np.nan, np.nan)) for name in ch_names])
    meaning = "place on the head seen from above: to the right, to the nose; the outline is at distance 1"
    return {"place": NamedArray(points, ("channel", "coordinate"), "1", meaning)}


def relation_masses(inputs: Inputs, progress: Progress) -> Findings:
    """Share of a dense model's attention on itself, its channel, its time, and neither (spec section 8.5)."""
    model: Axon = inputs.model.network
    windows = axon_windows(inputs, progress, inputs.options["windows"])
    sums: np.ndarray | None = None
    count = 0
    for batch in windows.batches(progress, "attention"):
        for single in batch:
            masses = or_refuse(inputs, partial(dense_relation_mass, model, single[None], windows.positions))
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
    return axon_findings(windows, arrays, list(windows.plan.notes), {"n_windows": count}, labels)


def or_refuse(inputs: Inputs, work: Callable[[], Answer]) -> Answer:
    """What a model says it cannot do, in the words of an analysis."""
    try:
        return work()
    except ValueError as error:
        facts = inputs.model.facts
        name = facts.path or facts.card.get("name")
        gated = inputs.model.network.config.has_axis_gate
        other = "gates or gate-interventions" if gated else "relation-mass, cka or effective-rank"
        raise AnalysisError(
            f"this AXON cannot answer, {error} ({name}): ask it for {other}, or choose another variant"
        ) from error


def axon_findings(
    windows: AxonWindows,
    arrays: dict[str, NamedArray],
    notes: list[str],
    facts: dict[str, object],
    labels: dict[str, tuple[str, ...]] | None = None,
) -> Findings:
    """What every analysis of an AXON says of its windows, beside arrays, notes and facts of its own."""
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
            "positions": windows.positions_from,
            "left_out": [list(pair) for pair in plan.left_out],
        },
        {"channel": plan.ch_names, **layers, **(labels or {})},
        (*notes, *windows.notes),
        windows.source.describe(),
    )

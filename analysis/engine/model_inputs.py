"""What each family of models is given of a recording: windows, channels, and their values as it was trained on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from analysis.engine.inputs import Inputs, LoadedModel
from analysis.engine.model_windows import WindowPlan, plan_windows
from analysis.engine.neurduo_input import NO_ELECTRODE, input_settings, resolve_channel
from analysis.engine.stated_preprocessing import stated_preprocessing
from analysis.errors import AnalysisError
from analysis.preprocessing import Preprocessing
from analysis.progress import Progress
from analysis.recording import Channel, Recording
from models.axon.layers import standardised
from models.neurduo.electrodes import Electrode, unit_positions
from models.neurduo.normalisation import normalise_window
from models.prise.electrodes import MIN_CHANNELS, electrode_index

CLIP = 15.0  # standard deviations (AXON, pretraining)
_EPSILON = 1e-5
_AGAIN = "second channel at the same electrode"
# Samples of a batch, channels and windows together; a processor gains nothing by more, and memory is then shared.
_ON_PROCESSOR, _ON_DEVICE = 500_000, 2_000_000


@dataclass(frozen=True)
class ModelInput:
    """The windows of an analysis as one model takes them; `arguments` makes of a batch what `tokens` is called with."""

    model: LoadedModel
    plan: WindowPlan
    arguments: Callable[[Tensor], dict[str, Any]]
    normalisation: str
    device: torch.device
    recording: Recording
    for_head: bool = False  # whether only what the classification head reads is there

    def batches(self, progress: Progress, text: str, size: int | None = None) -> Iterator[dict[str, Any]]:
        """Arguments of the model for one batch of windows after the other."""
        per_window = len(self.plan.ch_names) * round(self.plan.seconds * self.plan.settings.sfreq)
        most = _ON_PROCESSOR if self.device.type == "cpu" else _ON_DEVICE
        for batch in self.plan.batches(size or max(1, most // per_window), progress, text):
            yield self.arguments(torch.from_numpy(batch).to(self.device))

    def settings(self) -> dict[str, Any]:
        """How the signal was made."""
        recorded_at = self.plan.signals[0].recorded_at
        return {**self.plan.settings.describe(recorded_at), "normalisation": self.normalisation}

    def describe(self) -> dict[str, Any]:
        """How the signal was made, and of which channels not, for the provenance."""
        return {**self.settings(), "channels_left_out": [list(pair) for pair in self.plan.left_out]}

    def window_onsets(self) -> np.ndarray:
        """Onsets of the windows, seconds after the first one's."""
        onsets: np.ndarray = self.plan.onsets - self.plan.onsets[0]
        return onsets


def model_input(
    inputs: Inputs,
    model: LoadedModel,
    seconds: float,
    most: int | None = None,
    progress: Progress | None = None,
    for_head: bool = False,
) -> ModelInput:
    """Windows of `seconds` for a model, at most `most` of them; AnalysisError says what the recording lacks.

    `for_head` leaves out channels that a classification head does not read, where it was made for some by name.
    """
    make = _FAMILIES.get(model.family)
    if make is None:
        raise AnalysisError(f"{model.title} is not given in windows: choose another analysis")
    if for_head and model.family == "neurduo" and model.network.config.head is not None:
        make = _neurduo_head
    return make(inputs, model, min(seconds, inputs.window.duration), most, progress)


def _axon(
    inputs: Inputs, model: LoadedModel, seconds: float, most: int | None, progress: Progress | None
) -> ModelInput:
    config = model.network.config
    if config.n_patches(round(seconds * config.sampling_rate_hz)) < 1:
        least = config.patch_size / config.sampling_rate_hz
        raise AnalysisError(f"windows of {seconds:g} s hold no patch: give at least {least:g} s")
    settings = stated_preprocessing(model.facts.preprocessing)
    plan = plan_windows(inputs.recording, inputs.window, seconds, settings, most, progress)
    positions = torch.from_numpy(plan.positions).to(inputs.device)

    def arguments(batch: Tensor) -> dict[str, Any]:
        return {"signal": standardised(batch).clamp(-CLIP, CLIP), "positions": positions}

    normalisation = "z-score per channel and window, clip 15 SD"
    return ModelInput(model, plan, arguments, normalisation, inputs.device, inputs.recording)


def _prise(
    inputs: Inputs, model: LoadedModel, seconds: float, most: int | None, progress: Progress | None
) -> ModelInput:
    whole = float(int(seconds + 1e-6))
    if whole < 1:
        raise AnalysisError(f"windows of {seconds:g} s hold no second: PRiSE-EEG needs at least 1 s")
    seen: set[int] = set()

    def wanted(channel: Channel) -> str:
        place = electrode_index(channel.site or channel.name)
        if channel.type != "eeg" or place is None:
            return "no electrode of PRiSE-EEG's set (10-10 system, T1 and T2)"
        if place in seen:
            return _AGAIN
        seen.add(place)
        return ""

    settings = stated_preprocessing(model.facts.preprocessing, "fir")
    plan = plan_windows(inputs.recording, inputs.window, whole, settings, most, progress, wanted, MIN_CHANNELS)
    names = [plan.sites[i] or plan.ch_names[i] for i in range(len(plan.ch_names))]

    def arguments(batch: Tensor) -> dict[str, Any]:
        centred = batch - batch.mean(-1, keepdim=True)
        return {"signal": centred / (batch.std(-1, keepdim=True, correction=0) + _EPSILON), "channels": names}

    return ModelInput(model, plan, arguments, "z-score per channel and window", inputs.device, inputs.recording)


def _mvpformer(
    inputs: Inputs, model: LoadedModel, seconds: float, most: int | None, progress: Progress | None
) -> ModelInput:
    config = model.network.config
    segments = max(1, int(seconds / config.segment_seconds + 1e-6))
    if seconds < config.segment_seconds - 1e-6:
        raise AnalysisError(f"windows of {seconds:g} s hold no segment: give at least {config.segment_seconds:g} s")
    settings = Preprocessing.from_checkpoint(model.facts.preprocessing)
    whole = segments * config.segment_seconds
    plan = plan_windows(inputs.recording, inputs.window, whole, settings, most, progress, _any, 1)

    def arguments(batch: Tensor) -> dict[str, Any]:
        return {"signal": batch.unflatten(-1, (segments, config.size_input)).transpose(1, 2)}  # (B, T, C, L)

    return ModelInput(model, plan, arguments, "none, microvolts", inputs.device, inputs.recording)


def _neurduo(
    inputs: Inputs, model: LoadedModel, seconds: float, most: int | None, progress: Progress | None
) -> ModelInput:
    sites: set[str] = set()

    def wanted(electrode: Electrode) -> str:
        if electrode.site in sites:
            return _AGAIN
        sites.add(electrode.site)
        return ""

    normalisation = "mean per channel, one scale for all, each window"
    return _neurduo_of(inputs, model, seconds, most, progress, wanted, normalisation)


def _neurduo_head(
    inputs: Inputs, model: LoadedModel, seconds: float, most: int | None, progress: Progress | None
) -> ModelInput:
    head = model.network.config.head
    free = {unit_positions().get(site) for site in head.channels}  # sites count by place, as for the seizure curve
    read = set(free)

    def wanted(electrode: Electrode) -> str:
        place = unit_positions()[electrode.site]
        if place not in read:
            return "not among the channels this head reads"
        if place not in free:
            return _AGAIN
        free.remove(place)
        return ""

    normalisation = f"mean per channel, one scale for all, each {head.normalisation} of units"
    return replace(_neurduo_of(inputs, model, seconds, most, progress, wanted, normalisation), for_head=True)


def _neurduo_of(
    inputs: Inputs,
    model: LoadedModel,
    seconds: float,
    most: int | None,
    progress: Progress | None,
    wanted: Callable[[Electrode], str],
    normalisation: str,
) -> ModelInput:
    config = model.network.config
    steps = int(seconds / config.step_seconds + 1e-6)
    if steps < 1:
        raise AnalysisError(f"windows of {seconds:g} s hold no chunk: give at least {config.step_seconds:g} s")
    found: dict[str, Electrode] = {}

    def fault(channel: Channel) -> str:
        electrode = resolve_channel(channel)
        if electrode is None:
            return NO_ELECTRODE
        if reason := wanted(electrode):
            return reason
        found[channel.name] = electrode
        return ""

    settings = input_settings(inputs.recording, model.facts.preprocessing)
    whole = steps * config.step_seconds
    plan = plan_windows(inputs.recording, inputs.window, whole, settings, most, progress, fault)
    electrodes = [found[name] for name in plan.ch_names]
    positions = torch.tensor([unit_positions()[electrode.site] for electrode in electrodes])
    ids = torch.tensor([electrode.reference_id for electrode in electrodes])

    def arguments(batch: Tensor) -> dict[str, Any]:
        chunks = normalise_window(batch).unflatten(-1, (steps, config.chunk_samples)).transpose(1, 2)  # (B, S, C, L)
        return {"chunks": chunks, "positions": positions, "reference_ids": ids}

    return ModelInput(model, plan, arguments, normalisation, inputs.device, inputs.recording)


def _any(_channel: Channel) -> str:
    return ""


_Maker = Callable[[Inputs, LoadedModel, float, int | None, Progress | None], ModelInput]
_FAMILIES: Mapping[str, _Maker] = {
    "axon": _axon,
    "prise-eeg": _prise,
    "mvpformer": _mvpformer,
    "neurduo": _neurduo,
}

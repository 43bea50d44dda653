"""What each family is fed in training, exactly as it is fed when it predicts: windows, their labels, their scaling."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from analysis.electrodes import position_of
from analysis.engine.model_inputs import CLIP
from analysis.engine.neurduo_units import normalise_units
from analysis.engine.training.recipe import Recipe
from analysis.engine.windowed_detector import lay_windows
from analysis.errors import AnalysisError
from analysis.preprocessing import Preprocessing
from models.axon.layers import standardised
from models.neurduo.electrodes import unit_positions
from models.neurduo.normalisation import normalise_window

_EPSILON = 1e-5


@dataclass(frozen=True)
class Question:
    """A window to be scored, and for which part of the time, in seconds, which label speaks: (label, start, stop)."""

    onset: float
    answers: tuple[tuple[int, float, float], ...]


class Feeder(ABC):
    """One family's view of the recipe; `spans` (L, 2) are what the labels of a window speak of, in its seconds."""

    method = "butterworth"

    def __init__(self, recipe: Recipe, config: Any) -> None:
        self.recipe, self.config = recipe, config
        self.sfreq = float(getattr(config, "sampling_rate_hz", 256.0))
        self.seconds = recipe.draw.window_seconds
        self.spans = np.array([[0.0, self.seconds]])

    def settings(self) -> Preprocessing:
        """How the signal is made."""
        signal = self.recipe.signal
        high, low = signal.highpass or None, signal.lowpass or None
        return Preprocessing(self.sfreq, high, low, 4, signal.reference, "polyphase", signal.notch, self.method)

    def stated(self) -> dict[str, Any]:
        """The same as a checkpoint states it."""
        signal = self.recipe.signal
        return {
            "sampling_rate": self.sfreq,
            "highpass": signal.highpass or None,
            "lowpass": signal.lowpass or None,
            "order": 4,
            "notch": list(signal.notch),
            "reference": signal.reference,
            "window_seconds": self.seconds,
            "stride_seconds": self.stride,
        }

    @property
    def stride(self) -> float:
        """Distance of windows when a recording is scored, seconds."""
        return self.recipe.validation.stride_seconds or self.seconds

    def questions(self, seconds: float) -> list[Question]:
        """Windows that score a stretch of this length."""
        return [
            Question(s.onset, ((0, s.start, s.stop),)) for s in lay_windows(0.0, seconds, self.seconds, self.stride)
        ]

    @abstractmethod
    def arguments(self, signal: Tensor, missing: Tensor, sites: Sequence[str]) -> dict[str, Any]:
        """What the model's `logits` takes of windows (B, C, N) in microvolts and channels missing (B, C)."""

    def scores(self, model: Any, arguments: Mapping[str, Any]) -> Tensor:
        """Class scores (B, L, K)."""
        made: Tensor = model.logits(**arguments)
        return made[:, None]


class AxonFeeder(Feeder):
    """Windows of one label, standardised channel by channel."""

    def arguments(self, signal: Tensor, missing: Tensor, sites: Sequence[str]) -> dict[str, Any]:
        absent = missing if bool(missing.any()) else None
        return {
            "signal": standardised(signal, absent).clamp(-CLIP, CLIP),
            "positions": template_places(sites).to(signal.device),
            "missing": absent,
        }


class PriseFeeder(Feeder):
    """Windows of one label, standardised channel by channel; channels that are missing are zeros."""

    method = "fir"

    def __init__(self, recipe: Recipe, config: Any) -> None:
        super().__init__(recipe, config)
        if round(self.seconds) != config.n_patches:
            raise AnalysisError(
                f"this PRiSE-EEG's head is made for {config.n_patches} s and windows have {self.seconds:g} s "
                "(the recipe): make draw.window_seconds and model.config.n_patches equal"
            )

    def arguments(self, signal: Tensor, missing: Tensor, sites: Sequence[str]) -> dict[str, Any]:
        centred = signal - signal.mean(-1, keepdim=True)
        return {"signal": centred / (signal.std(-1, keepdim=True, correction=0) + _EPSILON), "channels": list(sites)}


class MvpFeeder(Feeder):
    """Windows of T segments, each of which has a label; when it predicts the last one speaks."""

    def __init__(self, recipe: Recipe, config: Any) -> None:
        super().__init__(recipe, config)
        self.length = config.segment_seconds
        self.n_segments = round(self.seconds / self.length)
        if abs(self.n_segments * self.length - self.seconds) > 1e-6 or self.n_segments != config.n_segments:
            raise AnalysisError(
                f"windows of {self.seconds:g} s are not {config.n_segments} segments of {self.length:g} s "
                "(the recipe): make draw.window_seconds their product"
            )
        self.spans = np.array([[i, i + 1.0] for i in range(self.n_segments)]) * self.length

    @property
    def stride(self) -> float:
        return float(self.length)

    def stated(self) -> dict[str, Any]:
        return {**super().stated(), "unit": "uV", "normalisation": "none"}

    def arguments(self, signal: Tensor, missing: Tensor, sites: Sequence[str]) -> dict[str, Any]:
        return {"signal": signal.unflatten(-1, (self.n_segments, self.config.size_input)).transpose(1, 2)}

    def scores(self, model: Any, arguments: Mapping[str, Any]) -> Tensor:
        """The head on the channel mean of every segment, each of which sees those before it."""
        tokens = model.tokens(**arguments)  # (B, T, C, E)
        made: Tensor = model.head(tokens.mean(2))
        return made

    def questions(self, seconds: float) -> list[Question]:
        """One window for each segment that has a whole history; the first window also tells of those before."""
        count, n, length = int(seconds / self.length + 1e-6), self.n_segments, self.length
        if count < n:
            return []
        first = Question(0.0, tuple((i, i * length, (i + 1) * length) for i in range(n)))
        later = [Question((k - n + 1) * length, ((n - 1, k * length, (k + 1) * length),)) for k in range(n, count)]
        return [first, *later]


class NeurDuoFeeder(Feeder):
    """Windows of units, each of which has a label; the state is carried through a window and begins at zero."""

    def __init__(self, recipe: Recipe, config: Any) -> None:
        super().__init__(recipe, config)
        self.sfreq = 256.0
        self.chunk = config.chunk_samples
        self.head = getattr(config, "head", None)
        steps = self.seconds * self.sfreq / self.chunk
        self.n_steps = round(steps)
        if abs(steps - self.n_steps) > 1e-6:
            raise AnalysisError(
                f"windows of {self.seconds:g} s are no whole number of chunks of {self.chunk / self.sfreq:g} s "
                "(the recipe): correct draw.window_seconds"
            )
        if self.head is not None:
            self.unit = self.head.unit_steps * self.chunk / self.sfreq
            self.spans = np.array([[i, i + 1.0] for i in range(self.head.context_units)]) * self.unit

    @property
    def stride(self) -> float:
        return self.unit if self.head is not None else self.seconds

    def stated(self) -> dict[str, Any]:
        stated = {**super().stated(), "unit": "uV"}
        return stated | ({"unit_seconds": self.unit} if self.head is not None else {"notch": "mains"})

    def arguments(self, signal: Tensor, missing: Tensor, sites: Sequence[str]) -> dict[str, Any]:
        if self.head is None:
            chunks = normalise_window(signal).unflatten(-1, (self.n_steps, self.chunk)).transpose(1, 2)
        else:
            units = signal.unflatten(-1, (self.head.context_units, -1)).transpose(1, 2)  # (B, units, C, samples)
            chunks = normalise_units(units, self.head, self.chunk)
        absent = missing if bool(missing.any()) else None
        if absent is not None:
            chunks = chunks.masked_fill(absent[:, None, :, None], 0.0)
        places = torch.tensor([unit_positions()[site.upper()] for site in sites], device=signal.device)
        ids = torch.zeros(len(sites), dtype=torch.int64, device=signal.device)
        return {"chunks": chunks, "positions": places, "reference_ids": ids, "missing": absent}

    def scores(self, model: Any, arguments: Mapping[str, Any]) -> Tensor:
        made: Tensor = model.logits(**arguments)
        return made

    def questions(self, seconds: float) -> list[Question]:
        """Windows side by side; the last one ends with the stretch and tells of what the others left."""
        made = []
        for slot in lay_windows(0.0, seconds, self.seconds, self.seconds):
            spans = slot.onset + self.spans
            answers = [(i, a, b) for i, (a, b) in enumerate(spans.tolist()) if a >= slot.start - 1e-6]
            made.append(Question(slot.onset, tuple(answers)))
        return made


def template_places(sites: Sequence[str]) -> Tensor:
    """Positions (C, 3) in metres of electrodes by name; AnalysisError for one that has none."""
    places = [position_of(site) for site in sites]
    if None in places:
        raise AnalysisError(
            f"the electrode {sites[places.index(None)]} has no template position (the recipe): "
            "name sites of the 10-20 or 10-10 system in signal.channels"
        )
    return torch.tensor(places, dtype=torch.float32)


FEEDERS: Mapping[str, type[Feeder]] = {
    "axon": AxonFeeder,
    "prise-eeg": PriseFeeder,
    "mvpformer": MvpFeeder,
    "neurduo": NeurDuoFeeder,
    "neurduo-tokenizer": NeurDuoFeeder,
}

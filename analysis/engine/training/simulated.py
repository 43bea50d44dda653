"""Training data that are simulated as they are asked for; every seed is a subject of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from analysis.electrodes import site_of
from analysis.engine.training.recipe import DataRecipe, build
from analysis.engine.training.stretches import Source, Stretch, choose_channels, prepare
from analysis.errors import AnalysisError
from analysis.preprocessing import Preprocessing
from analysis.recording import Channel, Recording
from analysis.simulation.settings import Settings
from analysis.simulation.simulator import Simulated, simulate_recording
from analysis.survey import ScorableSpan

LEAST_ARTEFACT = 1.0  # seconds; shorter ones are met wherever a window is drawn


class SimulatedSource(Source):
    """One stretch a seed, simulated at the model's own rate."""

    def __init__(self, recipe: DataRecipe, settings: Preprocessing, sites: Sequence[str]) -> None:
        self._seeds = range(recipe.first_seed, recipe.first_seed + recipe.recordings)
        self._settings, self._sites = settings, tuple(sites)
        self._simulation = _settings(recipe, settings.sfreq)
        self.subjects = frozenset(f"simulated {seed}" for seed in self._seeds)

    def __len__(self) -> int:
        return len(self._seeds)

    def load(self, number: int) -> Stretch:
        """Simulate one recording and prepare all of it."""
        seed = self._seeds[number]
        made = simulate_recording(self._simulation, seed)
        recording = SimulatedRecording(made, seed)
        picks, rows, sites = choose_channels(recording, self._sites)
        span = ScorableSpan(0.0, recording.duration, 0.0)
        data, missing = prepare(recording, span, picks, len(sites), rows, self._settings)
        return Stretch(
            f"simulated {seed}",
            f"simulated {seed}",
            data,
            missing,
            self._settings.sfreq,
            sites,
            tuple((event.onset, event.stop) for event in made.truth.events),
            tuple((a.onset, a.onset + a.duration) for a in made.truth.artefacts if a.duration > LEAST_ARTEFACT),
            made.truth,
        )


class SimulatedRecording(Recording):
    """A simulated recording in memory, as the readers would give it."""

    def __init__(self, made: Simulated, seed: int) -> None:
        super().__init__()
        self.path = Path(f"simulated-{seed}")
        self.format, self.id = "simulated", f"simulated-{seed}"
        self.sfreq, self.n_times = float(made.sfreq), made.data.shape[1]
        self.start_datetime = None
        kind = "seeg" if made.truth.electrodes == "ieeg" else "eeg"
        self.channels = tuple(
            Channel(name, name, kind, "uV", self.sfreq, made.truth.positions[name], site_of(name))
            for name in made.ch_names
        )
        self._data = made.data

    def read(self, start: int, stop: int, picks: Sequence[int] | None = None) -> np.ndarray:
        rows = list(range(len(self.channels))) if picks is None else list(picks)
        out = np.full((len(rows), stop - start), np.nan, np.float32)
        first, last = max(start, 0), min(stop, self.n_times)
        if last > first:
            out[:, first - start : last - start] = self._data[rows, first:last]
        return out

    def read_native(self, pick: int, start: float, stop: float) -> np.ndarray:
        return self.read(round(start * self.sfreq), round(stop * self.sfreq), [pick])[0]


def _settings(recipe: DataRecipe, sfreq: float) -> Settings:
    """The simulator's settings of a recipe; AnalysisError for a name or value that it does not know."""
    own: Mapping[str, Any] = {"duration": round(recipe.minutes * 60), "sfreq": round(sfreq)}
    try:
        made = build(Settings, {**own, **recipe.settings}, "data.settings")
    except ValueError as error:
        raise AnalysisError(f"the simulator cannot be set like that, {error} (the recipe): correct it") from error
    made.check()
    return made

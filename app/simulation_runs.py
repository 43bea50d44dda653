"""The command that simulates a recording. Knows no Qt."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from analysis.progress import Progress
from analysis.simulation.files import write_simulation
from analysis.simulation.settings import Settings
from analysis.simulation.truth import Truth
from app.headless import Outcome

_SECONDS_A_SEIZURE = 300  # one fits into this, whatever its length and that of its slowing
_SHORTEST = 135


def simulate(settings: Settings, seed: int, out: str | Path, progress: Progress | None = None) -> Outcome:
    """Write a simulated recording with its events and its truth beside it.

    AnalysisError and RecordingError say why not, OSError what cannot be written.
    """
    truth, paths = write_simulation(settings, seed, out, progress)
    return Outcome(asdict(truth), _text(truth, paths))


def usual_seizures(duration: int) -> int:
    """How many seizures a recording of so many seconds gets where nobody says."""
    return duration // _SECONDS_A_SEIZURE or int(duration >= _SHORTEST)


def _text(truth: Truth, paths: tuple[Path, ...]) -> str:
    lines = [
        f"{paths[0]}: simulated EEG, {truth.duration_s:g} s, {len(truth.channels)} channels at {truth.fs:g} Hz, "
        f"seed {truth.seed}, reference {truth.reference}",
        f"{len(truth.events)} seizure{'s' if len(truth.events) != 1 else ''}, "
        f"{len(truth.artefacts)} artefacts, {len(truth.spikes)} spikes",
    ]
    lines += [
        f"  {one.onset:g}-{one.stop:g} s  {one.region}, best seen at {one.focus_channel}, contrast {one.contrast:.1f}"
        for one in truth.events
    ]
    return "\n".join([*lines, f"also written: {paths[1].name}, {paths[2].name}"])

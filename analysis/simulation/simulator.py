"""Simulated recordings with a known truth: whole in memory for training, or block by block for files of any length."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace

import numpy as np

from analysis.simulation.artefacts import make_artefacts
from analysis.simulation.background import STEP, Noise, add_heart, add_line, draw_background
from analysis.simulation.draws import stream
from analysis.simulation.pieces import Mixer
from analysis.simulation.seizures import plan_seizures, remaining_background, seizure_pieces, spike_pieces
from analysis.simulation.sensors import Sensors, reference_matrix, sensors_of
from analysis.simulation.settings import Settings
from analysis.simulation.truth import Artefact, State, Truth

SIMULATOR = "1"  # raised whenever the same seed would give other samples


@dataclass(frozen=True)
class Simulated:
    """A recording in memory: `data` float32 (channels, samples) in microvolts, its rate in hertz, and what it holds."""

    data: np.ndarray
    sfreq: int
    ch_names: tuple[str, ...]
    truth: Truth


def simulate_recording(settings: Settings, seed: int) -> Simulated:
    """Simulate one recording; equal settings and seeds give equal samples. AnalysisError says what cannot be."""
    truth, blocks = simulate_blocks(settings, seed)
    data = np.empty((len(truth.channels), settings.duration * settings.sfreq), np.float32)
    at = 0
    for block in blocks:
        data[:, at : at + block.shape[1]] = block
        at += block.shape[1]
    return Simulated(data, settings.sfreq, truth.channels, truth)


def simulate_blocks(settings: Settings, seed: int) -> tuple[Truth, Iterator[np.ndarray]]:
    """The truth of a recording at once, and its samples as they are asked for, float32 (channels, samples).

    A block lasts STEP seconds, the last one the rest; memory does not grow with the recording but for its truth.
    AnalysisError says what cannot be simulated.
    """
    settings.check()
    sensors = sensors_of(settings.electrodes, seed)
    settings = replace(settings, reference=_reference(settings, seed))
    fs, duration = settings.sfreq, settings.duration
    background = draw_background(sensors, seed, duration, settings.mains)
    plans = plan_seizures(sensors, settings, seed, background.scale)
    pieces, tense = seizure_pieces(sensors, plans, seed, fs)
    spikes, times, spiking = spike_pieces(sensors, plans, settings, seed, background.scale, fs)
    told: list[Artefact] = []
    rates: dict[str, float] = {}
    if settings.artefacts:
        more, told, rates = make_artefacts(sensors, seed, duration, background.scale, background.drowsy, fs)
        pieces += more
    n = len(sensors.names)
    truth = Truth(
        seed=seed,
        fs=float(fs),
        duration_s=float(duration),
        reference=settings.reference,
        electrodes=settings.electrodes,
        channels=sensors.names,
        positions={
            k: (float(x), float(y), float(z)) for k, (x, y, z) in zip(sensors.names, sensors.places[:n], strict=True)
        },
        state=tuple(State("drowsy", start, round(stop - start, 2)) for start, stop in background.drowsy),
        events=tuple(plan.truth for plan in plans),
        artefacts=tuple(sorted([*told, *tense], key=lambda one: (one.onset, one.kind))),
        spikes=tuple(times),
        parameters={
            "settings": {
                k: list(v) if isinstance(v, tuple) else v for k, v in asdict(settings).items()
            },  # as JSON reads it
            "background": background.drawn,
            "artefacts_per_minute": rates,
            "spikes": spiking,
            "seizures": [plan.drawn for plan in plans],
        },
        simulator=SIMULATOR,
    )

    def blocks() -> Iterator[np.ndarray]:
        noise = Noise(background, sensors, seed, fs, duration)
        mixer = Mixer([*pieces, *spikes], fs)
        matrix = reference_matrix(sensors, settings.reference).astype(np.float32)
        for first in range(0, duration * fs, STEP * fs):
            length = min(STEP, duration - first // fs) * fs
            left = remaining_background(plans, first, min(STEP, duration) * fs, fs)
            out = noise.next_block(left)[:, :length]
            mixer.add_to(out, first)
            if settings.mains:
                add_line(out, background, settings.mains, first, fs)
            if background.heart.any():
                add_heart(out, background, first, fs)
            yield matrix @ out

    return truth, blocks()


def _reference(settings: Settings, seed: int) -> str:
    if settings.electrodes == "ieeg":
        return "screw"
    if settings.reference != "any":
        return settings.reference
    return str(stream(seed, "reference").choice(("none", "cz-pz", "ears")))


__all__ = ["SIMULATOR", "Sensors", "Settings", "Simulated", "simulate_blocks", "simulate_recording"]

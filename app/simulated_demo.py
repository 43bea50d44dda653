"""A short simulated recording for whoever has none at hand, titled as simulated wherever it appears.

Background with a 1/f spectrum and spatial correlation, posterior alpha that waxes and wanes, blinks, heart beats, and
one seizure that begins at T7, slows down, grows and spreads. Every number is a choice, none is measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from analysis.electrodes import position_of
from app.synthetic_edf import Mark, SyntheticHeader, to_digital, write_synthetic_file

TITLE = "Simulated recording"
SEED = 7
SFREQ = 256
SECONDS = 360  # the packaged detector looks at 300 s
SITES = "Fp1 Fp2 F7 F3 Fz F4 F8 T7 C3 Cz C4 T8 P7 P3 Pz P4 P8 O1 O2".split()
SEIZURE = (150.0, 70.0)
FOCUS = "T7"
_FILE = f"SIMULATED_seizure_seed{SEED}_v1.edf"


@dataclass(frozen=True)
class Simulation:
    """Channel names, signal (channels, samples) in microvolts at SFREQ, and what is in it."""

    ch_names: tuple[str, ...]
    data: np.ndarray
    marks: tuple[Mark, ...]


def make_demo(folder: Path) -> Path:
    """The simulated recording as an EDF+ file in `folder`, made where it is not there yet."""
    path = folder / _FILE
    if path.is_file():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    made = simulate(SEED)
    header = SyntheticHeader(made.ch_names, SFREQ, SECONDS, "SIMULATED_EEG_of_no_person")
    block = to_digital(made.data).reshape(len(made.ch_names), SECONDS, SFREQ).transpose(1, 0, 2)
    return write_synthetic_file(path, header, [block], made.marks)


def simulate(seed: int) -> Simulation:
    """Six minutes of simulated EEG and ECG with one seizure; equal for equal seeds."""
    streams = iter(np.random.default_rng(seed).spawn(5))
    place = np.array([position_of(site) for site in SITES])
    time = np.arange(SECONDS * SFREQ) / SFREQ
    beats = _beats(next(streams))
    eeg = _background(place, next(streams)) + _alpha(place, next(streams))
    eeg += _blinks(time, next(streams))
    eeg += _seizure(place, time, next(streams))
    eeg += np.outer(3.0 * place[:, 0] / np.abs(place[:, 0]).max(), beats)
    ecg = 900.0 * beats
    onset, duration = SEIZURE
    marks = ((0.0, 0.0, "simulated EEG of no person"), (onset, duration, "seizure"))
    return Simulation((*SITES, "ECG"), np.vstack([eeg, ecg]).astype(np.float32), marks)


def _coloured(rng: np.random.Generator, rows: int, amplitude) -> np.ndarray:
    """Noise rows of SD 1 whose amplitude spectrum is amplitude(frequency in hertz)."""
    count = SECONDS * SFREQ
    frequency = np.fft.rfftfreq(count, 1 / SFREQ)
    spectrum = rng.standard_normal((rows, len(frequency))) + 1j * rng.standard_normal((rows, len(frequency)))
    spectrum *= amplitude(frequency)
    spectrum[:, 0] = 0
    signal = np.fft.irfft(spectrum, count)
    return signal / signal.std(axis=1, keepdims=True)


def _mixing(place: np.ndarray, length: float) -> np.ndarray:
    """Square root of a correlation that falls with distance in metres (channels, channels)."""
    distance = np.linalg.norm(place[:, None] - place[None], axis=2)
    return np.linalg.cholesky(np.exp(-((distance / length) ** 2) / 2) + 0.02 * np.eye(len(place)))


def _background(place: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    noise = _coloured(rng, len(place), lambda f: (f**2 + 1.0) ** -0.45)
    white = rng.standard_normal(noise.shape)
    return 14.0 * _mixing(place, 0.08) @ noise + 0.8 * white


def _alpha(place: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    waves = _coloured(rng, len(place), lambda f: np.exp(-(((f - 10.0) / 0.7) ** 2) / 2))
    waxing = _coloured(rng, 1, lambda f: np.exp(-((f / 0.1) ** 2)))[0]
    back = np.array(position_of("Oz"))
    weight = np.exp(-((np.linalg.norm(place - back, axis=1) / 0.06) ** 2) / 2)
    return 14.0 * weight[:, None] * (_mixing(place, 0.04) @ waves) / (1 + np.exp(-2 * waxing))


def _blinks(time: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    weights = {"Fp1": 1.0, "Fp2": 1.0, "F7": 0.35, "F3": 0.3, "Fz": 0.3, "F4": 0.3, "F8": 0.35}
    course = np.zeros_like(time)
    for onset in np.cumsum(rng.exponential(7.0, 60)):
        q = np.clip(time - onset, 0, None) / 0.16
        course += rng.uniform(70, 140) * (q * np.exp(1 - q)) ** 3 * (onset < SECONDS)
    return np.outer([weights.get(site, 0.05) for site in SITES], course)


def _beats(rng: np.random.Generator) -> np.ndarray:
    """The heart's course with a peak of 1: a narrow R wave after a small P and before a broad T."""
    impulses = np.zeros(SECONDS * SFREQ)
    times = np.cumsum(rng.normal(0.85, 0.04, int(SECONDS / 0.6)))
    impulses[(times[times < SECONDS - 1] * SFREQ).astype(int)] = 1.0
    q = np.arange(-0.3, 0.5, 1 / SFREQ)
    shape = sum(
        size * np.exp(-(((q - at) / width) ** 2) / 2)
        for at, width, size in ((-0.17, 0.02, 0.12), (-0.025, 0.008, -0.15), (0, 0.01, 1), (0.27, 0.05, 0.25))
    )
    return np.convolve(impulses, shape, mode="same")


def _seizure(place: np.ndarray, time: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A rhythm at the focus that falls from 18 to 2 Hz while it grows and spreads, later to what lies further away."""
    onset, duration = SEIZURE
    q = time - onset
    inside = (q >= 0) & (q < duration)
    share = np.clip((q - 4.0) / (duration - 4.0), 0, 1)
    frequency = np.where(q < 4.0, 18.0 - 2.0 * np.clip(q, 0, 4), 2.0 + 8.0 * np.exp(-2.2 * share / 0.5))
    phase = 2 * np.pi * np.cumsum(frequency * inside) / SFREQ
    phase += np.cumsum(rng.normal(0, 0.8 / np.sqrt(SFREQ), len(time)) * inside)
    strength = np.where(q < 4.0, 0.22, 0.28 + 0.72 / (1 + np.exp(-10 * (share - 0.35))))
    fade = np.clip(q / 0.5, 0, 1) * np.clip((duration - q) / 1.0, 0, 1) * inside
    distance = np.linalg.norm(place - np.array(position_of(FOCUS)), axis=1)
    width = 0.05 + 0.065 * share
    out = np.zeros((len(place), len(time)))
    for i, away in enumerate(distance):
        late = 1 / (1 + np.exp(-(q - 4.0 - away / 0.004) / 1.5)) if away > 0.01 else 1.0
        lag = phase - 20.0 * away
        wave = np.sin(lag) + 0.35 * np.sin(2 * lag + 0.8) + 0.12 * np.sin(3 * lag + 1.6)
        out[i] = 110.0 * np.exp(-((away / width) ** 2) / 2) * strength * fade * late * wave
    return out

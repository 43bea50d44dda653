"""The EEG of no seizure: rhythms with the covariance of their sources, and what every amplifier and heart adds.

Many sources of one spectrum with a spatial covariance K are, in the sensors, the same process as a square root of
G K G^T times as many independent rows of noise as there are sensors; so a rhythm costs a row a channel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.simulation.draws import (
    SLOW_RATE,
    Curve,
    Rng,
    band,
    below,
    coloured,
    log_uniform,
    logistic,
    one_over_f,
    slow_course,
    stream,
    switching,
)
from analysis.simulation.head import head_sphere
from analysis.simulation.sensors import Sensors

TILE = 128  # seconds of noise made at once
FADE = 8  # seconds in which a tile gives way to the next, at equal power
STEP = TILE - FADE
_CENTIMETRE = 0.01
_SEEN = (1.0, 45.0)  # hertz, what the SD of the background counts


@dataclass(frozen=True)
class Rhythm:
    """One coloured process: its SD in microvolts, spectrum, and mixing (c, c), whose SD is 1.

    The SD is that in the `counted` band. `gain` is its slow course at SLOW_RATE, None where it never changes.
    """

    name: str
    amplitude: float
    curve: Curve
    mixing: np.ndarray
    gain: np.ndarray | None = None
    counted: tuple[float, float] = (0.0, np.inf)


@dataclass(frozen=True)
class Background:
    """Everything that goes on all the time; `drawn` are its parameters for the truth."""

    scale: float
    rhythms: tuple[Rhythm, ...]
    drowsy: tuple[tuple[float, float], ...]
    white: float
    drift: float
    line: np.ndarray  # amplitude and phase of every channel (c,), complex
    beats: np.ndarray  # times in seconds
    heart: np.ndarray  # (c,)
    drawn: dict[str, Any]


def draw_background(sensors: Sensors, seed: int, duration: float, mains: float) -> Background:
    """The parameters and slow courses of a recording's background."""
    rng = stream(seed, "background")
    scale = log_uniform(rng, *((30.0, 120.0) if sensors.inside else (9.0, 22.0)))
    spans = _drowsy_spans(seed, duration)
    drowsy = drowsiness(spans, duration)
    rhythms, drawn = _rhythms(sensors, seed, duration, scale, drowsy)
    noise = stream(seed, "amplifier")
    white, drift = float(noise.uniform(0.4, 1.2)), log_uniform(noise, 2.0, 25.0)
    n = len(sensors.places)
    size = np.exp(noise.normal(0, 0.8, n)) * np.exp(noise.uniform(-2, 1)) * (mains > 0)
    line = size * np.exp(2j * np.pi * noise.random(n))
    beats, heart, rate = _heart(sensors, seed, duration)
    drawn |= {"scale_uv": scale, "white_uv": white, "drift_uv": drift, "line_uv": float(np.median(size))}
    drawn |= {"heart_per_minute": rate, "heart_uv": float(np.abs(heart).max())}
    return Background(scale, rhythms, tuple(spans), white, drift, line, beats, heart, drawn)


def _drowsy_spans(seed: int, duration: float) -> list[tuple[float, float]]:
    rng = stream(seed, "drowsy")
    return switching(rng, duration, 60.0) if rng.random() < 0.6 else []


def drowsiness(spans: Sequence[tuple[float, float]], duration: float) -> np.ndarray:
    """The share of drowsiness at SLOW_RATE, with changes that take some three seconds."""
    time = np.arange(int(duration * SLOW_RATE) + 3) / SLOW_RATE
    course = np.zeros_like(time)
    for start, stop in spans:
        rising = logistic(1.5 * (time - start)) if start > 0 else 1.0
        course += rising * (1 - logistic(1.5 * (time - stop)))
    return np.minimum(course, 1.0)


def _rhythms(
    sensors: Sensors, seed: int, duration: float, scale: float, drowsy: np.ndarray
) -> tuple[tuple[Rhythm, ...], dict[str, Any]]:
    """The five processes; the front's sources are those around (0, .45, .85) of the head."""
    front, back = (0.0, 0.45, 0.85), (0.0, -0.85, 0.5)
    rngs = {name: stream(seed, name) for name in ("one-over-f", "alpha", "theta", "delta", "beta")}

    def waxing(rng: Rng) -> tuple[np.ndarray, float]:
        tau = float(rng.uniform(3, 10))
        return logistic(2.0 * slow_course(rng, duration, tau)), tau

    drawn: dict[str, Any] = {}
    rng = rngs["one-over-f"]
    exponent, knee, length = rng.uniform(1.3, 2.3), rng.uniform(0.6, 1.5), rng.uniform(2, 4)
    everywhere = np.exp(rng.normal(0, 0.25, len(sensors.sources)))
    wide = _mixing(sensors, rng, everywhere, length, local=False)
    made = [Rhythm("one-over-f", scale, one_over_f(exponent, knee), wide, counted=_SEEN)]
    drawn["one-over-f"] = {"exponent": float(exponent), "knee_hz": float(knee), "length_cm": float(length)}

    def add(name: str, size: float, frequency: float, width: float, mixing: np.ndarray, gain: np.ndarray) -> None:
        made.append(Rhythm(name, scale * size, band(frequency, width), mixing, gain))
        drawn[name] = {"hz": float(frequency), "share": float(size)}

    rng = rngs["alpha"]
    size, hz, width = rng.uniform(0.2, 1.3), rng.uniform(8.3, 11.5), rng.uniform(2.5, 4)
    gain, tau = waxing(rng)
    mixing = _mixing(sensors, rng, _place(sensors, back, width), 2.0)
    add("alpha", size, hz, 0.7, mixing, gain * (1 - 0.85 * drowsy))
    drawn["alpha"] |= {"width_cm": float(width), "tau_s": tau}
    rng = rngs["theta"]
    hz, more = rng.uniform(4.5, 6.5), rng.uniform(0.4, 1)
    broad = _mixing(sensors, rng, _place(sensors, front, 7.0), rng.uniform(2, 4))
    add("theta", 1.0, hz, 1.6, broad, waxing(rng)[0] * (0.15 + more * drowsy))
    drawn["theta"] |= {"share": 0.15, "more_when_drowsy": float(more)}
    rng = rngs["delta"]
    add("delta", rng.uniform(0.3, 1.2), rng.uniform(1, 2), 0.8, broad, waxing(rng)[0] * drowsy)
    rng = rngs["beta"]
    add("beta", rng.uniform(0.05, 0.25), rng.uniform(16, 24), 3.0, broad, waxing(rng)[0])
    return tuple(made), drawn


def _place(sensors: Sensors, direction: Sequence[float], width: float) -> np.ndarray:
    """Weights of the sources around a direction of the head, `width` in centimetres."""
    sphere = head_sphere()
    unit = np.array(direction) / np.linalg.norm(direction)
    return sensors.around(sphere.centre + 0.8 * sphere.radius * unit, width * _CENTIMETRE)


def _mixing(sensors: Sensors, rng: Rng, weights: np.ndarray, length: float, local: bool = True) -> np.ndarray:
    """A square root (c, c) of the covariance of sources alike over `length` centimetres.

    The SD is 1 at the strongest channel of a local rhythm, else on average over all (average reference).
    """
    orientation = sensors.jittered(rng, rng.uniform(0.3, 0.45))
    covariance = sensors.covariance(weights, length * _CENTIMETRE, orientation)
    if local:
        covariance /= np.diag(covariance)[: len(sensors.names)].max()
    values, vectors = np.linalg.eigh(covariance)
    return (vectors * np.sqrt(np.maximum(values, 0))).astype(np.float32)


def _heart(sensors: Sensors, seed: int, duration: float) -> tuple[np.ndarray, np.ndarray, float]:
    rng = stream(seed, "heart")
    rate, size = float(rng.uniform(55, 95)), float(rng.uniform(0, 6)) * (not sensors.inside)
    count = int(duration * rate / 60 * 1.2) + 10
    intervals = 60 / rate * np.exp(rng.normal(0, 0.04, count))
    sphere = head_sphere()
    axis = np.array([-0.8, 0.1, -0.6])
    return np.cumsum(intervals), size * (sphere.directions(sensors.places) @ axis), rate


class Noise:
    """The coloured processes of a background, made in tiles one after another: `next_block` gives STEP seconds."""

    def __init__(self, background: Background, sensors: Sensors, seed: int, fs: int, duration: int) -> None:
        self._background, self._seed, self._fs = background, seed, fs
        self._channels = len(sensors.places)
        self._tile = (TILE if duration > STEP else duration) * fs
        self._tails: dict[str, np.ndarray] = {}
        self._block = 0
        fading = (np.arange(FADE * fs) + 0.5) / (FADE * fs) * np.pi / 2
        self._fade = np.sin(fading).astype(np.float32)

    def next_block(self, scaling: np.ndarray | None) -> np.ndarray:
        """The next samples, float32 (channels, samples); `scaling` (samples,) is what seizures leave of the rhythms."""
        first = self._block * STEP * self._fs
        out: np.ndarray | None = None
        for rhythm in self._background.rhythms:
            rows = self._coloured(rhythm.name, rhythm.curve, rhythm.counted)
            rows = (np.float32(rhythm.amplitude) * rhythm.mixing) @ rows
            if rhythm.gain is not None:
                rows *= self._gain(rhythm.gain, first, rows.shape[1])
            if out is None:
                out = rows
            else:
                out += rows
        assert out is not None
        if scaling is not None:
            out *= scaling.astype(np.float32)
        out += np.float32(self._background.drift) * self._coloured("drift", below(0.4))
        white = stream(self._seed, "white", self._block).standard_normal(out.shape, np.float32)
        white *= np.float32(self._background.white)
        out += white
        self._block += 1
        return out

    def _coloured(self, name: str, curve: Curve, counted: tuple[float, float] = (0.0, np.inf)) -> np.ndarray:
        """The next STEP seconds of one process, which begins where its last tile ends."""
        rng = stream(self._seed, f"noise {name}", self._block)
        rows = coloured(rng, self._channels, self._tile, self._fs, curve, counted)
        if self._tile <= STEP * self._fs:
            return rows
        before, self._tails[name] = self._tails.get(name), rows[:, STEP * self._fs :].copy()
        rows = rows[:, : STEP * self._fs]
        if before is not None:
            n = len(self._fade)
            rows[:, :n] = self._fade * rows[:, :n] + self._fade[::-1] * before
        return rows

    def _gain(self, course: np.ndarray, first: int, n: int) -> np.ndarray:
        at = (first + np.arange(n)) * (SLOW_RATE / self._fs)
        return np.interp(at, np.arange(len(course)), course).astype(np.float32)


def add_line(out: np.ndarray, background: Background, mains: float, first: int, fs: int) -> None:
    """Add the mains to samples from `first` on, (channels, samples)."""
    turning = np.exp(2j * np.pi * ((mains / fs * (first + np.arange(out.shape[1]))) % 1.0))
    parts = np.stack([turning.real, -turning.imag]).astype(np.float32)
    out += np.column_stack([background.line.real, background.line.imag]).astype(np.float32) @ parts


def add_heart(out: np.ndarray, background: Background, first: int, fs: int) -> None:
    """Add the heart's beats to samples from `first` on, (channels, samples)."""
    offsets = np.arange(-round(0.1 * fs), round(0.4 * fs))
    start, stop = first / fs, (first + out.shape[1]) / fs
    inside = (background.beats > start - 0.5) & (background.beats < stop + 0.5)
    course = np.zeros(out.shape[1])
    for beat in background.beats[inside]:
        at = round((beat - start) * fs) + offsets
        kept = (at >= 0) & (at < len(course))
        course[at[kept]] += _beat((at[kept] + first) / fs - beat)
    out += np.outer(background.heart, course).astype(np.float32)


def _beat(q: np.ndarray) -> np.ndarray:
    """QRS of 12 ms with a flat T wave, 1 at its top."""
    return np.exp(-((q / 0.012) ** 2) / 2) + 0.15 * np.exp(-(((q - 0.26) / 0.05) ** 2) / 2)

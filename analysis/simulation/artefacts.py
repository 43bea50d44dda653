"""Everything that is no brain, and the brain's harmless transients; one table row a kind, one random stream a kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from analysis.electrodes import template_positions
from analysis.simulation.draws import Rng, band, between, coloured, log_uniform, one_over_f, stream
from analysis.simulation.head import SOURCE_DEPTH, head_sphere
from analysis.simulation.pieces import Piece
from analysis.simulation.sensors import Sensors
from analysis.simulation.truth import Artefact

_EYES = ((-0.032, 0.092, 0.004), (0.032, 0.092, 0.004))  # metres in the head frame
_MUSCLES = ("F7", "F8", "T7", "T8", "Fpz", "O1", "O2")
_OTHER_SIDE = {"F7": "F8", "F8": "F7", "T7": "T8", "T8": "T7", "O1": "O2", "O2": "O1"}
_MUSCLE_INSIDE = 0.1  # what contacts in the brain see of muscles

Shape = Callable[[Rng, int], np.ndarray]  # rate -> course (samples,) or signals (channels, samples), microvolts


@dataclass(frozen=True)
class Drawn:
    """One artefact before its samples are made; a course is multiplied by the field (c,)."""

    duration: float
    peak: float
    field: np.ndarray
    shape: Shape


@dataclass(frozen=True)
class Kind:
    """How often a minute (drawn once for each recording), in which state, and how one is drawn."""

    name: str
    rate: tuple[float, float]
    draw: Callable[[Rng, Sensors, float], Drawn]
    state: Literal["any", "awake", "drowsy"] = "any"
    inside: bool = True  # whether contacts in the brain see it


def make_artefacts(
    sensors: Sensors, seed: int, duration: float, scale: float, drowsy: Sequence[tuple[float, float]], fs: int
) -> tuple[list[Piece], list[Artefact], dict[str, float]]:
    """Pieces, what the truth tells of each in the order of time, and the rates a minute that were drawn."""
    pieces: list[Piece] = []
    told: list[Artefact] = []
    rates: dict[str, float] = {}
    for kind in KINDS:
        rng = stream(seed, kind.name)
        rates[kind.name] = rate = float(rng.uniform(*kind.rate)) * (kind.inside or not sensors.inside)
        onsets = np.sort(rng.uniform(0, duration, rng.poisson(rate * duration / 60))).round(2).tolist()
        for number, onset in enumerate(onset for onset in onsets if _fits(onset, kind.state, drowsy)):
            drawn = kind.draw(own := stream(seed, kind.name, number + 1), sensors, scale)
            length = round(min(drawn.duration, duration - onset), 2)
            if length > 0:
                told.append(Artefact(kind.name, onset, length, sensors.seen_by(drawn.field), drawn.peak))
                pieces.append(Piece(onset, partial(_signals, drawn, own, fs)))
    return pieces, sorted(told, key=lambda one: (one.onset, one.kind)), rates


def _fits(onset: float, state: str, drowsy: Sequence[tuple[float, float]]) -> bool:
    asleep = any(start <= onset < stop for start, stop in drowsy)
    return state == "any" or asleep == (state == "drowsy")


def _signals(drawn: Drawn, rng: Rng, fs: int) -> np.ndarray:
    shape = drawn.shape(rng, fs)
    return (shape if shape.ndim == 2 else np.outer(drawn.field, shape)).astype(np.float32)


def _time(duration: float, fs: int) -> np.ndarray:
    return np.arange(max(2, round(duration * fs))) / fs


def _fading(time: np.ndarray, duration: float, edge: float) -> np.ndarray:
    """1 with soft edges of `edge` seconds."""
    return np.clip(time / edge, 0, 1) * np.clip((duration - time) / edge, 0, 1)


def _to_peak(course: np.ndarray, peak: float) -> np.ndarray:
    return course * (peak / np.abs(course).max())


# -- fields ---------------------------------------------------------------------------------------------------------


def eye_field(sensors: Sensors, moments: Sequence[Sequence[float]]) -> np.ndarray:
    """Potential (c,) of a dipole in each eye, falling with the square of the distance; largest value 1."""
    field = np.zeros(len(sensors.places))
    for eye, moment in zip(_EYES, moments, strict=True):
        away = sensors.places - np.array(eye)
        field += away @ np.array(moment) / np.linalg.norm(away, axis=1) ** 3
    return field / np.abs(field[: len(sensors.names)]).max()


def _near(sensors: Sensors, site: str, width: float) -> np.ndarray:
    """A Gaussian (c,) around an electrode, `width` in metres, 1 at the channel nearest to it."""
    squares = ((sensors.places - np.array(template_positions()[site])) ** 2).sum(1)
    return np.exp(-(squares - squares[: len(sensors.names)].min()) / (2 * width**2))


def _broad(rng: Rng, sensors: Sensors) -> np.ndarray:
    """A field (c,) that changes from one side of the head to the other; largest value 1."""
    directions = head_sphere().directions(sensors.places)
    field = directions @ rng.normal(0, 1, 3) + 0.6 * rng.normal() + 0.15 * rng.normal(0, 1, len(directions))
    return field / np.abs(field[: len(sensors.names)]).max()


def _single(rng: Rng, sensors: Sensors) -> np.ndarray:
    field = np.zeros(len(sensors.places))
    field[int(rng.integers(len(sensors.names)))] = 1.0
    return field


def _brain(rng: Rng, sensors: Sensors, site: str, width: float) -> np.ndarray:
    """The field (c,) of a patch under an electrode, `width` in metres; 1 at its best channel."""
    sphere = head_sphere()
    to_site = sphere.directions(np.array([template_positions()[site]]))[0]
    point = sphere.centre + SOURCE_DEPTH * sphere.radius * to_site
    return sensors.scaled(sensors.patch(point, width, rng.normal(0, 0.15, 3)))


# -- kinds ----------------------------------------------------------------------------------------------------------


def _blink(rng: Rng, sensors: Sensors, _: float) -> Drawn:
    width, peak = rng.uniform(0.12, 0.25), float(rng.uniform(60, 180))
    duration = round(4.5 * width, 2)

    def shape(_own: Rng, fs: int) -> np.ndarray:
        q = _time(duration, fs) / width
        return peak * (q * np.exp(1 - q)) ** 3 * np.clip((4.5 - q) / 0.5, 0, 1)

    upwards = (0.0, 0.8, 0.6)
    return Drawn(duration, peak, eye_field(sensors, (upwards, upwards)), shape)


def _lateral(rng: Rng, sensors: Sensors, _: float) -> Drawn:
    decay, peak = rng.uniform(1, 3), float(rng.uniform(20, 70))
    side, duration = float(rng.choice((-1.0, 1.0))), round(2.5 * decay, 2)

    def shape(_own: Rng, fs: int) -> np.ndarray:
        time = _time(duration, fs)
        return peak * np.clip(time / 0.05, 0, 1) * np.exp(-time / decay) * np.clip((duration - time) / 0.5, 0, 1)

    sideways = (side, 0.0, 0.0)
    return Drawn(duration, peak, eye_field(sensors, (sideways, sideways)), shape)


def _muscle(rng: Rng, sensors: Sensors, _: float) -> Drawn:
    site, both, chewing = str(rng.choice(_MUSCLES)), rng.random() < 0.4, rng.random() < 0.3
    field = _near(sensors, site, 0.035)
    if both and site in _OTHER_SIDE:
        field = np.maximum(field, 0.9 * _near(sensors, _OTHER_SIDE[site], 0.035))
    amplitude = log_uniform(rng, 4, 45) * (_MUSCLE_INSIDE if sensors.inside else 1.0)
    bites = float(rng.uniform(1, 2.2)) if chewing else 0.0
    return muscle(field, round(log_uniform(rng, 0.5, 25), 2), amplitude, bites)


def muscle(field: np.ndarray, duration: float, amplitude: float, bites: float = 0.0) -> Drawn:
    """20-95 Hz, 70 % of it each channel's own; `amplitude` is a quarter of the peak, `bites` a rate in hertz."""

    def shape(own: Rng, fs: int) -> np.ndarray:
        time = _time(duration, fs)
        noise = coloured(own, len(field) + 1, len(time), fs, between(20.0, min(95.0, 0.45 * fs)))
        envelope = _fading(time, duration, min(0.3, duration / 4)) * np.exp(0.4 * np.sin(2 * np.pi * 0.7 * time))
        if bites:
            envelope = envelope * np.clip(np.sin(2 * np.pi * bites * time), 0, 1) * 1.5
        mixed = np.sqrt(0.7) * noise[:-1] + np.sqrt(0.3) * noise[-1]
        return _to_peak(field[:, None] * mixed * envelope, 4 * amplitude)

    return Drawn(duration, 4 * amplitude, field, shape)


def _pop(rng: Rng, sensors: Sensors, _: float) -> Drawn:
    decay, peak, sign = rng.uniform(0.1, 1), log_uniform(rng, 40, 400), float(rng.choice((-1.0, 1.0)))
    duration = round(5 * decay, 2)

    def shape(_own: Rng, fs: int) -> np.ndarray:
        return sign * peak * np.exp(-_time(duration, fs) / decay)

    return Drawn(duration, peak, _single(rng, sensors), shape)


def _loose(rng: Rng, sensors: Sensors, _: float) -> Drawn:
    duration, peak = round(float(rng.uniform(5, 40)), 2), 3 * float(rng.uniform(20, 120))

    def shape(own: Rng, fs: int) -> np.ndarray:
        time = _time(duration, fs)
        return _to_peak(coloured(own, 1, len(time), fs, one_over_f(1.6, 0.3))[0] * _fading(time, duration, 1.0), peak)

    return Drawn(duration, peak, _single(rng, sensors), shape)


def _rhythmic(rng: Rng, sensors: Sensors, _: float) -> Drawn:
    """Rhythmic movement, the strongest confounder of a seizure: broad, and of a frequency that never changes."""
    duration, amplitude = round(float(rng.uniform(4, 30)), 2), log_uniform(rng, 20, 110)
    frequency, harmonics, jitter = rng.uniform(1, 6), rng.uniform(0.1, 0.5), rng.uniform(0.3, 1.0)
    peak = amplitude * float(1 + harmonics)

    def shape(own: Rng, fs: int) -> np.ndarray:
        time = _time(duration, fs)
        phase = 2 * np.pi * frequency * time + np.cumsum(own.normal(0, jitter / np.sqrt(fs), len(time)))
        wave = np.sin(phase) + harmonics * np.sin(2 * phase + 0.5) + harmonics**2 * np.sin(3 * phase + 1.0)
        return _to_peak(wave * _fading(time, duration, min(1.5, duration / 4)), peak)

    return Drawn(duration, peak, _broad(rng, sensors), shape)


def _movement(rng: Rng, sensors: Sensors, _: float) -> Drawn:
    duration, peak = round(float(rng.uniform(1.5, 12)), 2), 2 * log_uniform(rng, 30, 180)  # twice the SD

    def shape(own: Rng, fs: int) -> np.ndarray:
        time = _time(duration, fs)
        noise = coloured(own, 1, len(time), fs, between(0.3, 2.5))[0]
        return _to_peak(noise * np.sin(np.pi * time / duration), peak)

    return Drawn(duration, peak, _broad(rng, sensors), shape)


def _spindle(rng: Rng, sensors: Sensors, scale: float) -> Drawn:
    duration, frequency = round(float(rng.uniform(0.5, 1.5)), 2), rng.uniform(11.5, 14)
    peak = scale * float(rng.uniform(0.8, 2.0))

    def shape(_own: Rng, fs: int) -> np.ndarray:
        time = _time(duration, fs)
        return peak * np.sin(2 * np.pi * frequency * time) * np.sin(np.pi * time / duration) ** 2

    return Drawn(duration, peak, _brain(rng, sensors, "Cz", 0.035), shape)


def _vertex(rng: Rng, sensors: Sensors, scale: float) -> Drawn:
    width, peak = rng.uniform(0.05, 0.09), scale * float(rng.uniform(2, 5))
    duration = round(8 * width, 2)

    def shape(_own: Rng, fs: int) -> np.ndarray:
        q = _time(duration, fs) / width
        return peak * (-np.exp(-((q - 3) ** 2)) + 0.4 * np.exp(-(((q - 5) / 1.3) ** 2))) * np.clip((8 - q) / 2, 0, 1)

    return Drawn(duration, peak, _brain(rng, sensors, "Cz", 0.02), shape)


def _theta(rng: Rng, sensors: Sensors, scale: float) -> Drawn:
    """A benign burst of theta: rhythmic, but it neither changes nor spreads."""
    duration, frequency = round(float(rng.uniform(2, 12)), 2), rng.uniform(4.5, 7.5)
    peak = scale * float(rng.uniform(0.8, 2.2))
    site = str(rng.choice(("T7", "T8", "Cz")))

    def shape(own: Rng, fs: int) -> np.ndarray:
        time = _time(duration, fs)
        noise = coloured(own, 1, len(time), fs, band(frequency, 0.4))[0]
        return _to_peak(noise * _fading(time, duration, min(1.0, duration / 4)), peak)

    return Drawn(duration, peak, _brain(rng, sensors, site, 0.02), shape)


KINDS: Sequence[Kind] = (
    Kind("blink", (3, 18), _blink, "awake", inside=False),
    Kind("eye-movement", (0, 6), _lateral, inside=False),
    Kind("muscle", (0.2, 2), _muscle),
    Kind("electrode-pop", (0, 0.6), _pop),
    Kind("loose-electrode", (0.08, 0.08), _loose),
    Kind("rhythmic-movement", (0.05, 0.35), _rhythmic),
    Kind("movement", (0.05, 0.4), _movement),
    Kind("spindle", (3, 3), _spindle, "drowsy"),
    Kind("vertex-wave", (3, 3), _vertex, "drowsy"),
    Kind("theta-burst", (0, 0.5), _theta),
)

"""Seizures that begin at a known focus with a fast rhythm, slow down, grow, spread and end; and spikes between them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from analysis.electrodes import template_positions
from analysis.errors import AnalysisError
from analysis.simulation.artefacts import muscle
from analysis.simulation.draws import Rng, band, coloured, log_uniform, logistic, stream
from analysis.simulation.head import SOURCE_DEPTH, head_sphere
from analysis.simulation.pieces import Piece
from analysis.simulation.sensors import Sensors
from analysis.simulation.settings import Settings, region_names
from analysis.simulation.truth import Artefact, Seizure, Source

QUIET_BEFORE = 20.0  # seconds without a seizure at the beginning
_APART = 30.0  # seconds between the end of one's slowing and the next
_LAST = 5.0  # seconds between a seizure and the end of the recording
_CENTIMETRE = 0.01
_SEIZURE_PART, _MUSCLE_PART, _SPIKE_PART = "seizure", "ictal muscle", "spikes"


@dataclass(frozen=True)
class Generator:
    """One source of a seizure: its field (c,), size, when it joins in seconds, and its lag in radians."""

    kind: str
    field: np.ndarray
    size: float
    delay: float
    lag: float


@dataclass(frozen=True)
class Course:
    """How a seizure goes, in the symbols of the equations: hertz, seconds, radians."""

    duration: float
    fast: float
    f0: float
    f1: float
    f2: float
    tau: float
    jitter: float
    harmonics: float
    spiking: bool
    fast_size: tuple[float, float]
    turn: float

    def frequency(self, q: np.ndarray) -> np.ndarray:
        """Frequency in hertz at q seconds after the onset."""
        late = self.f2 + (1.4 * self.f1 - self.f2) * np.exp(-2.2 * self.progress(q) / self.tau)
        share = np.clip(q / self.fast, 0, 1)
        return np.where(q < self.fast, self.f0 + (1.4 * self.f1 - self.f0) * share, late)

    def progress(self, q: np.ndarray) -> np.ndarray:
        """0 until the fast part ends, 1 at the end."""
        return np.clip((q - self.fast) / (self.duration - self.fast), 0, 1)

    def size(self, q: np.ndarray) -> np.ndarray:
        """Amplitude as a share of the peak, before its fluctuation."""
        low, high = self.fast_size
        fast = low + (high - low) * np.clip(q / self.fast, 0, 1)
        late = 0.28 + 0.72 * logistic(10 * (self.progress(q) - self.turn))
        return np.where(q < self.fast, fast, np.maximum(late, fast)) * self._edges(q)

    def _edges(self, q: np.ndarray) -> np.ndarray:
        return np.clip(q / 0.5, 0, 1) * np.clip((self.duration - q) / 1.0, 0, 1)

    def phase(self, q: np.ndarray, rng: Rng, fs: int) -> np.ndarray:
        """Phase in radians: the frequency's, and a random walk."""
        walk = np.cumsum(rng.normal(0, self.jitter / np.sqrt(fs), len(q)))
        return 2 * np.pi * np.cumsum(self.frequency(q)) / fs + walk

    def wave(self, phase: np.ndarray, q: np.ndarray) -> np.ndarray:
        """The waveform at a phase, 1 at its largest without the spike that grows in some seizures."""
        turn = np.linspace(0, 2 * np.pi, 256)
        wave = self._harmonics(phase) / np.abs(self._harmonics(turn)).max()
        if self.spiking:
            away = np.angle(np.exp(1j * (phase - 1.2)))
            wave = wave - 0.9 * self.progress(q) * np.exp(-((away / 0.25) ** 2))
        return wave

    def _harmonics(self, phase: np.ndarray) -> np.ndarray:
        h = self.harmonics
        return np.sin(phase) + h * np.sin(2 * phase + 0.8) + h**2 * np.sin(3 * phase + 1.6)


@dataclass(frozen=True)
class Plan:
    """A seizure before its samples are made, and what it does to the background."""

    truth: Seizure
    course: Course
    generators: tuple[Generator, ...]
    decrement: float
    attenuation: float
    slowing: float  # microvolts
    drawn: dict[str, Any]


def _lengths(settings: Settings, seed: int, number: int) -> tuple[float, float]:
    """How long a seizure and what follows it last, seconds."""
    own = stream(seed, "seizure length", number)
    return round(float(own.uniform(*settings.length)), 2), round(float(own.uniform(15, 90)), 2)


def _needed(settings: Settings, seed: int, wanted: int) -> int:
    """Seconds that so many seizures take, with the quiet before and after."""
    pairs = [_lengths(settings, seed, number) for number in range(wanted)]
    between = sum(after + _APART for _, after in pairs[1:])
    return math.ceil(QUIET_BEFORE + _LAST + sum(length for length, _ in pairs) + between)


def plan_seizures(sensors: Sensors, settings: Settings, seed: int, scale: float) -> list[Plan]:
    """Draw the seizures of a recording in the order of time; AnalysisError when those asked for do not fit in."""
    rng = stream(seed, "seizure times")
    wanted = (
        rng.poisson(settings.per_hour * settings.duration / 3600) if settings.seizures is None else settings.seizures
    )
    lengths: list[tuple[float, float]] = []
    free = settings.duration - QUIET_BEFORE - _LAST
    for number in range(wanted):
        pair = _lengths(settings, seed, number)
        taken = pair[0] + (pair[1] + _APART) * bool(lengths)
        if taken > free:
            if settings.seizures is None:
                break
            raise AnalysisError(
                f"{wanted} seizure{'s do' if wanted != 1 else ' does'} not fit into {settings.duration} s: make it "
                f"at least {_needed(settings, seed, wanted)} s long or ask for fewer"
            )
        free -= taken
        lengths.append(pair)
    starts = np.sort(rng.uniform(0, max(free, 0.0), len(lengths)))
    plans, used = [], QUIET_BEFORE
    for number, ((length, after), start) in enumerate(zip(lengths, starts, strict=True)):
        onset = round(used + float(start), 2)
        plans.append(_plan_one(sensors, settings, stream(seed, _SEIZURE_PART, number), scale, (onset, length, after)))
        used += length + (lengths[number + 1][1] if number + 1 < len(lengths) else 0.0) + _APART
    return plans


def draw_focus(sensors: Sensors, regions: Sequence[str], rng: Rng) -> tuple[str, np.ndarray]:
    """A region and a point (3,) near its middle."""
    names = tuple(regions) or tuple(region_names(sensors.kind))
    region = names[int(rng.integers(len(names)))]
    return region, _jittered(sensors, sensors.regions[region], rng)


def _jittered(sensors: Sensors, point: np.ndarray, rng: Rng) -> np.ndarray:
    sphere = head_sphere()
    if sensors.inside:
        return point + rng.normal(0, 0.003, 3)
    away = (point - sphere.centre) / (SOURCE_DEPTH * sphere.radius) + rng.normal(0, 0.12, 3)
    return _on_cortex(sphere.centre + away)


def _on_cortex(point: np.ndarray) -> np.ndarray:
    sphere = head_sphere()
    return sphere.centre + SOURCE_DEPTH * sphere.radius * sphere.directions(point[None])[0]


def _draw_course(rng: Rng, sensors: Sensors, settings: Settings, duration: float) -> Course:
    low = float(rng.uniform(0.18, 0.24))
    return Course(
        duration=duration,
        fast=float(rng.uniform(1.5, 6)),
        f0=float(rng.uniform(40, 90) if sensors.inside else rng.uniform(14, 24)),
        f1=float(rng.uniform(5, 9)),
        f2=float(rng.uniform(*settings.f_end)),
        tau=float(rng.uniform(0.35, 0.8)),
        jitter=float(rng.uniform(0.5, 1.2)),
        harmonics=float(rng.uniform(0.1, 0.55)),
        spiking=bool(rng.random() < 0.35),
        fast_size=(low, float(rng.uniform(low, 0.28))),
        turn=float(rng.uniform(0.25, 0.45)),
    )


def _plan_one(sensors: Sensors, settings: Settings, rng: Rng, scale: float, times: tuple[float, float, float]) -> Plan:
    onset, duration, after = times
    course = _draw_course(rng, sensors, settings, duration)
    contrast = log_uniform(rng, *settings.contrast)
    region, focus = draw_focus(sensors, settings.regions, rng)
    width = float(rng.uniform(0.8, 1.6)) * _CENTIMETRE
    tilt = _tilt(rng)
    field = sensors.scaled(sensors.patch(focus, width, tilt))
    generators = [Generator("focus", field, 1.0, 0.0, 0.0)]
    generators += _neighbours(sensors, rng, focus, width, tilt, course)
    generators += _others(sensors, rng, focus, width, course)
    generators = [one for one in generators if one.delay < duration]
    drawn = {"width_cm": width / _CENTIMETRE, "tau": course.tau, "jitter": course.jitter, "f1": course.f1}
    drawn |= {"harmonics": course.harmonics, "spiking": course.spiking, "turn": course.turn, "f2": course.f2}
    truth = Seizure(
        onset=onset,
        duration=duration,
        region=region,
        focus_xyz=(float(focus[0]), float(focus[1]), float(focus[2])),
        focus_channel=sensors.best(field)[0],
        focus_rank=sensors.best(field, 3),
        topography={name: float(value) for name, value in zip(sensors.names, field, strict=False)},
        peak_uv=scale * contrast,
        contrast=contrast,
        fast_s=course.fast,
        f_start=course.f0,
        f_end=float(course.frequency(np.array([duration]))[0]),
        sources=tuple(
            Source(one.kind, round(one.delay, 2), sensors.best(one.field)[0], _seen(sensors, one)) for one in generators
        ),
        postictal_s=after,
    )
    decrement, attenuation = float(rng.uniform(0, 0.45)), float(rng.uniform(0.1, 0.5))
    slowing = scale * float(rng.uniform(0.5, 1.6))
    drawn |= {"decrement": decrement, "attenuation": attenuation, "slowing_uv": slowing}
    return Plan(truth, course, tuple(generators), decrement, attenuation, slowing, drawn)


def _seen(sensors: Sensors, one: Generator) -> float:
    return one.size * float(np.abs(sensors.centred(one.field)).max())


def _tilt(rng: Rng) -> np.ndarray:
    """A lean away from the radial direction of up to 0.35 rad."""
    direction = rng.normal(0, 1, 3)
    return float(rng.uniform(0, 0.35)) * direction / np.linalg.norm(direction)


def _neighbours(
    sensors: Sensors, rng: Rng, focus: np.ndarray, width: float, tilt: np.ndarray, course: Course
) -> list[Generator]:
    """Six wider patches around the focus that a spreading wave reaches one after another."""
    speed = float(rng.uniform(0.15, 0.6)) * _CENTIMETRE
    made = []
    for _ in range(6):
        away, step = float(rng.uniform(2, 5.5)) * _CENTIMETRE, rng.normal(0, 1, 3)
        place = focus + away * step / np.linalg.norm(step)
        place = place if sensors.inside else _on_cortex(place)
        distance = float(np.linalg.norm(place - focus))
        field = sensors.patch(place, 1.4 * width, tilt)
        size, lag = float(rng.uniform(0.3, 0.75)), float(rng.uniform(0.2, 1.5))
        made.append(Generator("neighbour", field, size, course.fast + distance / speed, lag))
    return made


def _others(sensors: Sensors, rng: Rng, focus: np.ndarray, width: float, course: Course) -> list[Generator]:
    """Where a seizure may arrive late: the mirrored place, and the whole front."""
    sphere, rest = head_sphere(), course.duration - course.fast
    mirrored = rng.random() < 0.55 and abs(focus[0] - sphere.centre[0]) > 0.25 * sphere.radius
    other = course.fast + float(rng.uniform(0.3, 0.7)) * rest
    size, lag = float(rng.uniform(0.4, 0.8)), float(rng.uniform(0.5, 2.5))
    made = []
    if mirrored:
        place = focus * (-1, 1, 1) + (2 * sphere.centre[0], 0, 0)
        made.append(Generator("contralateral", sensors.patch(place, 1.4 * width, _tilt(rng)), size, other, lag))
    general = rng.random() < 0.35
    delay, size = course.fast + float(rng.uniform(0.45, 0.75)) * rest, float(rng.uniform(0.5, 1))
    if general:
        front = _on_cortex(sphere.centre + np.array([0, 0.3, 0.85]))
        field = sensors.patch(front, 7 * _CENTIMETRE, np.zeros(3))
        made.append(Generator("generalised", field, size, delay, float(rng.uniform(0.5, 2.5))))
    return made


def seizure_pieces(sensors: Sensors, plans: Sequence[Plan], seed: int, fs: int) -> tuple[list[Piece], list[Artefact]]:
    """The samples of seizures with their slowing, and of the muscles that tense in 55 % of them."""
    pieces, told = [], []
    for number, plan in enumerate(plans):
        own = stream(seed, f"{_SEIZURE_PART} samples", number)
        pieces.append(Piece(plan.truth.onset, partial(_samples, plan, own, fs)))
        rng = stream(seed, _MUSCLE_PART, number)
        if rng.random() >= 0.55:
            continue
        amplitude = log_uniform(rng, 3, 25) * (0.1 if sensors.inside else 1.0)
        late = round(plan.course.fast + float(rng.uniform(0, 0.3)) * (plan.truth.duration - plan.course.fast), 2)
        onset, length = round(plan.truth.onset + late, 2), round(plan.truth.duration - late, 2)
        field = _temples(sensors, plan.truth, rng)
        tense = muscle(field, length, amplitude)
        pieces.append(Piece(onset, partial(_course, tense.shape, rng, fs)))
        told.append(Artefact("ictal-muscle", onset, length, sensors.seen_by(field), tense.peak))
    return pieces, told


def _course(shape: Any, rng: Rng, fs: int) -> np.ndarray:
    return shape(rng, fs).astype(np.float32)


def _temples(sensors: Sensors, truth: Seizure, rng: Rng) -> np.ndarray:
    """The field (c,) of both temples, more of the focus's side."""
    left = truth.focus_xyz[0] < head_sphere().centre[0]
    sides = (1.0, float(rng.uniform(0.5, 1))) if left else (float(rng.uniform(0.5, 1)), 1.0)
    field = np.zeros(len(sensors.places))
    for site, size in zip(("T7", "T8"), sides, strict=True):
        squares = ((sensors.places - np.array(template_positions()[site])) ** 2).sum(1)
        field = np.maximum(field, size * np.exp(-squares / (2 * 0.05**2)))
    return field / field[: len(sensors.names)].max()


def _samples(plan: Plan, rng: Rng, fs: int) -> np.ndarray:
    """Microvolts (c, samples) from the onset to the end of the slowing."""
    truth, course = plan.truth, plan.course
    total = round((truth.duration + truth.postictal_s) * fs)
    q = np.arange(round(truth.duration * fs)) / fs
    phase = course.phase(q, rng, fs)
    knots = np.arange(int(truth.duration) + 3)
    unsteady = np.exp(0.22 * np.interp(q, knots, rng.normal(0, 1, len(knots))))
    envelope = truth.peak_uv * course.size(q) * unsteady
    fields = np.column_stack([one.field for one in plan.generators]).astype(np.float32)
    courses = np.zeros((len(plan.generators), total), np.float32)
    for row, one in zip(courses, plan.generators, strict=True):
        joining = logistic((q - one.delay - 1.5) / 0.5) * (q >= one.delay) if one.delay > 0 else 1.0
        row[: len(q)] = one.size * envelope * joining * course.wave(phase - one.lag, q)
    slow = coloured(rng, 1, total - len(q), fs, band(1.6, 0.4))[0]
    after = np.arange(len(slow)) / fs
    courses[0, len(q) :] = plan.slowing * slow * np.clip(after / 1.0, 0, 1) * (1 - after / truth.postictal_s)
    return fields @ courses


def remaining_background(plans: Sequence[Plan], first: int, n: int, fs: int) -> np.ndarray | None:
    """What seizures leave of the rhythms in samples [first, first + n); None where they leave all."""
    left: np.ndarray | None = None
    for plan in plans:
        begin = max(0, round(plan.truth.onset * fs) - first)
        end = min(n, round((plan.truth.stop + plan.truth.postictal_s) * fs) - first)
        if end <= begin:
            continue
        left = np.ones(n) if left is None else left
        q = (first + np.arange(begin, end)) / fs - plan.truth.onset
        fast = np.clip(q / 0.5, 0, 1) * (1 - logistic((q - plan.course.fast) / 0.4))
        since = q - plan.truth.duration
        after = np.clip(since / 1.0, 0, 1) * np.clip(1 - since / plan.truth.postictal_s, 0, 1)
        left[begin:end] *= (1 - plan.decrement * fast) * (1 - plan.attenuation * after)
    return left


def spike_pieces(
    sensors: Sensors, plans: Sequence[Plan], settings: Settings, seed: int, scale: float, fs: int
) -> tuple[list[Piece], list[float], dict[str, Any]]:
    """Interictal spikes in 60 % of recordings, at the foci of their seizures or at one of their own."""
    rng = stream(seed, _SPIKE_PART)
    rate = float(rng.uniform(0, 5)) if rng.random() < 0.6 else 0.0
    fields = [plan.generators[0].field for plan in plans]
    if not fields:
        _, focus = draw_focus(sensors, settings.regions, rng)
        fields = [sensors.scaled(sensors.patch(focus, float(rng.uniform(0.8, 1.6)) * _CENTIMETRE, _tilt(rng)))]
    times = np.sort(rng.uniform(0, settings.duration, rng.poisson(rate * settings.duration / 60))).round(2).tolist()
    kept = [t for t in times if not any(p.truth.onset - 2 <= t <= p.truth.stop + p.truth.postictal_s for p in plans)]
    pieces = []
    for number, time in enumerate(kept):
        own = stream(seed, _SPIKE_PART, number + 1)
        field = fields[int(own.integers(len(fields)))]
        pieces.append(Piece(round(time - 0.08, 2), partial(_spike, field, scale * float(own.uniform(2.5, 6)), own, fs)))
    return pieces, kept, {"per_minute": rate, "channel": sensors.best(fields[0])[0]}


def _spike(field: np.ndarray, peak: float, rng: Rng, fs: int) -> np.ndarray:
    """A sharp negative peak after 0.08 s, and a slow wave."""
    q = np.arange(round(0.7 * fs)) / fs
    sharp = -np.exp(-(((q - 0.08) / rng.uniform(0.015, 0.03)) ** 2))
    slow = 0.45 * np.exp(-(((q - 0.28) / 0.1) ** 2))
    return np.outer(field, peak * (sharp + slow)).astype(np.float32)

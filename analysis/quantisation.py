"""How samples of any format become the integers of an EDF or BDF file, and what that costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.edf_writing import DIGITAL_RANGE, eight, enclosing, exact_range
from analysis.errors import RecordingError
from analysis.progress import Progress
from analysis.recording import Recording

# Rounding that no clinical amplifier would resolve; a 16-bit file of floating-point samples may cost this much.
ACCEPTED_MICROVOLTS = 0.05
_STEPS_TESTED = 1 << 16
# How far a float32 sample may lie from a whole number of steps: a little, and what its own precision costs.
_WHOLE, _FLOAT32 = 1e-5, 2e-7
_BLOCK_SAMPLES = 1 << 21
_PREFIXES = (("", 1.0), ("m", 1e3), ("u", 1e6), ("n", 1e9), ("p", 1e12), ("f", 1e15))


@dataclass
class ChannelSurvey:
    """What the samples of one channel are like: bounds, the step they are multiples of, where they are missing.

    `residue` is how far a sample lies from its multiple, beyond what float32 cannot tell.
    """

    low: float = np.inf
    high: float = -np.inf
    step: float | None = None
    residue: float = 0.0
    missing: list[tuple[int, int]] | None = None


@dataclass(frozen=True)
class Scaling:
    """Physical and digital range of a channel to write, the factor into its written unit, and the rounding error."""

    physical: tuple[float, float]
    digital: tuple[int, int]
    prefix: str
    factor: float
    error: float

    def digital_values(self, samples: np.ndarray) -> np.ndarray:
        """Integers (int32) for samples in the recording's unit; missing ones are as near to zero as can be."""
        (low, high), (first, last) = self.physical, self.digital
        steps_per_unit = (last - first) / (high - low)
        values = np.asarray(samples, np.float64) * self.factor
        values = np.where(np.isfinite(values), values, np.clip(0.0, low, high))
        return np.clip(np.rint((values - low) * steps_per_unit + first), first, last).astype(np.int32)


def survey(recording: Recording, progress: Progress) -> list[ChannelSurvey]:
    """Look at every sample once."""
    found = [ChannelSurvey(missing=[]) for _ in recording.channels]
    step = max(1, _BLOCK_SAMPLES // max(1, len(found)))
    for start in range(0, recording.n_times, step):
        stop = min(start + step, recording.n_times)
        data = recording.read(start, stop)
        for channel, samples in zip(found, data, strict=True):
            _look(channel, samples, start)
        progress.report(stop, 2 * recording.n_times, "looking at the samples")
    return found


def _look(channel: ChannelSurvey, samples: np.ndarray, start: int) -> None:
    finite = np.isfinite(samples)
    if not finite.all():
        _note_missing(channel, ~finite, start)
        samples = samples[finite]
    if not samples.size:
        return
    first_look = channel.low > channel.high
    channel.low = min(channel.low, float(samples.min()))
    channel.high = max(channel.high, float(samples.max()))
    if first_look:
        channel.step = _smallest_step(samples[:_STEPS_TESTED])
    if channel.step is not None:
        residue = _residue(samples, channel.step)
        channel.step = None if residue is None else channel.step
        channel.residue = max(channel.residue, residue or 0.0)


def _note_missing(channel: ChannelSurvey, absent: np.ndarray, start: int) -> None:
    edges = np.flatnonzero(np.diff(np.concatenate([[False], absent, [False]]).astype(np.int8))) + start
    assert channel.missing is not None
    for begin, end in edges.reshape(-1, 2).tolist():
        if channel.missing and channel.missing[-1][1] == begin:
            channel.missing[-1] = (channel.missing[-1][0], end)
        else:
            channel.missing.append((begin, end))


def _smallest_step(samples: np.ndarray) -> float | None:
    """The step between neighbouring values, made as exact as their whole span allows.

    Two neighbours alone tell it with the noise of float32, which would miscount the steps of the whole span; so it is
    counted over twice the distance again and again, and each time gets twice as exact.
    """
    values = np.unique(samples.astype(np.float64))
    if len(values) < 2:
        return None
    distances = values - values[0]
    step = float(np.diff(values).min())
    reach = step
    while reach < distances[-1]:
        reach *= 2
        distance = float(distances[min(np.searchsorted(distances, reach), len(distances) - 1)])
        step = distance / round(distance / step)
    return step


def _residue(samples: np.ndarray, step: float) -> float | None:
    """How far samples lie from multiples of a step, beyond what float32 cannot tell; None where they are none."""
    steps = samples.astype(np.float64) / step
    beyond = np.abs(steps - np.rint(steps)) - _FLOAT32 * np.abs(steps)
    return float(max(beyond.max(), 0.0) * step) if (beyond < _WHOLE).all() else None


def choose_scaling(found: ChannelSurvey, unit: str, sample_bytes: int) -> Scaling:
    """The scaling of one channel: exact where its samples are multiples of a step, else as fine as possible."""
    first, last = DIGITAL_RANGE[sample_bytes]
    if found.low > found.high:
        return Scaling((-1.0, 1.0), (first, last), "", 1.0, 0.0)
    prefix, factor = _prefix(found, unit)
    low, high = found.low * factor, found.high * factor
    physical = enclosing(low, high if high > low else low + 1.0)
    error = (physical[1] - physical[0]) / (last - first) / 2
    exact = _of_steps(low, high, found.step * factor, (first, last)) if found.step else None
    if exact is not None and (lost := exact[2] + found.residue * factor) <= error:
        return Scaling(exact[0], exact[1], prefix, factor, lost / factor)
    return Scaling(physical, (first, last), prefix, factor, error / factor)


def _of_steps(
    low: float, high: float, step: float, digital: tuple[int, int]
) -> tuple[tuple[float, float], tuple[int, int], float] | None:
    """Physical and digital range in which each multiple of the step is a digital value, and what eight characters
    change in it; None where the steps are too many."""
    first, last = round(low / step), round(high / step)
    if last - first >= digital[1] - digital[0]:
        return None
    inside = digital[0] < first and last <= digital[1]
    shift = 0 if inside else (first + last) // 2
    written, bounds = exact_range((first - shift, last - shift), digital, step, shift * step)
    return bounds, written, max(abs(float(eight(bound)) - bound) for bound in bounds)


def _prefix(found: ChannelSurvey, unit: str) -> tuple[str, float]:
    """A prefix that brings small values of other units into the eight characters of a header."""
    largest = max(abs(found.low), abs(found.high))
    if not unit or unit == "uV" or largest == 0 or largest >= 1 or not unit.isalpha():
        return "", 1.0
    return next(((p, f) for p, f in _PREFIXES if largest * f >= 1), _PREFIXES[-1])


def refuse_loss(scalings: Sequence[Scaling], recording: Recording, path: object) -> None:
    """Refuse 16 bits where they would lose what the recording resolves."""
    for channel, scaling in zip(recording.channels, scalings, strict=True):
        if channel.unit == "uV" and scaling.error > ACCEPTED_MICROVOLTS:
            raise RecordingError(
                f"16 bits would round {channel.name} by up to {scaling.error:.2g} µV ({path}): "
                "give the output a name that ends in .bdf"
            )

"""Power spectra: Welch's averaged periodograms, spectrograms and the power of bands, with scipy.fft alone.

Densities are one-sided: their sum times the resolution is the variance of the signal, mean removed per segment
(Welch 1967; Hann window, half overlap). A band takes its lower edge and leaves its upper one to the next, so that
bands that adjoin count no power twice.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from analysis.errors import AnalysisError
from analysis.progress import Progress

SEGMENT_SECONDS = 4.0
LEAST_SECONDS = 1.0
MOST_SEGMENTS = 150
SPECTROGRAM_COLUMNS = 400
_SPECTROGRAM_OVERLAP = 8  # windows begin at least an eighth of their length apart
_CHUNK_BYTES = 16_000_000

# read(start, stop): samples [start, stop) of every row, float (rows, samples), NaN in gaps.
Reader = Callable[[int, int], np.ndarray]


@dataclass(frozen=True)
class Band:
    """A band of the EEG, from `low` hertz on and below `high`."""

    name: str
    low: float
    high: float


BANDS = (
    Band("delta", 0.5, 4.0),
    Band("theta", 4.0, 8.0),
    Band("alpha", 8.0, 13.0),
    Band("beta", 13.0, 30.0),
    Band("gamma", 30.0, 80.0),
)


@dataclass(frozen=True)
class Segments:
    """Where the windows of a span begin: `starts` (n,) in samples, each `length` samples long.

    `possible` is how many there would be; where that is more, every part of the span has its share of those taken.
    """

    length: int
    starts: np.ndarray
    possible: int

    @property
    def thinned(self) -> bool:
        """Whether a long span is represented by some of its windows."""
        return self.starts.size < self.possible


@dataclass(frozen=True)
class Density:
    """Mean density of each row: `frequencies` (F,) hertz, `power` (rows, F) in squared units a hertz.

    `counts` (rows,) are the windows that were averaged; one that holds a gap is left out, and a row without any is
    NaN.
    """

    frequencies: np.ndarray
    power: np.ndarray
    counts: np.ndarray


def segment_seconds(span: float) -> float:
    """Length of a window in a span of so many seconds: 4 s, or half of a shorter span, but never below 1 s.

    AnalysisError where the span itself is shorter than that.
    """
    if span < LEAST_SECONDS - 1e-9:
        raise AnalysisError(f"a spectrum needs at least {LEAST_SECONDS:g} s, and this span is {span:.2f} s: take more")
    return min(SEGMENT_SECONDS, max(span / 2, LEAST_SECONDS))


def place_segments(start: int, stop: int, length: int, hop: int, most: int = MOST_SEGMENTS) -> Segments:
    """Windows of `length` samples every `hop` samples that fit into [start, stop); at most `most`, evenly spread."""
    possible = (stop - start - length) // hop + 1 if stop - start >= length else 0
    index = np.arange(possible)
    if possible > most:
        index = np.unique(np.round(np.linspace(0, possible - 1, most)).astype(int))
    return Segments(length, start + index * hop, possible)


def welch_segments(start: int, stop: int, sfreq: float, seconds: float) -> Segments:
    """Half overlapping windows of `seconds` in samples [start, stop)."""
    length = min(round(seconds * sfreq), stop - start)
    return place_segments(start, stop, length, length - length // 2)


def spectrogram_segments(start: int, stop: int, sfreq: float) -> Segments:
    """Windows of a tenth of the span (0.5 to 4 s), dense enough for a smooth picture and not more than it has columns.

    AnalysisError where the span holds no window.
    """
    span = (stop - start) / sfreq
    segment_seconds(span)
    length = round(min(SEGMENT_SECONDS, max(span / 10, 0.5)) * sfreq)
    hop = max(1, length // _SPECTROGRAM_OVERLAP)
    return place_segments(start, stop, length, hop, SPECTROGRAM_COLUMNS)


def periodograms(windows: np.ndarray, sfreq: float) -> np.ndarray:
    """One-sided density of each window (..., n) along the last axis, mean removed, Hann: float64 (..., n // 2 + 1)."""
    from scipy import fft  # when it is first needed: it takes as long to load as all our own modules

    n = windows.shape[-1]
    taper = hann(n)
    tapered = windows - windows.mean(axis=-1, keepdims=True, dtype=np.float64)
    tapered *= taper
    spectrum = fft.rfft(tapered, axis=-1, overwrite_x=True)
    power = spectrum.real**2 + spectrum.imag**2
    power *= 2.0 / (sfreq * float(taper @ taper))
    power[..., 0] /= 2.0
    if n % 2 == 0:
        power[..., -1] /= 2.0
    return np.asarray(power)


def hann(n: int) -> np.ndarray:
    """The periodic Hann window (n,)."""
    return 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(n) / n)


def average_density(read: Reader, segments: Segments, sfreq: float, progress: Progress | None = None) -> Density:
    """Welch's estimate for every row that `read` gives."""
    total = np.zeros((0, 0))
    counts = np.zeros(0, int)
    for power in _in_chunks(read, segments, sfreq, progress):
        whole = np.isfinite(power[:, :, 0])
        if not total.size:
            total, counts = np.zeros((power.shape[0], power.shape[2])), np.zeros(power.shape[0], int)
        total += np.where(whole[:, :, None], power, 0.0).sum(axis=1)
        counts += whole.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = total / counts[:, None]
    return Density(np.fft.rfftfreq(segments.length, 1 / sfreq), mean, counts)


def spectrogram(
    read: Reader, segments: Segments, sfreq: float, progress: Progress | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Density over time, mean of the rows that `read` gives.

    Returns the middle of each window in seconds (n,), frequencies (F,) in hertz and density (n, F); a window that
    holds a gap is NaN.
    """
    columns = [power.mean(axis=0) for power in _in_chunks(read, segments, sfreq, progress)]
    density = np.concatenate(columns) if columns else np.empty((0, segments.length // 2 + 1))
    times = (segments.starts + segments.length / 2) / sfreq
    return times, np.fft.rfftfreq(segments.length, 1 / sfreq), density


def _in_chunks(read: Reader, segments: Segments, sfreq: float, progress: Progress | None) -> Iterator[np.ndarray]:
    """Periodograms (rows, windows, F) of a few neighbouring windows at a time, each stretch of signal read once."""
    starts, length = segments.starts, segments.length
    at, rows = 0, 1
    while at < starts.size:
        if progress is not None:
            progress.report(at, starts.size)
        most = max(1, _CHUNK_BYTES // (8 * rows * length))
        end = at + 1
        while end < min(starts.size, at + most) and starts[end] <= starts[end - 1] + length:
            end += 1
        data = np.asarray(read(int(starts[at]), int(starts[end - 1]) + length))
        rows = max(1, data.shape[0])
        views = np.lib.stride_tricks.sliding_window_view(data, length, axis=1)
        yield periodograms(views[:, starts[at:end] - starts[at]], sfreq)
        at = end


def band_power(frequencies: np.ndarray, density: np.ndarray, band: Band) -> np.ndarray:
    """Power of a band in squared units: density (..., F) summed over low <= f < high, times the resolution."""
    inside = (frequencies >= band.low - 1e-9) & (frequencies < band.high - 1e-9)
    return np.asarray(density[..., inside].sum(axis=-1) * _resolution(frequencies))


def reach(band: Band, highest: float) -> float:
    """How far up a band can be seen in a signal that ends at `highest` hertz; 0 where not at all."""
    return min(band.high, highest) if highest > band.low else 0.0


def alpha_peak(frequencies: np.ndarray, density: np.ndarray, low: float = 7.0, high: float = 13.5) -> float | None:
    """Frequency of the highest peak from `low` to `high` hertz of a density (F,); None where none stands out.

    The place between two bins is that of the parabola through the logarithms of the peak and its neighbours. A
    highest value at an end of the range is the flank of something else, and no peak.
    """
    inside = np.flatnonzero((frequencies >= low) & (frequencies <= high))
    if inside.size < 3 or not np.isfinite(density[inside]).all() or density[inside].max() <= 0:
        return None
    top = int(inside[density[inside].argmax()])
    if top in (inside[0], inside[-1]) or density[top - 1 : top + 2].min() <= 0:
        return None
    return _refined(frequencies, density, top)


def dominant_peak(frequencies: np.ndarray, density: np.ndarray, low: float = 1.0, high: float = 30.0) -> float | None:
    """Frequency of the highest peak from `low` to `high` hertz of a density (F,) that stands out; None where none does.

    It stands out where the density times the frequency, which the slope towards slow frequencies leaves level, falls to
    half of it on both sides before it rises higher. The band holds the rhythms of seizures from delta to beta.
    """
    inside = np.flatnonzero((frequencies >= low - 1e-9) & (frequencies <= high + 1e-9))
    if inside.size < 3 or not np.isfinite(density[inside]).all() or density[inside].min() <= 0:
        return None
    level = density[inside] * frequencies[inside]
    for place in np.argsort(-density[inside], kind="stable").tolist():
        if 0 < place < level.size - 1 and _stands_out(level, place):
            return _refined(frequencies, density, int(inside[place]))
    return None


def _stands_out(values: np.ndarray, place: int) -> bool:
    """Whether values fall to half of one of them on both sides of it before any is higher."""
    top = values[place]
    for side in (values[place - 1 :: -1], values[place + 1 :]):
        higher = np.flatnonzero(side > top)
        if side[: higher[0] if higher.size else None].min(initial=top) > 0.5 * top:
            return False
    return True


def _refined(frequencies: np.ndarray, density: np.ndarray, top: int) -> float:
    """Where the parabola through the logarithms of a peak and its neighbours is highest."""
    left, middle, right = np.log(density[top - 1 : top + 2])
    bend = left - 2 * middle + right
    shift = 0.5 * (left - right) / bend if bend < 0 else 0.0
    return float(frequencies[top] + shift * _resolution(frequencies))


def decibels(density: np.ndarray) -> np.ndarray:
    """Density in dB above one squared unit a hertz; -inf and NaN stay."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(10.0 * np.log10(density))


def _resolution(frequencies: np.ndarray) -> float:
    return float(frequencies[1] - frequencies[0]) if frequencies.size > 1 else math.nan

"""Streams of random numbers by the name of a part, coloured noise, and courses that change slowly."""

from __future__ import annotations

import zlib
from collections.abc import Callable

import numpy as np
from scipy import fft

Rng = np.random.Generator
Curve = Callable[[np.ndarray], np.ndarray]  # frequencies in hertz -> amplitude

SLOW_RATE = 2.0  # hertz, of courses that are interpolated


def stream(seed: int, part: str, number: int = 0) -> Rng:
    """The random numbers of one part of a recording: no other part's draws change them."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(zlib.crc32(part.encode()), number)))


def log_uniform(rng: Rng, low: float, high: float) -> float:
    """A number whose logarithm is uniform between those of `low` and `high`."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def coloured(
    rng: Rng, rows: int, n_times: int, fs: float, curve: Curve, counted: tuple[float, float] = (0.0, np.inf)
) -> np.ndarray:
    """Gaussian noise with an amplitude spectrum `curve`, float32 (rows, n_times); its SD in the `counted` band is 1."""
    frequencies = fft.rfftfreq(n_times, 1 / fs)
    amplitude = curve(frequencies)
    amplitude[0] = 0.0
    used = np.flatnonzero(amplitude > 1e-4 * amplitude.max())
    first, last = used[0], used[-1] + 1
    power = amplitude[first:last] ** 2
    inside = (frequencies[first:last] >= counted[0]) & (frequencies[first:last] <= counted[1])
    amplitude *= n_times / (2 * np.sqrt(power[inside].sum()))
    spectrum = np.zeros((rows, len(frequencies)), np.complex64)
    parts = rng.standard_normal((rows, last - first, 2), np.float32) * amplitude[first:last, None].astype(np.float32)
    spectrum[:, first:last] = parts.view(np.complex64)[..., 0]
    return fft.irfft(spectrum, n_times)


def one_over_f(exponent: float, knee: float) -> Curve:
    """Amplitude of a power spectrum (f^2 + knee^2)^(-exponent / 2)."""
    return lambda f: (f**2 + knee**2) ** (-exponent / 4)


def band(centre: float, width: float) -> Curve:
    """A Gaussian around a frequency."""
    return lambda f: np.exp(-(((f - centre) / width) ** 2) / 2)


def between(low: float, high: float) -> Curve:
    """Flat between two frequencies, with soft edges."""
    return lambda f: logistic((f - low) / (0.1 * low)) * logistic((high - f) / (0.05 * high))


def below(edge: float) -> Curve:
    """Slow wandering: falls as 1/f up to a frequency and ends soon after."""
    return lambda f: logistic((edge - f) / (0.1 * edge)) / np.maximum(f, 0.05)


def slow_course(rng: Rng, duration: float, tau: float) -> np.ndarray:
    """An Ornstein-Uhlenbeck process with an SD of 1 and a time constant in seconds, at SLOW_RATE, (points,)."""
    from scipy.signal import lfilter

    kept = np.exp(-1 / (SLOW_RATE * tau))
    noise = rng.standard_normal(int(duration * SLOW_RATE) + 3) * np.sqrt(1 - kept**2)
    noise[0] /= np.sqrt(1 - kept**2)
    return lfilter([1.0], [1.0, -kept], noise)


def logistic(x: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(-x)), for any x."""
    return 0.5 * (1 + np.tanh(x / 2))


def switching(rng: Rng, duration: float, dwell: float) -> list[tuple[float, float]]:
    """Spans (start, stop) in seconds of a state that lasts `dwell` seconds on average, as do the pauses between."""
    at, on, spans = 0.0, bool(rng.random() < 0.5), []
    while at < duration:
        lasts = round(10.0 + float(rng.exponential(dwell - 10.0)), 2)
        if on:
            spans.append((round(at, 2), min(round(at + lasts, 2), duration)))
        at, on = at + lasts, not on
    return spans

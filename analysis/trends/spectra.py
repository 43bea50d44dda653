"""Power spectra of short windows, the power of the classical bands, and what is derived from it.

Power spectral density as Welch defines it: the mean is taken from each window of SPECTRUM_SECONDS, which is weighted by
a periodic Hann window w; with X = rfft(w x), density(f) = 2 |X(f)|^2 / (sfreq sum w^2), one-sided, in µV²/Hz. Windows
do not overlap. The power of a band is the sum of the density over low <= f < high, times the distance of the
frequencies, in µV²: bands that touch share nothing, and by Parseval a sine of amplitude A in a band has A²/2.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

SPECTRUM_SECONDS = 2.0
STEP_HZ = 1 / SPECTRUM_SECONDS
TOP_HZ = 30.0
BANDS: dict[str, tuple[float, float]] = {
    "delta": (1.0, 4.0),
    "theta": (4.0, 8.0),
    "alpha": (8.0, 13.0),
    "beta": (13.0, 30.0),
}
FLAT_UV = 0.05  # peak to peak in a window, as in analysis.channel_quality
N_FREQUENCIES = round(TOP_HZ / STEP_HZ)
FREQUENCIES = np.arange(1, N_FREQUENCIES + 1) * STEP_HZ
FREQUENCIES.flags.writeable = False


def window_densities(windows: np.ndarray, sfreq: float) -> np.ndarray:
    """Density of each window: float32 (..., samples) in µV -> float32 (..., 60) in µV²/Hz at FREQUENCIES.

    NaN for windows that lack a sample or are flat, and for frequencies that the sampling rate does not hold.
    """
    from scipy import fft  # when it is first needed: it takes as long to load as all our own modules

    n = windows.shape[-1]
    extent = windows.max(axis=-1) - windows.min(axis=-1)
    missing = ~(extent > FLAT_UV)
    shape, power = _hann(n)
    weighted = windows - windows.mean(axis=-1, keepdims=True)
    weighted *= shape
    spectrum = fft.rfft(weighted, axis=-1, overwrite_x=True)
    count = min(N_FREQUENCIES, n // 2)
    kept = spectrum[..., 1 : count + 1]
    density = np.full((*windows.shape[:-1], N_FREQUENCIES), np.nan, np.float32)
    np.add(kept.real**2, kept.imag**2, out=density[..., :count])
    density *= np.float32(2 / (sfreq * power))
    if n % 2 == 0 and count == n // 2:
        density[..., count - 1] /= 2  # half the sampling rate stands in both halves of the spectrum at once
    density[missing] = np.nan
    return density


@lru_cache(maxsize=8)
def _hann(n: int) -> tuple[np.ndarray, float]:
    shape = (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(n) / n)).astype(np.float32)
    shape.flags.writeable = False
    return shape, float(np.sum(shape.astype(np.float64) ** 2))


def band_powers(density: np.ndarray) -> np.ndarray:
    """Power of each band of BANDS: density (..., 60) in µV²/Hz -> float32 (..., 4) in µV²; NaN stays."""
    parts = [density[..., (low <= FREQUENCIES) & (high > FREQUENCIES)].sum(axis=-1) for low, high in BANDS.values()]
    return np.stack(parts, axis=-1).astype(np.float32) * np.float32(STEP_HZ)


def asymmetry(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """(R - L) / (R + L) of powers in µV², elementwise, -1 (all left) to 1 (all right); NaN where either is missing."""
    total = right + left
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(total > 0, (right - left) / total, np.nan)


def alpha_delta_ratio(powers: np.ndarray) -> np.ndarray:
    """Power of 8-13 Hz over that of 1-4 Hz from band powers (..., 4); NaN where there is no delta."""
    names = list(BANDS)
    alpha, delta = powers[..., names.index("alpha")], powers[..., names.index("delta")]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(delta > 0, alpha / delta, np.nan)


def decibels(density: np.ndarray) -> np.ndarray:
    """10 log10 of a density in µV²/Hz, float32; nothing below -60 dB, which is a nanovolt's work."""
    with np.errstate(invalid="ignore"):
        return 10 * np.log10(np.maximum(density, 1e-6), dtype=np.float32)

"""Amplitude-integrated EEG (aEEG), as cerebral function monitors draw it.

Maynard, Prior and Scott's monitor (1969) filters with more gain for faster activity, rectifies, and writes the envelope
on a half logarithmic scale. Here, in the frequency domain and without phase shift:

  gain(f) ~ (f / 10 Hz)^0.6 / sqrt((1 + (2 Hz / f)^(2 ORDER)) (1 + (f / 15 Hz)^(2 ORDER))), scaled to 1 at 10 Hz,

which rises by 12 dB a decade between 2 and 15 Hz and falls steeply beyond. The envelope is the mean of the rectified
signal over half a second, times pi, so that a steady sine of amplitude A, gain 1, reads as its peak-to-peak value 2 A.
Each bin's lower and upper margin are the 10th and the 90th percentile of the envelope.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

LOW_HZ, HIGH_HZ = 2.0, 15.0
REFERENCE_HZ = 10.0
SLOPE_DB_PER_DECADE = 12.0
ORDER = 4
ENVELOPE_SECONDS = 0.5
ENVELOPE_RATE = 8.0  # values a second
PAD_SECONDS = 3.0  # signal on either side, after which the filter remembers nothing
MARGINS = (0.10, 0.90)
LEAST_SHARE = 0.2  # of a bin that must be there for it to have margins
LINEAR_TO, TOP = 10.0, 100.0
_LEAST_RATE = 120.0
_SHADOW_SECONDS = 1.0


def response(frequencies: np.ndarray) -> np.ndarray:
    """Gain at frequencies in hertz, float64; see the head of this module."""
    return _shape(np.maximum(np.asarray(frequencies, np.float64), 1e-9)) / _shape(np.array(REFERENCE_HZ))


def _shape(f: np.ndarray) -> np.ndarray:
    slope = (f / REFERENCE_HZ) ** (SLOPE_DB_PER_DECADE / 20)
    return np.asarray(slope / np.sqrt((1 + (LOW_HZ / f) ** (2 * ORDER)) * (1 + (f / HIGH_HZ) ** (2 * ORDER))))


def envelope(signal: np.ndarray, sfreq: float, count: int) -> np.ndarray:
    """Envelope in µV peak to peak of float32 (rows, samples), which begins PAD_SECONDS before the first value.

    Returns float32 (rows, count) at ENVELOPE_RATE, value i for the half second about (i + 1/2) / ENVELOPE_RATE. NaN
    within a second of a missing sample.
    """
    missing = np.isnan(signal)
    holed = bool(missing.any())
    filled = _bridged(signal, missing) if holed else signal
    step = max(1, int(sfreq // _LEAST_RATE))
    filtered = _filtered(filled, sfreq, step)
    rate = sfreq / step
    # Sums up to every sample: the mean of any stretch is a difference of two. A sample stands for the time about it.
    total = np.zeros((filtered.shape[0], filtered.shape[1] + 1))
    np.cumsum(np.abs(filtered, out=filtered), axis=1, out=total[:, 1:])
    centre = (PAD_SECONDS + (np.arange(count) + 0.5) / ENVELOPE_RATE) * rate
    half = ENVELOPE_SECONDS * rate / 2
    mean = (_between(total, centre + half + 0.5) - _between(total, centre - half + 0.5)) / (2 * half)
    found = (np.pi * mean).astype(np.float32)
    if holed:
        found[_shadowed(missing, centre * step, _SHADOW_SECONDS * sfreq)] = np.nan
    return found


def _filtered(signal: np.ndarray, sfreq: float, step: int) -> np.ndarray:
    """The signal through the filter, every `step`-th sample; the line from its first to its last one is taken off."""
    from scipy import fft  # when it is first needed: it takes as long to load as all our own modules

    n = signal.shape[1]
    n_fft = 2 * step * fft.next_fast_len(-(-n // (2 * step)), real=True)
    ramp = np.linspace(0, 1, n, dtype=np.float32)
    padded = np.zeros((signal.shape[0], n_fft), np.float32)
    first, last = signal[:, :1], signal[:, -1:]
    inner = padded[:, :n]
    np.multiply(first - last, ramp, out=inner)
    inner += signal
    inner -= first
    spectrum = fft.rfft(padded, axis=1, overwrite_x=True)[:, : n_fft // (2 * step) + 1]
    spectrum *= _gain(sfreq, n_fft, step)
    return np.asarray(fft.irfft(spectrum, n_fft // step, axis=1, overwrite_x=True))


@lru_cache(maxsize=8)
def _gain(sfreq: float, n_fft: int, step: int) -> np.ndarray:
    gain = response(np.arange(n_fft // (2 * step) + 1) * (sfreq / n_fft)) / step
    gain[0] = 0
    return gain.astype(np.float32)


def _between(total: np.ndarray, position: np.ndarray) -> np.ndarray:
    """Running sums at positions that are no whole numbers of samples, (rows, positions)."""
    position = np.clip(position, 0, total.shape[1] - 1)
    before = np.minimum(position.astype(np.intp), total.shape[1] - 2)
    low, high = total[:, before], total[:, before + 1]
    return low + (high - low) * (position - before)


def _bridged(signal: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """The signal with straight lines over what is missing; rows without any sample are 0."""
    out = signal.copy()
    index = np.arange(signal.shape[1])
    for row in np.flatnonzero(missing.any(axis=1)):
        holes = missing[row]
        out[row, holes] = 0 if holes.all() else np.interp(index[holes], index[~holes], signal[row, ~holes])
    return out


def _shadowed(missing: np.ndarray, centre: np.ndarray, reach: float) -> np.ndarray:
    """Whether any sample within `reach` samples of each centre is missing: bool (rows, centres)."""
    total = np.zeros((missing.shape[0], missing.shape[1] + 1), np.int32)
    np.cumsum(missing, axis=1, out=total[:, 1:])
    low = np.clip(np.floor(centre - reach), 0, missing.shape[1]).astype(np.intp)
    high = np.clip(np.ceil(centre + reach), 0, missing.shape[1]).astype(np.intp)
    return total[:, high] > total[:, low]


def margins(values: np.ndarray) -> np.ndarray:
    """Lower and upper margin of each bin: envelope (rows, bins, values of a bin) -> float32 (rows, bins, 2) in µV.

    Percentiles with linear interpolation over what is there; NaN where less than LEAST_SHARE of a bin is.
    """
    ordered = np.sort(values, axis=-1)  # NaN last
    present = (~np.isnan(ordered)).sum(axis=-1)
    out = np.full((*values.shape[:-1], 2), np.nan, np.float32)
    enough = present >= max(1.0, LEAST_SHARE * values.shape[-1])
    for i, share in enumerate(MARGINS):
        at = share * np.maximum(present - 1, 0)
        low = np.floor(at).astype(np.intp)
        high = np.minimum(low + 1, np.maximum(present - 1, 0))
        a = np.take_along_axis(ordered, low[..., None], axis=-1)[..., 0]
        z = np.take_along_axis(ordered, high[..., None], axis=-1)[..., 0]
        out[..., i] = np.where(enough, a + (z - a) * (at - low), np.nan)
    return out


def scale_position(microvolts: np.ndarray) -> np.ndarray:
    """Height on the clinic's scale, 0 to 1: linear up to 10 µV at half height, logarithmic from there to 100 µV."""
    value = np.asarray(microvolts, np.float64)
    linear = value / LINEAR_TO / 2
    logarithmic = 0.5 + np.log10(np.maximum(value, LINEAR_TO) / LINEAR_TO) / (2 * np.log10(TOP / LINEAR_TO))
    return np.clip(np.where(value <= LINEAR_TO, linear, logarithmic), 0, 1)

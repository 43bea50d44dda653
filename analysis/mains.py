"""Which mains frequency hums in a recording, judged from its spectrum."""

from __future__ import annotations

import numpy as np

from analysis.recording import Recording, Window

FREQUENCIES = (50.0, 60.0)
_SPANS = 8
_SPAN_SECONDS = 4.0
_CHANNELS = 16
_HALF_WIDTH = 0.5  # hertz that count as the line itself
_SURROUND = 4.0  # hertz on either side that it is compared with
_LEAST_RATIO = 3.0


def estimate_mains(recording: Recording) -> float | None:
    """50 or 60 hertz, whichever stands out of the spectrum of the brain channels; None where neither does.

    The line's mean power within 0.5 Hz must be three times the median power within 4 Hz beside it.
    """
    picks = [i for i, channel in enumerate(recording.channels) if channel.is_brain][:_CHANNELS]
    size = round(_SPAN_SECONDS * recording.sfreq)
    spectra = [_power(data) for data in _spans(recording, picks, size)] if picks else []
    if not spectra:
        return None
    # The median over spans and channels: a burst of muscle or one bad electrode is no mains.
    power = np.median(np.concatenate(spectra), axis=0)
    frequencies = np.fft.rfftfreq(size, 1 / recording.sfreq)
    ratios = {f: _prominence(power, frequencies, f) for f in FREQUENCIES}
    best = max(ratios, key=lambda f: ratios[f])
    return best if ratios[best] >= _LEAST_RATIO else None


def _spans(recording: Recording, picks: list[int], size: int) -> list[np.ndarray]:
    """Spans without missing samples, spread over the recording; float32 (picks, size)."""
    parts = [part for part in recording.contiguous_spans() if part.duration * recording.sfreq >= size]
    found = []
    for i in range(_SPANS if parts else 0):
        part: Window = parts[i * len(parts) // _SPANS]
        room = part.duration - size / recording.sfreq
        start = round((part.start + room * (i + 0.5) / _SPANS) * recording.sfreq)
        data = recording.read(start, start + size, picks)
        if np.isfinite(data).all():
            found.append(data)
    return found


def _power(data: np.ndarray) -> np.ndarray:
    """Power spectrum (channels, frequencies) under a Hann window; channels that are flat are left out."""
    data = data[np.ptp(data, axis=1) > 0]
    tapered = (data - data.mean(axis=1, keepdims=True)) * np.hanning(data.shape[1])
    spectrum: np.ndarray = np.abs(np.fft.rfft(tapered, axis=1)) ** 2
    # Each channel counts alike, whatever its gain.
    return spectrum / spectrum.sum(axis=1, keepdims=True)


def _prominence(power: np.ndarray, frequencies: np.ndarray, frequency: float) -> float:
    distance = np.abs(frequencies - frequency)
    if power.size == 0 or frequency + _SURROUND > frequencies[-1]:
        return 0.0
    beside = power[(distance > 2 * _HALF_WIDTH) & (distance <= _SURROUND)]
    return float(power[distance <= _HALF_WIDTH].mean() / np.median(beside))

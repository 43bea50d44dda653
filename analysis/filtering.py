"""The filter of the display: zero-phase, in the frequency domain; a sample has one value wherever a page starts.

The response is the squared magnitude of digital Butterworth filters (what running them forwards and backwards gives),
in closed form: |H(f)|^2 = 1 / (1 + (tan(pi f / fs) / tan(pi fc / fs))^(2 order)). At a cut-off frequency the amplitude
is therefore halved (-6 dB), there is no phase shift, and the slope is 12 dB per octave and order.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from analysis.channel_kinds import BODY_KINDS, FIXED
from analysis.fourier import irfft, next_fast_len, rfft

NOTCH_QUALITY = 30.0
DECIMATION_MARGIN = 7.0
# Short pads are not enough for the bend and the decay of the filter's memory both; this also covers the notch.
_MIN_PAD_SECONDS = 3.0
_BEND_SECONDS = 1.0


def time_constant(frequency: float) -> float:
    """Time constant in seconds of a high-pass of `frequency` hertz: 1 / (2 pi f)."""
    return 1.0 / (2.0 * math.pi * frequency)


@dataclass(frozen=True)
class DisplayFilter:
    """High-pass, low-pass and notch in hertz (None: off) of the given order; the stored data are never touched.

    With `harmonics` the multiples of the notch below the Nyquist frequency are taken out too, each as narrowly.
    """

    highpass: float | None = 0.5
    lowpass: float | None = 70.0
    notch: float | None = None
    order: int = 2
    harmonics: bool = False

    @property
    def is_off(self) -> bool:
        """Whether nothing is filtered."""
        return self.highpass is None and self.lowpass is None and self.notch is None

    @property
    def pad_seconds(self) -> float:
        """Signal needed on both sides of a span so that its edges are right to less than 0.1 uV."""
        return max(_MIN_PAD_SECONDS, self.order / self.highpass if self.highpass is not None else 0.0)

    def pad_samples(self, sfreq: float, step: int = 1) -> int:
        """`pad_seconds` in samples, rounded up to a multiple of `step`."""
        return math.ceil(self.pad_seconds * sfreq / step) * step

    def decimation(self, sfreq: float) -> int:
        """By what whole number the output's rate may be divided without losing what the low-pass lets through."""
        if self.lowpass is None:
            return 1
        return max(1, int(sfreq / (DECIMATION_MARGIN * self.lowpass)))

    def response(self, frequencies: np.ndarray, sfreq: float) -> np.ndarray:
        """Gain (float64, 0..1) at each frequency in hertz for a signal of rate `sfreq`."""
        nyquist = sfreq / 2.0
        warped = np.tan(np.pi * np.minimum(frequencies, nyquist * (1 - 1e-9)) / sfreq)
        gain = np.ones_like(warped)
        if self.highpass is not None:
            edge = math.tan(math.pi * min(self.highpass, nyquist * 0.999) / sfreq)
            power = (warped / edge) ** (2 * self.order)
            gain *= power / (1.0 + power)
        if self.lowpass is not None and self.lowpass < nyquist:
            edge = math.tan(math.pi * self.lowpass / sfreq)
            gain *= 1.0 / (1.0 + (warped / edge) ** (2 * self.order))
        for centre in self._notches(nyquist):
            gain *= _notch_gain(warped, centre, self.notch or centre, sfreq)
        return gain

    def _notches(self, nyquist: float) -> list[float]:
        if self.notch is None or self.notch >= nyquist:
            return []
        count = math.ceil(nyquist / self.notch) - 1 if self.harmonics else 1
        return [k * self.notch for k in range(1, count + 1)]

    def describe(self) -> str:
        """The settings as a reader says them, such as `0.5–70 Hz, notch off`."""
        low = "DC" if self.highpass is None else f"{self.highpass:g}"
        high = "no low-pass" if self.lowpass is None else f"{self.lowpass:g} Hz"
        notch = "notch off" if self.notch is None else f"notch {self.notch:g} Hz"
        if self.notch is not None and self.harmonics:
            notch += " and harmonics"
        return f"{low}–{high}, {notch}"


OFF = DisplayFilter(None, None, None)


@dataclass(frozen=True)
class FilterBank:
    """The filter of the page, and those of the kinds of channels (see channel_kinds) that have their own.

    Respiration and what is not a voltage of the body is filtered only by a filter of its own.
    """

    page: DisplayFilter = DisplayFilter()
    own: tuple[tuple[str, DisplayFilter], ...] = ()

    def of_kind(self, kind: str) -> DisplayFilter:
        """The filter that channels of a kind go through."""
        if kind == FIXED:
            return OFF
        for name, chosen in self.own:
            if name == kind:
                return chosen
        return self.page if kind in BODY_KINDS else OFF


Filters = DisplayFilter | FilterBank


def as_bank(filters: Filters) -> FilterBank:
    """A filter for everything on the page, as a bank."""
    return filters if isinstance(filters, FilterBank) else FilterBank(filters)


def _notch_gain(warped: np.ndarray, notch: float, base: float, sfreq: float) -> np.ndarray:
    """Squared response of the second-order digital notch whose -3 dB band is base / NOTCH_QUALITY wide."""
    centre = math.tan(math.pi * notch / sfreq)
    # The bilinear transform squeezes the band; this is the width that comes out right at the end.
    width = (1.0 + centre**2) * math.tan(math.pi * base / NOTCH_QUALITY / sfreq)
    stop = (centre**2 - warped**2) ** 2
    return stop / (stop + (width * warped) ** 2)


def filter_span(
    data: np.ndarray, first: int, sfreq: float, display_filter: DisplayFilter, start: int, stop: int, step: int = 1
) -> np.ndarray:
    """Filter one contiguous piece of signal and return samples start, start + step, … below `stop`.

    `data` is float32 (rows, samples) without NaN, its first sample is number `first` of the recording. Where it does
    not reach `pad_seconds` beyond [start, stop), it is taken to end there for good (a gap, or the recording's end)
    and is continued by point reflection. `start` must be a multiple of `step`. Returns float32 (rows, n).
    """

    def fill(out: np.ndarray, begin: int, end: int) -> None:
        out[:] = data[:, begin - first : end - first]

    available = (first, first + data.shape[1])
    return filter_filled(fill, data.shape[0], available, sfreq, display_filter, start, stop, step)


def filter_filled(
    fill: Callable[[np.ndarray, int, int], None],
    rows: int,
    available: tuple[int, int],
    sfreq: float,
    display_filter: DisplayFilter,
    start: int,
    stop: int,
    step: int = 1,
) -> np.ndarray:
    """As filter_span, with samples written where the transform wants them: saves two copies of large blocks.

    fill(out, begin, end) must write samples [begin, end), which lie in `available`, into float32 `out` (rows, samples).
    """
    pad = display_filter.pad_samples(sfreq, step)
    begin, end = start - pad, stop + pad
    size = end - begin
    n_fft = 2 * step * next_fast_len(math.ceil(size / (2 * step)))
    padded = np.empty((rows, n_fft), np.float32)
    left, right = max(begin, available[0]), min(end, available[1])
    inner = padded[:, left - begin : right - begin]
    fill(inner, left, right)
    if left > begin:
        padded[:, : left - begin] = _reflection(inner, left - begin)[:, ::-1]
    if right < end:
        padded[:, right - begin : size] = _reflection(inner[:, ::-1], end - right)
    _bend(padded, size, round(_BEND_SECONDS * sfreq), pad)
    spectrum = rfft(padded)[:, : n_fft // (2 * step) + 1]
    spectrum *= _gain(display_filter, sfreq, n_fft, step)
    filtered = irfft(spectrum, n_fft // step)
    offset = (start - begin) // step
    count = -(-(stop - start) // step)
    return np.asarray(filtered[:, offset : offset + count])


def _reflection(data: np.ndarray, count: int) -> np.ndarray:
    """The `count` samples before data[:, 0], nearest first: turned about the end point, then held."""
    index = np.minimum(np.arange(1, count + 1), data.shape[1] - 1)
    return 2 * data[:, :1] - data[:, index]


def _bend(padded: np.ndarray, size: int, width: int, pad: int) -> None:
    """Lead the right end to the left one, since the transform joins them."""
    target = padded[:, :1].copy()
    padded[:, size:] = padded[:, size - 1 : size]
    bend = max(padded.shape[1] - size, min(width, pad // 2))
    weight = (0.5 - 0.5 * np.cos(np.linspace(0, np.pi, bend + 2)[1:-1])).astype(np.float32)
    tail = padded[:, padded.shape[1] - bend :]
    tail += weight * (target - tail)


@lru_cache(maxsize=64)
def _gain(display_filter: DisplayFilter, sfreq: float, n_fft: int, step: int) -> np.ndarray:
    """Gain at each bin that is kept, scaled for the shorter inverse transform."""
    frequencies = np.arange(n_fft // (2 * step) + 1) * (sfreq / n_fft)
    gain = (display_filter.response(frequencies, sfreq) / step).astype(np.float32)
    gain.flags.writeable = False
    return gain

"""The signal a model is given: resampled, referenced and filtered as it was trained, in pieces of bounded size."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from analysis.errors import AnalysisError
from analysis.recording import Recording
from analysis.survey import ScorableSpan

# The slowest pole of a 0.5 Hz fourth-order high-pass decays by e in 0.83 s, so 20 s leave less than 1e-10 of a step.
FILTER_PAD_SECONDS = 20.0
RESAMPLE_PAD_SECONDS = 1.0
NOTCH_QUALITY = 30.0
_TRANSITION, _HAMMING_WIDTH = 1.0, 3.3  # Hz, and the width of a Hamming window's transition in 1 / length
BLOCK_SECONDS = 300.0
MIN_BLOCK_SECONDS = 60.0
BLOCK_VALUES = 2**24
_MAX_RATIO = 4000  # the exact ratio of odd rates is replaced by one with terms below this (20 ms a day at worst)


def median_of_channels(data: np.ndarray) -> np.ndarray:
    """Median over the channels of each sample, (channels, samples) -> (samples,), NaN where one channel has none.

    numpy.median's numbers to the last bit in a third of its time: few channels are sorted faster than they are parted.
    """
    ordered, half = np.sort(data, axis=0), len(data) // 2
    middle = ordered[half] if len(data) % 2 else ordered[half - 1 : half + 1].mean(axis=0)
    return np.where(np.isnan(ordered[-1]), np.nan, middle)


@dataclass(frozen=True)
class Preprocessing:
    """How a model's input is made; the defaults are MVPFormer's (paper section 4).

    In this order: resampling to `sfreq` Hz ("polyphase": scipy's resample_poly with its anti-aliasing filter, or
    "linear": interpolation without one, as the published code does), the reference ("median" or "average" over the
    scored channels, or "none"), and a Butterworth band of `order` at each edge, forwards and backwards, with a `notch`
    of quality 30 at each of these frequencies in Hz. An edge of None is open; a low-pass edge, or a notch, at or above
    half of either rate is left out. With the `method` "fir" the band is a linear-phase filter whose transitions are
    1 Hz wide.
    """

    sfreq: float = 512.0
    highpass: float | None = 0.5
    lowpass: float | None = 120.0
    order: int = 4
    reference: str = "median"
    resampling: str = "polyphase"
    notch: tuple[float, ...] = ()
    method: str = "butterworth"

    @classmethod
    def from_checkpoint(cls, stated: Mapping[str, Any]) -> Preprocessing:
        """What a checkpoint says it was trained on; AnalysisError names what this program cannot do."""
        default = cls()
        made = cls(
            sfreq=float(stated.get("sampling_rate", default.sfreq)),
            highpass=stated.get("highpass", default.highpass),
            lowpass=stated.get("lowpass", default.lowpass),
            order=int(stated.get("order", default.order)),
            reference=str(stated.get("reference", default.reference)),
            resampling=str(stated.get("resampling", default.resampling)),
            notch=tuple(stated.get("notch", default.notch)),
        )
        for name, value, known in (
            ("reference", made.reference, ("median", "average", "none")),
            ("resampling", made.resampling, ("polyphase", "linear")),
            ("unit", stated.get("unit", "uV"), ("uV",)),
            ("normalisation", stated.get("normalisation", "none"), ("none",)),
        ):
            if value not in known:
                raise AnalysisError(
                    f"the checkpoint asks for the {name} {value!r}, which is not known here: "
                    f"use one that was trained with {' or '.join(known)}"
                )
        return made

    def lowpass_for(self, sfreq: float) -> float | None:
        """The low-pass edge that is used for a recording of this rate: None where the signal ends below it anyway."""
        if self.lowpass is None or self.lowpass >= min(sfreq, self.sfreq) / 2:
            return None
        return self.lowpass

    def notches_for(self, sfreq: float) -> tuple[float, ...]:
        """The notches that lie below half of either rate."""
        return tuple(f for f in self.notch if f < min(sfreq, self.sfreq) / 2)

    def describe(self, sfreq: float) -> dict[str, Any]:
        """All settings as they apply to a recording of this rate, for the provenance."""
        band = {"lowpass": self.lowpass_for(sfreq), "notch": list(self.notches_for(sfreq))}
        return {**asdict(self), **band, "recorded_at": sfreq, "unit": "uV"}


# What the published code does with SWEC files, which were referenced and filtered before they were published.
OFFICIAL_RESAMPLING = Preprocessing(highpass=None, lowpass=None, reference="none", resampling="linear")


class SpanSignal:
    """The preprocessed signal of one span: sample k lies at `span.origin + k / settings.sfreq` seconds.

    Nothing is read before it is asked for, and never more at once than a block with its margins, whatever the length.
    At the ends of the span the signal is continued by its point reflection; what lies beyond is never looked at.
    """

    def __init__(self, recording: Recording, span: ScorableSpan, picks: Sequence[int], settings: Preprocessing) -> None:
        self._recording = recording
        self._picks = list(picks)
        self._settings = settings
        sfreq = recording.sfreq
        ratio = Fraction(settings.sfreq / sfreq).limit_denominator(_MAX_RATIO)
        self._up, self._down = ratio.numerator, ratio.denominator
        self._origin = round(span.origin * sfreq)
        self._low = round(span.start * sfreq) - self._origin
        self._high = round(span.stop * sfreq) - self._origin
        self.first = math.ceil(self._low * self._up / self._down)
        self.stop = math.floor(self._high * self._up / self._down + 1e-9)
        self._slack = math.ceil(0.5 * self._up / self._down)  # a gap may begin between two recorded samples
        self._sos = _design(settings, sfreq)
        self._taps = _fir(settings, sfreq) if settings.method == "fir" else None
        filters = self._sos is not None or self._taps is not None
        pad = FILTER_PAD_SECONDS if filters else RESAMPLE_PAD_SECONDS
        self._pad = math.ceil(pad * sfreq)

    @property
    def origin(self) -> float:
        """Where sample 0 lies, in seconds of the recording."""
        return self._origin / self._recording.sfreq

    @property
    def start_seconds(self) -> float:
        """Where the first sample lies, in seconds of the recording."""
        return self.origin + self.first / self._settings.sfreq

    @property
    def stop_seconds(self) -> float:
        """Where the samples end, in seconds of the recording."""
        return self.origin + self.stop / self._settings.sfreq

    @property
    def recorded_at(self) -> float:
        """The rate of the recording in Hz."""
        return self._recording.sfreq

    def read(self, start: int, stop: int) -> np.ndarray:
        """Samples [start, stop), float32 (channels, samples) in microvolts; they must lie in [first, self.stop)."""
        return self._read(start, stop, self._block)

    def reference_parts(self, start: int, stop: int) -> np.ndarray:
        """What each channel gave to the reference that `read` took off, float32 (channels, samples) in microvolts.

        The parts went through the same filters, so that they add up to what is missing from each channel there.
        """
        return self._read(start, stop, self._parts)

    def _read(self, start: int, stop: int, block: Callable[[int, int], np.ndarray]) -> np.ndarray:
        if not self.first - self._slack <= start <= stop <= self.stop + self._slack:
            raise ValueError(f"samples {start}-{stop} are not within {self.first}-{self.stop}")
        out = np.empty((len(self._picks), stop - start), np.float32)
        most = BLOCK_VALUES / max(1, len(self._picks))
        step = int(min(BLOCK_SECONDS * self._settings.sfreq, max(MIN_BLOCK_SECONDS * self._settings.sfreq, most)))
        for at in range(start, stop, step):
            end = min(at + step, stop)
            out[:, at - start : end - start] = block(at, end)
        return out

    def _block(self, start: int, stop: int) -> np.ndarray:
        """One block, from recorded samples with margins, in float64."""
        data, first = self._around(start, stop)
        if self._settings.reference == "median":
            data -= median_of_channels(data)
        elif self._settings.reference == "average":
            data -= data.mean(axis=0)
        return self._filter(data)[:, start - first : stop - first]

    def _parts(self, start: int, stop: int) -> np.ndarray:
        data, first = self._around(start, stop)
        shares: Mapping[str, Callable[[np.ndarray], np.ndarray]]
        shares = {"median": median_parts, "average": lambda values: values / len(values)}
        parts = shares.get(self._settings.reference, np.zeros_like)(data)
        return self._filter(parts)[:, start - first : stop - first]

    def _around(self, start: int, stop: int) -> tuple[np.ndarray, int]:
        """A block with its margins at the model's rate, and the index of its first sample."""
        ratio = self._down / self._up
        # Whole periods of the resampling grid, so that every block puts its samples at the same places.
        low = math.floor((start * ratio - self._pad) / self._down) * self._down
        low = max(low, math.ceil((2 * self._low - self._high + 1) / self._down) * self._down)
        high = min(math.ceil(stop * ratio) + self._pad, 2 * self._high - self._low - 1)
        return self._resample(self._extended(low, high), low)

    def _filter(self, data: np.ndarray) -> np.ndarray:
        if self._taps is not None:
            from scipy.signal import oaconvolve

            data = oaconvolve(data, self._taps[None], mode="same", axes=-1)
        if self._sos is not None:
            from scipy.signal import sosfiltfilt

            data = sosfiltfilt(self._sos, data, axis=-1, padtype=None, padlen=0)
        return data

    def _resample(self, data: np.ndarray, low: int) -> tuple[np.ndarray, int]:
        """Recorded samples from `low` on, at the model's rate, and the index of the first of them."""
        first = low // self._down * self._up
        if self._up == self._down:
            return data, first
        if self._settings.resampling == "polyphase":
            from scipy.signal import resample_poly

            return resample_poly(data, self._up, self._down, axis=-1, padtype="line"), first
        n = (data.shape[1] - 1) * self._up // self._down
        # The centres of the old and the new samples' intervals are aligned, as torch's `interpolate` does.
        place = (np.arange(n) + 0.5) * (self._down / self._up) - 0.5
        left = np.clip(np.floor(place).astype(int), 0, data.shape[1] - 2)
        share = np.clip(place - left, 0.0, 1.0)
        return data[:, left] * (1 - share) + data[:, left + 1] * share, first

    def _extended(self, low: int, high: int) -> np.ndarray:
        """Recorded samples [low, high) relative to the origin, point-reflected beyond the ends of the span."""
        parts = [self._recorded(max(low, self._low), min(high, self._high))]
        if low < self._low:
            mirrored = self._recorded(self._low + 1, 2 * self._low - low + 1)[:, ::-1]
            parts.insert(0, 2 * self._recorded(self._low, self._low + 1) - mirrored)
        if high > self._high:
            mirrored = self._recorded(2 * self._high - high - 1, self._high - 1)[:, ::-1]
            parts.append(2 * self._recorded(self._high - 1, self._high) - mirrored)
        return np.concatenate(parts, axis=1) if len(parts) > 1 else parts[0]

    def _recorded(self, low: int, high: int) -> np.ndarray:
        return self._recording.read(self._origin + low, self._origin + high, self._picks).astype(np.float64)


def median_parts(data: np.ndarray) -> np.ndarray:
    """What each channel (C, N) gives to the median over the channels: parts (C, N) that add up to the median.

    The one in the middle gives all of it, of an even number the two in the middle half of it each: this is the median
    as a linear function of the channels as long as their order does not change.
    """
    count = data.shape[0]
    order = np.argsort(data, axis=0, kind="stable")
    middle = order[(count - 1) // 2 : count // 2 + 1]
    parts = np.zeros_like(data)
    np.put_along_axis(parts, middle, np.take_along_axis(data, middle, 0) / len(middle), 0)
    return parts


def _design(settings: Preprocessing, sfreq: float) -> np.ndarray | None:
    """Second-order sections of the band and its notches, or None where there is nothing to filter."""
    from scipy.signal import iirnotch, tf2sos

    parts = [_band(settings, sfreq) if settings.method == "butterworth" else None]
    parts += [tf2sos(*iirnotch(f, NOTCH_QUALITY, fs=settings.sfreq)) for f in settings.notches_for(sfreq)]
    there = [part for part in parts if part is not None]
    return np.concatenate(there) if there else None


def _fir(settings: Preprocessing, sfreq: float) -> np.ndarray | None:
    """Taps of the band as a linear-phase filter (Hamming window), or None where both edges are open."""
    from scipy.signal import firwin

    edges = [edge for edge in (settings.highpass, settings.lowpass_for(sfreq)) if edge is not None]
    if not edges:
        return None
    n_taps = int(_HAMMING_WIDTH * settings.sfreq / _TRANSITION) // 2 * 2 + 1
    kind = "lowpass" if settings.highpass is None else "highpass" if len(edges) == 1 else "bandpass"
    return np.asarray(firwin(n_taps, edges, pass_zero=kind, fs=settings.sfreq))


def _band(settings: Preprocessing, sfreq: float) -> np.ndarray | None:
    from scipy.signal import butter

    highpass, lowpass = settings.highpass, settings.lowpass_for(sfreq)
    edges: dict[str, Any] = {}
    if highpass is not None and lowpass is not None:
        edges = {"Wn": [highpass, lowpass], "btype": "bandpass"}
    elif highpass is not None or lowpass is not None:
        edges = {"Wn": highpass or lowpass, "btype": "highpass" if highpass is not None else "lowpass"}
    return np.asarray(butter(settings.order, **edges, fs=settings.sfreq, output="sos")) if edges else None

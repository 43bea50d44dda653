"""What a reader measures on the traces by hand: times, frequencies and amplitudes between two ends, and their words."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from analysis.recording import Page
from analysis.signal_blocks import ColumnPage
from analysis.time_words import duration_words

NAN = math.nan
_UNITS = {"uV": "µV"}


@dataclass(frozen=True)
class CaliperReading:
    """A row measured from `start` to `stop` seconds (`stop` may lie before `start`), in the row's own unit.

    `low` and `high` are the least and greatest values between the ends, at `low_time` and `high_time`; `first` and
    `last` those at the two ends, NaN where the page is too long to hold samples. `filtered` is False for a page that
    comes from the overview. `lost` seconds between the ends have no signal, as in a gap of the recording.
    """

    row: str
    unit: str
    start: float
    stop: float
    low: float = NAN
    high: float = NAN
    low_time: float = NAN
    high_time: float = NAN
    first: float = NAN
    last: float = NAN
    filtered: bool = True
    lost: float = 0.0

    @property
    def duration(self) -> float:
        """Seconds between the ends, never negative."""
        return abs(self.stop - self.start)

    @property
    def frequency(self) -> float:
        """One over the duration in hertz; infinite for none."""
        return 1.0 / self.duration if self.duration > 0 else math.inf

    @property
    def peak_to_peak(self) -> float:
        """Greatest minus least value between the ends."""
        return self.high - self.low

    @property
    def difference(self) -> float:
        """Value at the later end minus value at the earlier one."""
        return self.last - self.first if self.stop >= self.start else self.first - self.last

    def describe(self) -> str:
        """Everything in one line, such as `F7-T7: Δt 234 ms, 1/Δt 4.27 Hz, peak to peak 123 µV, end − start −45 µV`."""
        parts = [f"Δt {duration_text(self.duration)}", f"1/Δt {frequency_text(self.frequency)}"]
        if not math.isnan(self.peak_to_peak):
            parts.append(f"peak to peak {trace_text(self.peak_to_peak, self.unit)}")
        if not math.isnan(self.difference):
            parts.append(f"end − start {trace_text(self.difference, self.unit, sign=True)}")
        if self.lost:
            parts.append(self.lost_text())
        return f"{self.row}: {', '.join(parts)}"

    def lost_text(self) -> str:
        """How much of the time between the ends was not recorded; empty where all of it was."""
        return f"{duration_text(self.lost)} of it not recorded" if self.lost else ""


def read_caliper(page: Page, row: int, unit: str, start: float, stop: float) -> CaliperReading:
    """Measure one row of a page between two times, ends included; the samples are those that are drawn.

    Of a page too long to hold samples the reach of the trace in each pixel column is taken.
    """
    name = page.ch_names[row]
    early, late = sorted((start, stop))
    if page.data.shape[0]:
        return _read_samples(page, row, CaliperReading(name, unit, start, stop), early, late)
    if isinstance(page, ColumnPage) and page.column_seconds and page.complete:
        return _read_columns(page, row, CaliperReading(name, unit, start, stop), early, late)
    return CaliperReading(name, unit, start, stop)


def _read_samples(page: Page, row: int, reading: CaliperReading, early: float, late: float) -> CaliperReading:
    values = page.data[:, row]
    ends = [_nearest(page, time) for time in (reading.start, reading.stop)]
    reading = replace(reading, first=float(values[ends[0]]), last=float(values[ends[1]]))
    begin = max(0, math.ceil((early - page.first_time) * page.sfreq - 1e-6))
    end = min(len(values) - 1, math.floor((late - page.first_time) * page.sfreq + 1e-6))
    if end < begin:  # between two samples: the nearest ones stand for the span
        begin, end = min(ends), max(ends)
    inside = values[begin : end + 1]
    times = page.first_time + (begin + np.arange(inside.size)) / page.sfreq
    return _with_extremes(reading, inside, inside, times, 1 / page.sfreq)


def _read_columns(page: ColumnPage, row: int, reading: CaliperReading, early: float, late: float) -> CaliperReading:
    begin, end = (
        min(max(0, math.floor(time / page.column_seconds) - page.first_column), page.lo.shape[0] - 1)
        for time in (early, late)
    )
    times = (page.first_column + begin + np.arange(end + 1 - begin) + 0.5) * page.column_seconds
    reading = replace(reading, filtered=page.filtered)
    reach = page.lo[begin : end + 1, row], page.hi[begin : end + 1, row]
    return _with_extremes(reading, *reach, times, page.column_seconds)


def _with_extremes(
    reading: CaliperReading, low: np.ndarray, high: np.ndarray, times: np.ndarray, step: float
) -> CaliperReading:
    # Never more than there is between the ends, of which each may lie within a step.
    reading = replace(reading, lost=min(reading.duration, float(np.count_nonzero(~np.isfinite(low))) * step))
    if not np.isfinite(low).any():
        return reading
    least, greatest = int(np.nanargmin(low)), int(np.nanargmax(high))
    reading = replace(reading, low=float(low[least]), high=float(high[greatest]))
    return replace(reading, low_time=float(times[least]), high_time=float(times[greatest]))


def _nearest(page: Page, time: float) -> int:
    return min(max(0, round((time - page.first_time) * page.sfreq)), page.data.shape[0] - 1)


def snap_to_peak(page: Page, row: int, time: float, reach: float) -> float:
    """The time of the sample within `reach` seconds that lies farthest from what is usual there; `time` without one."""
    if not page.data.shape[0]:
        return time
    begin, end = _nearest(page, time - reach), _nearest(page, time + reach)
    values = page.data[begin : end + 1, row].astype(float)
    if not np.isfinite(values).all() or values.size < 3:
        return time
    # Against the line between the ends, so that a peak on a slope is found and not the end of the slope.
    line = np.linspace(values[0], values[-1], values.size)
    return page.first_time + (begin + int(np.abs(values - line).argmax())) / page.sfreq


def trace_text(value: float, unit: str, sign: bool = False) -> str:
    """A value of a trace: microvolts to a tenth, as no recording is finer, and below that one figure; else three."""
    if unit_text(unit) != "µV" or not math.isfinite(value):
        return amount_text(value, unit, sign)
    size = abs(value)
    if size >= 0.05 or size == 0:
        text = f"{value:{'+' if sign else ''}.{0 if size >= 99.95 else 1}f}"
    else:
        text = f"{float(f'{value:.1g}'):{'+' if sign else ''}g}"
    return f"{'0' if size == 0 else text} {unit_text(unit)}".replace("-", "−")


def amount_text(value: float, unit: str = "", sign: bool = False) -> str:
    """A value with three figures and its unit as printed, such as `−12.3 µV`; `—` where there is none."""
    if not math.isfinite(value):
        return "—"
    size = abs(value)
    decimals = 0 if size >= 99.95 else 1 if size >= 9.995 else 2 if size >= 0.9995 or size == 0 else _figures(size)
    text = f"{value:{'+' if sign else ''}.{decimals}f}"
    if float(text) == 0:
        text = "0"
    elif "." in text and size < 0.9995:
        text = text.rstrip("0")
    return f"{text} {unit_text(unit)}".rstrip().replace("-", "−")


def _figures(size: float) -> int:
    return min(9, 2 - math.floor(math.log10(size)))


def unit_text(unit: str) -> str:
    """A unit as it is printed."""
    return _UNITS.get(unit, unit)


def duration_text(seconds: float) -> str:
    """A length of time as fine as it was measured: ms below a second, s below two minutes, then in words."""
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 120:
        return f"{seconds:.{2 if seconds < 9.995 else 1}f} s"
    return duration_words(seconds)


def frequency_text(hertz: float) -> str:
    """A frequency with three figures."""
    if not math.isfinite(hertz):
        return "—"
    if hertz < 0.0995:
        return f"{hertz:.{_figures(hertz)}f} Hz"
    return f"{hertz:.{0 if hertz >= 99.95 else 1 if hertz >= 9.995 else 2}f} Hz"

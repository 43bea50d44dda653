"""Seconds to pixels, which ticks to draw, and how their times are written."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta

from analysis.recording import Window

_HOUR, _DAY = 3600, 86400
_STEPS = (
    *(0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800),
    *(_HOUR, 2 * _HOUR, 4 * _HOUR, 6 * _HOUR, 12 * _HOUR, _DAY, 2 * _DAY, 5 * _DAY, 10 * _DAY, 30 * _DAY),
)
_SHORT_PAGE = 4.0
_MINOR = dict(
    (
        *((1, 1), (2, 1), (5, 1), (10, 1), (15, 5), (30, 5), (60, 10), (120, 30), (300, 60), (600, 60), (900, 300)),
        *((1800, 300), (_HOUR, 600), (4 * _HOUR, _HOUR), (6 * _HOUR, _HOUR), (12 * _HOUR, 2 * _HOUR)),
        *((_DAY, 6 * _HOUR), (2 * _DAY, 12 * _HOUR)),
    )
)


@dataclass(frozen=True)
class TimeScale:
    """A window laid over `width` logical pixels."""

    window: Window
    width: float

    @property
    def px_per_second(self) -> float:
        """Pixels a second takes."""
        return self.width / self.window.duration if self.window.duration > 0 else 0.0

    def x(self, time: float) -> float:
        """Pixel of a time."""
        return (time - self.window.start) * self.px_per_second

    def time(self, x: float) -> float:
        """Time of a pixel."""
        return self.window.start + x / self.px_per_second if self.px_per_second else self.window.start

    def step(self, min_px: float) -> float:
        """The least step that takes at least `min_px` pixels; parts of a second only on pages of a few seconds."""
        for step in _STEPS:
            if step * self.px_per_second >= min_px and (step >= 1 or self.window.duration <= _SHORT_PAGE):
                return step
        return float(_STEPS[-1])

    def minor_step(self, step: float) -> float:
        """The step between the lines that divide a labelled step: whole seconds on a page of seconds."""
        minor = _MINOR.get(int(step) if step >= 1 else 0, step / 5 if step < 1 else step / 4)
        return float(minor) if minor * self.px_per_second >= 5 else step

    def ticks(self, step: float, origin: float = 0.0) -> list[float]:
        """Times in the window that lie a multiple of `step` after `origin` seconds before the start."""
        first = math.ceil((self.window.start + origin) / step - 1e-9)
        last = math.floor((self.window.stop + origin) / step + 1e-9)
        return [i * step - origin for i in range(first, last + 1)]


def clock_origin(start: datetime | None) -> float:
    """Seconds from midnight to a start, so that ticks fall on whole seconds and minutes of the clock; 0 without one."""
    if start is None:
        return 0.0
    return start.hour * 3600 + start.minute * 60 + start.second + start.microsecond / 1e6


def time_text(seconds: float, step: float = 1.0, start: datetime | None = None) -> str:
    """A time as fine as ticks of `step` need: mm:ss from the start (h:mm:ss from an hour on), or the time of day."""
    decimals = max(0, math.ceil(-math.log10(step) - 1e-9)) if step < 1 else 0
    scale = 10**decimals
    if start is not None:
        moment = start + timedelta(seconds=seconds, microseconds=round(500_000 / scale))
        fraction = moment.microsecond * scale // 1_000_000
        return moment.strftime("%H:%M:%S") + (f".{fraction:0{decimals}d}" if decimals else "")
    whole, fraction = divmod(round(seconds * scale), scale)
    minutes, second = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    tail = f".{fraction:0{decimals}d}" if decimals else ""
    return f"{hours}:{minutes:02d}:{second:02d}{tail}" if hours else f"{minutes:02d}:{second:02d}{tail}"


def tick_text(seconds: float, step: float, window: Window, start: datetime | None = None) -> str:
    """What stands at a tick: no finer than ticks of `step` need, with days on pages that reach beyond one.

    Times from the start read 00:21.380 (thousandths on pages of a second), 01:15, 1:01:15, 4 h, 2 d, 2 d 6 h; times of
    day 10:41:30, 10:41, and the day where one begins.
    """
    fine = 0.001 if step < 0.1 else step
    if start is not None:
        return _clock_tick(start + timedelta(seconds=seconds), step, window) or time_text(seconds, fine, start)
    if step < _HOUR:
        return _with_hours(time_text(seconds, fine), window)
    hours = round(seconds / _HOUR)
    if window.stop <= 2 * _DAY or hours < 24:
        return f"{hours} h" if hours else "0"
    return f"{hours // 24} d" + (f" {hours % 24} h" if hours % 24 else "")


def _clock_tick(moment: datetime, step: float, window: Window) -> str:
    if step < 60:
        return ""
    moment += timedelta(seconds=0.5)
    midnight = moment.hour == moment.minute == 0
    if step >= _DAY or (midnight and window.duration > _HOUR):
        return f"{moment:%a} {moment.day} {moment:%b}"
    return f"{moment:%H:%M}"


def _with_hours(text: str, window: Window) -> str:
    """The same count of parts for all labels of a page that reaches beyond its first hour."""
    return f"0:{text}" if window.stop > _HOUR and text.count(":") == 1 else text

"""Times as a reader writes them, and what a reader may mean by what was typed."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta


def clock(start: datetime | None, seconds: float) -> str:
    """Time of day at `seconds` from the start; empty when the start is not known."""
    if start is None:
        return ""
    return (start + timedelta(seconds=seconds)).strftime("%H:%M:%S")


def clock_with_day(start: datetime | None, seconds: float) -> str:
    """Weekday, date and time of day, such as "Wed 4 Mar 10:41:30"; empty when the start is not known."""
    if start is None:
        return ""
    moment = start + timedelta(seconds=seconds)
    return f"{moment:%a} {moment.day} {moment:%b %H:%M:%S}"


@dataclass(frozen=True)
class Reading:
    """One thing that a typed time may mean: the time in seconds from the start, and what it was taken for."""

    seconds: float
    taken_for: str


FROM_START, HOURS, OF_DAY = "time from the start", "hours and minutes", "time of day"
SECONDS, FROM_HERE, SHARE = "seconds from the start", "from here", "share of the recording"
_UNITS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "min": 60.0, "s": 1.0, "sec": 1.0, "ms": 0.001}
_COLONS = re.compile(r"(\d{1,4}):(\d{1,2})(?::(\d{1,2}(?:[.,]\d+)?))?$")
_MEASURES = re.compile(r"(?:\d+(?:[.,]\d+)?\s*(?:d|h|min|ms|m|sec|s)\s*)+$")
_MEASURE = re.compile(r"(\d+(?:[.,]\d+)?)\s*(d|h|min|ms|m|sec|s)")
_NUMBER = re.compile(r"\d+(?:[.,]\d*)?|[.,]\d+")
_ISO_DATE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})$")
_DAY_NUMBER = re.compile(r"(?:d|day)\s*(\d{1,3})$")
_MONTH_DAY = re.compile(r"(\d{1,2})\.?\s*([a-z]{3})[a-z]*$|([a-z]{3})[a-z]*\s*(\d{1,2})$")
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MOST_DAYS = 400


def readings(
    text: str, start: datetime | None, duration: float, here: float = 0.0, clock_first: bool = False
) -> list[Reading]:
    """What a typed time may mean in a recording of `duration` seconds, the likeliest first; none lies outside of it.

    Understood are seconds ("90"), minutes and seconds or hours ("1:30", "0:01:30"), measures ("1h30m", "5 min"), steps
    from `here` ("+30", "-1:30"), shares ("50%"), and where the start is known times of day ("@10:41", also without
    the @), with a day ("Wed 10:41", "4 Mar 10:41", "2026-03-04 10:41", "day 2 10:41").
    """
    word = " ".join(text.strip().lower().split())
    if not word:
        return []
    found = _relative(word, here) or _share(word, duration) or _measured(word)
    if not found:
        found = _with_colons(word, start, duration, clock_first)
    inside: dict[float, Reading] = {}
    for reading in found:
        if 0 <= reading.seconds <= duration:
            inside.setdefault(round(reading.seconds, 6), reading)
    return list(inside.values())


def _relative(word: str, here: float) -> list[Reading]:
    if word[0] not in "+-−":
        return []
    length = _length(word[1:].strip())
    sign = 1 if word[0] == "+" else -1
    return [] if length is None else [Reading(here + sign * length, FROM_HERE)]


def _share(word: str, duration: float) -> list[Reading]:
    if not word.endswith("%"):
        return []
    number = _number(word[:-1].strip())
    return [] if number is None else [Reading(duration * number / 100, SHARE)]


def _measured(word: str) -> list[Reading]:
    number = _number(word)
    if number is not None:
        return [Reading(number, SECONDS)]
    length = _length(word) if ":" not in word else None
    return [] if length is None else [Reading(length, FROM_START)]


def _with_colons(word: str, start: datetime | None, duration: float, clock_first: bool) -> list[Reading]:
    of_day_only = word.startswith("@")
    word = word.lstrip("@").strip()
    day, _, time = word.rpartition(" ")
    match = _COLONS.match(time)
    if match is None:
        return []
    of_day = _of_day(match, day, start, duration)
    if of_day_only or day:
        return of_day
    since = [Reading(_colon_seconds(match), FROM_START)]
    if match[3] is None:
        since.append(Reading(int(match[1]) * 3600.0 + int(match[2]) * 60, HOURS))
    if int(match[2]) > 59 or _number(match[3] or "0") is None:
        since = []
    return [*of_day, *since] if clock_first else [*since, *of_day]


def _of_day(match: re.Match[str], day: str, start: datetime | None, duration: float) -> list[Reading]:
    """The time of day on each day of the recording, or on the one that is named."""
    hours, minutes, seconds = int(match[1]), int(match[2]), _number(match[3] or "0")
    if start is None or hours > 23 or minutes > 59 or seconds is None or seconds >= 60:
        return []
    found = []
    for number in range(min(_MOST_DAYS, math.ceil(duration / 86400) + 2)):
        midnight = datetime(start.year, start.month, start.day, tzinfo=start.tzinfo) + timedelta(days=number)
        if not day or _is_day(day, midnight.date(), number + 1):
            moment = midnight + timedelta(hours=hours, minutes=minutes, seconds=seconds)
            found.append(Reading((moment - start).total_seconds(), OF_DAY))
    return found


def _is_day(words: str, day: date, number: int) -> bool:
    """Whether words name a day: its weekday, its date, or its number in the recording."""
    if words[:3] in _WEEKDAYS and words.isalpha():
        return day.weekday() == _WEEKDAYS.index(words[:3])
    if match := _ISO_DATE.match(words):
        return (day.year, day.month, day.day) == (int(match[1]), int(match[2]), int(match[3]))
    if match := _DAY_NUMBER.match(words):
        return number == int(match[1])
    match = _MONTH_DAY.match(words)
    if match is None:
        return False
    month, of_month = (match[2], match[1]) if match[2] else (match[3], match[4])
    return month in _MONTHS and (day.month, day.day) == (_MONTHS.index(month) + 1, int(of_month))


def _length(word: str) -> float | None:
    """Seconds of "90", "1:30", "0:01:30", "1h30m", "5 min"."""
    number = _number(word)
    if number is not None:
        return number
    match = _COLONS.match(word)
    if match is not None:
        return _colon_seconds(match)
    if not _MEASURES.match(word):
        return None
    return sum(float(amount.replace(",", ".")) * _UNITS[unit] for amount, unit in _MEASURE.findall(word))


def _colon_seconds(match: re.Match[str]) -> float:
    if match[3] is None:
        return int(match[1]) * 60.0 + int(match[2])
    return int(match[1]) * 3600.0 + int(match[2]) * 60 + float(match[3].replace(",", "."))


def _number(word: str) -> float | None:
    return float(word.replace(",", ".")) if _NUMBER.fullmatch(word) else None

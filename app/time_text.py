"""Times as a reader writes them."""

from __future__ import annotations

from datetime import datetime, timedelta


def elapsed(seconds: float, decimals: int = 0) -> str:
    """Seconds from the start as mm:ss, or h:mm:ss from an hour on, with tenths or thousandths when asked."""
    scale = 10**decimals
    ticks = round(seconds * scale)
    sign, ticks = ("-", -ticks) if ticks < 0 else ("", ticks)
    whole, fraction = divmod(ticks, scale)
    minutes, sec = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    head = f"{hours}:{minutes:02d}:{sec:02d}" if hours else f"{minutes:02d}:{sec:02d}"
    tail = f".{fraction:0{decimals}d}" if decimals else ""
    return f"{sign}{head}{tail}"


def clock(start: datetime | None, seconds: float) -> str:
    """Time of day at `seconds` from the start; empty when the start is not known."""
    if start is None:
        return ""
    return (start + timedelta(seconds=seconds)).strftime("%H:%M:%S")


def parse_time(text: str, start: datetime | None, duration: float) -> float | None:
    """Seconds from the start for "90", "1:30", "0:01:30", or a time of day as "@10:41:30"; None when not understood."""
    of_day = text.strip().startswith("@")
    parts = text.strip().lstrip("@").split(":")
    if not 1 <= len(parts) <= 3:
        return None
    try:
        numbers = [float(part) for part in parts]
    except ValueError:
        return None
    seconds = 0.0
    for number in numbers:
        seconds = seconds * 60 + number
    if of_day:
        if start is None or len(parts) < 2:
            return None
        if len(parts) == 2:
            seconds *= 60
        begin = start.hour * 3600 + start.minute * 60 + start.second + start.microsecond / 1e6
        seconds = (seconds - begin) % 86400
    return seconds if 0 <= seconds <= duration else None

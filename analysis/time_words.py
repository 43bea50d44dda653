"""Lengths of time and places in a recording, in words."""

from __future__ import annotations


def duration_words(seconds: float, exact: bool = False) -> str:
    """A length of time as it is spoken: 45.0 s, 3 min 56 s, 24 h 00 min; `exact` keeps what that rounds off."""
    if exact and seconds < 60:
        return f"{seconds:.6g} s"
    if round(seconds, 1) < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    if exact:
        return f"{minutes // 60} h {minutes % 60:02d} min {rest:02d} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes:02d} min"


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

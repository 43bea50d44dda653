"""Lengths of time in words."""

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

"""Marks in words: their names on the traces, and all that is known of one for whoever rests the mouse on it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime, timedelta
from html import escape

from analysis.annotation import RANDOM_WEIGHTS, Annotation
from analysis.review.columns import source_name

# Said by a sign as well as by colour and line: who cannot tell the colours apart reads the sign.
# A decision takes no sign of a change away: what a model has found and a person has moved stays told apart.
CHANGED = "✎"
SIGNS = {"accepted": "✓", "rejected": "✗", "edited": CHANGED}
_WHO = {"reader": "you", "sidecar": "sidecar", "file": "file"}
_MOST_IN_TIP = 4
_MOST_CHANNELS = 12


def who(mark: Annotation) -> str:
    """Who says it, in a word or two."""
    if mark.is_model:
        return f"model ({RANDOM_WEIGHTS})" if mark.is_random else "model"
    return _WHO.get(mark.author, mark.author)


def signs_of(mark: Annotation) -> str:
    """The decision on a mark and that a person has changed it, as signs before its name; empty for neither."""
    signs = SIGNS.get(mark.review.decision, "") + (CHANGED if mark.review.changed else "")
    return f"{signs} " if signs else ""


def name_of(mark: Annotation) -> str:
    """What a mark is called on the traces: its state as a sign, its text and who says so."""
    sign = signs_of(mark)
    if not mark.is_model:
        return f"{sign}{mark.title or 'mark'} ({who(mark)})"
    text = mark.title or "Event"
    certainty = f"  p {mark.confidence:.2f}" if mark.confidence is not None else ""
    return f"{sign}{text[0].upper()}{text[1:]}, {who(mark)}{certainty}"


def exact_time(seconds: float) -> str:
    """Seconds from the start as mm:ss.mmm, or h:mm:ss.mmm from an hour on."""
    ticks = round(abs(seconds) * 1000)
    whole, thousandths = divmod(ticks, 1000)
    minutes, second = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    head = f"{hours}:{minutes:02d}" if hours else f"{minutes:02d}"
    return f"{'-' if seconds < 0 and ticks else ''}{head}:{second:02d}.{thousandths:03d}"


def seconds_of(text: str) -> float | None:
    """Seconds of a text such as `exact_time` writes, or of plain seconds; None for any other."""
    parts = text.strip().split(":")
    try:
        numbers = [float(part) for part in parts]
    except ValueError:
        return None
    if len(parts) > 3 or not all(0 <= number < math.inf for number in numbers):
        return None
    return sum(number * 60**power for power, number in enumerate(reversed(numbers)))


def clock_time(start: datetime | None, seconds: float) -> str:
    """The time of day with thousandths; empty when the start is not known."""
    if start is None:
        return ""
    moment = start + timedelta(milliseconds=round(seconds * 1000))
    return f"{moment:%H:%M:%S}.{moment.microsecond // 1000:03d}"


def span_words(onset: float, stop: float, start: datetime | None = None) -> str:
    """From when to when, how long, and at what time of day."""
    clock = clock_time(start, onset)
    of_day = f" ({clock})" if clock else ""
    if stop <= onset:
        return exact_time(onset) + of_day
    return f"{exact_time(onset)} – {exact_time(stop)}, {stop - onset:.3f} s{of_day}"


def channel_words(ch_names: Sequence[str], most: int = _MOST_CHANNELS) -> str:
    """The channels of a mark."""
    if not ch_names:
        return "all channels"
    more = f" and {len(ch_names) - most} more" if len(ch_names) > most else ""
    return ", ".join(ch_names[:most]) + more


def history_words(mark: Annotation) -> list[str]:
    """Who made, changed and decided on a mark, and when, as far as it is known."""
    review = mark.review
    lines = [f"{said} {when_words(at)}" for said, at in (("made", review.created), ("changed", review.changed)) if at]
    if review.decision:
        by = f" by {source_name(review.by)}" if review.by else ""
        at = f" {when_words(review.at)}" if review.at else ""
        lines.append(f"{review.decision}{by}{at}")
    return lines


def when_words(at: str) -> str:
    """A time of ISO 8601 as a person reads it, on this machine's clock; as it is where it is none."""
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        return at
    return f"{moment.astimezone():%Y-%m-%d %H:%M}" if moment.tzinfo is not None else f"{moment:%Y-%m-%d %H:%M}"


def tell_all(mark: Annotation, start: datetime | None = None) -> list[str]:
    """All that is known of a mark, a line each, the name first."""
    lines = [name_of(mark), span_words(mark.onset, mark.stop, start), channel_words(mark.ch_names)]
    if mark.confidence is not None and not mark.is_model:
        lines.append(f"confidence {mark.confidence:.2f}")
    if mark.is_model:
        lines.append(mark.author.removeprefix("model:"))
    lines += history_words(mark)
    if mark.review.tag:
        lines.append(mark.review.tag)
    if mark.review.comment:
        lines.append(f"“{mark.review.comment}”")
    return lines + [f"{name}: {value}" for name, value in mark.extras if value]


def tip_of(marks: Sequence[Annotation], start: datetime | None = None) -> str:
    """All that is known of some marks, as a tool tip; texts of files are shown as they are written."""
    blocks = []
    for mark in marks[:_MOST_IN_TIP]:
        name, *rest = (escape(line) for line in tell_all(mark, start))
        blocks.append("<br>".join([f"<b>{name}</b>", *rest]))
    if len(marks) > _MOST_IN_TIP:
        blocks.append(f"and {len(marks) - _MOST_IN_TIP:,} more here")
    return "<hr>".join(blocks)

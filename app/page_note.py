"""What stands at the foot of every page: montage, scale, time base, filters and whatever the reader must not forget."""

from __future__ import annotations

import re

from analysis.channel_kinds import KIND_TITLES, KINDS, kind_of
from analysis.montage import Montage
from analysis.recording import Recording
from app.page_length import page_text
from app.session import Session
from app.view import View

LEAST_LOWPASS = 35.0
MOST_HIGHPASS = 2.0
HIDES_SLOW = "slow activity may be hidden"
MUSCLE_LIKE_BETA = "muscle may look like beta"
_NAMED = 5
_STATED = re.compile(r"\b(HP|LP|NOTCH|N)\s*:?\s*(-?\d+(?:\.\d+)?)\s*(?:Hz)?(?![\w.])", re.IGNORECASE)
_FILTERS = {"H": "HP", "L": "LP", "N": "notch"}


def page_note(session: Session, is_calibrated: bool) -> str:
    """The settings of the page in one line, the most needed first; empty without a recording."""
    view, recording = session.view, session.recording
    if recording is None:
        return ""
    parts = [
        view.montage,
        f"{view.uv_per_mm:g} µV/mm",
        "positive up" if view.positive_up else "",
        speed_text(view, is_calibrated),
        view.display_filter.describe(),
        recorded_through(session.montage, recording),
        *_own_filters(view, recording),
        _left_out(session),
        "traces cut off at their neighbours" if view.clipped else "",
        reference_text(recording),
    ]
    return " · ".join(part for part in parts if part)


def unfiltered_note(view: View, is_calibrated: bool) -> str:
    """What of the settings holds for a page that shows electrodes as they were recorded."""
    parts = [f"{view.uv_per_mm:g} µV/mm", speed_text(view, is_calibrated), "positive up" if view.positive_up else ""]
    return " · ".join(part for part in parts if part)


def misleading(view: View) -> str:
    """What of the filters can lead a reader astray; empty where nothing does."""
    hints = [HIDES_SLOW] if hides_slow(view) else []
    hints += [MUSCLE_LIKE_BETA] if looks_like_beta(view) else []
    return "; ".join(hints)


def hides_slow(view: View) -> bool:
    """Whether the low filter takes away slow waves that must be seen."""
    return view.highpass > MOST_HIGHPASS


def looks_like_beta(view: View) -> bool:
    """Whether the high filter rounds muscle off until it looks like a rhythm."""
    return 0 < view.lowpass < LEAST_LOWPASS


def speed_text(view: View, is_calibrated: bool) -> str:
    """The time base as it was chosen: millimetres a second, or seconds a page."""
    length = page_text(view.page_seconds)
    if not view.mm_per_second:
        return f"{length}/page"
    return f"{view.mm_per_second:g} mm/s{'' if is_calibrated else ' (not calibrated)'}"


def reference_text(recording: Recording) -> str:
    """What the signals of the brain were recorded against, as the file tells it."""
    brain = [c for c in recording.channels if c.is_brain and c.pair is None]
    told = list(dict.fromkeys(c.reference for c in brain if c.reference))
    if not brain:
        return ""
    if not told:
        return "reference not stated in the file"
    return f"recorded against {', '.join(told[:3])}{', …' if len(told) > 3 else ''}"


def recorded_through(montage: Montage | None, recording: Recording) -> str:
    """The filters that all shown signals of the brain were recorded through, where the file states the same for all."""
    if montage is None:
        return ""
    shown = {name for row in montage.derivations for name in (row.anode, *row.cathode)}
    stated = {prefilter_text(c.prefilter) for c in recording.channels if c.is_brain and c.name in shown}
    text = stated.pop() if len(stated) == 1 else ""
    return f"recorded through {text}" if text else ""


def prefilter_text(stated: str) -> str:
    """Filters as files state them, such as "HP:0.1Hz LP:70Hz", as "HP 0.1 LP 70 Hz"; what is off is left out."""
    found = {name[0].upper(): float(value) for name, value in _STATED.findall(stated)}
    parts = [f"{_FILTERS[name]} {value:.3g}" for name, value in found.items() if value > 0]
    return f"{' '.join(parts)} Hz" if parts else ""


def _own_filters(view: View, recording: Recording) -> list[str]:
    """Filters of the kinds of channels that are there and have their own."""
    kinds = {kind_of(channel) for channel in recording.channels}
    own = dict(view.filters.own)
    return [f"{KIND_TITLES[kind]} {own[kind].describe()}" for kind in KINDS if kind in kinds and kind in own]


def _left_out(session: Session) -> str:
    """The channels that are marked as bad, which averages do without."""
    bad = sorted(getattr(session, "bad_channels", ()) or ())
    if not bad:
        return ""
    more = f" and {len(bad) - _NAMED} more" if len(bad) > _NAMED else ""
    hidden = " (hidden)" if session.montage_options.bad_hidden else ""
    return f"bad: {', '.join(bad[:_NAMED])}{more}{hidden}"

"""Channels that no model was given, in words, and whether the reader's list of bad ones is still the one it ran by."""

from __future__ import annotations

from collections.abc import Iterable

from analysis.electrodes import EARS
from analysis.montage import MARKED_BAD
from analysis.recording import Recording
from analysis.results import SeizurePrediction
from analysis.survey import bad_brain_channels
from app.session import Session

_NAMED = 6


def bad_channels_of(session: Session) -> tuple[str, ...]:
    """The channels that are marked bad and that models would be given otherwise, in the order of the file."""
    recording = session.recording
    return tuple(bad_brain_channels(recording, session.bad_channels)) if recording is not None else ()


def count_words(prediction: SeizurePrediction, recording: Recording) -> str:
    """How many of the brain's channels were scored."""
    scored = prediction.provenance.get("scored_channels", ())
    return f"{len(scored)} of {sum(c.is_brain for c in recording.channels)} brain channels"


def left_out_words(prediction: SeizurePrediction, recording: Recording) -> str:
    """The brain channels that were left out and why, such as `Left out: Fpz, marked bad`; empty where none was.

    Ears, which are references, and signals of other organs are named only where more is told.
    """
    missed = {c.name for c in recording.channels if c.is_brain and c.site not in EARS}
    by_reason: dict[str, list[str]] = {}
    for name, reason in prediction.left_out:
        if name in missed:
            by_reason.setdefault(reason, []).append(name)
    parts = [f"{_names(names)}, {reason}" for reason, names in by_reason.items()]
    return f"Left out: {'; '.join(parts)}" if parts else ""


def stale_words(prediction: SeizurePrediction, bad: Iterable[str]) -> str:
    """What of the bad channels has changed since a prediction ran and makes it another one; empty where nothing."""
    now = set(bad)
    added = [name for name in prediction.provenance.get("scored_channels", ()) if name in now]
    gone = [name for name, reason in prediction.left_out if reason == MARKED_BAD and name not in now]
    parts = [f"{_names(added)} marked bad since this ran"] if added else []
    parts += [f"{_names(gone)} no longer marked bad"] if gone else []
    return f"Not up to date: {', '.join(parts)}. Press R to run it again." if parts else ""


def _names(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more

"""Analyses that are asked for and those that were answered, by a key that is equal where the answer is."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.analyses import Analysis
from analysis.errors import AnalysisError
from analysis.recording import Window
from analysis.results import AnalysisRequest
from app.left_out import bad_channels_of
from app.session import ModelChoice, Session

if TYPE_CHECKING:
    from app.analysis_choices import AnalysisChoices

_MOST_KEPT, _MOST_BYTES = 64, 300_000_000


@dataclass(frozen=True)
class Wish:
    """One analysis as it is asked for; wishes with equal keys have equal answers."""

    kind: str
    models: tuple[ModelChoice, ...]
    window: Window
    options: tuple[tuple[str, Any], ...]
    device: str
    key: str
    bad_channels: tuple[str, ...] = ()

    def arguments(self, path: str) -> dict[str, Any]:
        """What the engine's function is called with."""
        return {
            "kind": self.kind,
            "path": path,
            "checkpoints": [{"checkpoint": m.checkpoint, "head": m.head, "config": m.config} for m in self.models],
            "start": self.window.start,
            "duration": self.window.duration,
            "options": dict(self.options),
            "device": self.device,
            "bad_channels": self.bad_channels,
        }


def make_wish(
    kind: str,
    session: Session,
    choices: AnalysisChoices,
    models: Sequence[ModelChoice],
    selection: Window | None,
    device: str,
) -> Wish | None:
    """What is asked for; `models` are those that give the kind. None without a recording or a model.

    AnalysisError for options that cannot be, and where nothing is selected.
    """
    if session.recording is None or session.model is None:
        return None
    span = choices.span(kind)
    if span == "selection" and selection is None:
        raise AnalysisError("nothing is selected: drag on the traces to select a span, or choose the page")
    window = selection if span == "selection" else session.window if span == "page" else None
    window = window or Window(0.0, session.duration)
    window = Window(max(0.0, window.start), min(window.stop, session.duration))
    if span == "page":
        from analysis.kinds import KINDS  # read when the first analysis is thought of

        window = KINDS[kind].widen(window, session.duration)
    options, partner = choices.options(kind), choices.partner(kind)
    chosen = (session.model, *[m for m in models if partner and m.checkpoint == partner][-1:])
    bad = bad_channels_of(session)
    asked = {**options, "device": device, "bad_channels": bad}
    request = AnalysisRequest(kind, session.recording.id, tuple(map(stamp, chosen)), window=window, options=asked)
    return Wish(kind, chosen, window, tuple(options.items()), device, request.key(), bad)


class ResultShelf:
    """Answers by key, those used last kept, up to a number and size."""

    def __init__(self, most: int = _MOST_KEPT, most_bytes: int = _MOST_BYTES) -> None:
        self._most, self._most_bytes = most, most_bytes
        self._kept: OrderedDict[str, Analysis] = OrderedDict()

    def get(self, key: str) -> Analysis | None:
        """The answer of a key, which is then the one used last."""
        if key in self._kept:
            self._kept.move_to_end(key)
        return self._kept.get(key)

    def put(self, key: str, result: Analysis) -> None:
        """Keep an answer, and let go of those used longest ago where there are too many."""
        self._kept[key] = result
        self._kept.move_to_end(key)
        while len(self._kept) > 1 and (len(self._kept) > self._most or self._bytes() > self._most_bytes):
            self._kept.popitem(last=False)

    def _bytes(self) -> int:
        return sum(array.values.nbytes for result in self._kept.values() for array in result.arrays.values())


def stamp(model: ModelChoice) -> str:
    """A model as its files are now."""
    parts = []
    for name in (model.checkpoint, model.head, model.config):
        try:
            status = Path(name).stat() if name else None
        except OSError:
            status = None
        parts.append(f"{name}:{status.st_size}:{status.st_mtime_ns}" if status is not None else str(name))
    return "|".join(parts)

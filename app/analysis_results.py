"""Analyses that are asked for and those that were answered, by a key that is equal where the answer is."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from analysis.analyses import Analysis
from analysis.errors import AnalysisError
from analysis.recording import Window
from analysis.seizure_marks import SeizureMarks
from app.kept_results import key_of
from app.left_out import bad_channels_of
from app.model_stamp import file_stamp, stamp
from app.session import ModelChoice, Session

if TYPE_CHECKING:
    from app.analysis_choices import AnalysisChoices

_LABELLING = ("labels", "groups", "marks")
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
    seizures: SeizureMarks | None = None  # that the answer depends on
    is_lasting: bool = True  # the key tells all that the answer depends on, in another start of the program too

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
            **({} if self.seizures is None else {"seizures": self.seizures}),
        }


def make_wish(
    kind: str,
    session: Session,
    choices: AnalysisChoices,
    models: Sequence[ModelChoice],
    selection: Window | None,
    device: str,
    model: ModelChoice | None = None,
    page: Window | None = None,
) -> Wish | None:
    """What is asked for; `models` are those that give the kind. None without a recording or a model.

    `model` and `page` take the place of the chosen one and of the one on show. AnalysisError for options that cannot
    be, and where nothing is selected.
    """
    model, page = model or session.model, page or session.window
    if session.recording is None or model is None:
        return None
    span = choices.span(kind)
    if span == "selection" and selection is None:
        raise AnalysisError("nothing is selected: drag on the traces to select a span, or choose the page")
    window = selection if span == "selection" else page if span == "page" else None
    window = window or Window(0.0, session.duration)
    window = Window(max(0.0, window.start), min(window.stop, session.duration))
    from analysis.kinds import KINDS  # read when the first analysis is thought of

    if span == "page":
        window = KINDS[kind].widen(window, session.duration)
    options, partner = choices.options(kind), choices.partner(kind)
    chosen = (model, *[m for m in models if partner and m.checkpoint == partner][-1:])
    bad = bad_channels_of(session)
    seizures = session.marks.seizure_marks if KINDS[kind].minds_seizures else None
    asked = {
        "options": options,
        "device": device,
        "bad_channels": bad,
        "span": (window.start, window.stop),
        "seizures": None if seizures is None else (seizures.spans, seizures.unended),
        "files": [file_stamp(name) for o in KINDS[kind].options if o.is_file for name in _files(options[o.name])],
    }
    key = key_of(kind, session.recording.id, tuple(map(stamp, chosen)), asked)
    return Wish(kind, chosen, window, tuple(options.items()), device, key, bad, seizures, not _reads_marks(options))


def _files(value: str) -> list[str]:
    return [name.strip() for name in value.split(",") if name.strip()]


def _reads_marks(options: Mapping[str, Any]) -> bool:
    """Whether an answer depends on texts of marks, which the files beside a recording may change."""
    return any(options.get(name, "") not in ("", "none") for name in _LABELLING)


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

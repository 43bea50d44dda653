"""What a NeurDuo was heard to do with the open recording: as far as its stream has come, and no further.

The stream begins with the recording and never skips a step, so what is known of the rates is one span from there on.
Of the recall, which takes more room, the span heard last is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from analysis.analyses import Analysis
from analysis.stream_spans import cut, end_of, join, step_times
from app.analysis_results import Wish
from app.model_stamp import stamp

STREAMS, MEMORY = "streams", "memory"
HEARD = (STREAMS, MEMORY)
LISTEN = "analysis.engine.neurduo_listen:listen"
_MOST_RECALL = 4000  # steps
_NEAR = 1e-3
_USUAL_STEP = 0.5


@dataclass(frozen=True)
class Ask:
    """Steps that begin in [start, stop) are to be heard; `key` is equal for equal asks."""

    start: float
    stop: float
    arguments: Mapping[str, Any]
    key: str


class Hearing:
    """Joins what the engine tells and answers with spans of it; knows one recording, model and choice of options."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Know nothing."""
        self._series: tuple[Any, ...] | None = None
        self._prefix = ""
        self._heard: dict[str, Analysis] = {}
        self._next = 0.0  # the first step that has not been heard begins here or later
        self._recall = (0.0, 0.0)  # span of which the recall is known
        self._flight: Ask | None = None

    @staticmethod
    def serves(wish: Wish) -> bool:
        """Whether a wish is for what a stream does that began with the recording."""
        return wish.kind in HEARD and len(wish.models) == 1 and not dict(wish.options).get("history")

    def is_of(self, wish: Wish) -> bool:
        """Whether what is known is of the model and options that a wish asks about."""
        return self._series == _series(wish)

    @property
    def heard_to(self) -> float:
        """Seconds of the recording to which the stream has come."""
        return self._next

    def drawn(self, wish: Wish) -> Analysis | None:
        """All that is known of a kind."""
        return self._heard.get(wish.kind) if self.is_of(wish) else None

    def knows(self, wish: Wish) -> bool:
        """Whether all steps of a wish's span have been heard, be there any or not."""
        low, high = (0.0, self._next) if wish.kind == STREAMS else self._recall
        return self.is_of(wish) and low <= wish.window.start + _NEAR and high >= wish.window.stop - _NEAR

    def answer(self, wish: Wish) -> Analysis | None:
        """What is known of a wish's span; None where that is not all, or there is no signal."""
        if not self.knows(wish) or wish.kind not in self._heard:
            return None
        return cut(self._heard[wish.kind], wish.window.start, wish.window.stop)

    def latest(self, wish: Wish) -> Analysis | None:
        """The span heard last, as long as a wish's; None where nothing has been heard."""
        known = self.drawn(wish)
        if known is None:
            return None
        stop = end_of(known)
        return cut(known, stop - wish.window.duration, stop)

    def ask(self, wish: Wish, path: str, most: float = float("inf")) -> Ask:
        """What must be heard for a wish, at most so many seconds of it; while something is being heard, that first.

        What was known of another model or choice of options is forgotten.
        """
        if not self.is_of(wish):
            self.forget()
            self._series = _series(wish)
            self._prefix = f"listen {path} {self._series} "
        window = wish.window
        if self._flight is None:
            if self._next < window.stop - _NEAR:
                start, stop = self._next, min(window.stop, self._next + most)
            else:
                start, stop = max(0.0, window.start - self._step), window.stop
            arguments = wish.arguments(path) | {"start": start, "duration": stop - start}
            del arguments["kind"]
            self._flight = Ask(start, stop, arguments, f"{self._prefix}{start} {stop}")
        return self._flight

    def take(self, ask: Ask, parts: Mapping[str, Analysis], done: bool) -> None:
        """Take what was told of an ask, in order, once or again; `done` with the last of it."""
        if not self._prefix or not ask.key.startswith(self._prefix):
            return
        if STREAMS in parts:
            self._add_rates(ask, parts[STREAMS])
        if MEMORY in parts:
            self._add_recall(ask, parts[MEMORY])
        if done:
            self._end(ask)

    def leave(self, ask: Ask) -> None:
        """Know that an ask has ended, be it done or not."""
        if self._flight is not None and self._flight.key == ask.key:
            self._flight = None

    @property
    def _step(self) -> float:
        known = self._heard.get(STREAMS)
        return float(known.facts["step_seconds"]) if known is not None else _USUAL_STEP

    def _heard_until(self, part: Analysis) -> float:
        """Where the next step is looked for: a little before, since times are known to some thousandths only."""
        return end_of(part) - self._step / 4

    def _add_rates(self, ask: Ask, part: Analysis) -> None:
        known, until = self._heard.get(STREAMS), self._heard_until(part)
        if until > self._next and ask.start <= self._next + self._step / 2:
            self._heard[STREAMS] = part if known is None else join((known, part))
            self._next = until

    def _add_recall(self, ask: Ask, part: Analysis) -> None:
        known, (low, high), until = self._heard.get(MEMORY), self._recall, self._heard_until(part)
        if known is None or not low <= ask.start <= high + self._step / 2:
            self._heard[MEMORY], self._recall = part, (ask.start, until)
        elif until > high:
            whole, self._recall = join((known, part)), (low, until)
            times = step_times(whole)
            if times.size > _MOST_RECALL:
                low = float(times[-_MOST_RECALL])
                whole, self._recall = cut(whole, low, float("inf")) or whole, (low, until)
            self._heard[MEMORY] = whole

    def _end(self, ask: Ask) -> None:
        near = self._step / 2
        if ask.start <= self._next + near:
            self._next = max(self._next, ask.stop)
        low, high = self._recall
        if low <= ask.start <= high + near:
            self._recall = low, max(high, ask.stop)
        self.leave(ask)


def _series(wish: Wish) -> tuple[Any, ...]:
    options = tuple(pair for pair in wish.options if pair[0] != "history")
    return tuple(map(stamp, wish.models)), options, wish.device, wish.bad_channels

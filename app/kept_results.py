"""What the engine answered, kept on disk from one start to the next and read back without it; always safe to delete."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from analysis.analyses import Analysis
from analysis.numbers import ANALYSES, CHECKPOINTS, PREDICTIONS
from analysis.progress import Progress
from analysis.provenance import library_versions, software_version
from analysis.result_store import ResultStore
from analysis.results import AnalysisRequest, AnalysisResult
from analysis.stream_spans import join

Answer = TypeVar("Answer", bound=AnalysisResult)

_NUMBERS = [PREDICTIONS, ANALYSES, CHECKPOINTS]
_LIBRARIES = ("torch", "numpy", "scipy", "scikit-learn", "mne", "brainmaze-eeg-models")


def key_of(kind: str, recording_id: str, models: tuple[str, ...], options: Mapping[str, Any]) -> str:
    """What an answer is kept by; `models` are stamped, so that another file of that name has another key."""
    asked = {**options, "code": [software_version(), *_NUMBERS, library_versions(_LIBRARIES)]}
    return AnalysisRequest(kind, recording_id, models, options=asked).key()


class KeptResults:
    """A store of answers; without a folder every question is asked."""

    def __init__(self, folder: Path | None = None) -> None:
        self._store = ResultStore(folder) if folder is not None else None

    @property
    def is_on_disk(self) -> bool:
        """Whether anything is kept."""
        return self._store is not None

    def answer(self, key: str, kind: type[Answer], ask: Callable[[], Answer]) -> Answer:
        """What is kept by a key, else what `ask` answers, which is then kept."""
        known = self._store.get(key) if self._store is not None else None
        if isinstance(known, kind):
            return known
        found = ask()
        self._put(key, found)
        return found

    def facts(self, key: str, ask: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """The same of plain facts."""

        def wrapped() -> Analysis:
            return Analysis(AnalysisRequest("facts", "", ()), "", software_version(), facts=ask())

        return dict(self.answer(key, Analysis, wrapped).facts)

    def heard(
        self, key: str, ask: Callable[[Progress], Mapping[str, Analysis]], progress: Progress
    ) -> Mapping[str, Analysis]:
        """The same of a stream, which is told in parts as it is heard and kept as a whole."""
        if self._store is None:
            return ask(progress)
        index = self._store.get(key)
        if isinstance(index, Analysis):
            known = {name: self._store.get(f"{key}-{name}") for name in index.labels["names"]}
            if all(isinstance(part, Analysis) for part in known.values()):
                return known  # type: ignore[return-value]
        told = _Parts(progress)
        last = ask(told)
        told.keep(last)
        for name, parts in told.by_name.items():
            self._put(f"{key}-{name}", join(parts))
        names = tuple(told.by_name)
        self._put(key, Analysis(AnalysisRequest("heard", "", ()), "", software_version(), labels={"names": names}))
        return last

    def _put(self, key: str, result: AnalysisResult) -> None:
        if self._store is not None:
            self._store.put(result, key)


class _Parts(Progress):
    """Passes on what is reported, and keeps the parts."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self.by_name: dict[str, list[Analysis]] = {}

    def keep(self, parts: Mapping[str, Analysis]) -> None:
        """Keep parts by their names."""
        for name, part in parts.items():
            self.by_name.setdefault(name, []).append(part)

    def check(self) -> None:
        self._progress.check()

    def report(self, done: float, total: float, message: str = "") -> None:
        self._progress.report(done, total, message)

    def partial(self, result: Any) -> None:
        self.keep(result)
        self._progress.partial(result)

"""Training data from recordings with event files: cut into stretches that are read and prepared as they are needed."""

from __future__ import annotations

import glob
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis.annotation import Annotation
from analysis.engine.training.recipe import DataRecipe
from analysis.engine.training.stretches import Source, Span, Stretch, choose_channels, prepare
from analysis.errors import AnalysisError
from analysis.event_tables import find_seizures, read_events
from analysis.preprocessing import Preprocessing
from analysis.readers import open_recording
from analysis.recording import Recording
from analysis.simulation.truth import read_truth
from analysis.survey import ScorableSpan

STRETCH_SECONDS = 300.0
LEAST_ARTEFACT = 1.0
_EVENT_ENDINGS = (".events.tsv", "_events.tsv", ".tsv", ".csv_bi", ".csv", ".tse", ".tse_bi")
_ARTEFACT = re.compile(r"art[ei]fact|(?<![a-z])(?:musc|eyem|chew|elec|elpp|shiv)(?![a-z])")
# BIDS, CHB-MIT, Siena, and TUH's eight letters before the session.
_SUBJECTS = (r"sub-([A-Za-z0-9]+)", r"(chb\d+)", r"(PN\d\d)", r"^([a-z]{8})_s\d+_t\d+")


@dataclass(frozen=True)
class _Part:
    """One stretch: its file, and the span of it with the origin of its grid."""

    path: Path
    subject: str
    span: ScorableSpan
    seizures: tuple[Span, ...]
    artefacts: tuple[Span, ...]


class RecordedSource(Source):
    """Stretches of at most five minutes of files, in the files' order."""

    def __init__(self, recipe: DataRecipe, settings: Preprocessing, sites: Sequence[str], folder: Path) -> None:
        self._settings, self._sites = settings, tuple(sites)
        self._parts: list[_Part] = []
        for path in find_files(recipe.files, folder):
            self._parts += _parts(path, subject_of(path, recipe.subject))
        if not self._parts:
            raise AnalysisError(f"no recording is long enough to train on ({folder}): name others in data.files")
        self.subjects = frozenset(part.subject for part in self._parts)
        self.ictal = tuple(number for number, part in enumerate(self._parts) if part.seizures)

    def __len__(self) -> int:
        return len(self._parts)

    def load(self, number: int) -> Stretch:
        """Read one stretch with the margins of its filters and prepare it."""
        part = self._parts[number]
        with open_recording(part.path) as recording:
            picks, rows, sites = choose_channels(recording, self._sites)
            data, missing = prepare(recording, part.span, picks, len(sites), rows, self._settings)
        return Stretch(
            part.subject,
            str(part.path),
            data,
            missing,
            self._settings.sfreq,
            sites,
            _inside(part.seizures, part.span),
            _inside(part.artefacts, part.span),
        )


def find_files(patterns: Sequence[str], folder: Path) -> list[Path]:
    """The files of patterns, looked for beside the recipe; AnalysisError names a pattern that finds none."""
    found: dict[Path, None] = {}
    for pattern in patterns:
        names = sorted(glob.glob(str(folder / pattern), recursive=True))
        files = [Path(name) for name in names if Path(name).is_file()]
        if not files:
            raise AnalysisError(f"no recording is called {pattern} ({folder}): correct data.files")
        found.update(dict.fromkeys(path.resolve() for path in files))
    return list(found)


def subject_of(path: Path, rule: str) -> str:
    """Who was recorded, from the name or folder by the habits of public data; else the folder's or the file's name."""
    for pattern in _SUBJECTS:
        for name in (path.name, path.parent.name, path.parent.parent.name):
            if match := re.search(pattern, name):
                return match.group(1)
    return path.parent.name if rule == "folder" else path.stem


def events_of(recording: Recording) -> tuple[Annotation, ...]:
    """The events of the event file beside a recording, else its own annotations."""
    path = recording.path
    stem = path.stem.removesuffix("_eeg").removesuffix("_ieeg")
    beside = [path.with_name(name + ending) for name in (path.stem, stem) for ending in _EVENT_ENDINGS]
    beside += [path.with_name(path.name + ".seizures"), *sorted(path.parent.glob("*-summary.txt"))]
    for candidate in beside:
        if candidate.is_file():
            return read_events(candidate, path.name, recording.duration).events
    return recording.annotations


def _parts(path: Path, subject: str) -> list[_Part]:
    with open_recording(path) as recording:
        events = events_of(recording)
        seizures = find_seizures(events).spans
        artefacts = _artefacts(path, events)
        spans = [
            ScorableSpan(start, stop, span.start)
            for span in recording.contiguous_spans()
            for start, stop in _cut(span.start, span.stop)
        ]
    return [_Part(path, subject, span, _touching(seizures, span), _touching(artefacts, span)) for span in spans]


def _artefacts(path: Path, events: Sequence[Annotation]) -> list[Span]:
    """Longer artefacts: of the truth beside a simulated recording, else those that events tell of."""
    truth = read_truth(path)
    if truth is not None:
        told = [(a.onset, a.onset + a.duration) for a in truth.artefacts]
    else:
        told = [(event.onset, event.stop) for event in events if _ARTEFACT.search(event.description.lower())]
    return [(a, b) for a, b in told if b - a > LEAST_ARTEFACT]


def _cut(start: float, stop: float) -> list[Span]:
    """Equal parts of at most STRETCH_SECONDS, on whole seconds."""
    count = max(1, -int(-(stop - start) // STRETCH_SECONDS))
    edges = [start + float(int(i * (stop - start) / count)) for i in range(count)]
    return list(zip(edges, [*edges[1:], stop], strict=True))


def _touching(spans: Sequence[Span], part: ScorableSpan) -> tuple[Span, ...]:
    return tuple((a, b) for a, b in spans if b > part.start and a < part.stop)


def _inside(spans: Sequence[Span], part: ScorableSpan) -> tuple[Span, ...]:
    """Spans cut to a part, in seconds from its beginning."""
    return tuple((max(a, part.start) - part.start, min(b, part.stop) - part.start) for a, b in spans)

"""Predicting many recordings: each into a folder of its own, what is done already left alone, and one table of all."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.corpora import Entry, find_recordings
from analysis.corpus_table import DONE, FAILED, TABLE, Row, pooled, write_table
from analysis.errors import AnalysisError, RecordingError
from analysis.event_tables import find_seizures, read_events
from analysis.prediction_parts import cut_window, join_parts
from analysis.progress import PartProgress, Progress
from analysis.provenance import RESEARCH_ONLY, software_version
from analysis.readers import open_recording
from analysis.recording import Window
from analysis.saved_predictions import RUN
from analysis.service import MEMORY_SHARE
from app.errors import EXPECTED, describe_error
from app.headless import Outcome, score, write_prediction
from app.output_folder import check_folder

if TYPE_CHECKING:
    from analysis.results import SeizurePrediction

PARTS = ".parts"  # below the folder of a corpus: parts of recordings that are not complete yet
_ONE_AT_A_TIME = threading.Lock()  # in each process: a model is held once, and one recording fills the memory


@dataclass(frozen=True)
class Asked:
    """What is asked of every recording, as `headless.predict` takes it."""

    checkpoint: str
    head: str | None = None
    config: str | None = None
    start: float | None = None
    stop: float | None = None
    device: str = "auto"
    batch_size: int | None = None
    segments: int | None = None
    rule: str = "auto"
    threshold: float | None = None
    bad_channels: tuple[str, ...] = ()
    memory_share: float = MEMORY_SHARE
    precision: str = "auto"

    def key(self) -> str:
        """The same for the same work: options, the sizes and times of the model's files, and this program."""
        asked = {name: value for name, value in asdict(self).items() if name != "memory_share"}  # decides no number
        files = [_stamp(name) for name in (self.checkpoint, self.head, self.config)]
        text = json.dumps([asked, files, software_version()], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Task:
    """One recording, or one of `parts` spans of a long one, numbered from 0."""

    entry: Entry
    asked: Asked
    key: str
    out: Path
    number: int = 0
    parts: int = 1

    @property
    def name(self) -> str:
        """What it is called among others."""
        return self.entry.folder if self.parts == 1 else f"{self.entry.folder} ({self.number + 1} of {self.parts})"


Runner = Callable[[Sequence[Task], Progress], Iterable[Row]]


def predict_corpus(
    sources: Sequence[str | Path], asked: Asked, out: str | Path, runner: Runner | None = None, progress: Any = None
) -> Outcome:
    """Run a model over all recordings of files, folders, data sets and lists; `recordings.tsv` tells of each.

    What was done before, with the same model and options, is not done again. A recording that cannot be predicted has a
    row that says why, and the others go on. `runner` does the tasks, by default one after the other.
    """
    out, progress = Path(out), progress or Progress()
    check_folder(out)
    entries = find_recordings(sources)
    key = asked.key()
    tasks = [Task(entry, asked, key, out) for entry in entries]
    rows: dict[str, Row] = {}
    for row in (runner or run_here)(tasks, progress):
        rows[row.folder] = row
        out.mkdir(parents=True, exist_ok=True)  # not before the model is known to be one
        write_table([rows[entry.folder] for entry in entries if entry.folder in rows], out / TABLE)
    made = [rows[entry.folder] for entry in entries]
    _forget_parts(out)
    return Outcome(_facts(made, asked), _text(made, out), tuple(_warnings(made)))


def run_here(tasks: Sequence[Task], progress: Progress) -> Iterator[Row]:
    """The tasks one after the other in this process; CheckpointError at once where the model cannot be loaded."""
    load(tasks[0].asked)
    for i, task in enumerate(tasks):
        yield run_task(task, PartProgress(progress, i, len(tasks)))


def load(asked: Asked) -> None:
    """Load the model of a corpus, or say what is wrong with it."""
    from analysis.engine.detectors import load_detector

    load_detector(asked.checkpoint, asked.head, asked.config, asked.device, asked.segments)


def run_task(task: Task, progress: Progress | None = None) -> Row:
    """Predict a whole recording into its folder, unless that is done; what a person can mend becomes a failed row."""
    with _ONE_AT_A_TIME:
        began = time.monotonic()
        try:
            run = _known_run(task)
            if run is not None:
                return _row(task, run, run["wall_time"])
            run = _predict(task, progress)
        except EXPECTED as error:
            return failed_row(task, error)
        return _row(task, run, time.monotonic() - began)


def run_part(task: Task, progress: Progress | None = None) -> SeizurePrediction:
    """Predict a span of a long recording, or take it from where an earlier run left it."""
    from analysis.engine.predict import predict_seizures

    with _ONE_AT_A_TIME:
        part = task_parts(task)[task.number]
        options = {**asdict(task.asked), "part": part, "cache": task.out / PARTS}
        return predict_seizures(task.entry.path, **options, progress=progress)


def join_task(task: Task, parts: Sequence[SeizurePrediction]) -> Row:
    """Put a recording together from its parts and write its folder."""
    whole = join_parts(parts)
    write_prediction(whole, task.out / task.entry.folder, _mark(task))
    return _row(task, _written_run(task), whole.provenance["wall_time"])


def task_parts(task: Task) -> list[Window]:
    """The spans of a task that is cut."""
    with open_recording(task.entry.path) as recording:
        whole = Window(task.asked.start or 0.0, min(task.asked.stop or recording.duration, recording.duration))
    return cut_window(whole, whole.duration / task.parts)


def cut(task: Task, seconds: float) -> list[Task]:
    """A task in parts of at most so many seconds, or as it is where it is short, done, or cannot be opened."""
    try:
        if _known_run(task) is not None:
            return [task]
        with open_recording(task.entry.path) as recording:
            duration = min(task.asked.stop or recording.duration, recording.duration) - (task.asked.start or 0.0)
    except EXPECTED:
        return [task]  # whoever does it says what is wrong
    count = len(cut_window(Window(0.0, max(duration, 1.0)), seconds))
    return [replace(task, number=i, parts=count) for i in range(count)]


def failed_row(task: Task, error: BaseException) -> Row:
    """The row of a recording that could not be predicted."""
    return Row(str(task.entry.path.absolute()), task.entry.folder, FAILED, describe_error(error, task.entry.path)[0])


def _predict(task: Task, progress: Progress | None) -> dict[str, Any]:
    from analysis.engine.predict import predict_seizures

    result = predict_seizures(task.entry.path, **asdict(task.asked), progress=progress)
    write_prediction(result, task.out / task.entry.folder, _mark(task))
    return _written_run(task)


def _written_run(task: Task) -> dict[str, Any]:
    run = _known_run(task)
    if run is None:
        raise RecordingError(f"the recording changed while it was read ({task.entry.path}): predict it again")
    return run


def _mark(task: Task) -> dict[str, Any]:
    return {"corpus": {"key": task.key, "file": _stamp(task.entry.path)}}


def _known_run(task: Task) -> dict[str, Any] | None:
    """What stands in the folder of a recording, where it is what is asked for."""
    try:
        run: dict[str, Any] = json.loads((task.out / task.entry.folder / RUN).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return run if run.get("corpus") == _mark(task)["corpus"] else None


def _stamp(name: str | Path | None) -> list[Any]:
    """A file by its place, size and time; what is no file by its name."""
    try:
        status = Path(name or "").stat() if name else None
    except OSError:
        status = None
    if name is None or status is None:
        return [name and str(name)]
    return [str(Path(name).resolve()), status.st_size, status.st_mtime_ns]


def _row(task: Task, run: dict[str, Any], seconds: float) -> Row:
    folder = task.out / task.entry.folder
    row = Row(
        str(task.entry.path.absolute()),
        task.entry.folder,
        DONE,
        duration=run["span"][1] - run["span"][0],
        events=run["n_events"],
        seconds=round(seconds, 3),
    )
    reference = task.entry.reference or task.entry.path
    try:
        if not _is_marked(reference, task.entry):
            return row
        event = score(reference, folder, run["recording"]["duration"]).facts["event"]
    except (RecordingError, AnalysisError) as error:
        return replace(row, reason=f"not scored: {error}")
    return replace(row, seizures=event["n_reference"], found=event["tp"], false_alarms=event["fp"])


def _is_marked(reference: Path, entry: Entry) -> bool:
    """Whether somebody has looked for seizures: there are some, or a table of the field's columns says none."""
    if find_seizures(read_events(reference).events).spans:
        return True
    return entry.reference is not None and "eventtype" in reference.read_text(encoding="utf-8-sig")[:400].lower()


def _forget_parts(out: Path) -> None:
    """Parts are kept only for as long as a recording is not complete."""
    for path in sorted((out / PARTS).glob("*")):
        path.unlink(missing_ok=True)
    if (out / PARTS).is_dir():
        (out / PARTS).rmdir()


def _facts(rows: Sequence[Row], asked: Asked) -> dict[str, Any]:
    scores = pooled(rows)
    return {
        "intended_use": RESEARCH_ONLY,
        "asked": asdict(asked),
        "software_version": software_version(),
        "recordings": [asdict(row) for row in rows],
        "event": scores.to_dict() if scores else None,
    }


def _text(rows: Sequence[Row], out: Path) -> str:
    done = [row for row in rows if row.state == DONE]
    hours = sum(row.duration or 0.0 for row in done) / 3600
    spent = sum(row.seconds or 0.0 for row in done) / 60
    lines = [
        f"{len(done)} of {len(rows)} recordings, {hours:.2f} h, {sum(row.events or 0 for row in done)} events"
        + (f", {hours / spent:.2f} h of recording a minute of work" if spent > 0.01 else "")
    ]
    scores = pooled(rows)
    if scores is not None:
        shown = {name: "n/a" if value is None else f"{value:.3g}" for name, value in scores.to_dict().items()}
        lines.append(
            f"{scores.tp} of {scores.n_reference} marked seizures found in {scores.hours:.2f} h that were scored: "
            f"sensitivity {shown['sensitivity']}, precision {shown['precision']}, F1 {shown['f1']}, "
            f"{shown['fp_per_24h']} false alarms in 24 h"
        )
    return "\n".join([*lines, f"written: {out / TABLE}", RESEARCH_ONLY])


def _warnings(rows: Iterable[Row]) -> Iterator[str]:
    for row in rows:
        if row.reason:
            yield f"{row.folder}: {row.reason}"

"""What each command of the terminal does; every handler imports what it needs and nothing else."""

from __future__ import annotations

import json
import logging
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from analysis.errors import AnalysisError
from analysis.progress import ConsoleProgress
from models.errors import CheckpointError


def quiet_libraries(debug: bool) -> None:
    """Keep what libraries log or warn about off the terminal, unless it is asked for."""
    if debug:
        logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    else:
        logging.getLogger().addHandler(logging.NullHandler())
    logging.captureWarnings(True)


def window(options: Namespace) -> int:
    """Open the main window."""
    from app.display import leave_cores_free

    leave_cores_free()
    from analysis.corpus_table import TABLE, read_table
    from app.start import Opening, run_window

    table = options.recording is not None and options.recording.endswith(TABLE)
    check_files(None if table else options.recording, options.checkpoint, options.head, options.config)
    if table:
        read_table(Path(options.recording))
    elif options.recording is not None:
        _refuse_unreadable(options.recording)
    return run_window(Opening(options.recording, options.checkpoint, options.head, options.config, options.start))


def _refuse_unreadable(name: str) -> None:
    """Say on the terminal what is wrong with a file, where that takes no library; the rest the window says itself."""
    from analysis.readers import detect_format, needs_engine, open_recording

    if not needs_engine(detect_format(name)):
        open_recording(name).close()


def demo(_: Namespace) -> int:
    """Open the bundled simulated recording with the bundled models."""
    from app.display import check_display, leave_cores_free

    leave_cores_free()
    check_display()
    from app.start import Opening, run_window

    return run_window(Opening(demo=True))


def info(options: Namespace) -> None:
    """Describe a recording."""
    from analysis.description import describe, to_text
    from analysis.readers import open_recording

    check_files(options.recording)
    with open_recording(options.recording) as recording:
        facts = describe(recording)
    warn(facts["warnings"])
    print(to_json(facts) if options.json else to_text(facts))


def inspect(options: Namespace) -> None:
    """Describe a checkpoint."""
    check_files(None, [options.checkpoint], options.head, options.config)
    if _is_packaged(options.checkpoint):
        from analysis.engine.detectors import load_detector

        detector = load_detector(options.checkpoint, options.head, options.config, "cpu")
        facts = {
            **detector.checkpoint,
            "title": detector.title,
            "limits": detector.caveat,
            "input": detector.input_description,
            "libraries": list(detector.libraries),
            "random_weights": detector.random_weights,
        }
    else:
        from models.random_checkpoints import describe_any

        facts = describe_any(options.checkpoint, options.head, options.config)
    print(to_json(facts) if options.json else to_lines(facts))


def predict(options: Namespace) -> None:
    """Run a model over a recording."""
    from analysis.corpora import is_corpus

    if options.scheduler or is_corpus(options.recording):
        _predict_corpus(options)
        return
    recording = options.recording[0]
    check_files(recording, [options.checkpoint], options.head, options.config)
    from app import headless

    with console_progress("Predicting") as progress:
        outcome = headless.predict(
            recording,
            options.checkpoint,
            options.out,
            head=options.head,
            config=options.config,
            start=options.start,
            stop=options.stop,
            device=options.device,
            batch_size=options.batch_size,
            segments=options.segments,
            rule=options.rule,
            threshold=options.threshold,
            bad_channels=options.bad,
            memory_share=options.memory_share,
            precision=options.precision,
            progress=progress,
        )
    warn(outcome.warnings)
    print(outcome.text)


def _predict_corpus(options: Namespace) -> None:
    check_files(None, [options.checkpoint], options.head, options.config)
    from app.corpus import Asked, predict_corpus

    asked = Asked(
        options.checkpoint,
        options.head,
        options.config,
        options.start,
        options.stop,
        options.device,
        options.batch_size,
        options.segments,
        options.rule,
        options.threshold,
        tuple(options.bad),
        options.memory_share,
        options.precision,
    )
    runner = None
    if options.scheduler:
        from app.corpus_cluster import SPAN_HOURS, Cluster

        runner = Cluster(options.scheduler, options.span_hours or SPAN_HOURS)
    with console_progress("Predicting") as progress:
        outcome = predict_corpus(options.recording, asked, options.out, runner, progress)
    warn(outcome.warnings)
    print(outcome.text)


def analyze(options: Namespace) -> None:
    """Do one analysis of a model on a recording."""
    from analysis.kinds import find_kind

    find_kind(options.kind)
    check_files(options.recording, options.checkpoint, options.head, options.config)
    from app import analysis_runs

    with console_progress("Analysing") as progress:
        outcome = analysis_runs.analyze(
            options.kind,
            options.recording,
            [{"checkpoint": c, "head": options.head, "config": options.config} for c in options.checkpoint],
            options.out,
            start=options.start,
            duration=options.duration,
            options=options.option,
            device=options.device,
            bad_channels=options.bad,
            progress=progress,
        )
    warn(outcome.warnings)
    print(outcome.text)


def figure(options: Namespace) -> None:
    """Draw a page for print."""
    check_files(options.recording, options.checkpoint, options.head, options.config)
    check_folder(options.out)
    from app import figure_runs

    request = figure_runs.FigureRequest(
        options.recording,
        options.out,
        options.start,
        options.duration,
        tuple({"checkpoint": c, "head": options.head, "config": options.config} for c in options.checkpoint),
        tuple(options.overlay),
        options.montage,
        options.sensitivity,
        options.size,
        options.dpi,
        options.low,
        options.high,
        options.notch,
        options.device,
        tuple(options.bad),
        tuple(options.panel),
        dict(options.part),
        dict(options.option),
        options.patient,
        options.like,
    )
    with console_progress("Drawing") as progress:
        outcome = figure_runs.make_figure(request, progress)
    warn(outcome.warnings)
    print(outcome.text)


def report(options: Namespace) -> None:
    """Write a report."""
    checkpoints = [options.checkpoint] if options.checkpoint else []
    check_files(options.recording, checkpoints, options.head, options.config)
    check_folder(options.out)
    from app import report_runs
    from app.report_request import ReportRequest

    chosen = {"checkpoint": options.checkpoint, "head": options.head, "config": options.config}
    request = ReportRequest(
        options.recording,
        options.out,
        options.events,
        chosen if options.checkpoint else None,
        options.montage,
        options.sensitivity,
        options.low,
        options.high,
        options.notch,
        options.device,
        tuple(options.bad),
        options.pages,
    )
    with console_progress("Reporting") as progress:
        outcome = report_runs.make_report(request, progress)
    warn(outcome.warnings)
    print(outcome.text)


def score(options: Namespace) -> None:
    """Compare two event files, or each pair of a list."""
    from app import headless

    seed = options.seed or 0
    if options.batch:
        outcome = headless.score_batch(options.batch, seed)
    else:
        outcome = headless.score(options.reference, options.hypothesis, options.duration, options.recording, seed)
    warn(outcome.warnings)
    print(to_json(outcome.facts) if options.json else outcome.text)


def screenshot(options: Namespace) -> None:
    """Render the main window off screen."""
    from app.display import draw_off_screen, leave_cores_free, load_qt

    leave_cores_free()
    check_files(options.recording, options.checkpoint, options.head, options.config)
    check_folder(options.out)
    if Path(options.out).suffix.lower() != ".png":
        raise AnalysisError(f"only PNG pictures are written ({options.out}): choose a name that ends in .png")
    draw_off_screen()
    load_qt()
    from app.screenshot import Shot, take_screenshot
    from app.settings import folders

    shot = Shot(
        options.recording,
        tuple(options.checkpoint),
        options.head,
        options.config,
        options.start or 0.0,
        options.duration,
        options.sensitivity,
        tuple(options.overlay),
        options.panel,
        options.montage,
        options.theme,
        options.size,
        folders().data / "montages",
    )
    with console_progress("Rendering") as progress:
        warnings = take_screenshot(shot, Path(options.out), progress)
    warn(warnings)


def convert(options: Namespace) -> None:
    """Make a lossless copy of a recording."""
    check_files(options.recording)
    check_folder(options.out)
    from analysis.conversion import convert as convert_recording

    with console_progress("Converting") as progress:
        made = convert_recording(options.recording, options.out, options.anonymize, progress)
    warn(made.notes)
    print(f"{made.path}: {made.format}")


def simulate(options: Namespace) -> None:
    """Simulate a recording."""
    check_folder(options.out)
    from analysis.simulation.settings import Settings
    from app import simulation_runs

    wanted = options.seizures
    settings = Settings(
        duration=options.duration,
        sfreq=options.sfreq or (512 if options.electrodes == "ieeg" else 256),
        electrodes=options.electrodes,
        seizures=simulation_runs.usual_seizures(options.duration) if wanted is None else wanted,
        regions=tuple(options.region),
        reference=options.reference,
    )
    with console_progress("Simulating") as progress:
        outcome = simulation_runs.simulate(settings, options.seed, options.out, progress)
    print(outcome.text)


def train(options: Namespace) -> None:
    """Train a model."""
    from app import training_runs

    with console_progress("Training") as progress:
        outcome = training_runs.train(options.recipe, options.out, options.resume, options.device, progress)
    print(outcome.text)


def bench(options: Namespace) -> int:
    """Measure the program against its targets."""
    from app.bench import run_benches
    from app.benches import Plan

    plan = Plan(options.size, options.busy, options.peer, options.seizures)
    return run_benches(options.names, plan, options.detail, options.json, options.report)


def check_files(
    recording: str | None, checkpoints: Iterable[str] = (), head: str | None = None, config: str | None = None
) -> None:
    """Refuse what is not there or is no file before anything heavy is loaded."""
    if recording is not None:
        from analysis.readers import detect_format

        detect_format(recording)
    from models.random_checkpoints import is_random_name

    for checkpoint in checkpoints:
        if not _is_packaged(checkpoint) and not is_random_name(checkpoint):
            _check_file(checkpoint, "checkpoint")
    for name, role in ((head, "head"), (config, "config")):
        if name is not None:
            _check_file(name, role)


def _is_packaged(checkpoint: str) -> bool:
    from app.packaged import packaged_model

    return packaged_model(checkpoint) is not None


def _check_file(name: str, role: str) -> None:
    path = Path(name)
    if path.is_dir():
        raise CheckpointError(f"this is a folder ({name}): name a {role} file")
    if not path.exists():
        raise CheckpointError(f"there is no such {role} ({name}): check the path")
    if not path.is_file():
        raise CheckpointError(f"this is not an ordinary file ({name}): name a {role} file")
    try:
        path.open("rb").close()
    except OSError as error:
        raise CheckpointError(f"the {role} cannot be read: {error.strerror} ({name}): choose another file") from error


def check_folder(out: str) -> None:
    """Refuse a file to be written in a folder that is not there, before the work is done."""
    if not out:
        raise AnalysisError("no file is named to write: give one with --out")
    folder = Path(out).absolute().parent
    if not folder.is_dir():
        raise AnalysisError(f"there is no such folder ({folder}): make it, or choose another")
    if Path(out).is_dir():
        raise AnalysisError(f"this is a folder ({out}): name a file to write")


def warn(sentences: Iterable[str]) -> None:
    """Print each warning once."""
    for sentence in dict.fromkeys(sentences):
        print(f"warning: {' '.join(sentence.split())}", file=sys.stderr)


@contextmanager
def console_progress(title: str) -> Iterator[ConsoleProgress]:
    """A progress bar that ends its line whatever happens."""
    progress = ConsoleProgress(title)
    try:
        yield progress
    finally:
        progress.close()


def to_json(value: Any) -> str:
    """Strict JSON; what is not a number is null."""
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)


def to_lines(value: Any, indent: str = "") -> str:
    """Nested facts as indented lines of a name and a value."""
    lines = []
    for name, entry in value.items() if isinstance(value, dict) else enumerate(value, 1):
        label = str(name).replace("_", " ")
        if isinstance(entry, dict) or (isinstance(entry, list | tuple) and any(isinstance(e, dict) for e in entry)):
            lines += [f"{indent}{label}:", to_lines(entry, indent + "  ")] if entry else []
        else:
            lines.append(f"{indent}{label}: {_plain(entry)}")
    return "\n".join(lines)


def _plain(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, list | tuple):
        return ", ".join(_plain(entry) for entry in value) or "-"
    return str(value)

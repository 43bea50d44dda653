"""Analyses without a window: plain functions that write files and give back what there is to print. Knows no Qt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.errors import AnalysisError
from analysis.progress import Progress
from app.headless import Outcome
from app.output_folder import check_folder, write_folder
from app.report_text import RESEARCH_ONLY

if TYPE_CHECKING:
    from analysis.analyses import Analysis


def analyze(
    kind: str,
    recording: str | Path,
    checkpoints: Sequence[Mapping[str, Any]],
    out: str | Path,
    start: float | None = None,
    duration: float | None = None,
    options: Sequence[str] = (),
    device: str = "auto",
    bad_channels: Sequence[str] = (),
    progress: Progress | None = None,
) -> Outcome:
    """Do one kind of analysis and write KIND.npz, KIND.json and KIND.svg into the folder `out`.

    `options` are texts "name=value". The folder is made where it is missing; whatever goes wrong, nothing half-written
    is left. AnalysisError, RecordingError and CheckpointError say what it was, OSError that `out` cannot be written.
    """
    if not str(out):
        raise AnalysisError("no folder is named for the results: give one with --out")
    chosen = parse_pairs(options)
    check_folder(Path(out))
    from analysis.analysis_files import analysis_contents, describe_analysis
    from analysis.engine.analyze import analyze as run

    result = run(kind, recording, checkpoints, start, duration, chosen, device, progress, bad_channels)
    contents = analysis_contents(result)
    write_folder(Path(out), contents)
    files = [Path(out) / name for name in contents]
    return Outcome(describe_analysis(result), analysis_text(result, files), tuple(result.provenance["warnings"]))


def parse_pairs(options: Sequence[str]) -> dict[str, str]:
    """Texts "name=value" as a table; AnalysisError for one that is not of this form, or comes twice."""
    table: dict[str, str] = {}
    for text in options:
        name, separator, value = text.partition("=")
        if not separator or not name:
            raise AnalysisError(f"an option has the form name=value, not {text!r}")
        if name in table:
            raise AnalysisError(f"the option {name} is given twice: leave one out")
        table[name] = value
    return table


def analysis_text(result: Analysis, files: Sequence[Path]) -> str:
    """An analysis for a person: what it is, its arrays with their meaning, what to know, and the files."""
    start, stop = result.provenance["span"]
    lines = [f"{result.title}: {' and '.join(result.models)}, {start:g} to {stop:g} s"]
    for name, array in result.arrays.items():
        shape = " x ".join(f"{n} {axis}" for n, axis in zip(array.values.shape, array.axes, strict=True))
        mark = f" [{array.source}]" if array.source else ""
        lines.append(f"  {name:<22}{shape or 'one number'}: {array.meaning}{mark}")
    if result.kind == "sanity-checks":
        from analysis.trust_table import trust_lines

        lines += ["", *trust_lines(result)]
    lines += list(dict.fromkeys(result.notes))
    lines += [f"written: {', '.join(map(str, files))}", RESEARCH_ONLY]
    return "\n".join(lines)

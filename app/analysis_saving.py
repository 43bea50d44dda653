"""Saves an analysis as a figure for a paper, or as numbers with what they mean; both are made in the engine process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from PyQt6.QtCore import QObject, pyqtSignal
from PyQt6.QtWidgets import QFileDialog, QWidget

from analysis.analyses import Analysis
from analysis.progress import Progress
from app.engine_process import EngineProcess
from app.errors import describe_error
from app.jobs import Job, JobRunner
from models.whole_files import whole_file

FIGURES = "Scalable figure (*.svg);;PDF (*.pdf);;Picture (*.png)"
NUMBERS = "Arrays (*.npz)"
_FORMS = ("svg", "pdf", "png")
_NOTHING = "there is nothing to save yet: run an analysis first"


class AnalysisSaving(QObject):
    """Asks where, has it made, and writes it whole; `said` tells how that went."""

    said = pyqtSignal(str)

    def __init__(self, runner: JobRunner, engine: EngineProcess, window: QWidget) -> None:
        """`window` is what the questions stand above."""
        super().__init__(window)
        self._runner, self._engine, self._window = runner, engine, window

    def ask_figure(self, result: Analysis | None) -> None:
        """Ask for a file, and draw the figure into it."""
        if result is None:
            self.said.emit(_NOTHING)
            return
        path, chosen = QFileDialog.getSaveFileName(self._window, "Save the figure", f"{result.kind}.svg", FIGURES)
        if path:
            suffix = "" if Path(path).suffix else chosen.rpartition("*")[2].rstrip(")")
            self.write_figure(result, Path(path + suffix))

    def ask_numbers(self, result: Analysis | None) -> None:
        """Ask for a file, and write the arrays into it."""
        if result is None:
            self.said.emit(_NOTHING)
            return
        path, _ = QFileDialog.getSaveFileName(self._window, "Save the numbers", f"{result.kind}.npz", NUMBERS)
        if path:
            self.write_numbers(result, Path(path))

    def write_figure(self, result: Analysis, path: Path) -> Job | None:
        """Draw a figure and write it; None where the suffix is of no figure."""
        form = path.suffix.lower().lstrip(".")
        if form not in _FORMS:
            self.said.emit(f"no figure is written as {path.name}: choose a name that ends in .svg, .pdf or .png")
            return None
        arguments = {"result": result, "form": form}
        return self._write("analysis.figures.draw:figure_bytes", arguments, lambda made: {path: made})

    def write_numbers(self, result: Analysis, path: Path) -> Job:
        """Write the arrays to a .npz file and what they mean to a .json file beside it."""

        def files(made: dict[str, bytes]) -> dict[Path, bytes]:
            return {path.with_suffix(suffix): made[f"{result.kind}{suffix}"] for suffix in (".npz", ".json")}

        return self._write("analysis.analysis_files:analysis_contents", {"result": result}, files)

    def _write(self, function: str, arguments: dict[str, Any], files: Callable[[Any], dict[Path, bytes]]) -> Job:
        def work(progress: Progress) -> list[str]:
            contents = files(self._engine.call(function, arguments, progress))
            for path, content in contents.items():
                with whole_file(path) as file:
                    file.write(content)
            return [str(path) for path in contents]

        job = Job("Save the analysis", work, lane="gpu")
        job.succeeded.connect(self._on_written)
        job.failed.connect(self._on_failed)
        return self._runner.submit(job)

    def _on_written(self, paths: list[str]) -> None:
        self.said.emit(f"saved {' and '.join(paths)}")

    def _on_failed(self, error: BaseException) -> None:
        self.said.emit(describe_error(error)[0])

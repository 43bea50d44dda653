"""Exports the page as a figure for print: asks how, has it drawn in the engine process, and says where it went."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PyQt6.QtCore import QObject, QUrl, pyqtSignal
from PyQt6.QtGui import QDesktopServices
from PyQt6.QtWidgets import QMessageBox, QWidget

from analysis.progress import Progress
from app.asking import ask
from app.dialogs.export_figure import ExportFigureDialog, FigureChoice
from app.figure_request import FigureRequest, ShownPage
from app.jobs import Job

if TYPE_CHECKING:
    from app.shown_window import ShownWindow

_NOTHING = "there is nothing to export yet: open a recording first"


class Exporting(QObject):
    """Keeps how the last figure was exported; `told` says how it went, `failed` carries what went wrong."""

    told = pyqtSignal(str, str)  # text and role, for the status line
    failed = pyqtSignal(object)

    def __init__(self, window: ShownWindow, parent: QWidget) -> None:
        """`parent` is what questions stand above: the window itself."""
        super().__init__(parent)
        self._window, self._parent = window, parent
        self.box: QMessageBox | None = None

    def handlers(self) -> dict[str, Callable[[], None]]:
        """What the action does, by its identifier in app.actions."""
        return {"export_figure": self.ask}

    def dialog(self) -> ExportFigureDialog | None:
        """The question, as it was answered last; None without a page."""
        from app.shown_page import page_words  # here, since no window needs figures to start

        window = self._window
        recording = window.session.recording
        if recording is None or window.view.trace_view.rows is None:
            return None
        settings = window.settings
        folder = Path(settings.figure_folder) if settings.figure_folder else recording.path.parent
        name = f"{recording.path.stem}_{window.session.window.start:g}s.{settings.figure_form}"
        size = settings.figure_width, settings.figure_height
        first = FigureChoice(folder / name, size, settings.figure_dpi)
        return ExportFigureDialog(
            first, page_words(window), window.analysing.results(), _patient(recording), self._parent
        )

    def ask(self) -> None:
        """Ask how, and export."""
        dialog = self.dialog()
        if dialog is None:
            self.told.emit(_NOTHING, "warning")
        elif ask(dialog, self._window.session):
            self.export(dialog.choice())

    def export(self, choice: FigureChoice) -> Job | None:
        """Draw the page as it is shown now; None without one."""
        from app.shown_page import shown_page

        window = self._window
        panels = [result for result in window.analysing.results() if result.kind in choice.panels]
        shown = shown_page(window, panels)
        recording = window.session.recording
        if shown is None or recording is None:
            self.told.emit(_NOTHING, "warning")
            return None
        self._remember(choice)
        arguments = _arguments(str(recording.path), choice, shown)

        def work(progress: Progress) -> str:
            window.engine.call("app.figure_runs:make_figure", arguments, progress)
            return str(choice.out)

        job = Job("Export the figure", work, lane="gpu")
        job.succeeded.connect(self._on_written)
        job.failed.connect(self.failed)
        return window.runner.submit(job)

    def _remember(self, choice: FigureChoice) -> None:
        settings = self._window.settings
        settings.figure_width, settings.figure_height = choice.size_mm
        settings.figure_dpi, settings.figure_form = choice.dpi, choice.form
        settings.figure_folder = str(choice.out.parent)

    def _on_written(self, path: str) -> None:
        self.told.emit(f"figure written: {path}", "muted")
        box = QMessageBox(QMessageBox.Icon.Information, "Figure exported", f"The figure was written to {path}.")
        box.setParent(self._parent, box.windowFlags())
        box.setInformativeText("Beside it lie the .json and .npz that rebuild it, with the command line.")
        box.addButton(QMessageBox.StandardButton.Ok)
        folder = box.addButton("Open the folder", QMessageBox.ButtonRole.ActionRole)
        assert folder is not None
        folder.setProperty("folder", str(Path(path).parent))
        folder.clicked.connect(self._on_folder)
        self.box = box
        box.open()  # the reader may go on; it waits for nobody

    def _on_folder(self) -> None:
        sender = self.sender()
        if sender is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(sender.property("folder"))))


def _arguments(recording: str, choice: FigureChoice, shown: ShownPage) -> dict[str, Any]:
    request = FigureRequest(recording, str(choice.out), size_mm=choice.size_mm, dpi=choice.dpi, patient=choice.patient)
    return {"request": request, "shown": shown}


def _patient(recording: object) -> str:
    """Whom the file names, empty for nobody."""
    from app.figure_words import patient_words

    return patient_words(recording)

"""What all windows of the program share: settings, folders, the processes that work for them, and the marks."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path

from PyQt6.QtWidgets import QMainWindow

from analysis.montage import MONTAGES
from analysis.montages.own import OwnMontages
from app.engine_process import EngineProcess
from app.mark_keeper import MarkShelf
from app.remembering import InOrder, Write
from app.settings import Settings

# What the first run of any model would otherwise wait for.
_ENGINE_MODULES = ("torch", "scipy.signal", "brainmaze_eeg_models")


class Workplace:
    """Windows enter it and leave it; the last one to leave ends the processes.

    `data_folder` keeps how each recording was looked at, `results_folder` what models found; None: nothing is kept.
    """

    def __init__(
        self,
        settings: Settings,
        save_settings: Callable[[Settings], None] | None = None,
        data_folder: Path | None = None,
        results_folder: Path | None = None,
    ) -> None:
        self.settings = settings
        self.data_folder = data_folder
        self.results_folder = results_folder
        self._settings_file = InOrder(save_settings) if save_settings is not None else None
        log = data_folder / "log" / "engine.log" if data_folder is not None else None
        self.engine = EngineProcess(preload=_ENGINE_MODULES, log=log)
        self.reader = EngineProcess("reader", niceness=0, log=log)
        self.shelf = MarkShelf(folder=data_folder / "marks" if data_folder is not None else None)
        self.montages = OwnMontages(data_folder / "montages" if data_folder is not None else None, MONTAGES)
        self.windows: list[QMainWindow] = []

    def enter(self, window: QMainWindow) -> None:
        """Count a window among those that are open."""
        self.windows.append(window)

    def settings_writers(self) -> list[Write]:
        """What writes the settings down as they are now; nothing where they are not kept."""
        return [self._settings_file.writer(deepcopy(self.settings))] if self._settings_file is not None else []

    def leave(self, window: QMainWindow) -> None:
        """Forget a window that closes, keep the settings, and end the processes behind the last one."""
        if window not in self.windows:
            return
        self.windows.remove(window)
        for write in self.settings_writers():
            write()
        if not self.windows:
            self.shelf.close()
            for process in (self.engine, self.reader):
                process.close()

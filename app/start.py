"""Starts the window: environment, checks, application object, settings, hooks; Qt is not imported before that."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.display import check_display, leave_cores_free
from app.errors import describe_error, install_hooks, log_error, start_log
from app.heap import no_collections
from app.packaged import packaged_model
from app.settings import Settings, folders, load_settings, save_settings

if TYPE_CHECKING:
    from app.main_window import MainWindow

_INTERRUPT_PAUSE_MS = 300


@dataclass(frozen=True)
class Opening:
    """What the window shows first; paths as the person gave them, `start` in seconds (None: where it was left).

    `demo` opens the demonstration in place of all that.
    """

    recording: str | None = None
    checkpoints: Sequence[str] = ()
    head: str | None = None
    config: str | None = None
    start: float | None = None
    demo: bool = False


def run_window(opening: Opening) -> int:
    """Open the main window and serve it until it is closed; StartError where no window can be opened."""
    with no_collections():  # all that is loaded and made for it stays: to look through that is a tenth of the start
        return _serve_window(opening)


def _serve_window(opening: Opening) -> int:
    leave_cores_free()
    check_display()
    from PyQt6.QtWidgets import QApplication

    from app.garbage import garbage_here
    from app.main_window import MainWindow
    from app.qt_log import log_qt_messages

    places = folders()
    settings, complaints = load_settings(places.config)
    try:
        start_log(places.data / "log")
    except OSError as error:
        complaints.append(f"no log is kept: {describe_error(error)[0]}")

    def keep(changed: Settings) -> None:
        try:
            save_settings(changed, places.config)
        except OSError as error:
            log_error(error)

    log_qt_messages()
    application = QApplication([sys.argv[0]])
    application.setApplicationName("Cerebroscope")
    window = MainWindow(settings, keep, places.data, places.cache / "results")
    _survive_errors(window)
    window.show()
    for complaint in complaints:
        window.status.say(complaint, "warning")
    _fill(window, opening)
    with garbage_here():
        return application.exec()


def _fill(window: MainWindow, opening: Opening) -> None:
    from app.commands import load_checkpoint
    from app.model_panel import title_for
    from app.session import ModelChoice

    if opening.demo:
        window.touring.show_demo()
    if opening.recording is not None:
        window.open_recording(opening.recording, opening.start)
    for checkpoint in opening.checkpoints:
        if packaged_model(checkpoint) is not None:
            window.model_panel.choose(checkpoint)
        else:
            title = title_for(checkpoint, opening.head)
            load_checkpoint(window, ModelChoice(title, checkpoint, opening.head, opening.config))


def _survive_errors(window: MainWindow) -> None:
    """Show what nobody caught, on whatever thread it happened, and close the window on Ctrl+C in the terminal."""
    from PyQt6.QtCore import QObject, QTimer, pyqtSignal

    from app.commands import show_error_box

    class Messenger(QObject):
        happened = pyqtSignal(object)

    messenger = Messenger(window)
    messenger.happened.connect(lambda error: show_error_box(window, *describe_error(error)))
    install_hooks(messenger.happened.emit, window.close)
    # Closed from the event loop, since a signal may come while a lock is held that closing needs.
    signal.signal(signal.SIGINT, lambda *_: QTimer.singleShot(0, window.close))
    # Python sees a signal only when it runs, and Qt's loop may wait for ever without it.
    awake = QTimer(window)
    awake.timeout.connect(lambda: None)
    awake.start(_INTERRUPT_PAUSE_MS)

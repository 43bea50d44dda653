"""One door for measuring the real main window from outside, in tests, benchmarks and screenshots."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path

from PyQt6.QtCore import QCoreApplication, QEvent, QEventLoop
from PyQt6.QtGui import QImage
from PyQt6.QtWidgets import QApplication

from analysis.annotation import Annotation
from app.commands import load_checkpoint, run_model
from app.main_window import MainWindow
from app.model_panel import title_for
from app.packaged import packaged_model
from app.session import ModelChoice
from app.settings import Settings

_WAIT = 60.0


class Window:
    """The main window with one recording open; methods return at once, `settled` and `wait` tell when it shows."""

    def __init__(self, window: MainWindow) -> None:
        self.main = window
        self._failure: BaseException | None = None
        window.opener.failed.connect(self._on_failed)

    def _on_failed(self, error: BaseException) -> None:
        self._failure = error

    def show(self, start: float, duration: float) -> None:
        """Show [start, start + duration) seconds."""
        self.main.session.show(start, duration)

    def set_montage(self, name: str) -> None:
        """Show the rows of a montage, by its name in the clinical sheet."""
        self.main.session.change_view(montage=name)

    def set_sensitivity(self, uv_per_mm: float) -> None:
        """Draw at so many microvolts per millimetre."""
        self.main.session.change_view(uv_per_mm=float(uv_per_mm))

    def set_filter(self, highpass: float, lowpass: float, notch: float) -> None:
        """Set the display filter in hertz; 0 is off."""
        self.main.session.change_view(highpass=highpass, lowpass=lowpass, notch=notch)

    def add_marks(self, marks: Iterable[Annotation]) -> None:
        """Show annotations beside those of the file."""
        self.main.session.add_annotations(marks)

    def load_model(self, checkpoint: str, head: str | None = None, config: str | None = None) -> None:
        """List a checkpoint and choose it."""
        if packaged_model(checkpoint) is not None:
            self.main.model_panel.choose(checkpoint)
        else:
            load_checkpoint(self.main, ModelChoice(title_for(checkpoint, head), checkpoint, head, config))

    def run_model(self, name: str) -> None:
        """Run a model, listed or named by its checkpoint, over the recording."""
        self.main.model_panel.choose(name)
        run_model(self.main)

    def settled(self) -> bool:
        """Whether everything asked for is on screen."""
        QApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 20)
        if self._failure is not None:
            raise self._failure
        return self.main.settled()

    def wait(self, seconds: float = _WAIT) -> None:
        """Serve the window until it is settled; TimeoutError when it takes longer than `seconds`."""
        deadline = time.monotonic() + seconds
        while not self.settled():
            if time.monotonic() > deadline:
                raise TimeoutError(f"the window was not settled after {seconds:g} s")
            time.sleep(0.002)

    def grab(self) -> QImage:
        """The window as it is on the screen, traces antialiased."""
        QApplication.processEvents()  # what was shown or hidden at last finds its place
        self.main.view.refine_now()
        return self.main.grab().toImage()

    def close(self) -> None:
        """Close the window and end its work."""
        self.main.close()
        QApplication.processEvents()  # what was put off to the next turn of the loop still finds its window
        self.main.deleteLater()
        # At once, with all its timers and connections: none must fire into objects that Python has already cleared.
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def open_window(
    path: str | Path, size: tuple[int, int] = (1600, 900), settings: Settings | None = None, start: float = 0.0
) -> Window:
    """Open a recording in the real main window, off screen where there is no display; returns at once."""
    if not os.environ.get("DISPLAY") and not os.environ.get("WAYLAND_DISPLAY"):
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    application = QApplication.instance() or QApplication(["cerebroscope"])
    window = MainWindow(settings or Settings())
    # Kept by the window, since Qt's application object must outlive it.
    window.application = application
    handle = Window(window)
    window.resize(*size)
    window.show()
    window.open_recording(str(path), start)
    return handle

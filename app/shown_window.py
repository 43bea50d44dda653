"""What the main window is to those who tell what it shows; so that they need not know the window itself."""

from __future__ import annotations

from typing import Protocol

from PyQt6.QtGui import QAction

from app.analysing import Analysing
from app.engine_process import EngineProcess
from app.jobs import JobRunner
from app.overlay_panel import OverlayPanel
from app.review_queue import ReviewQueue
from app.session import Session
from app.settings import Settings
from viewers.recording_view import RecordingView


class ShownWindow(Protocol):
    """The parts of the main window that hold what is on the screen."""

    session: Session
    settings: Settings
    view: RecordingView
    queue: ReviewQueue
    analysing: Analysing
    overlay_panel: OverlayPanel
    actions_by_id: dict[str, QAction]
    runner: JobRunner
    engine: EngineProcess

    def is_clock_shown(self) -> bool:
        """Whether the axis shows times of day."""

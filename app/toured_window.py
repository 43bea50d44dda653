"""What the demonstration and its tour know of the window: its parts, by the names they have there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from PyQt6.QtGui import QAction

from app.analysing import Analysing
from app.known_truth import KnownTruth
from app.model_panel import ModelPanel
from app.model_runs import ModelRuns
from app.overlay_panel import OverlayPanel
from app.panel import PanelDock
from app.reading import Reading
from app.session import Session
from app.settings import Settings
from app.view_toolbar import ViewToolbar
from viewers.recording_view import RecordingView


class TouredWindow(Protocol):
    """A window that can open a recording, list models and show what they find; the main window is one."""

    session: Session
    settings: Settings
    view: RecordingView
    runs: ModelRuns
    reading: Reading
    analysing: Analysing
    toolbar: ViewToolbar
    model_panel: ModelPanel
    overlay_panel: OverlayPanel
    known_truth: KnownTruth
    docks: Mapping[str, PanelDock]
    actions_by_id: Mapping[str, QAction]

    def open_recording(self, path: str, start: float | None = None, title: str = "") -> None:
        """Open a file in the background."""

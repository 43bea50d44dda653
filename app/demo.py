"""The demonstration: the bundled simulated recording, and the bundled models, whose answers are made beforehand.

Nothing of it is trained on real EEG, and whatever is not there is not listed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, pyqtSignal

from analysis.simulation.demo import RECORDING, TITLE
from app.jobs import Job
from app.session import ModelChoice

if TYPE_CHECKING:
    from app.toured_window import TouredWindow

CHECKPOINTS = Path(str(files("assets"))) / "checkpoints"
START = 40.0  # seconds, where the first seizure can be seen to build up
_NAMES = (("axon", "AXON"), ("mvpformer", "MVPFormer"), ("neurduo", "NeurDuo"), ("prise-eeg", "PRiSE-EEG"))


def bundled_models(folder: Path = CHECKPOINTS) -> list[ModelChoice]:
    """The models that come with the program, those of them that are there."""
    found = [(f"{title}, demo", folder / f"{name}.safetensors") for name, title in _NAMES]
    return [ModelChoice(title, str(path)) for title, path in found if path.is_file()]


class Demo(QObject):
    """Lists models one after another, runs the first for all to see, and the others where nobody waits for them."""

    listed = pyqtSignal()  # all models

    def __init__(
        self,
        window: TouredWindow,
        load: Callable[[ModelChoice], Job],
        models: Sequence[ModelChoice] | None = None,
        parent: QObject | None = None,
    ) -> None:
        """`load` reads a checkpoint and lists it; `models` None: those that are bundled."""
        super().__init__(parent)
        self._window, self._load = window, load
        self.models = list(bundled_models() if models is None else models)
        self._waiting: list[ModelChoice] = []
        self._is_listing = False
        self._prepared: set[str] = set()

    def open(self) -> None:
        """Open the recording, and list the models once its first page is there."""
        self._window.reading.painted.connect(self._on_painted)
        self._window.open_recording(str(RECORDING), START, TITLE)

    def list_models(self) -> None:
        """List all models that are not listed yet; `listed` follows."""
        known = {model.checkpoint for model in self._window.model_panel.choices()}
        self._waiting = [model for model in self.models if model.checkpoint not in known]
        if not self._is_listing:
            self._is_listing = True
            self._list_next()

    def has_prepared(self, model: ModelChoice) -> bool:
        """Whether the answer of a model is ready, or soon will be."""
        return model.checkpoint in self._prepared

    def _on_painted(self, _recording: object) -> None:
        self._window.reading.painted.disconnect(self._on_painted)
        self.list_models()

    def _list_next(self) -> None:
        if self._waiting:
            self._load(self._waiting.pop(0)).finished.connect(self._list_next)
            return
        self._is_listing = False
        self._run_all()
        self.listed.emit()

    def _run_all(self) -> None:
        """Show the answer of the first model, and have those of the others ready."""
        window = self._window
        known = {model.checkpoint: model for model in window.model_panel.choices()}
        there = [known[model.checkpoint] for model in self.models if model.checkpoint in known]
        if not there or window.session.recording is None:
            return
        window.model_panel.choose(there[0])
        window.actions_by_id["run"].trigger()
        for model in there[1:]:
            window.runs.prepare(model, window.toolbar.device)
        self._prepared = {model.checkpoint for model in there}

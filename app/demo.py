"""The demonstration: the bundled simulated recording, and the bundled models, whose answers are made beforehand.

Nothing of it is trained on real EEG, and whatever is not there is not listed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, pyqtSignal

from analysis.simulation.demo import RECORDING, TITLE
from app.jobs import Job
from app.session import ModelChoice
from app.tour_stops import STOPS

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
        self._jobs: list[Job] = []  # that nobody waits for
        window.session.opened.connect(self._on_opened)

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
            job = self._load(self._waiting.pop(0))  # held, since nobody else holds one that is refused
            if not job.ended:  # as it is when the window closes
                job.finished.connect(self._list_next)
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
            self._keep(window.runs.prepare(model, window.toolbar.device))
        self._prepared = {model.checkpoint for model in there}
        self._prepare_stops({model.family: model for model in there})

    def _prepare_stops(self, models: Mapping[str, ModelChoice]) -> None:
        """Have ready what the tour shows: the analysis of each stop, on its page."""
        session = self._window.session
        onsets = [onset for onset, _stop in session.marks.seizures]
        for stop in STOPS:
            start = stop.start(onsets)
            if stop.kind and stop.family in models and start is not None:
                self._keep(self._window.analysing.prepare(stop.kind, models[stop.family], session.page_at(start)))

    def _keep(self, job: Job | None) -> None:
        self._jobs += [job] if job is not None else []

    def _on_opened(self, _recording: object) -> None:
        """What was prepared for another recording, nobody will ask for."""
        for job in self._jobs:
            job.cancel()
        self._jobs.clear()

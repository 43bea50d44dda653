"""What is open and how it is looked at; tells everyone when it changes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from PyQt6.QtCore import QObject, pyqtSignal

from analysis.annotation import Annotation
from analysis.errors import AnalysisError
from analysis.filtering import DisplayFilter
from analysis.marks import Marks
from analysis.montage import Montage, build_montage, default_montage, refusal
from analysis.recording import Recording, Window
from analysis.results import SeizurePrediction
from app.mark_keeper import Background, MarkKeeper, MarkShelf

SENSITIVITIES = (
    *(1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000),
    *(2000, 5000, 10_000, 20_000, 50_000, 100_000),  # for files whose unit is wrong
)
PAGE_SECONDS = (5, 10, 15, 20, 30, 60, 120, 300, 600, 3600, 86400)
HIGHPASSES = (0.0, 0.1, 0.3, 0.5, 1.0, 1.6, 2.0, 5.0, 10.0)
LOWPASSES = (0.0, 15.0, 20.0, 30.0, 35.0, 40.0, 50.0, 70.0, 100.0, 250.0)
NOTCHES = (0.0, 50.0, 60.0)
INTRACRANIAL_SENSITIVITY = 50.0
_BEYOND_BELIEF = 50_000.0  # microvolts from the first to the 99th percentile: no brain, no electrode offset does this
_READABLE_MM = 10.0


@dataclass(frozen=True)
class ModelChoice:
    """A model that can be run: what a person calls it and the files it comes from."""

    title: str
    checkpoint: str
    head: str | None = None
    config: str | None = None
    segments: int | None = None


@dataclass(frozen=True)
class View:
    """How the recording is looked at; frequencies are in hertz and 0 means off."""

    montage: str = "as recorded"
    highpass: float = 0.5
    lowpass: float = 70.0
    notch: float = 0.0
    uv_per_mm: float = 7.0
    page_seconds: float = 10.0

    @property
    def display_filter(self) -> DisplayFilter:
        """The filter the traces are drawn through."""
        return DisplayFilter(self.highpass or None, self.lowpass or None, self.notch or None)


class Session(QObject):
    """Holds the open recording, the page, the view, the marks and the model's result."""

    opened = pyqtSignal(object)
    window_changed = pyqtSignal(object)
    view_changed = pyqtSignal(object, object)  # new View, the one before
    marks_changed = pyqtSignal(object)  # Marks
    prediction_changed = pyqtSignal(object)
    model_changed = pyqtSignal(object)
    refused = pyqtSignal(str)

    def __init__(
        self,
        view: View | None = None,
        background: Background | None = None,
        parent: QObject | None = None,
        shelf: MarkShelf | None = None,
    ) -> None:
        """`background(work, then)` does long work elsewhere and calls `then` with its result; None: it is done here.

        `shelf` keeps the marks; sessions that share one share the marks of a recording that both show.
        """
        super().__init__(parent)
        self.recording: Recording | None = None
        self.montage: Montage | None = None
        self.window = Window(0.0, 10.0)
        self.view = view or View()
        # What the reader likes for scalp EEG; what other recordings are opened or looked at with does not change it.
        self.usual_uv_per_mm = self.view.uv_per_mm
        self._is_usual = True
        self._shelf = shelf or MarkShelf(self)
        self.keeper = MarkKeeper(self)  # of no recording
        self._kept = ""  # id of the recording whose marks are held
        self._background = background
        self.prediction: SeizurePrediction | None = None
        self.mains: float | None = None  # what hums in the recording, as far as it is known
        self.model: ModelChoice | None = None

    @property
    def marks(self) -> Marks:
        """The marks of people and files, and what was decided on those of models."""
        return self.keeper.marks

    @property
    def duration(self) -> float:
        """Length of the open recording in seconds; 0 without one."""
        return self.recording.duration if self.recording is not None else 0.0

    def open(
        self,
        recording: Recording,
        start: float = 0.0,
        montage: str | None = None,
        page_seconds: float | None = None,
    ) -> None:
        """Show a recording from `start` seconds on, in the montage named if it can be derived."""
        self._take_keeper(recording)
        self.recording = recording
        self.prediction = self.mains = None
        name = montage if montage and not refusal(montage, recording) else default_montage(recording)
        self.montage = build_montage(name, recording)
        intracranial = any(c.type in ("seeg", "ecog") for c in recording.channels)
        scalp = any(c.type == "eeg" for c in recording.channels)
        self._is_usual = scalp or not intracranial
        sensitivity = self.usual_uv_per_mm if self._is_usual else INTRACRANIAL_SENSITIVITY
        length = page_seconds or self.view.page_seconds
        self.view = replace(self.view, montage=name, uv_per_mm=sensitivity, page_seconds=length)
        self.window = self._clamped(start)
        self.opened.emit(recording)
        self.marks_changed.emit(self.marks)
        self.prediction_changed.emit(None)

    def go_to(self, start: float) -> None:
        """Move the page so that it begins at `start`, kept inside the recording."""
        window = self._clamped(start)
        if window != self.window:
            self.window = window
            self.window_changed.emit(window)

    def show(self, start: float, duration: float) -> None:
        """Show [start, start + duration) seconds."""
        if duration != self.view.page_seconds:
            self.change_view(page_seconds=duration, start=start)
        else:
            self.go_to(start)

    def centre_on(self, time: float) -> None:
        """Move the page so that `time` lies a quarter from its left edge, unless it is well inside already."""
        inside = (
            self.window.start + 0.05 * self.window.duration <= time < self.window.stop - 0.25 * self.window.duration
        )
        if not inside:
            self.go_to(time - 0.25 * self.window.duration)

    def page(self, count: float) -> None:
        """Turn `count` pages (negative: back)."""
        self.go_to(self.window.start + count * self.window.duration)

    def change_view(self, start: float | None = None, **changes: object) -> None:
        """Change montage, filters, sensitivity or page length; a montage that cannot be derived is refused in words."""
        view = replace(self.view, **changes)  # type: ignore[arg-type]
        if view == self.view and start is None:
            return
        if view.montage != self.view.montage and self.recording is not None:
            try:
                self.montage = build_montage(view.montage, self.recording)
            except AnalysisError as error:
                self.refused.emit(str(error))
                return
        if self._is_usual:
            self.usual_uv_per_mm = view.uv_per_mm
        before, self.view = self.view, view
        # The window is settled before anyone hears of the change, so that each listener asks for the right page once.
        anchor = self.window.start if start is None else start
        window = self._clamped(anchor)
        moved = window != self.window
        self.window = window
        self.view_changed.emit(view, before)
        if moved:
            self.window_changed.emit(window)

    def reset_view(self) -> None:
        """Look at the recording as one does that is opened for the first time, at the same place."""
        fresh = View()
        montage = default_montage(self.recording) if self.recording is not None else fresh.montage
        sensitivity = fresh.uv_per_mm if self._is_usual else INTRACRANIAL_SENSITIVITY
        changes = {**vars(fresh), "montage": montage, "uv_per_mm": sensitivity}
        self.change_view(**changes)

    def step_sensitivity(self, steps: int) -> None:
        """Make the traces taller (positive) or flatter by steps of the clinical scale."""
        self.change_view(uv_per_mm=float(_step(SENSITIVITIES, self.view.uv_per_mm, -steps)))

    def make_readable(self, spread: float) -> bool:
        """Open flatter where amplitudes, `spread` in microvolts, are beyond belief; whether that was so.

        Such a file is probably wrong by a power of ten, and at a clinical sensitivity it is one black surface.
        """
        if not spread > _BEYOND_BELIEF:
            return False
        self._is_usual = False
        flat = next((s for s in SENSITIVITIES if spread / s <= _READABLE_MM), SENSITIVITIES[-1])
        self.change_view(uv_per_mm=float(flat))
        return True

    def step_page_length(self, steps: int) -> None:
        """Show more (positive) or less time per page."""
        self.change_view(page_seconds=float(_step(PAGE_SECONDS, self.view.page_seconds, steps)))

    def set_file_marks(self, marks: Marks) -> None:
        """Take the annotations that the recording itself carries, numbered and sorted where they were read."""
        self.keeper.set_file_marks(marks)

    def add_annotations(self, annotations: Iterable[Annotation], label: str = "Add marks") -> tuple[Annotation, ...]:
        """Add annotations, such as those of a file chosen by the reader, as one step that can be undone."""
        return self.keeper.add(annotations, label, self._background)

    def close(self) -> None:
        """Let go of the marks; call it when the window closes."""
        self._let_keeper_go()

    def _take_keeper(self, recording: Recording) -> None:
        self._let_keeper_go()
        self.keeper = self._shelf.take(recording.id)
        self._kept = recording.id
        self.keeper.changed.connect(self.marks_changed)

    def _let_keeper_go(self) -> None:
        if self._kept:
            self.keeper.changed.disconnect(self.marks_changed)
            self._shelf.give_back(self._kept)
            self._kept = ""

    def set_prediction(self, prediction: SeizurePrediction | None) -> None:
        """Show a result of the recording that is open; results of another one are not shown."""
        current = self.recording.id if self.recording is not None else None
        if prediction is not None and prediction.request.recording_id != current:
            return
        self.prediction = prediction
        self.prediction_changed.emit(prediction)

    def choose_model(self, model: ModelChoice | None) -> None:
        """Take a model as the one that Run starts."""
        self.model = model
        self.model_changed.emit(model)

    def _clamped(self, start: float) -> Window:
        length = self.view.page_seconds
        last = max(0.0, self.duration - length)
        begin = min(max(0.0, start), last)
        return Window(begin, begin + length)


def _step(choices: tuple[int, ...], value: float, steps: int) -> int:
    nearest = min(range(len(choices)), key=lambda i: abs(choices[i] - value))
    return choices[min(max(nearest + steps, 0), len(choices) - 1)]

"""What is open and how it is looked at; tells everyone when it changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from PyQt6.QtCore import QObject, pyqtSignal

from analysis.annotation import Annotation
from analysis.channel_kinds import BODY_KINDS, EEG, INTRACRANIAL
from analysis.channel_quality import FLAT, MISSING
from analysis.errors import AnalysisError
from analysis.marks import Marks
from analysis.montage import MARKED_BAD, Montage, MontageOptions, build_montage, default_montage, refusal
from analysis.recording import Recording, Window
from analysis.results import SeizurePrediction
from app.event_making import USUAL, EventMaking
from app.habits import Habits
from app.mark_keeper import Background, MarkKeeper, MarkShelf
from app.view import INTRACRANIAL_SENSITIVITY, SENSITIVITIES, View, kept_kinds, step

_BEYOND_BELIEF = 50_000.0  # microvolts from the first to the 99th percentile: no brain, no electrode offset does this
_READABLE_MM = 10.0


@dataclass(frozen=True)
class ModelChoice:
    """A model that can be run: what a person calls it and the files it comes from.

    `family` is known once its checkpoint has been read, and decides what can be asked of it; empty: nothing but
    seizures. `random_weights` must be said wherever its answers are drawn. `making` is how its own events are made.
    """

    title: str
    checkpoint: str
    head: str | None = None
    config: str | None = None
    segments: int | None = None
    family: str = ""
    random_weights: bool = False
    making: EventMaking = USUAL

    @property
    def name(self) -> str:
        """What the settings know it by."""
        return "|".join(filter(None, (self.checkpoint, self.head)))


class Session(QObject):
    """Holds the open recording, the page, the view, the marks and the model's result."""

    opened = pyqtSignal(object)
    closed = pyqtSignal()  # the window closes
    window_changed = pyqtSignal(object)
    view_changed = pyqtSignal(object, object)  # new View, the one before
    marks_changed = pyqtSignal(object)  # Marks
    prediction_changed = pyqtSignal(object)
    model_changed = pyqtSignal(object)
    montage_changed = pyqtSignal(object)  # Montage, made anew under the name it had
    bad_channels_changed = pyqtSignal(object)  # names of channels that the reader has marked as bad
    hidden_types_changed = pyqtSignal(object)  # names of types of marks that are not drawn
    refused = pyqtSignal(str)
    refusal_over = pyqtSignal(str)  # the sentence of a refusal, once the view has changed after it

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
        self.montage_options = MontageOptions()
        self.bad_channels: frozenset[str] = frozenset()
        self.hidden_types: frozenset[str] = frozenset()
        self.channel_states: dict[str, str] = {}  # what the survey of the recording says of channels
        self.window = Window(0.0, 10.0)
        self.view = view or View()
        self.habits = Habits(self.view)
        self._is_odd = False  # the scale that this recording needs is not what the reader likes
        self._shelf = shelf or MarkShelf(self)
        self.keeper = MarkKeeper(self)  # of no recording
        self._kept = ""  # id of the recording whose marks are held
        self._background = background
        self.prediction: SeizurePrediction | None = None
        self.mains: float | None = None  # what hums in the recording, as far as it is known
        self.model: ModelChoice | None = None
        self._refusal = ""  # what was refused last, until the view changes
        self.refused.connect(self._on_refused)

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
        mm_per_second: float = 0.0,
        gains: Mapping[str, float] | None = None,
        bad_channels: Iterable[str] = (),
    ) -> None:
        """Show a recording from `start` seconds on, in the montage named if it can be derived.

        `page_seconds`, `mm_per_second`, the `gains` of single rows and the `bad_channels` are those it was last looked
        at with.
        """
        self._take_keeper(recording)
        self.recording = recording
        self.prediction = self.mains = None
        self.bad_channels, self.channel_states = frozenset(bad_channels) & frozenset(recording.ch_names), {}
        name = montage if montage and not self.refusal_of(montage) else default_montage(recording)
        self.montage = self._build(name)
        intracranial = any(c.type in ("seeg", "ecog") for c in recording.channels)
        scalp = any(c.type == "eeg" for c in recording.channels)
        self._is_odd = False
        self.view = replace(
            self.view,
            montage=name,
            page_seconds=page_seconds or self.habits.page_seconds,
            mm_per_second=mm_per_second if page_seconds else self.habits.mm_per_second,
            gains=tuple(sorted((name, gain) for name, gain in (gains or {}).items() if gain > 0)),
            **self.habits.fields(INTRACRANIAL if intracranial and not scalp else EEG),
        )
        self.window = self.page_at(start)
        self.opened.emit(recording)
        self.marks_changed.emit(self.marks)
        self.prediction_changed.emit(None)

    def go_to(self, start: float) -> None:
        """Move the page so that it begins at `start`, kept inside the recording."""
        window = self.page_at(start)
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
        if "page_seconds" in changes and "mm_per_second" not in changes:
            changes["mm_per_second"] = 0.0
        view = replace(self.view, **changes)  # type: ignore[arg-type]
        if view == self.view and start is None:
            self._forget_refusal()
            return
        if view.montage != self.view.montage and self.recording is not None:
            try:
                self.montage = self._build(view.montage)
            except AnalysisError as error:
                self.refused.emit(str(error))
                return
        self.habits.learn(view, self._is_odd)
        before, self.view = self.view, view
        # The window is settled before anyone hears of the change, so that each listener asks for the right page once.
        anchor = self.window.start if start is None else start
        window = self.page_at(anchor)
        moved = window != self.window
        self.window = window
        self.view_changed.emit(view, before)
        if moved:
            self.window_changed.emit(window)
        self._forget_refusal()

    def _on_refused(self, sentence: str) -> None:
        self._refusal = sentence

    def _forget_refusal(self) -> None:
        sentence, self._refusal = self._refusal, ""
        if sentence:
            self.refusal_over.emit(sentence)

    def reset_view(self) -> None:
        """Look at the recording as one does that is opened for the first time, at the same place."""
        fresh = View()
        montage = default_montage(self.recording) if self.recording is not None else fresh.montage
        if self.view.page_kind == INTRACRANIAL:
            fresh = replace(fresh, page_kind=INTRACRANIAL, uv_per_mm=INTRACRANIAL_SENSITIVITY)
        self.change_view(**{**vars(fresh), "montage": montage})

    def refusal_of(self, montage: str) -> str:
        """Why a montage cannot be derived for the open recording; empty when it can."""
        if self.recording is None:
            return ""
        return refusal(montage, self.recording, self._left_out(), self.montage_options)

    def set_bad_channels(self, names: Iterable[str]) -> None:
        """Mark these channels as bad, and no others: averages and neighbours do without them from now on."""
        known = frozenset(self.recording.ch_names) if self.recording is not None else frozenset()
        bad = frozenset(names) & known
        if bad != self.bad_channels:
            self.bad_channels = bad
            self.bad_channels_changed.emit(bad)
            self._rebuild_montage()

    def set_channel_states(self, states: Mapping[str, str]) -> None:
        """Take what was found of the channels: flat ones and those without signal stay out of averages too."""
        self.channel_states = dict(states)
        self._rebuild_montage()

    def set_montage_options(self, options: MontageOptions) -> None:
        """Take which side stands above, and the montages that the reader wrote."""
        if options != self.montage_options:
            self.montage_options = options
            self._rebuild_montage()

    def _left_out(self) -> dict[str, str]:
        faulty = {name: state for name, state in self.channel_states.items() if state in (FLAT, MISSING)}
        return faulty | dict.fromkeys(self.bad_channels, MARKED_BAD)

    def _build(self, montage: str) -> Montage:
        assert self.recording is not None
        return build_montage(montage, self.recording, self._left_out(), self.montage_options)

    def _rebuild_montage(self) -> None:
        """Make the montage in force anew; where that cannot be any more, the usual one takes its place, in words."""
        if self.recording is None:
            return
        try:
            montage = self._build(self.view.montage)
        except AnalysisError as error:
            self.change_view(montage=default_montage(self.recording))
            self.refused.emit(str(error))
            return
        if montage != self.montage:
            self.montage = montage
            self.montage_changed.emit(montage)

    def step_sensitivity(self, steps: int) -> None:
        """Make the traces taller (positive) or flatter by steps of the clinical scale."""
        self.change_view(uv_per_mm=float(step(SENSITIVITIES, self.view.uv_per_mm, -steps)))

    def make_readable(self, spread: float) -> bool:
        """Open flatter where amplitudes, `spread` in microvolts, are beyond belief; whether that was so.

        Such a file is probably wrong by a power of ten, and at a clinical sensitivity it is one black surface.
        """
        if not spread > _BEYOND_BELIEF:
            return False
        self._is_odd = True
        flat = next((s for s in SENSITIVITIES if spread / s <= _READABLE_MM), SENSITIVITIES[-1])
        # Whatever is wrong with the file's unit holds for hearts and muscles too.
        body = {kind: replace(self.view.settings_of(kind), uv_per_mm=None) for kind in BODY_KINDS}
        self.change_view(uv_per_mm=float(flat), kinds=kept_kinds({**dict(self.view.kinds), **body}))
        return True

    def set_file_marks(self, marks: Marks) -> None:
        """Take the annotations that the recording itself carries, numbered and sorted where they were read."""
        self.keeper.set_file_marks(marks)

    def add_annotations(self, annotations: Iterable[Annotation], label: str = "Add marks") -> tuple[Annotation, ...]:
        """Add annotations, such as those of a file chosen by the reader, as one step that can be undone."""
        return self.keeper.add(annotations, label, self._background)

    def hide_types(self, names: Iterable[str]) -> None:
        """Draw all marks and model events but those of these types, by what a person calls them."""
        hidden = frozenset(names)
        if hidden != self.hidden_types:
            self.hidden_types = hidden
            self.hidden_types_changed.emit(hidden)

    def add_events(self, events: Iterable[Annotation], label: str, tell: Callable[[int, int], None]) -> None:
        """Add events of a file but for those that are there already; `tell(added, all)` when it is known."""
        self.keeper.add_missing(events, label, self._background, tell)

    def close(self) -> None:
        """Let go of the marks; call it when the window closes."""
        self.closed.emit()
        self._let_keeper_go()

    def hold_marks(self) -> Callable[[], None]:
        """Keep the marks of the open recording alive whatever is opened next, until the answer is called."""
        recording_id = self._kept
        if not recording_id:
            return lambda: None
        self._shelf.take(recording_id)
        return partial(self._shelf.give_back, recording_id)

    def _take_keeper(self, recording: Recording) -> None:
        self._let_keeper_go()
        self.keeper = self._shelf.take(recording.id, recording)
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

    def page_at(self, start: float) -> Window:
        """The page that begins at a time, kept inside the recording."""
        length = self.view.page_seconds
        last = max(0.0, self.duration - length)
        begin = min(max(0.0, start), last)
        return Window(begin, begin + length)

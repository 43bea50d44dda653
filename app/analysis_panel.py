"""The inspector's tab for analyses of models: what is asked, how far it is, and the panel that shows the answer."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtGui import QShowEvent
from PyQt6.QtWidgets import QProgressBar, QPushButton, QToolButton, QVBoxLayout, QWidget

from analysis.analyses import Analysis
from analysis.analysis_tables import heading
from analysis.annotation import Annotation
from analysis.recording import Recording, Window
from analysis.simulation.truth import Seizure
from app.analysis_form import OptionForm
from app.session import ModelChoice
from viewers.panels import ANALYSIS_PANELS, ANY_ARRAY
from viewers.panels.base import Choice, Chooser, Panel, as_sentence, check_box, line_of, note
from viewers.panels.kind_panel import MEAN, KindPanel
from viewers.theme import Theme

if TYPE_CHECKING:
    from analysis.kinds import Option

SPANS: list[Choice] = [("page", "Page"), ("selection", "Selection"), ("recording", "Whole recording")]
COMPUTING = "computing…"
_ALL_ROOM = 1000
_NO_KINDS = (
    "{model} only finds seizures. To look into a model, load a checkpoint of one of the families under Checkpoints, "
    "or list one with random weights there."
)
_NO_RESULT = "Nothing has been computed yet: press Run."


class AnalysisTab(Panel):
    """Built when it is first shown, so that a window that never asks pays nothing."""

    title = "Analyse"
    tip = "Look into the chosen model (Shift+R)"
    draws = Analysis

    kind_chosen = pyqtSignal(str)
    span_chosen = pyqtSignal(str)
    follow_chosen = pyqtSignal(bool)
    partner_chosen = pyqtSignal(str)
    option_set = pyqtSignal(str, object)
    run_requested = pyqtSignal()
    cancel_requested = pyqtSignal()
    part_chosen = pyqtSignal(str)
    time_requested = pyqtSignal(float)
    kind_wished = pyqtSignal(str)
    figure_requested = pyqtSignal()
    numbers_requested = pyqtSignal()
    built = pyqtSignal()

    def __init__(self) -> None:
        super().__init__()
        self.is_built = False
        self._panels: dict[str, KindPanel] = {}  # by "module:class"
        self._result: Analysis | None = None
        self._window: Window | None = None
        self._selection: Window | None = None
        self._recording: Recording | None = None
        self._seizure: Seizure | None = None
        self._palettes: dict[str, tuple[str, str]] = {}  # by kind, those that the reader chose
        self._part = MEAN
        self._shown: KindPanel | None = None

    def build(self) -> None:
        """Create the widgets, once."""
        if self.is_built:
            return
        self.is_built = True
        self._hint = note()
        self.kind = Chooser("Kind of analysis", tip="What is looked at in the model")
        self._model = note()
        self.partner = Chooser("Second model", tip="The model that is compared with")
        self.span = Chooser("Span of the analysis", SPANS)
        self.follow = check_box("Follow", "Follow the page: compute again when another page has come to rest")
        self._more = QToolButton()
        self._more.setText("Options")
        self._more.setCheckable(True)
        self._more.setArrowType(Qt.ArrowType.RightArrow)
        self._more.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._more.setAutoRaise(True)
        self._more.setToolTip("Options of this kind of analysis")
        self.run = QPushButton("Run")
        self.run.setProperty("accent", True)
        self.run.setToolTip("Compute this")
        self.stop = QPushButton("Cancel")
        self.stop.setToolTip("Stop computing (Esc)")
        self.form = OptionForm()
        self.form.hide()
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setRange(0, 1000)
        self._progress = note()
        self._state = note()
        self._error = note(role="warning")
        self._holder = QWidget()
        self._place = QVBoxLayout(self._holder)
        self._place.setContentsMargins(0, 0, 0, 0)
        self.arrays = check_box("All arrays", "Show every array as it is, in place of the drawing")
        self.figure = QPushButton("Figure…")
        self.figure.setToolTip("Save the figure as SVG, PDF or PNG")
        self.numbers = QPushButton("Numbers…")
        self.numbers.setToolTip("Save all arrays (.npz) with what they mean (.json)")
        self._lay_out()
        self._connect()
        self.set_progress(None)
        self.built.emit()

    def _lay_out(self) -> None:
        for line in (line_of(self.kind), line_of(self.partner), line_of(self.span, self.follow)):
            self.column.addLayout(line)
        self.column.insertWidget(0, self._hint)
        self.column.insertWidget(2, self._model)
        buttons = line_of(self._more)
        buttons.addStretch(1)
        buttons.addWidget(self.stop)
        buttons.addWidget(self.run)
        self.column.addLayout(buttons)
        for widget in (self.form, self._bar, self._progress, self._error, self._state):
            self.column.addWidget(widget)
        self.column.addWidget(self._holder, _ALL_ROOM)
        self.column.addLayout(line_of(self.arrays))  # beside the buttons large letters would have no room
        self.column.addLayout(line_of(self.figure, self.numbers))
        self.column.addStretch(1)  # lines stay together where there is no answer

    def _connect(self) -> None:
        self.kind.chosen.connect(self.kind_chosen)
        self.span.chosen.connect(self.span_chosen)
        self.partner.chosen.connect(self.partner_chosen)
        self.follow.clicked.connect(self.follow_chosen)
        self.form.changed.connect(self.option_set)
        self.run.clicked.connect(self.run_requested)
        self.stop.clicked.connect(self.cancel_requested)
        self._more.toggled.connect(self._on_more)
        self.arrays.toggled.connect(self._on_arrays)
        self.figure.clicked.connect(self.figure_requested)
        self.numbers.clicked.connect(self.numbers_requested)

    def showEvent(self, event: QShowEvent | None) -> None:
        """Build what is now needed."""
        self.build()
        super().showEvent(event)

    # What is asked

    def show_kinds(self, kinds: Sequence[Choice], model: ModelChoice | None) -> None:
        """List what the chosen model gives."""
        self.kind.set_choices(kinds)
        self._model.setText(f"of {model.title}" if model is not None else "")
        self._hint.setText("" if kinds else _NO_KINDS.format(model=model.title if model is not None else "No model"))
        self._hint.setVisible(not kinds)
        self.partner.hide()
        for widget in (self.kind, self._model, self.span, self.follow, self._more, self.run, self._state):
            widget.setVisible(bool(kinds))
        self.form.setVisible(bool(kinds) and self._more.isChecked())

    def show_partners(self, partners: Sequence[Choice], chosen: str) -> None:
        """List the models that the chosen one can be compared with, by their checkpoints."""
        self.partner.set_choices([("", "by itself"), *partners])
        self.partner.choose(chosen)
        self.partner.setVisible(bool(partners))

    def show_choices(
        self, kind: str, span: str, follows: bool, options: Sequence[Option], values: Mapping[str, Any]
    ) -> None:
        """Show what is chosen of a kind."""
        self.kind.choose(kind)
        self.span.choose(span)
        self.follow.setVisible(bool(self.kind.count()) and span == "page")
        self.follow.setChecked(follows)
        self.form.show_options(options, values)
        self._more.setEnabled(bool(options))

    def _on_more(self, on: bool) -> None:
        self._more.setArrowType(Qt.ArrowType.DownArrow if on else Qt.ArrowType.RightArrow)
        self.form.setVisible(on)

    # What is answered

    @property
    def shown(self) -> KindPanel | None:
        """The panel that shows the answer."""
        return self._shown

    def set_result(self, result: Analysis | None) -> None:
        """Show an answer, or that there is none."""
        self._result = result
        if not self.is_built:
            return
        self._error.hide()
        panel = self._panel_for(result)
        if panel is not None:
            self._bring(panel)
            if panel.theme != self._colours:
                panel.set_theme(self._colours)
            if self._window is not None:
                panel.set_window(self._window)
            panel.set_selection(self._selection)
            panel.set_result(result)
            panel.set_part(self._part)
        there = result is not None
        self._holder.setVisible(there)
        for widget in (self.arrays, self.figure, self.numbers):
            widget.setVisible(there)
        self._state.setText("" if there else _NO_RESULT)
        self._state.setVisible(not there and bool(self.kind.count()))

    def set_stale(self, why: str) -> None:
        """Fade the answer, and say why; empty: it is what is asked for."""
        panel = self.shown
        if panel is not None and self._result is not None:
            panel.set_stale(why)
            # Of what is being computed the bar tells.
            self._state.setText(as_sentence(f"{why} than is chosen now: press Run"))
            self._state.setVisible(bool(why) and why != COMPUTING)

    def set_progress(self, progress: tuple[float, str] | None) -> None:
        """Show how far the work is, 0..1, and what it does; None: nothing is being computed."""
        if not self.is_built:
            return
        running = progress is not None
        for widget in (self._bar, self._progress, self.stop):
            widget.setVisible(running)
        if self._result is None and self._state.text() == _NO_RESULT:
            self._state.setVisible(not running and self._error.isHidden() and bool(self.kind.count()))
        if progress is not None:
            self._bar.setValue(round(1000 * progress[0]))
            self._progress.setText(progress[1])

    def refuse(self, sentence: str) -> None:
        """Say why there is no answer."""
        self.set_result(None)
        if self.is_built:
            self._state.hide()
            self._error.setText(as_sentence(sentence.rstrip(".")))
            self._error.show()

    def set_busy(self) -> None:
        """Fade what is shown until it is renewed."""
        self.set_stale(COMPUTING)

    def set_window(self, window: Window) -> None:
        """Hear which page is on screen."""
        self._window = window
        if self.shown is not None:
            self.shown.set_window(window)

    def set_recording(self, recording: Recording) -> None:
        """Hear which recording is open."""
        self._recording, self._selection = recording, None
        for panel in self._panels.values():
            panel.set_recording(recording)

    def set_focus(self, seizure: Seizure | None) -> None:
        """Hear where the simulated seizure on the page really begins."""
        self._seizure = seizure
        for panel in self._panels.values():
            panel.set_focus(seizure)

    def set_selection(self, window: Window | None) -> None:
        """Hear which span is selected."""
        self._selection = window
        if self.shown is not None:
            self.shown.set_selection(window)

    def set_event(self, event: Annotation | None) -> None:
        """Speak of the event under the cursor."""
        if self.shown is not None and self.isVisible():
            self.shown.set_event(event)

    def set_time(self, time: float | None) -> None:
        """Speak of the moment under the cursor."""
        if self.shown is not None and self._result is not None and self.isVisible():
            self.shown.set_time(time)

    def set_part(self, part: str) -> None:
        """Hear which part is shown on the traces."""
        self._part = part
        if self.shown is not None and self._result is not None:
            self.shown.set_part(part)

    def set_theme(self, theme: Theme) -> None:
        """Take the colours."""
        super().set_theme(theme)
        for panel in self._panels.values():
            panel.set_theme(self._colours if panel is self._shown else theme)

    def set_colours(self, kind: str, amounts: str, balances: str) -> None:
        """Take the colours that the reader chose for a kind on the traces, by their names, for its panel too."""
        if self._palettes.get(kind, ("", "")) != (amounts, balances):
            self._palettes[kind] = amounts, balances
            if self._result is not None and self._result.kind == kind:
                self.set_result(self._result)

    @property
    def _colours(self) -> Theme:
        """Those of the kind on show."""
        amounts, balances = self._palettes.get(self._result.kind if self._result is not None else "", ("", ""))
        return replace(self.theme, amounts=amounts, balances=balances)

    def table(self) -> str:
        """The numbers of the panel on show."""
        if self._result is None or self.shown is None:
            return ""
        return self.shown.table() or "\n".join(heading(self._result))

    def _on_arrays(self, _on: bool) -> None:
        self.set_result(self._result)

    def _bring(self, panel: KindPanel) -> None:
        # A hidden panel takes no room, as a page of a stack would.
        if self._shown is not None and self._shown is not panel:
            self._shown.hide()
        self._shown = panel
        panel.show()

    def _panel_for(self, result: Analysis | None) -> KindPanel | None:
        """The panel of a kind, made when it is first needed."""
        if result is None:
            return self.shown
        name = ANY_ARRAY if self.arrays.isChecked() else ANALYSIS_PANELS.get(result.kind, ANY_ARRAY)
        if name not in self._panels:
            module, _, kind = name.partition(":")
            panel: KindPanel = getattr(importlib.import_module(module), kind)()
            panel.set_theme(self.theme)
            panel.set_recording(self._recording)
            panel.set_focus(self._seizure)
            panel.part_chosen.connect(self.part_chosen)
            panel.time_requested.connect(self.time_requested)
            panel.kind_wished.connect(self.kind_wished)
            panel.hide()
            self._place.addWidget(panel)
            self._panels[name] = panel
        return self._panels[name]

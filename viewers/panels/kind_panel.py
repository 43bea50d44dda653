"""What the panels of analyses share: the words that say what they were made from, and how old numbers are shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QLabel

from analysis.analyses import Analysis, NamedArray
from analysis.analysis_tables import options_of, span_of
from analysis.annotation import Annotation
from analysis.recording import Recording, Window
from analysis.simulation.truth import Seizure
from viewers.panels.base import Panel, as_sentence, note
from viewers.panels.plot import Plot
from viewers.theme import Theme, px
from viewers.time_scale import time_text

MEAN = "mean"
RANDOM_NOTE = "These are random weights"  # as notes of checkpoints begin
RANDOM = "Random weights: this shows how the analysis works and says nothing about the recording"
_BUSY = "computing…"
_MARKS = {
    "paper": "as the paper defines it",
    "reference": "as the authors' own code has it",
    "our definition": "the paper gives no formula",
}


class KindPanel(Panel):
    """Draws an Analysis; subclasses put plots below the caption and fill them in `show_result`.

    `part_chosen` asks for a part (a layer, "mean") on the traces, `time_requested` for the page of a time, and
    `kind_wished` for another kind of analysis of the same.
    """

    draws = Analysis
    said: tuple[str, ...] = ()  # beginnings of notes whose words the panel has elsewhere
    part_chosen = pyqtSignal(str)
    time_requested = pyqtSignal(float)
    kind_wished = pyqtSignal(str)

    def __init__(self) -> None:
        super().__init__()
        self.result: Analysis | None = None
        self._random = note(RANDOM, "warning")
        self._caption = note()
        self._notes = note()
        self._sentence = note(role="warning")
        for text in (self._random, self._caption, self._sentence):
            self.column.addWidget(text)
        self.make_body()
        self.column.addWidget(self._notes)
        self.column.addStretch(1)
        self.set_result(None)

    # For subclasses

    def make_body(self) -> None:
        """Create the plots, once."""
        raise NotImplementedError

    def show_result(self, result: Analysis) -> None:
        """Fill the plots."""
        raise NotImplementedError

    def body(self) -> Sequence[object]:
        """Widgets that are shown with a result only, and hidden without."""
        raise NotImplementedError

    def warnings(self, result: Analysis) -> Iterable[str]:
        """Sentences that must be read before the numbers are believed."""
        return ()

    # As all panels

    def set_result(self, result: Analysis | None) -> None:
        """Show a result, or none."""
        self.result = result
        there = result is not None
        for widget in self.body():
            widget.setVisible(there)  # type: ignore[attr-defined]
        self._random.setVisible(there and result.random_weights)
        self._caption.setVisible(there)
        self._sentence.setVisible(False)
        self._notes.setVisible(False)
        self.set_stale("")
        if result is None:
            return
        self._caption.setText(caption_of(result))
        warnings = list(self.warnings(result))
        self._sentence.setText("\n".join(warnings))
        self._sentence.setVisible(bool(warnings))
        # What the badge says already, and what warnings say, is not said again.
        said = (RANDOM_NOTE, *self.said, *(" ".join(text.split()[:3]) for text in warnings))
        notes = [text for text in dict.fromkeys(result.notes) if not text.startswith(said)]
        self._notes.setText("\n".join(notes))
        self._notes.setVisible(bool(notes))
        self.show_result(result)

    def set_busy(self) -> None:
        """Fade what is shown until it is renewed."""
        self.set_stale(_BUSY)

    def set_stale(self, why: str) -> None:
        """Fade what is shown, and say why; empty: it is what was asked for."""
        for plot in self.findChildren(Plot):
            plot.stale_text = why
            plot.set_stale(bool(why))

    def refuse(self, sentence: str) -> None:
        """Say why there are no numbers."""
        self.set_result(None)
        self._sentence.setText(as_sentence(sentence))
        self._sentence.setVisible(True)

    def set_window(self, window: Window) -> None:
        """Hear which page is on screen."""

    def set_recording(self, recording: Recording | None) -> None:
        """Hear which recording is open, for the places of its channels."""

    def set_selection(self, window: Window | None) -> None:
        """Hear which span is selected."""

    def set_event(self, event: Annotation | None) -> None:
        """Hear which event is under the cursor."""

    def set_focus(self, seizure: Seizure | None) -> None:
        """Hear where the simulated seizure on the page really begins; None where there is none."""

    def set_part(self, part: str) -> None:
        """Hear which part is shown on the traces."""

    def set_theme(self, theme: Theme) -> None:
        """Take the colours."""
        super().set_theme(theme)
        for plot in self.findChildren(Plot):
            plot.set_theme(theme)


class Heading(QLabel):
    """The name of a plot with the mark of who defined what it shows; hovering tells its meaning."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._name = text
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setWordWrap(True)
        self.name = self.mark = ""
        self.set_array(None)

    def set_array(self, array: NamedArray | None, more: str = "", name: str = "") -> None:
        """Take meaning and mark from an array; `more` stands after the name, lighter."""
        self.name = name or self._name
        self.mark = f"[{array.source}]" if array is not None and array.source else ""
        lighter = " · ".join(filter(None, (more, self.mark)))
        self.setText(f"<b>{escape(self.name)}</b> <span style='font-size: {round(px(11))}px'>{escape(lighter)}</span>")
        self.setToolTip("" if array is None else meaning_of(array))


def meaning_of(array: NamedArray) -> str:
    """What hovering says of a quantity."""
    unit = f", in {array.unit}" if array.unit != "1" else ""
    mark = f"\n[{array.source}]: {_MARKS[array.source]}" if array.source else ""
    return f"{array.meaning[:1].upper()}{array.meaning[1:]}{unit}{mark}"


def caption_of(result: Analysis) -> str:
    """Models, recording, span, how much of it, and the options."""
    path = str(result.provenance.get("recording", {}).get("path", "")).replace("\\", "/")
    start, stop = span_of(result)
    span = f"{time_text(start, 0.1)} to {time_text(stop, 0.1)}"
    first = [" × ".join(result.models), path.rsplit("/", 1)[-1], span]
    options = ", ".join(f"{name} {_plain(value)}" for name, value in options_of(result).items() if value != "")
    second = [amount_of(result), options]
    return "\n".join(" · ".join(filter(None, parts)) for parts in (first, second) if any(parts))


def amount_of(result: Analysis) -> str:
    """How much was looked at: n."""
    facts = result.facts
    if "n_rows" in facts:
        return f"n = {facts['n_rows']:,} {facts.get('rows', 'rows')}"
    count = facts.get("n_windows")
    if count is None:
        return ""
    seconds = f" of {facts['window_seconds']:g} s" if "window_seconds" in facts else ""
    return f"n = {count:,} window{'s' if count != 1 else ''}{seconds}"


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    return ", ".join(part.replace("\\", "/").rsplit("/", 1)[-1] for part in str(value).split(", "))

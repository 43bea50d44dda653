"""What the prediction on screen was computed from, and how it agrees with the human marks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import QComboBox, QVBoxLayout, QWidget

from analysis.recording import Recording
from analysis.results import SeizurePrediction
from analysis.scoring import ScoringRule, number_of_segments
from analysis.time_words import duration_words
from app.left_out import count_words, left_out_words, stale_words
from app.panel import FactRow, label, set_role

COMPARED = (("The model's events as found", "raw"), ("Reviewed: accepted and undecided", "reviewed"))


class PredictionPanel(QWidget):
    """Names the model, its input and what could not be scored; stale numbers are never left standing."""

    def __init__(self) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(3)
        self._title = label("No prediction yet", "strong", wrap=True)
        self._hint = label("Choose a model and press R.", "muted", wrap=True)
        self._warning = label("", "warning", wrap=True)
        self._stale = label("", "warning", wrap=True)
        self._left_out = label("", wrap=True)
        self._prediction: SeizurePrediction | None = None
        self._bad: frozenset[str] = frozenset()
        self._rows = {
            name: FactRow(name) for name in ("Scored", "Channels", "Not scored", "Highest p", "Device", "Time")
        }
        self._caveat = label("", "muted", wrap=True)
        column.addWidget(self._title)
        column.addWidget(self._warning)
        column.addWidget(self._stale)
        column.addWidget(self._hint)
        for row in self._rows.values():
            row.left.setProperty("role", "muted")
            column.addWidget(row)
        column.addWidget(self._left_out)
        column.addWidget(self._caveat)
        self.show_prediction(None, None)

    def show_prediction(self, prediction: SeizurePrediction | None, recording: Recording | None) -> None:
        """Describe a prediction, or say that there is none."""
        there = prediction is not None and recording is not None
        self._hint.setVisible(not there)
        for row in self._rows.values():
            row.setVisible(there)
        self._caveat.setVisible(there)
        self._warning.setVisible(False)
        self._left_out.setVisible(False)
        self._prediction = prediction
        self.show_bad_channels(self._bad)
        if prediction is None or recording is None:
            self._title.setText("No prediction yet")
            return
        self._title.setText(prediction.model_title + ("" if prediction.complete else " — running"))
        if prediction.random_weights:
            self._warning.setText("Random weights: these numbers mean nothing about this recording")
            self._warning.setVisible(True)
        # Of random weights the warning above says all there is to say.
        self._caveat.setVisible(not prediction.random_weights)
        self._caveat.setText(prediction.caveat[:1].upper() + prediction.caveat[1:])
        self._fill(prediction, recording)

    def show_bad_channels(self, names: Iterable[str]) -> None:
        """Take the channels that are marked bad now, and say where the prediction was made with other ones."""
        self._bad = frozenset(names)
        text = stale_words(self._prediction, self._bad) if self._prediction is not None else ""
        self._stale.setText(text)
        self._stale.setVisible(bool(text))

    def _fill(self, prediction: SeizurePrediction, recording: Recording) -> None:
        scored = float(prediction.durations.sum())
        self._set("Scored", f"{duration_words(scored)} of {duration_words(recording.duration)}")
        self._set("Channels", count_words(prediction, recording))
        left_out = left_out_words(prediction, recording)
        self._left_out.setText(left_out)
        self._left_out.setVisible(bool(left_out))
        names = "\n".join(f"{name}: {why}" for name, why in prediction.left_out)
        self._rows["Channels"].setToolTip(names and f"Left out:\n{names}")
        missing = sum(stop - start for start, stop, _ in prediction.not_scored)
        nothing = "nothing" if prediction.complete else "still running"
        self._set("Not scored", duration_words(missing) if missing else nothing)
        reasons = "\n".join(f"{a:.1f}-{b:.1f} s: {why}" for a, b, why in prediction.not_scored[:20])
        self._rows["Not scored"].setToolTip(reasons)
        peak = float(prediction.probability.max()) if len(prediction.probability) else None
        self._set("Highest p", "—" if peak is None else f"{peak:.3f}")
        self._set("Device", str(prediction.provenance.get("device", "—")))
        wall = prediction.provenance.get("wall_time")
        self._set("Time", f"{wall:.1f} s" if isinstance(wall, (int, float)) else "—")

    def _set(self, name: str, value: str) -> None:
        self._rows[name].set(name, value, "")


class AgreementPanel(QWidget):
    """Kappa, events and false alarms of the model's events against the file's, with the rule that counts them."""

    compared_changed = pyqtSignal(str)  # "raw" or "reviewed"

    def __init__(self) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(3)
        self._compared = QComboBox()
        self._compared.setAccessibleName("Which events of the model are compared")
        self._compared.setToolTip("What is compared with the annotated seizures")
        for title, which in COMPARED:
            self._compared.addItem(title, which)
        self._compared.activated.connect(self._on_compared)
        column.addWidget(self._compared)
        self._state = label("", "muted", wrap=True)
        column.addWidget(self._state)
        names = ("Cohen κ", "Events found / false", "Sensitivity", "Precision", "False alarms", "Rule")
        self._rows = {name: FactRow(name) for name in names}
        for row in self._rows.values():
            row.left.setProperty("role", "muted")
            column.addWidget(row)
        column.addStretch(1)
        self.say("Run a model on a recording with annotated seizures to see how they agree.")

    def _on_compared(self, _row: int) -> None:
        self.compared_changed.emit(self._compared.currentData())

    def show_compared(self, which: str) -> None:
        """Say which events of the model the figures speak of: "raw" or "reviewed" ones."""
        self._compared.setCurrentIndex(self._compared.findData(which))

    def say(self, text: str) -> None:
        """Show a sentence in place of numbers."""
        self._state.setText(text)
        set_role(self._state, "muted")
        self._state.show()
        for row in self._rows.values():
            row.hide()

    def show_scores(self, scores: Mapping[str, Any], random_weights: bool = False) -> None:
        """Show the figures of `score`; what is undefined is said to be, and what comes of random weights too."""
        self._state.setText("Random weights: agreement by chance" if random_weights else "")
        self._state.setVisible(random_weights)
        set_role(self._state, "warning")
        event, kappa = scores["event"], scores["kappa"]
        # The paper's figure is the mean over draws; a recording of one class has none, and then all segments serve.
        value = kappa["all"] if kappa["draws_mean"] is None else kappa["draws_mean"]
        word = f"  {kappa['word'].lower()}" if kappa["word"] else ""
        self._set("Cohen κ", _figure(value, "{:.2f}") + word)
        self._say_segments(scores["duration"])
        self._set("Events found / false", f"{event['tp']} of {event['n_reference']}  /  {event['fp']}")
        self._set("Sensitivity", _figure(event["sensitivity"], "{:.0%}"))
        self._set("Precision", _figure(event["precision"], "{:.0%}"))
        self._set("False alarms", _figure(scores["fp_per_hour"], "{:.1f} per hour"))
        self._set("Rule", "SzCORE, any overlap")
        self._rows["Rule"].setToolTip(str(scores.get("rule", "")))
        for row in self._rows.values():
            row.show()

    def _set(self, name: str, value: str) -> None:
        self._rows[name].set(name, value, "")
        set_role(self._rows[name].right, "muted" if value == "undefined" else "")

    def _say_segments(self, duration: float) -> None:
        """Say what kappa is counted over, which makes it another figure than the one of two raters."""
        rule, row = ScoringRule(), self._rows["Cohen κ"]
        n = number_of_segments(duration, rule.segment)
        drawn = min(n, rule.segments_per_draw)
        row.left.setText(f"κ over {'1 segment' if n == 1 else f'{drawn:,} segments'} of {rule.segment:g} s")
        draws = f", mean of {rule.n_draws} draws of {drawn:,} of the {n:,} segments" if drawn < n else ""
        tip = (
            f"Cohen's kappa over whole segments of {rule.segment:g} s{draws}: a segment counts as marked when a "
            "seizure touches it. Two raters (Ctrl+R) are compared over seconds, so that figure differs."
        )
        for widget in (row, row.left):
            widget.setToolTip(tip)


def _figure(value: float | None, pattern: str) -> str:
    return "undefined" if value is None else pattern.format(value).replace("-", "−")

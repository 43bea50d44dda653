"""All that is known of one mark, to be changed: type, text, times, channels, confidence, comment and tag."""

from __future__ import annotations

from dataclasses import replace

from PyQt6.QtCore import QSize, Qt
from PyQt6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QCompleter,
    QDialog,
    QDialogButtonBox,
    QDoubleSpinBox,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from analysis.annotation import Annotation
from analysis.recording import Recording
from analysis.vocabulary import Vocabulary
from app.panel import label, set_role
from app.time_text import readings
from viewers.mark_words import clock_time, exact_time, history_words, seconds_of, who
from viewers.theme import px

_FREE_TEXT = "free text"
_SAME_TIME = 5e-4  # the fields show milliseconds: what is nearer was not changed


class _TimeField(QWidget):
    """A time from the start that can be typed in any of the usual ways, with the time of day beside it."""

    def __init__(self, name: str, seconds: float, recording: Recording) -> None:
        super().__init__()
        self._recording = recording
        self._seconds = seconds
        self.edit = QLineEdit(exact_time(seconds))
        self.edit.setAccessibleName(name)
        self.edit.setToolTip("From the start, such as 15.2, 0:15.2 or 0:00:15.2, or a time of day, such as @10:41:30")
        self._clock = label("", "muted")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.edit, 1)
        row.addWidget(self._clock)
        self.edit.textChanged.connect(self._show_clock)
        self._show_clock()

    def seconds(self) -> float | None:
        """The time that is typed in seconds, exactly as it was where it was not changed; None for no time."""
        text, duration = self.edit.text(), self._recording.duration
        if text == exact_time(self._seconds):
            return self._seconds
        seconds = seconds_of(text)
        if seconds is not None:
            return seconds if seconds <= duration else None
        found = readings(text, self._recording.start_datetime, duration, self._seconds)
        return found[0].seconds if found else None

    def set_seconds(self, seconds: float) -> None:
        """Show a time."""
        self._seconds = seconds
        self.edit.setText(exact_time(seconds))

    def _show_clock(self) -> None:
        seconds = self.seconds()
        self._clock.setText("" if seconds is None else clock_time(self._recording.start_datetime, seconds))


class _ChannelPicker(QWidget):
    """All channels, or those that are checked."""

    def __init__(self, names: tuple[str, ...], chosen: tuple[str, ...]) -> None:
        super().__init__()
        self._names = (*names, *(name for name in chosen if name not in names))
        self.everything = QCheckBox("All channels")
        self.everything.setChecked(not chosen)
        self.list = QListWidget()
        self.list.setAccessibleName("Channels of the mark")
        self.list.setFlow(QListWidget.Flow.LeftToRight)
        self.list.setWrapping(True)
        self.list.setResizeMode(QListWidget.ResizeMode.Adjust)
        self.list.ensurePolished()  # the style sheet has larger letters than the list was made with
        widest = max((self.list.fontMetrics().horizontalAdvance(name) for name in self._names), default=0)
        room = QSize(widest + round(px(44)), round(px(20)))
        self.list.setGridSize(room)
        self.list.setFixedHeight(round(px(112)))
        for name in self._names:
            item = QListWidgetItem(name)
            item.setSizeHint(room)
            item.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(Qt.CheckState.Checked if name in chosen else Qt.CheckState.Unchecked)
            self.list.addItem(item)
        self.list.setEnabled(bool(chosen))
        self.everything.toggled.connect(self.list.setDisabled)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.everything)
        column.addWidget(self.list)

    def ch_names(self) -> tuple[str, ...]:
        """The channels that are checked, in the order of the recording; empty for all of them."""
        if self.everything.isChecked():
            return ()
        items = (self.list.item(i) for i in range(self.list.count()))
        return tuple(item.text() for item in items if item is not None and item.checkState() == Qt.CheckState.Checked)


class MarkDialog(QDialog):
    """Edits one mark; `before` is the mark as it was, `mark()` as it is in the fields."""

    def __init__(
        self, mark: Annotation, recording: Recording, vocabulary: Vocabulary, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.before = mark
        self._vocabulary = vocabulary
        self._duration = recording.duration
        self.setWindowTitle(f"Edit {mark.title or 'mark'}")
        self.setMinimumWidth(round(px(520)))
        self._make_fields(mark, recording)
        column = QVBoxLayout(self)
        column.addLayout(self._make_form())
        for line in self._facts(mark):
            column.addWidget(label(line, "muted", wrap=True))
        self.problem = label("", "bad", wrap=True)
        column.addWidget(self.problem)
        self.buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Save | QDialogButtonBox.StandardButton.Cancel, Qt.Orientation.Horizontal
        )
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        column.addWidget(self.buttons)
        self._check()
        self.type.setFocus()

    # Fields

    def _make_fields(self, mark: Annotation, recording: Recording) -> None:
        self.type = self._make_type(mark)
        self._typed = self.type.currentText()
        self.text = QLineEdit(self._words(mark))
        self.onset = _TimeField("Start", mark.onset, recording)
        self.stop = _TimeField("End", mark.stop, recording)
        self.length = QDoubleSpinBox()
        self.length.setRange(0.0, max(recording.duration, mark.duration))
        self.length.setDecimals(3)
        self.length.setSuffix(" s")
        self.length.setValue(mark.duration)
        self.channels = _ChannelPicker(recording.ch_names, mark.ch_names)
        self.has_confidence = QCheckBox("Given")
        self.has_confidence.setChecked(mark.confidence is not None)
        self.confidence = QDoubleSpinBox()
        self.confidence.setRange(0.0, 1.0)
        self.confidence.setSingleStep(0.05)
        self.confidence.setDecimals(3)
        self.confidence.setValue(1.0 if mark.confidence is None else mark.confidence)
        self.confidence.setEnabled(mark.confidence is not None)
        self.comment = QPlainTextEdit(mark.review.comment)
        self.comment.setTabChangesFocus(True)
        self.comment.setFixedHeight(round(px(58)))
        self.tag = QLineEdit(self._tag(mark))
        self.has_confidence.toggled.connect(self.confidence.setEnabled)
        self.type.activated.connect(self._on_type)
        self.type.lineEdit().editingFinished.connect(self._on_type_typed)
        self.onset.edit.textEdited.connect(self._on_times)
        self.stop.edit.textEdited.connect(self._on_times)
        self.length.valueChanged.connect(self._on_length)
        self.text.textChanged.connect(self._check)
        self.channels.everything.toggled.connect(self._check)
        self.channels.list.itemChanged.connect(self._check)

    def _make_type(self, mark: Annotation) -> QComboBox:
        box = QComboBox()
        box.setEditable(True)
        box.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        box.addItem(_FREE_TEXT)
        for term in self._vocabulary.terms:
            box.addItem(term.name, term)
            tip = f"{term.group}: {term.tag}" if term.tag else term.group
            box.setItemData(box.count() - 1, tip, Qt.ItemDataRole.ToolTipRole)
        completer = QCompleter(box.model(), box)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        box.setCompleter(completer)
        term = self._vocabulary.meant_by(mark.description)
        box.setCurrentIndex(0 if term is None else max(0, box.findText(term.name)))
        return box

    def _make_form(self) -> QFormLayout:
        form = QFormLayout()
        form.setHorizontalSpacing(14)
        form.setVerticalSpacing(7)
        point = QPushButton("A moment")
        point.setToolTip("Give the mark no length")
        point.clicked.connect(self._make_moment)
        length, confidence = QHBoxLayout(), QHBoxLayout()
        for row, widgets in ((length, (self.length, point)), (confidence, (self.has_confidence, self.confidence))):
            for widget in widgets:
                row.addWidget(widget)
            row.setSpacing(round(px(10)))
            row.addStretch(1)
        fields = (
            ("&Type", self.type),
            ("Te&xt", self.text),
            ("&Start", self.onset),
            ("&End", self.stop),
            ("&Length", length),
            ("C&hannels", self.channels),
            ("Con&fidence", confidence),
            ("&Comment", self.comment),
            ("T&ag", self.tag),
        )
        names = {"&Type": self.type, "&Length": self.length, "Con&fidence": self.confidence}
        for text, field in fields:
            title = label(text)
            buddy = names.get(text, field)
            if isinstance(buddy, _TimeField):
                buddy = buddy.edit
            if isinstance(buddy, QWidget):
                title.setBuddy(buddy)
                buddy.setAccessibleName(buddy.accessibleName() or text.replace("&", ""))
            form.addRow(title, field)
        return form

    @staticmethod
    def _facts(mark: Annotation) -> list[str]:
        """What is known of the mark and cannot be changed here."""
        history = ", ".join([f"by {who(mark)}", *history_words(mark)])
        if mark.is_model:
            history = f"{mark.author.removeprefix('model:')}: {history}"
        columns = [f"{name}: {value}" for name, value in mark.extras if value]
        return [history, *(["Further columns: " + "; ".join(columns)] if columns else [])]

    def _words(self, mark: Annotation) -> str:
        """The text of a mark, in words where it is a type of event tables, as models and files write it."""
        is_code = self._vocabulary.named(mark.description) is None
        term = self._vocabulary.meant_by(mark.description) if is_code else None
        return term.name if term is not None else mark.description

    def _tag(self, mark: Annotation) -> str:
        """The tag of a mark; where it has none, that of the type which the mark names without saying its tag."""
        term = self._vocabulary.meant_by(mark.description)
        return mark.review.tag or (term.tag if term is not None else "")

    # What is typed

    def _on_type(self, index: int) -> None:
        term = self.type.itemData(index)
        self._typed = self.type.currentText()
        if term is not None:
            self.text.setText(term.name)
            self.tag.setText(term.tag)

    def _on_type_typed(self) -> None:
        """A type that was typed: one of the vocabulary, or else a text of the reader's own."""
        typed = self.type.currentText().strip()
        if typed in ("", _FREE_TEXT, self._typed):
            return
        self._typed = typed
        index = self.type.findText(typed, Qt.MatchFlag.MatchFixedString)
        if index > 0:
            self.type.setCurrentIndex(index)
            self._on_type(index)
        else:
            self.text.setText(typed)
            self.tag.clear()  # it was that of another type

    def _on_times(self) -> None:
        onset, stop = self.onset.seconds(), self.stop.seconds()
        if onset is not None and self.length.value() == 0 and self.sender() is self.onset.edit:
            self.stop.set_seconds(stop := onset)  # a moment has no end of its own
        if onset is not None and stop is not None and stop >= onset:
            self.length.blockSignals(True)
            self.length.setValue(stop - onset)
            self.length.blockSignals(False)
        self._check()

    def _on_length(self, value: float) -> None:
        onset = self.onset.seconds()
        if onset is not None:
            self.stop.set_seconds(onset + value)
        self._check()

    def _make_moment(self) -> None:
        self.length.setValue(0.0)

    def _check(self, *_args: object) -> None:
        """Say what cannot be kept."""
        problem = self._problem()
        self.problem.setText(problem)
        set_role(self.problem, "bad")
        button = self.buttons.button(QDialogButtonBox.StandardButton.Save) if hasattr(self, "buttons") else None
        if button is not None:
            button.setEnabled(not problem)

    def _problem(self) -> str:
        onset, stop = self.onset.seconds(), self.stop.seconds()
        if onset is None or stop is None:
            which = "start" if onset is None else "end"
            return f"the {which} is no time of this recording: type it such as 0:15.2"
        if stop < onset:
            return "the end lies before the start: change one of them"
        if stop > self._duration and stop != self.before.stop:
            return f"the recording ends at {exact_time(self._duration)}: let the mark end before"
        if not self.channels.everything.isChecked() and not self.channels.ch_names():
            return "the mark has no channels: check some, or All channels"
        return "" if self.text.text().strip() else "the mark has no text: choose a type or type a text"

    def accept(self) -> None:
        """Close, unless something cannot be kept."""
        self._check()
        if not self._problem():
            super().accept()

    def mark(self) -> Annotation:
        """The mark as the fields have it."""
        before = self.before
        onset, stop = self.onset.seconds(), self.stop.seconds()
        assert onset is not None
        assert stop is not None
        same_length = onset == before.onset and abs(stop - before.stop) < _SAME_TIME
        typed = self.text.text()
        tag = self.tag.text().strip()
        made = replace(
            before,
            onset=onset,
            duration=before.duration if same_length else stop - onset,
            description=before.description if typed == self._words(before) else typed.strip(),
            ch_names=self._ch_names(),
            confidence=self._confidence(),
            review=replace(before.review, comment=self.comment.toPlainText().strip()),
        )
        # A tag that is only shown is kept with what was changed; by itself it changes nothing.
        kept = made == before and tag == self._tag(before).strip()
        return made if kept else replace(made, review=replace(made.review, tag=tag))

    def _ch_names(self) -> tuple[str, ...]:
        chosen = self.channels.ch_names()
        return self.before.ch_names if set(chosen) == set(self.before.ch_names) else chosen

    def _confidence(self) -> float | None:
        if not self.has_confidence.isChecked():
            return None
        before, typed = self.before.confidence, self.confidence.value()
        return before if before is not None and abs(before - typed) < _SAME_TIME else typed

"""A bar above the traces that offers what an unfinished session left, and says what must not be overlooked."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QToolBar, QWidget

from analysis.review.change_list import ChangeList
from analysis.review.history import Change
from app.panel import ElidedLabel, set_role

_FEW_CHANGES = 5000  # more are only counted


class NoticeBar(QToolBar):
    """Shows one thing at a time, the offer of recovered changes first; never in the way of reading."""

    kept = pyqtSignal()
    left_out = pyqtSignal()
    save_requested = pyqtSignal()

    def __init__(self) -> None:
        super().__init__("Notices")
        self.setObjectName("notices")
        self.setMovable(False)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        toggle = self.toggleViewAction()
        assert toggle is not None
        toggle.setVisible(False)
        self._offer = ""
        self._notes: list[str] = []
        self.text = ElidedLabel("", "strong", Qt.TextElideMode.ElideRight)
        self.text.setAccessibleName("Notice")
        self.keep = self._button("Continue", "Go on with the marks as they are shown", self.kept.emit, True)
        self.leave_out = self._button("", "As one step: Undo (Ctrl+Z) brings them back", self.left_out.emit)
        self.save = self._button("Save to a file…", "Save the marks to a file first", self.save_requested.emit)
        self.dismiss = self._button("OK", "Close this notice", self._next_note)
        body = QWidget()
        row = QHBoxLayout(body)
        row.setContentsMargins(2, 0, 2, 0)
        row.setSpacing(8)
        row.addWidget(self.text, 1)
        for button in (self.keep, self.leave_out, self.save, self.dismiss):
            row.addWidget(button)
        body.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.addWidget(body)
        self.refresh()

    def _button(self, text: str, tip: str, pressed, accent: bool = False) -> QPushButton:
        button = QPushButton(text)
        button.setToolTip(tip)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setProperty("accent", accent)
        button.clicked.connect(lambda _checked: pressed())
        return button

    def offer(self, what: str, steps: int, until: str, from_file: bool) -> None:
        """Offer what a session did in so many steps until a time (ISO 8601) and did not close.

        `what` tells what became of the marks; `from_file` that nothing had been marked before.
        """
        moment = when(until)
        if steps == 1:
            kept = f"{f'1 step {moment}'.strip()} was kept: {what}."
        else:
            kept = f"{steps:,} steps{f', the last {moment},' if moment else ''} were kept: {what}."
        self._offer = f"The program ended before this recording was closed. {kept}"
        self.leave_out.setText("Start from the file" if from_file else "Go back to before")
        self.refresh()

    def withdraw(self) -> None:
        """Take the offer away."""
        self._offer = ""
        self.refresh()

    def say(self, sentence: str) -> None:
        """Show a sentence until the reader has seen it."""
        if sentence not in self._notes:
            self._notes.append(sentence)
        self.refresh()

    def clear(self) -> None:
        """Take everything away, as for another recording."""
        self._offer = ""
        self._notes.clear()
        self.refresh()

    def _next_note(self) -> None:
        del self._notes[:1]
        self.refresh()

    def refresh(self) -> None:
        """Show what there is to show, and nothing without it."""
        note = "" if self._offer or not self._notes else self._notes[0]
        self.text.setText(self._offer or (note[:1].upper() + note[1:]))
        set_role(self.text, "strong" if self._offer else "warning")
        for button in (self.keep, self.leave_out, self.save):
            button.setVisible(bool(self._offer))
        self.dismiss.setVisible(bool(note))
        self.setVisible(bool(self._offer or note))


def recovered_words(changes: Sequence[Change]) -> str:
    """What became of the marks, such as "2 marks added, 1 removed": what was taken back again is not among it."""
    if len(changes) > _FEW_CHANGES:
        return f"{len(changes):,} marks changed"
    number, _, rest = ChangeList(changes).summary().partition(" ")
    return f"{number} {'mark' if number == '1' else 'marks'} {rest}"


def when(time: str, now: datetime | None = None) -> str:
    """A time (ISO 8601) as a reader says it: "of 14:03", with the day where it was another one; empty for none."""
    try:
        moment = datetime.fromisoformat(time).astimezone()
    except ValueError:
        return ""
    today = (now or datetime.now()).astimezone().date()
    day = "" if moment.date() == today else f" on {moment.day} {moment:%B}"
    return f"of {moment:%H:%M}{day}"

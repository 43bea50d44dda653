"""What is open: name, channels, rate, length, start, and what the reader of the file had to say about it."""

from __future__ import annotations

from collections import Counter

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QVBoxLayout, QWidget

from analysis.recording import BRAIN_TYPES, Recording
from analysis.time_words import duration_words
from app.panel import ElidedLabel, FactRow, label, set_role

_SHOWN = 3
_WORDS = {"eeg": "EEG", "ecog": "ECoG", "seeg": "SEEG"}


class RecordingPanel(QWidget):
    """Facts about the open recording; everything that is odd about the file is said here."""

    def __init__(self) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(3)
        self._name = ElidedLabel("No recording", "strong")
        self._channels = FactRow()
        self._length = FactRow()
        self._start = FactRow()
        self._montage = label("", "muted", wrap=True)
        self._warnings = label("", "warning", wrap=True)
        for widget in (self._name, self._channels, self._length, self._start, self._montage, self._warnings):
            column.addWidget(widget)
        self._montage.hide()
        self._warnings.hide()
        for row in (self._channels, self._length, self._start):
            row.hide()
        self._hint = label("Open a file with Ctrl+O, or drop one on the window.", "muted", wrap=True)
        column.addWidget(self._hint)

    def show_recording(self, recording: Recording, title: str = "") -> None:
        """Describe a recording."""
        self._hint.hide()
        for row in (self._channels, self._length, self._start):
            row.show()
        self._name.setText(title or recording.path.name)
        self._name.setToolTip(str(recording.path))
        self._channels.set(channel_summary(recording), f"{recording.sfreq:g} Hz")
        self._length.set(duration_words(recording.duration), recording.format)
        start = recording.start_datetime
        self._start.set(f"{start:%d %b %Y  %H:%M:%S}" if start else "start not known", "")
        self.show_warnings(recording)

    def show_warnings(self, recording: Recording) -> None:
        """Say what is odd about the file; the whole list stands in the tool tip."""
        notes = list(dict.fromkeys(recording.warnings))
        if recording.gaps:
            missing = sum(stop - start for start, stop in recording.gaps)
            count = len(recording.gaps)
            notes.insert(0, f"{count} gap{'s' if count > 1 else ''}, {duration_words(missing)} not recorded")
        shown = notes if len(notes) <= _SHOWN else notes[: _SHOWN - 1]
        more = [f"and {len(notes) - len(shown)} more (hover)"] if len(notes) > len(shown) else []
        text = "\n".join([*shown, *more])
        self._warnings.setText(text)
        self._warnings.setToolTip("\n\n".join(notes))
        self._warnings.setVisible(bool(notes))

    def show_montage_note(self, note: str) -> None:
        """Say what the montage in force leaves out."""
        self._montage.setText(note)
        self._montage.setVisible(bool(note))
        set_role(self._montage, "muted")
        self._montage.setAlignment(Qt.AlignmentFlag.AlignLeft)


def channel_summary(recording: Recording) -> str:
    """ "19 EEG of 46 channels", or how many of each kind of brain signal there are."""
    counts = Counter(c.type for c in recording.channels if c.is_brain)
    total = len(recording.channels)
    parts = [f"{counts[kind]} {_WORDS[kind]}" for kind in sorted(BRAIN_TYPES) if counts[kind]]
    channels = f"{total} channel{'' if total == 1 else 's'}"
    return f"{', '.join(parts)} of {channels}" if parts else f"{channels}, no EEG"

"""The line at the bottom: what is under the cursor, what must be known, what is being worked on."""

from __future__ import annotations

from PyQt6.QtCore import QSize, Qt, QTimer
from PyQt6.QtWidgets import QSizePolicy, QStatusBar

from analysis.measuring import trace_text
from analysis.time_words import elapsed
from app.panel import ElidedLabel, label, set_role

_MESSAGE_MS = 10_000
_SHARE_PX, _MOST_SHARES = 8, 255
RESEARCH_ONLY = "Research use only: not for diagnosis"


class _Piece(ElidedLabel):
    """A text that is cut short where the window is narrow, down to a width; the whole of it stands in its tool tip.

    One that `yields` has what the others leave, shared among those that do by the lengths of their texts.
    """

    def __init__(self, role: str, least: int, yields: bool = False) -> None:
        self._least, self._yields = least, yields
        super().__init__("", role, Qt.TextElideMode.ElideRight)

    def minimumSizeHint(self) -> QSize:
        """The width that nothing takes away, less where the text is shorter."""
        hint = self.sizeHint()
        return QSize(min(hint.width(), self._least), hint.height())

    def setText(self, text: str | None) -> None:
        """Set the whole text; without any it takes no room."""
        if text == self.text():
            return
        super().setText(text)
        if self._yields:
            policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
            policy.setHorizontalStretch(min(_MOST_SHARES, 1 + self.sizeHint().width() // _SHARE_PX))
            self.setMinimumWidth(self.minimumSizeHint().width())  # such a policy passes over the hint
        else:
            policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self.setSizePolicy(policy)

    def clear(self) -> None:
        """Set no text."""
        self.setText("")


class StatusLine(QStatusBar):
    """Cursor reading at the left; calibration, work, device and the limit of use at the right.

    However much there is to say, it never asks for more width than the narrowest window has.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setSizeGripEnabled(False)
        self.setContentsMargins(4, 0, 10, 0)
        self._cursor = _Piece("strong", 210)
        self._message = _Piece("muted", 120, yields=True)
        self._silence = QTimer(self)
        self._silence.setSingleShot(True)
        self._silence.setInterval(_MESSAGE_MS)
        self._silence.timeout.connect(self._message.clear)
        self._work = _Piece("muted", 60)
        self._calibration = _Piece("warning", 80)
        self._device = _Piece("muted", 30)
        self._measure = _Piece("muted", 120, yields=True)
        self._kept = _Piece("muted", 60)
        self._kept.setAccessibleName("What is kept of the marks")
        self._heat = _Piece("accent", 60)
        self._playing = _Piece("strong", 120)
        for piece in (self._cursor, self._heat, self._measure, self._message):
            self.addWidget(piece)
        limit = label(RESEARCH_ONLY, "muted")
        for widget in (self._playing, self._work, self._kept, self._calibration, limit, self._device):
            self.addPermanentWidget(widget)

    def show_cursor(self, time: float, ch_name: str, value: float | None, unit: str) -> None:
        """Show time, channel and value under the cursor."""
        known = value is not None and value == value
        # Voltages of the body have a sign that matters; a saturation of 97 % has none.
        amount = f"   {trace_text(value, unit, sign=unit == 'uV')}" if known else ""
        self._cursor.setText(f"{elapsed(time, 3)}   {ch_name}{amount}")

    def clear_cursor(self) -> None:
        """Show no reading: there is nothing under the cursor."""
        self._cursor.setText("")

    def start_anew(self) -> None:
        """Forget what was read and said of the recording before."""
        self.clear_cursor()
        self.show_heat("")
        self.say("")

    def show_heat(self, text: str) -> None:
        """Show what a model says of the place under the cursor; empty takes it away."""
        self._heat.setText(text)

    def show_playing(self, text: str) -> None:
        """Show that the page scrolls by itself, and how fast; empty takes it away."""
        self._playing.setText(text)

    def show_measure(self, text: str) -> None:
        """Show what the caliper reads, for as long as it is there; empty takes it away."""
        self._measure.setText(text)

    def say(self, text: str, role: str = "muted") -> None:
        """Show a sentence for ten seconds, or until the next one."""
        self._message.setText(text)
        set_role(self._message, role)
        self._silence.start()

    def unsay(self, text: str) -> None:
        """Take a sentence away that does not hold any more, if it is still there."""
        if self._message.text() == text:
            self._message.clear()

    def show_kept(self, text: str, role: str, tip: str) -> None:
        """Show how far the marks are on disk and in files."""
        self._kept.setText(text)
        self._kept.setToolTip(tip)
        self._kept.setAccessibleDescription(text)
        set_role(self._kept, role)

    def show_work(self, text: str) -> None:
        """Show the progress of the running job."""
        self._work.setText(text)

    def show_calibration(self, calibrated: bool) -> None:
        """Warn until the screen has been measured."""
        self._calibration.setText("" if calibrated else "screen not calibrated: µV/mm approximate")

    def show_device(self, device: str) -> None:
        """Name the device models run on."""
        self._device.setText(device)

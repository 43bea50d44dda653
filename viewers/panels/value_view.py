"""What pictures of one value for each electrode share: values, message, mark of a focus, words under the mouse."""

from __future__ import annotations

import numpy as np
from PyQt6.QtCore import QEvent, QPointF, QSize, QTimer
from PyQt6.QtGui import QMouseEvent
from PyQt6.QtWidgets import QSizePolicy, QToolTip, QWidget

from viewers.panels.value_scale import Scale
from viewers.theme import LIGHT, Theme

_SMALLEST, _USUAL = 190, 300
DESCRIBED_AFTER_MS = 300


class ValueView(QWidget):
    """Base of such a picture; what is worked out from its values or colours is dropped by `_changed`."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.theme = LIGHT
        self._values: np.ndarray | None = None
        self._scale = Scale(-1.0, 1.0, "")
        self._message = self._focus = ""
        self._stale = False
        # All values in words take longer than the picture of them: they wait until the cursor rests.
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(DESCRIBED_AFTER_MS)
        self._rest.timeout.connect(self._describe)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName(name)

    @property
    def values(self) -> np.ndarray | None:
        """The values on screen (n,)."""
        return self._values

    def set_values(self, values: np.ndarray | None, scale: Scale) -> None:
        """Show one value for each electrode (n,); None shows the places alone."""
        self._values, self._scale, self._stale = values, scale, False
        self._changed()
        self._rest.start()

    def set_message(self, text: str) -> None:
        """Say something in the middle of the picture; empty takes it away."""
        if text != self._message:
            self._message = text
            self.update()

    def set_stale(self, stale: bool) -> None:
        """Show that the values are those of another moment and are being renewed."""
        if stale != self._stale:
            self._stale = stale
            self.update()

    def set_focus(self, name: str) -> None:
        """Mark the electrode where a simulated seizure begins; empty: none."""
        if name != self._focus:
            self._focus = name
            self.update()

    def set_theme(self, theme: Theme) -> None:
        """Take the colours."""
        self.theme = theme
        self._changed()

    def sizeHint(self) -> QSize:
        """As wide as an inspector is; it takes all the height it is given."""
        return QSize(_USUAL, _SMALLEST)

    def minimumSizeHint(self) -> QSize:
        """The size below which electrodes cannot be told apart."""
        return QSize(_SMALLEST, _SMALLEST)

    def mouseMoveEvent(self, event: QMouseEvent | None) -> None:
        """Tell what is under the mouse."""
        if event is not None:
            QToolTip.showText(event.globalPosition().toPoint(), self.describe(event.position()), self)

    def leaveEvent(self, event: QEvent | None) -> None:
        """Nothing is told any more."""
        QToolTip.hideText()
        super().leaveEvent(event)

    def describe(self, at: QPointF) -> str:
        """What lies at a point of the widget, and its value."""
        raise NotImplementedError

    def _describe(self) -> None:
        """Say all values to a screen reader."""
        raise NotImplementedError

    def _changed(self) -> None:
        self.update()

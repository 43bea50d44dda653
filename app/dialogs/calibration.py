"""Measuring the screen, so that a millimetre on it is a millimetre."""

from __future__ import annotations

from PyQt6.QtCore import QSize
from PyQt6.QtGui import QPainter, QPaintEvent, QPalette
from PyQt6.QtWidgets import QDialog, QDialogButtonBox, QDoubleSpinBox, QHBoxLayout, QVBoxLayout, QWidget

from app.panel import label

_BAR_PX = 400


class _Bar(QWidget):
    """A horizontal bar of a known number of pixels with ends that a ruler can be held against."""

    def sizeHint(self) -> QSize:
        """Room for the bar and its end marks."""
        return QSize(_BAR_PX + 20, 40)

    def minimumSizeHint(self) -> QSize:
        """The bar must never be cut."""
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent | None) -> None:
        """Draw the bar, its outer edges exactly the stated number of pixels apart."""
        painter = QPainter(self)
        colour = self.palette().color(QPalette.ColorRole.WindowText)
        painter.fillRect(10, 18, _BAR_PX, 3, colour)
        painter.fillRect(10, 6, 1, 28, colour)
        painter.fillRect(10 + _BAR_PX - 1, 6, 1, 28, colour)


class CalibrationDialog(QDialog):
    """Asks how long the bar on the screen is; `px_per_mm` holds the answer."""

    def __init__(self, px_per_mm: float, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Measure the screen")
        column = QVBoxLayout(self)
        text = "Hold a ruler against the screen and enter the length of this bar, between the outer edges of its ends."
        column.addWidget(label(text, "", wrap=True))
        column.addWidget(_Bar())
        self._length = QDoubleSpinBox()
        self._length.setRange(20.0, 400.0)
        self._length.setDecimals(1)
        self._length.setSuffix(" mm")
        self._length.setValue(_BAR_PX / px_per_mm)
        row = QHBoxLayout()
        row.addWidget(label("Length of the bar"))
        row.addWidget(self._length)
        row.addStretch(1)
        column.addLayout(row)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        column.addWidget(buttons)

    @property
    def px_per_mm(self) -> float:
        """Device-independent pixels per millimetre, as measured."""
        return _BAR_PX / self._length.value()

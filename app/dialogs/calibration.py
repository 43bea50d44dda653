"""Measuring the screen, so that a millimetre on it is a millimetre."""

from __future__ import annotations

from PyQt6.QtCore import QRectF, QSize
from PyQt6.QtGui import QPainter, QPaintEvent, QPalette
from PyQt6.QtWidgets import QDialog, QDialogButtonBox, QDoubleSpinBox, QHBoxLayout, QVBoxLayout, QWidget

from app.panel import label

_BAR_PX = 400.0
_CHECK_MM = 50.0
_SIDE = 10.0


class Bar(QWidget):
    """A horizontal bar of a known number of pixels with ends that a ruler can be held against."""

    def __init__(self, length: float, name: str) -> None:
        super().__init__()
        self._length = length
        self.setAccessibleName(name)

    def set_length(self, length: float) -> None:
        """Make the bar so many pixels long."""
        self._length = length
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """Room for the bar and its end marks."""
        return QSize(round(max(_BAR_PX, self._length) + 2 * _SIDE), 40)

    def minimumSizeHint(self) -> QSize:
        """The bar must never be cut."""
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent | None) -> None:
        """Draw the bar, its outer edges exactly the stated number of pixels apart."""
        painter = QPainter(self)
        colour = self.palette().color(QPalette.ColorRole.WindowText)
        painter.fillRect(QRectF(_SIDE, 18, self._length, 3), colour)
        painter.fillRect(QRectF(_SIDE, 6, 1, 28), colour)
        painter.fillRect(QRectF(_SIDE + self._length - 1, 6, 1, 28), colour)


class CalibrationDialog(QDialog):
    """Asks how long a bar on the screen is; `px_per_mm` holds the answer, None where an old one is to be forgotten."""

    def __init__(
        self, px_per_mm: float, parent: QWidget | None = None, screen: str = "this screen", is_measured: bool = False
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Measure the screen")
        self._is_forgotten = False
        column = QVBoxLayout(self)
        column.setSpacing(10)
        text = "Hold a ruler against the screen and enter the length of this bar, between the outer edges of its ends."
        column.addWidget(label(text, "", wrap=True))
        column.addWidget(Bar(_BAR_PX, "Bar to measure"))
        column.addLayout(self._make_field(px_per_mm))
        self._check_text = label("", "muted", wrap=True)
        self._check = Bar(_CHECK_MM * px_per_mm, "Bar to check")
        column.addWidget(self._check_text)
        column.addWidget(self._check)
        state = "measured before" if is_measured else "not calibrated: the size is what the system reports"
        column.addWidget(label(f"Kept for {screen} ({state}).", "muted" if is_measured else "warning", wrap=True))
        column.addWidget(self._make_buttons(is_measured))
        self._length.valueChanged.connect(self._on_length)
        self._on_length()

    def _make_field(self, px_per_mm: float) -> QHBoxLayout:
        self._length = QDoubleSpinBox()
        self._length.setRange(10.0, 4000.0)
        self._length.setDecimals(1)
        self._length.setSuffix(" mm")
        self._length.setAccessibleName("Length of the bar in millimetres")
        self._length.setValue(_BAR_PX / px_per_mm)
        row = QHBoxLayout()
        row.addWidget(label("Length of the bar"))
        row.addWidget(self._length)
        row.addStretch(1)
        return row

    def _make_buttons(self, is_measured: bool) -> QDialogButtonBox:
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        if is_measured:
            forget = buttons.addButton("Forget it", QDialogButtonBox.ButtonRole.DestructiveRole)
            assert forget is not None
            forget.clicked.connect(self._forget)
        return buttons

    def _forget(self) -> None:
        self._is_forgotten = True
        self.accept()

    def _on_length(self) -> None:
        px_per_mm = _BAR_PX / self._length.value()
        self._check.set_length(_CHECK_MM * px_per_mm)
        self._check_text.setText(f"Then this one is {_CHECK_MM:g} mm long ({px_per_mm:.3g} pixels a millimetre):")

    @property
    def px_per_mm(self) -> float | None:
        """Device-independent pixels per millimetre, as measured."""
        return None if self._is_forgotten else _BAR_PX / self._length.value()

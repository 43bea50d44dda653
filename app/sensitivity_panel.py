"""How sure the model must be before an event is made of it."""

from __future__ import annotations

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QPushButton, QSlider, QVBoxLayout, QWidget

from app.panel import FactRow, label


class SensitivityPanel(QWidget):
    """A slider for the threshold, the number of events it gives, and the rule that makes events."""

    threshold_changed = pyqtSignal(float)
    rules_requested = pyqtSignal()

    def __init__(self) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        self._slider = QSlider(Qt.Orientation.Horizontal)
        self._slider.setRange(1, 99)
        self._slider.setValue(50)
        self._slider.setAccessibleName("Threshold of model events")
        self._slider.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self._slider.valueChanged.connect(lambda value: self.threshold_changed.emit(value / 100))
        self._count = FactRow("p ≥ 0.50", "no prediction yet")
        self._rule = label("", "muted", wrap=True)
        self._change = QPushButton("How events are made…")
        self._change.clicked.connect(self.rules_requested)
        for widget in (self._slider, self._count, self._rule, self._change):
            column.addWidget(widget)

    def show_threshold(self, threshold: float) -> None:
        """Show a threshold that was set elsewhere, without announcing it."""
        self._slider.blockSignals(True)
        self._slider.setValue(round(100 * threshold))
        self._slider.blockSignals(False)

    def show_events(self, threshold: float, count: int | None, rule: str) -> None:
        """Say how many events the threshold gives (None: nothing has been predicted) and by which rule."""
        text = "no prediction yet" if count is None else f"{count} event{'' if count == 1 else 's'}"
        self._count.set(f"p ≥ {threshold:.2f}", text, "muted" if count is None else "accent")
        self._rule.setText(rule)

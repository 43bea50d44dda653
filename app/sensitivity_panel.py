"""How sure the model must be before an event is made of it, and what is left to review then."""

from __future__ import annotations

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QVBoxLayout, QWidget

from app.event_making import EventMaking
from app.panel import ArrowSlider, ButtonRow, ElidedButton, label


class SensitivityPanel(QWidget):
    """A slider for the threshold, the number of events it leaves to review, the rule, and the way back to the usual."""

    threshold_changed = pyqtSignal(float)
    rules_requested = pyqtSignal()
    own_requested = pyqtSignal()  # the model's own threshold and rule

    def __init__(self) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        self._slider = ArrowSlider(Qt.Orientation.Horizontal)
        self._slider.setRange(1, 99)
        self._slider.setValue(50)
        self._slider.setAccessibleName("Threshold of model events")
        self._slider.setToolTip(
            "How sure the model must be (Ctrl+Up, Ctrl+Down); decisions already taken are kept wherever it stands"
        )
        self._slider.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._slider.valueChanged.connect(lambda value: self.threshold_changed.emit(value / 100))
        self._count = label("p ≥ 0.50   no prediction yet", "muted", wrap=True)
        self._rule = label("", "muted", wrap=True)
        self._change = ElidedButton("Rule…")
        self._change.setToolTip("How events are made: by which rule, and with which constants")
        self._change.clicked.connect(self.rules_requested)
        self._own = ElidedButton("Usual: 0.50")
        self._own.setToolTip("Back to the threshold and the rule that the model itself states, or that are usual")
        self._own.clicked.connect(self.own_requested)
        for widget in (self._slider, self._count, self._rule, ButtonRow(self._own, self._change)):
            column.addWidget(widget)

    def show_threshold(self, threshold: float) -> None:
        """Show a threshold that was set elsewhere, without announcing it."""
        self._slider.blockSignals(True)
        self._slider.setValue(round(100 * threshold))
        self._slider.blockSignals(False)

    def show_own(self, own: EventMaking, is_in_force: bool) -> None:
        """Say which threshold is the model's own, and offer the way back to it where another or another rule counts."""
        whose = "Model's own" if own.is_stated else "Usual"
        self._own.setText(f"{whose}: {own.threshold:.2f}")
        self._own.setEnabled(not is_in_force)

    def show_events(self, threshold: float, count: int | None, rule: str, decided: int = 0, lost: int = 0) -> None:
        """Say how many events the threshold leaves to review (None: nothing has been predicted), and by which rule.

        `decided` is the number of the model's events that somebody has decided on at any threshold, and `lost` that of
        decisions that no longer stand.
        """
        told = "no prediction yet" if count is None else f"{f'{count:,}' if count else 'nothing'} to review"
        if decided:
            told += f", {decided:,} decided"
        if lost:
            told += f", {lost:,} {'decision does' if lost == 1 else 'decisions do'} not stand any more"
        self._count.setText(f"p ≥ {threshold:.2f}   {told}")
        self._rule.setText(rule)

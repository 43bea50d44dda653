"""The window behind F1: every key, and the conventions the traces follow."""

from __future__ import annotations

from PyQt6.QtWidgets import QDialog, QDialogButtonBox, QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from app.actions import key_table
from app.panel import label

CONVENTIONS = (
    "Negative is up: input 1 more negative than input 2 deflects upwards.",
    "Filters act on what is drawn, never on the file or on what a model reads. They are zero phase and second order "
    "(12 dB per octave at each end), so onsets stay where they are; a page border shows no edge effect.",
    "Sensitivity is in microvolts per millimetre of this screen. Until the screen has been measured "
    "(View, Measure the screen…) the millimetre is the one the system reports.",
    "Everything in violet was said by a model. Black or white marks are from the file or from a person.",
    "Research use only: not for diagnosis.",
)


class HelpDialog(QDialog):
    """Lists the keys in two columns and the conventions below them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Keys and conventions")
        column = QVBoxLayout(self)
        column.setSpacing(12)
        column.addLayout(self._make_keys())
        for sentence in CONVENTIONS:
            text = label(sentence, "muted", wrap=True)
            text.setMinimumWidth(640)
            column.addWidget(text)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        column.addWidget(buttons)

    @staticmethod
    def _make_keys() -> QHBoxLayout:
        rows = key_table()
        half = (len(rows) + 1) // 2
        sides = QHBoxLayout()
        sides.setSpacing(32)
        for part in (rows[:half], rows[half:]):
            grid = QGridLayout()
            grid.setHorizontalSpacing(16)
            grid.setVerticalSpacing(6)
            for i, (keys, text) in enumerate(part):
                grid.addWidget(label(keys, "strong"), i, 0)
                grid.addWidget(label(text), i, 1)
            grid.setRowStretch(len(part), 1)
            sides.addLayout(grid)
        return sides

"""The window behind F1: every key, in the order of the menus, and the conventions the traces follow."""

from __future__ import annotations

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.actions import KeyRow, key_table
from app.panel import label

CONVENTIONS = (
    "Negative is up: input 1 more negative than input 2 deflects upwards, unless the foot of the page says otherwise.",
    "Filters act on what is drawn, never on the file or on what a model reads. Low and high filter have the response "
    "of a second-order Butterworth filter run forwards and backwards: no phase shift, so onsets stay where they are, "
    "half the amplitude at the cut-off and 24 dB per octave beyond it. The notch is a thirtieth of its frequency wide.",
    "A sample looks the same on every page that shows it, whatever its length and wherever its border; pages of more "
    "than 20 minutes first show the electrodes as recorded, and the filtered rows once they are ready.",
    "Heart, eye and muscle, respiration and other voltages have scale and filters of their own (Ctrl+T); what they "
    "are is written at the row and at the foot of the page. Respiration and what is no voltage is drawn positive up.",
    "Averages and Laplacian do without channels that are marked as bad (B) or flat, and without ears; what is left out "
    "or missing is told beside the recording's name. In the Laplacian, electrodes at the edge of the cap have "
    "neighbours on one side only and are biased; a row with an asterisk lacks some of its neighbours. Mastoids that "
    "stand in for ear lobes are near them, not the same.",
    "Sensitivity is in microvolts per millimetre of this screen. Until the screen has been measured "
    "(View, Measure the screen…) the millimetre is the one the system reports.",
    "Whose a mark is shows in colour and line: violet and solid are a model's, green and dash-dotted your own, black "
    "(white on dark) and dashed those of the file or of another person. Before its name, ✓ says accepted, ✗ rejected "
    "(dotted, faint and struck through as well) and ✎ changed by a person; ✓✎ is accepted as a person has changed it.",
    "Research use only: not for diagnosis.",
)
_SIZE = (980, 760)
_COLUMNS = 2


class HelpDialog(QDialog):
    """Lists the keys by menu in two columns, narrowed by what is typed, and the conventions below them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Keys and conventions")
        self.resize(*_SIZE)
        self.field = QLineEdit()
        self.field.setPlaceholderText("Find a key or what it does")
        self.field.setAccessibleName("Find in the keys")
        self.field.setClearButtonEnabled(True)
        self.field.textChanged.connect(self._narrow)
        self._rows: list[tuple[KeyRow, tuple[QWidget, QWidget]]] = []
        self._titles: dict[str, QWidget] = {}
        column = QVBoxLayout(self)
        column.setSpacing(12)
        column.addWidget(self.field)
        column.addWidget(self._make_page(), 1)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        column.addWidget(buttons)

    def shown_rows(self) -> list[KeyRow]:
        """The rows that answer what is typed."""
        return [row for row, (name, _) in self._rows if not name.isHidden()]

    def _make_page(self) -> QScrollArea:
        page = QWidget()
        column = QVBoxLayout(page)
        column.addLayout(self._make_keys())
        column.addSpacing(12)
        for sentence in CONVENTIONS:
            column.addWidget(label(sentence, "muted", wrap=True))
        column.addStretch()
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(page)
        return scroll

    def _make_keys(self) -> QHBoxLayout:
        groups: dict[str, list[KeyRow]] = {}
        for row in key_table():
            groups.setdefault(row.menu, []).append(row)
        sides = QHBoxLayout()
        sides.setSpacing(32)
        for part in _balanced(list(groups.values()), _COLUMNS):
            side = QVBoxLayout()
            for group in part:
                side.addLayout(self._make_group(group))
                side.addSpacing(10)
            side.addStretch()
            sides.addLayout(side, 1)
        return sides

    def _make_group(self, rows: list[KeyRow]) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(6)
        grid.setColumnStretch(1, 1)
        title = self._titles[rows[0].menu] = label(rows[0].menu, "title")
        grid.addWidget(title, 0, 0, 1, 2)
        for i, row in enumerate(rows, 1):
            keys, text = label(row.keys, "strong"), label(row.text, wrap=True)
            grid.addWidget(keys, i, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(text, i, 1)
            self._rows.append((row, (keys, text)))
        return grid

    def _narrow(self, query: str) -> None:
        wanted = query.casefold()
        shown: set[str] = set()
        for row, widgets in self._rows:
            fits = wanted in f"{row.menu} {row.keys} {row.text}".casefold()
            if fits:
                shown.add(row.menu)
            for widget in widgets:
                widget.setVisible(fits)
        for menu, title in self._titles.items():
            title.setVisible(menu in shown)


def _balanced(groups: list[list[KeyRow]], columns: int) -> list[list[list[KeyRow]]]:
    """Groups in their order, cut into columns of about equal length."""
    room = sum(len(group) + 2 for group in groups) / columns
    parts: list[list[list[KeyRow]]] = [[] for _ in range(columns)]
    filled = 0.0
    for group in groups:
        middle = filled + (len(group) + 2) / 2
        parts[min(columns - 1, int(middle / room))].append(group)
        filled += len(group) + 2
    return parts

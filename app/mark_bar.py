"""The small bar that appears at a selection and makes a mark of it."""

from __future__ import annotations

from functools import partial

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QFrame, QHBoxLayout, QToolButton, QWidget

from analysis.recording import Window
from analysis.time_words import duration_words
from analysis.vocabulary import Term
from app.mark_types import MarkTypes
from app.panel import label
from viewers.mark_words import channel_words
from viewers.theme import Theme, px

_OTHERS = 3
_GAP = 8


class MarkBar(QFrame):
    """Says how long the selection is, and offers the type in use, some others, and all of them."""

    picked = pyqtSignal(object)  # Term
    all_requested = pyqtSignal()
    closed = pyqtSignal()

    def __init__(self, types: MarkTypes, canvas: QWidget) -> None:
        super().__init__(canvas)
        self._types = types
        self._canvas = canvas
        self.setObjectName("mark_bar")
        self.setAccessibleName("Mark the selection")
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self._length = label("", "muted")
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(9, 4, 4, 4)
        self._row.setSpacing(4)
        self._row.addWidget(self._length)
        self._row.addSpacing(4)
        # Made once: a new button counts for nothing in the layout until the loop has turned.
        self.buttons = [self._button("", "") for _ in range(1 + _OTHERS)]
        self._terms: list[Term] = []
        for place, button in enumerate(self.buttons):
            button.setProperty("main", place == 0)
            button.clicked.connect(partial(self._on_picked, place))
        self._more = self._button("More…", "All types of marks (Shift+M)")
        self._more.clicked.connect(self.all_requested)
        self._close = self._button("✕", "No mark: take the selection away (Esc)")
        self._close.setAccessibleName("Take the selection away")
        self._close.clicked.connect(self.closed)
        for button in (*self.buttons, self._more, self._close):
            self._row.addWidget(button)
        self.hide()

    def set_theme(self, theme: Theme) -> None:
        """Take the colours."""
        radius, pad = round(px(5)), round(px(3))
        self.setStyleSheet(
            f"QFrame#mark_bar {{ background: {theme.field}; border: 1px solid {theme.border};"
            f" border-radius: {radius}px; }}"
            f"QToolButton {{ color: {theme.text}; background: transparent; border: none; border-radius: {pad}px;"
            f" padding: {pad}px {2 * pad}px; }}"
            f"QToolButton:hover, QToolButton:focus {{ background: {theme.grid_strong}; }}"
            f"QToolButton[main=true] {{ color: {theme.canvas}; background: {theme.reader}; font-weight: bold; }}"
            f"QToolButton[main=true]:hover {{ background: {theme.text}; }}"
        )

    def show_for(self, selection: Window, ch_names: tuple[str, ...], left: float, right: float, top: float) -> None:
        """Stand under the names of marks, at a selection from `left` to `right` in pixels of the canvas."""
        length = duration_words(selection.duration)
        self._length.setText(f"{length}, {channel_words(ch_names, 3)}" if ch_names else length)
        self._fill()
        self._leave_out(length)
        self.adjustSize()
        room = self._canvas.width() - self.width() - _GAP
        x = min(max(_GAP, (left + right - self.width()) / 2), max(_GAP, room))
        self.move(round(x), round(top) + _GAP)
        self.show()
        self.raise_()

    def _leave_out(self, length: str) -> None:
        """Where the traces are too narrow, do without the channels, which are shaded, then types, which More… has."""
        if not self._fits():
            self._length.setText(length)
        for button in reversed(self.buttons[1:]):
            if self._fits():
                return
            button.hide()

    def _fits(self) -> bool:
        return self.sizeHint().width() + 2 * _GAP <= self._canvas.width()

    def _fill(self) -> None:
        """Let the buttons offer the type in use before the others."""
        current = self._types.current
        keyed = (term for term in self._types.vocabulary.terms if term.key)
        usual = [*self._types.favourites(), *self._types.recent(), *keyed]
        others = [term for term in dict.fromkeys(usual) if term != current][:_OTHERS]
        self._terms = [current, *others]
        for place, button in enumerate(self.buttons):
            button.setVisible(place < len(self._terms))
            if place < len(self._terms):
                term = self._terms[place]
                key = term.key if place else "Enter"
                self._name(button, term.name, f"Mark as {term.name}" + (f" ({key})" if key else ""))

    def _on_picked(self, place: int, _checked: bool = False) -> None:
        self.picked.emit(self._terms[place])

    def _button(self, text: str, tip: str) -> QToolButton:
        button = QToolButton(self)
        self._name(button, text, tip)
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        return button

    @staticmethod
    def _name(button: QToolButton, text: str, tip: str) -> None:
        button.setText(text)
        button.setToolTip(tip)
        button.setAccessibleName(tip)

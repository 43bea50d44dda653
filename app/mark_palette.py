"""The palette of mark types: found as one types, favourites and recent ones on top; as a panel and at a selection."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PyQt6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QPoint, QRect, QRectF, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QFontMetrics, QKeyEvent, QMouseEvent, QPainter, QPalette
from PyQt6.QtWidgets import (
    QFrame,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from analysis.vocabulary import Kind, Term
from app.mark_types import MarkTypes
from app.panel import label
from viewers.theme import LIGHT, Theme, font, px

TERM_ROLE = Qt.ItemDataRole.UserRole
NEW_ROLE = Qt.ItemDataRole.UserRole + 1  # (name, kind) of a type that can be added
# What a class of the vocabulary is coloured as; the name of the group says it as well.
CLASS_COLOURS = {
    "ictal": "bad",
    "interictal": "caution",
    "normal": "good",
    "sleep": "left",
    "procedure": "text",
    "artefact": "muted",
    "own": "reader",
}
_LIST_KEYS = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)
_PICK_KEYS = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
_ROW, _STAR_ROOM, _DOT = 22, 22, 7
_HINT = "Enter picks, Ctrl+D keeps on top"


class _Search(QLineEdit):
    """A line to search in that hands the keys of a list on, and lets no shortcut of the window take them."""

    moved = pyqtSignal(object)  # QKeyEvent for the list
    picked = pyqtSignal()
    starred = pyqtSignal()
    left = pyqtSignal()

    def event(self, event: QEvent | None) -> bool:
        """Claim the keys that this field answers."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride and self._is_own(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent | None) -> None:
        """Type, or go through the list."""
        if event is None or not self._is_own(event):
            super().keyPressEvent(event)
        elif event.key() in _LIST_KEYS:
            self.moved.emit(event)
        elif event.key() in _PICK_KEYS:
            self.picked.emit()
        elif event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            self.starred.emit()

    @staticmethod
    def _is_own(event: QKeyEvent) -> bool:
        is_star = event.key() == Qt.Key.Key_D and event.modifiers() == Qt.KeyboardModifier.ControlModifier
        return is_star or event.key() in (*_LIST_KEYS, *_PICK_KEYS, Qt.Key.Key_Escape)


class _TypeDelegate(QStyledItemDelegate):
    """Draws a type: the colour of its class, its name, how often it was used, its key, and a star."""

    def __init__(self, types: MarkTypes, parent: QWidget) -> None:
        super().__init__(parent)
        self._types = types
        self.theme: Theme = LIGHT

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """One line, as high as letters are."""
        return QSize(120, round(px(_ROW)))

    def paint(self, painter: QPainter | None, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        """Draw one row."""
        assert painter is not None
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rect, term = option.rect, index.data(TERM_ROLE)
        if option.state & (QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_MouseOver):
            chosen = bool(option.state & QStyle.StateFlag.State_Selected)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self.theme.colour("accent_soft" if chosen else "grid"))
            painter.drawRoundedRect(QRectF(rect).adjusted(0, 1, 0, -1), 3, 3)
        if term is None:
            self._paint_words(painter, rect, index)
        else:
            self._paint_term(painter, rect, term)
        painter.restore()

    def _paint_words(self, painter: QPainter, rect: QRect, index: QModelIndex) -> None:
        is_heading = index.data(NEW_ROLE) is None
        painter.setFont(font(10, bold=True) if is_heading else font(12))
        painter.setPen(self.theme.colour("muted" if is_heading else "reader"))
        words = rect.adjusted(6, 2 if is_heading else 0, -4, 0)
        painter.drawText(words, Qt.AlignmentFlag.AlignVCenter, index.data(Qt.ItemDataRole.DisplayRole))

    def _paint_term(self, painter: QPainter, rect: QRect, term: Term) -> None:
        middle, room = rect.center().y() + 0.5, round(px(_STAR_ROOM))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.theme.colour(CLASS_COLOURS.get(term.colour, "text")))
        dot = px(_DOT)
        box = QRectF(rect.left() + 7, middle - dot / 2, dot, dot)
        # A span is a bar, a moment a dot.
        painter.drawEllipse(box) if term.kind == "moment" else painter.drawRoundedRect(box.adjusted(-2, 1, 2, -1), 2, 2)
        painter.setFont(font(11))
        painter.setPen(self.theme.colour("muted"))
        uses = self._types.uses(term)
        facts = "   ".join(filter(None, (f"{uses}×" if uses else "", term.key)))
        right = rect.adjusted(0, 0, -room, 0)
        painter.drawText(right, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, facts)
        wide = QFontMetrics(painter.font()).horizontalAdvance(facts)
        is_current = term == self._types.current
        painter.setFont(font(12, bold=is_current))
        painter.setPen(self.theme.colour("text"))
        left = rect.adjusted(round(px(_DOT)) + 16, 0, -room - wide - 8, 0)
        name = QFontMetrics(painter.font()).elidedText(term.name, Qt.TextElideMode.ElideRight, left.width())
        painter.drawText(left, Qt.AlignmentFlag.AlignVCenter, name)
        is_kept = self._types.is_favourite(term)
        painter.setPen(self.theme.colour("caution") if is_kept else self.theme.colour("muted", 0.5))
        star = QRect(rect.right() - room, rect.top(), room, rect.height())
        painter.drawText(star, Qt.AlignmentFlag.AlignCenter, "★" if is_kept else "☆")


class _TypeList(QListWidget):
    """The types; a click on the star keeps one on top."""

    starred = pyqtSignal(object)  # Term
    clicked_on = pyqtSignal(object)  # QListWidgetItem

    def mouseReleaseEvent(self, event: QMouseEvent | None) -> None:
        """Tell a click on the star from one on the name."""
        super().mouseReleaseEvent(event)
        if event is None or event.button() != Qt.MouseButton.LeftButton:
            return
        item = self.itemAt(event.position().toPoint())
        if item is None or not item.flags():
            return
        term = item.data(TERM_ROLE)
        if term is not None and event.position().x() > self.visualItemRect(item).right() - px(_STAR_ROOM):
            self.starred.emit(term)
        else:
            self.clicked_on.emit(item)


class MarkPalette(QWidget):
    """Searches the types of marks; tells which one is picked."""

    picked = pyqtSignal(object)  # Term
    left = pyqtSignal()  # with Esc

    def __init__(self, types: MarkTypes, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._types = types
        self.search = _Search()
        self.search.setPlaceholderText("Search types of marks")
        self.search.setAccessibleName("Search types of marks")
        self.search.setToolTip(_HINT)
        self.search.setClearButtonEnabled(True)
        self.list = _TypeList()
        self.list.setAccessibleName("Types of marks")
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setMouseTracking(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setMinimumHeight(120)
        self.list.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.list.customContextMenuRequested.connect(self._on_menu)
        self._delegate = _TypeDelegate(types, self.list)
        self.list.setItemDelegate(self._delegate)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(self.search)
        column.addWidget(self.list, 1)
        column.addWidget(label(_HINT, "muted"))
        self.search.textChanged.connect(self.fill)
        self.search.moved.connect(self._on_moved)
        self.search.picked.connect(self._on_enter)
        self.search.starred.connect(self._on_star_key)
        self.search.left.connect(self.left)
        self.list.clicked_on.connect(self._pick)
        self.list.starred.connect(types.toggle_favourite)
        types.changed.connect(self._refill)
        self.fill("")

    def set_theme(self, theme: Theme) -> None:
        """Take the colours."""
        self._delegate.theme = theme
        self.list.viewport().update()

    def fill(self, text: str) -> None:
        """List what a search text finds; without one, favourites, what was used last, and every group."""
        self.list.clear()
        if text.strip():
            self._add_terms(self._types.vocabulary.search(text))
            self._offer_new(text.strip())
        else:
            self._add_sections()
        self._choose_first()

    def terms(self) -> list[Term]:
        """The types as they are listed."""
        items = (self.list.item(i) for i in range(self.list.count()))
        return [term for item in items if item is not None and (term := item.data(TERM_ROLE)) is not None]

    def _refill(self) -> None:
        row = self.list.currentRow()
        self.fill(self.search.text())
        if 0 <= row < self.list.count():
            self.list.setCurrentRow(row)

    def _add_sections(self) -> None:
        favourites = self._types.favourites()
        recent = [term for term in self._types.recent() if term not in favourites]
        vocabulary = self._types.vocabulary
        groups = {name: [term for term in vocabulary.terms if term.group == name] for name in vocabulary.groups}
        for title, terms in {"Favourites": favourites, "Used last": recent, **groups}.items():
            if terms:
                heading = QListWidgetItem(title.upper())
                heading.setFlags(Qt.ItemFlag.NoItemFlags)
                self.list.addItem(heading)
                self._add_terms(terms)

    def _add_terms(self, terms: Sequence[Term]) -> None:
        for term in terms:
            item = QListWidgetItem(term.name)
            item.setData(TERM_ROLE, term)
            uses = self._types.uses(term)
            facts = [f"key {term.key}"] if term.key else []
            facts += [f"used {uses} times"] if uses else []
            facts += ["a favourite"] if self._types.is_favourite(term) else []
            item.setToolTip("\n".join(filter(None, (f"{term.group}: {term.name}", term.tag, ", ".join(facts)))))
            item.setData(Qt.ItemDataRole.AccessibleTextRole, ", ".join((term.name, term.group, *facts)))
            self.list.addItem(item)

    def _offer_new(self, name: str) -> None:
        if any(name.casefold() == term.name.casefold() for term in self._types.vocabulary.terms):
            return
        kinds: tuple[tuple[Kind, str], ...] = (("span", "with a length"), ("moment", "as a moment"))
        for kind, words in kinds:
            item = QListWidgetItem(f"Add “{name}” {words}")
            item.setData(NEW_ROLE, (name, kind))
            self.list.addItem(item)

    def _choose_first(self) -> None:
        rows = (i for i in range(self.list.count()) if self.list.item(i).flags())
        self.list.setCurrentRow(next(rows, -1))

    def _on_moved(self, event: QKeyEvent) -> None:
        self.list.keyPressEvent(event)

    def _on_enter(self) -> None:
        item = self.list.currentItem()
        if item is not None:
            self._pick(item)

    def _pick(self, item: QListWidgetItem) -> None:
        new, term = item.data(NEW_ROLE), item.data(TERM_ROLE)
        if new is not None:
            term = self._types.add_own(*new)
        if term is not None:
            self.search.clear()
            self.picked.emit(term)

    def _on_menu(self, place: QPoint) -> None:
        """Offer to forget one of the reader's own types."""
        item = self.list.itemAt(place)
        term = item.data(TERM_ROLE) if item is not None else None
        if term is not None and term.is_own:
            menu = QMenu(self)
            menu.addAction(f"Forget the type “{term.name}” (its marks stay)", partial(self._types.remove_own, term))
            menu.exec(self.list.mapToGlobal(place))

    def _on_star_key(self) -> None:
        item = self.list.currentItem()
        if item is not None and (term := item.data(TERM_ROLE)) is not None:
            self._types.toggle_favourite(term)


class PalettePopup(QFrame):
    """The palette at a place of the traces, gone after the choice."""

    picked = pyqtSignal(object)  # Term

    def __init__(self, types: MarkTypes, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setObjectName("mark_palette")
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setBackgroundRole(QPalette.ColorRole.Base)
        self.setAutoFillBackground(True)
        self._title = label("", "strong")
        self.palette_view = MarkPalette(types)
        column = QVBoxLayout(self)
        column.setContentsMargins(10, 8, 10, 8)
        column.setSpacing(6)
        column.addWidget(self._title)
        column.addWidget(self.palette_view, 1)
        self.palette_view.picked.connect(self._on_picked)
        self.palette_view.left.connect(self.close)

    def open_at(self, place: QPoint, title: str) -> None:
        """Show the palette with its upper left corner at a place of the screen, as far as there is room."""
        self._title.setText(title)
        self.palette_view.search.clear()
        self.resize(round(px(300)), round(px(420)))
        screen = self.screen()
        if screen is not None:
            room = screen.availableGeometry().adjusted(4, 4, -4, -4)
            x = min(max(room.left(), place.x()), room.right() - self.width())
            y = min(max(room.top(), place.y()), room.bottom() - self.height())
            place = QPoint(x, y)
        self.move(place)
        self.show()
        self.palette_view.search.setFocus(Qt.FocusReason.PopupFocusReason)

    def _on_picked(self, term: Term) -> None:
        self.close()
        self.picked.emit(term)

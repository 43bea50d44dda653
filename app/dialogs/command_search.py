"""Every action by its name: type a few letters of what is wanted, Enter does it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from PyQt6.QtCore import QModelIndex, Qt
from PyQt6.QtGui import QAction, QPainter, QPalette
from PyQt6.QtWidgets import QListWidgetItem, QMenu, QMenuBar, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.dialogs.search_dialog import CHOICE_ROLE, SearchDialog

_KEYS_ROLE = CHOICE_ROLE + 1
_GAP = 10


@dataclass(frozen=True)
class Command:
    """An action as it is listed: where it stands in the menus, or which field it sets, and what it is called now."""

    menu: str
    field: str
    action: QAction

    @property
    def text(self) -> str:
        """What the list shows."""
        plain = self.action.text().replace("&", "").partition("\t")[0]
        return f"{self.menu}: {plain}" if self.menu else f"{self.field} {plain}"

    @property
    def keys(self) -> str:
        """The keys that do the same; some entries of menus only name them."""
        named = self.action.text().partition("\t")[2]
        return "  ".join(key.toString() for key in self.action.shortcuts()) or named


def commands_of_menu(menu: QMenu | QMenuBar, place: str = "") -> list[Command]:
    """Every entry of a menu and of the menus in it, those that are filled when they open as well."""
    if isinstance(menu, QMenu):
        menu.aboutToShow.emit()
    found: list[Command] = []
    for action in menu.actions():
        inner = action.menu()
        if inner is not None:
            name = action.text().replace("&", "")
            found += commands_of_menu(inner, f"{place} › {name}" if place else name)
        elif action.text() and action.isVisible():
            found.append(Command(place, "", action))
    return found


def rank(query: str, text: str) -> int | None:
    """How well a text answers a query (0 best), None where a word of the query is nowhere in it.

    Whole words count for more than their beginnings, and those for more than letters inside a word.
    """
    words = text.casefold().replace(":", " ").split()
    score = 0
    for wanted in query.casefold().split():
        if wanted in words:
            continue
        if any(word.startswith(wanted) for word in words):
            score += 1
        elif any(wanted in word for word in words):
            score += 10
        else:
            return None
    return score


def find_commands(query: str, commands: Sequence[Command]) -> list[Command]:
    """The commands that answer a query, best first, and in the order of the menus where they do it equally well."""
    ranked = [(rank(query, f"{command.text} {command.keys}"), i) for i, command in enumerate(commands)]
    return [commands[i] for found, i in sorted((r, i) for r, i in ranked if r is not None)]


class _Line(QStyledItemDelegate):
    """What a command is called, and its keys at the right."""

    def initStyleOption(self, option: QStyleOptionViewItem | None, index: QModelIndex) -> None:
        """Leave room for the keys."""
        super().initStyleOption(option, index)
        keys = index.data(_KEYS_ROLE)
        if option is not None and keys:
            room = option.rect.width() - option.fontMetrics.horizontalAdvance(keys) - 3 * _GAP
            option.text = option.fontMetrics.elidedText(option.text, Qt.TextElideMode.ElideMiddle, room)

    def paint(self, painter: QPainter | None, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        """Draw the text, and the keys in a column of their own."""
        super().paint(painter, option, index)
        keys = index.data(_KEYS_ROLE)
        if painter is not None and keys:
            painter.setPen(option.palette.color(QPalette.ColorRole.PlaceholderText))
            side = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(option.rect.adjusted(0, 0, -_GAP, 0), side, keys)


class CommandSearch(SearchDialog):
    """Finds an action by its name; the chosen one is run when the dialog has closed."""

    def __init__(self, commands: Sequence[Command], parent: QWidget | None = None) -> None:
        super().__init__("Find a command", "What do you want to do?", "Words of a command", "Commands", parent)
        self._commands = commands
        self.list.setItemDelegate(_Line(self.list))
        self.search("")

    def answers(self, query: str) -> Iterable[QListWidgetItem]:
        """The commands, those that cannot be done now greyed."""
        for command in find_commands(query, self._commands):
            item = QListWidgetItem(command.text)
            item.setData(CHOICE_ROLE, command.action)
            item.setData(_KEYS_ROLE, command.keys)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{command.text}  {command.keys}".strip())
            item.setToolTip(command.action.toolTip())
            if not command.action.isEnabled():
                item.setFlags(Qt.ItemFlag.NoItemFlags)
            yield item

"""Any action is found by words of its name, its menu or its keys."""

from __future__ import annotations

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QMainWindow

from app.actions import ACTIONS, build_actions
from app.dialogs.command_search import CommandSearch, rank


@pytest.fixture
def search(qtbot):
    window = QMainWindow()
    qtbot.addWidget(window)
    actions = build_actions(window, {spec.id: (lambda: None) for spec in ACTIONS})
    dialog = CommandSearch(actions, window)
    qtbot.addWidget(dialog)
    yield dialog
    window.close()


def _texts(search) -> list[str]:
    return [search.list.item(i).text() for i in range(search.list.count())]


def test_all_actions_are_listed_with_their_keys_until_something_is_typed(search):
    assert len(_texts(search)) == len(ACTIONS)
    assert any(text.startswith("Go: Next page") and "Right" in text for text in _texts(search))


@pytest.mark.parametrize(
    ("query", "first"), [("next page", "Go: Next page"), ("theme dark", "View: Dark theme"), ("taller", "View: Taller")]
)
def test_words_in_any_order_find_an_action(search, query, first):
    search.field.setText(query)
    assert _texts(search)[0].startswith(first)


def test_what_is_nowhere_finds_nothing(search):
    search.field.setText("xyzzy")
    assert _texts(search) == []


def test_beginnings_of_words_come_before_letters_inside():
    assert rank("page", "Go: Next page") == 0
    assert rank("age", "Go: Next page") == 1
    assert rank("pag quark", "Go: Next page") is None


def test_enter_takes_the_chosen_action_and_arrows_choose(search, qtbot):
    search.field.setText("theme")
    qtbot.keyClick(search.field, Qt.Key.Key_Down)
    qtbot.keyClick(search.field, Qt.Key.Key_Return)
    assert search.chosen is not None
    assert search.chosen.text() == _texts(search)[1].split(": ")[1].strip()


def test_an_action_that_cannot_be_done_now_is_not_taken(search, qtbot):
    for i in range(search.list.count()):
        search.list.item(i).data(Qt.ItemDataRole.UserRole).setEnabled(False)
    search.field.setText("next page")
    qtbot.keyClick(search.field, Qt.Key.Key_Return)
    assert search.chosen is None

"""Any action is found by words of its name, its menu or its keys."""

from __future__ import annotations

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QMainWindow

from app.actions import ACTIONS, build_actions
from app.commands import all_commands
from app.dialogs.command_search import CommandSearch, commands_of_menu, rank
from app.main_window import MainWindow
from app.settings import Settings
from app.testing import Window


@pytest.fixture
def search(qtbot):
    window = QMainWindow()
    qtbot.addWidget(window)
    build_actions(window, {spec.id: (lambda: None) for spec in ACTIONS})
    dialog = CommandSearch(commands_of_menu(window.menuBar()), window)
    qtbot.addWidget(dialog)
    yield dialog
    window.close()


def _texts(search) -> list[str]:
    return [search.list.item(i).text() for i in range(search.list.count())]


def test_all_actions_are_listed_with_their_keys_until_something_is_typed(search):
    assert len(_texts(search)) == len(ACTIONS)
    lines = {search.list.item(i).text(): search.list.item(i) for i in range(search.list.count())}
    assert lines["Go: Next page"].data(Qt.ItemDataRole.UserRole + 1) == "Right  PgDown"
    assert lines["Go: Next page"].data(Qt.ItemDataRole.AccessibleTextRole) == "Go: Next page  Right  PgDown"


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("next page", "Go: Next page"),
        ("theme dark", "View › Theme: Dark theme"),
        ("taller", "View: Taller"),
        ("ctrl+g", "Go: Go to time"),
    ],
)
def test_words_in_any_order_find_an_action(search, query, first):
    search.field.setText(query)
    assert _texts(search)[0].startswith(first)


def test_what_is_nowhere_finds_nothing(search):
    search.field.setText("xyzzy")
    assert _texts(search) == []


def test_whole_words_come_before_beginnings_and_those_before_letters_inside():
    assert rank("page", "Go: Next page") == 0
    assert 0 < rank("pag", "Go: Next page") < rank("age", "Go: Next page")
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


@pytest.fixture
def main(qtbot):
    window = Window(MainWindow(Settings(theme="light", recent_files=["/data/a night.edf"])))
    yield window.main
    window.close()


def _everything_in(menu):
    for action in menu.actions():
        if action.menu() is not None:
            yield from _everything_in(action.menu())
        elif action.text():
            yield action


def test_all_of_the_menu_bar_is_found(main):
    found = {id(command.action) for command in all_commands(main)}
    missing = [action.text() for action in _everything_in(main.menuBar()) if id(action) not in found]
    assert missing == []


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("a night", "File › Open recent: a night.edf"),
        ("events panel", "Panels: Events"),
        ("low filter 1", "Low filter 1 Hz   0.16 s"),
        ("high filter 35", "High filter 35 Hz"),
        ("notch 60 harmonics", "Notch filter 60 Hz and harmonics"),
        ("sensitivity 20", "Sensitivity 20 µV/mm"),
        ("page length 5 min", "Page length 5 min"),
        ("device cpu", "Device CPU"),
        ("model brainmaze b", "Model brainmaze B"),
        ("4 h about", "Trends: 4 h about the page"),
    ],
)
def test_what_only_fields_and_other_menus_offer_is_found_first(main, query, text):
    search = CommandSearch(all_commands(main), main)
    search.field.setText(query)
    assert _texts(search)[0] == text
    search.deleteLater()


def test_a_choice_of_a_field_takes_effect(main, qtbot):
    search = CommandSearch(all_commands(main), main)
    search.field.setText("low filter 1 hz")
    qtbot.keyClick(search.field, Qt.Key.Key_Return)
    search.chosen.trigger()
    assert main.session.view.highpass == 1.0
    search.deleteLater()

"""The dialog echoes what a typed time will be taken for."""

from __future__ import annotations

from datetime import datetime

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QDialogButtonBox

from app.dialogs.go_to_time import GoToTimeDialog

START = datetime(2026, 3, 3, 20, 4, 30)


@pytest.fixture
def dialog(qtbot) -> GoToTimeDialog:
    made = GoToTimeDialog(START, 86_400.0, 16_200.0, False, [300.0, 40_000.5])
    qtbot.addWidget(made)
    made.show()
    return made


def meanings(dialog: GoToTimeDialog) -> list[str]:
    return [dialog._meanings.item(i).text() for i in range(dialog._meanings.count())]


def can_go(dialog: GoToTimeDialog) -> bool:
    return dialog._buttons.button(QDialogButtonBox.StandardButton.Ok).isEnabled()


def test_each_meaning_is_shown_from_the_start_and_as_time_of_day(dialog: GoToTimeDialog, qtbot) -> None:
    qtbot.keyClicks(dialog._field, "4:30")
    assert meanings(dialog) == [
        "04:30  ·  Tue 3 Mar 20:09:00      as time from the start",
        "4:30:00  ·  Wed 4 Mar 00:34:30      as hours and minutes",
        "8:25:30  ·  Wed 4 Mar 04:30:00      as time of day",
    ]
    assert can_go(dialog)


def test_enter_takes_the_first_meaning_and_down_the_next(dialog: GoToTimeDialog, qtbot) -> None:
    qtbot.keyClicks(dialog._field, "4:30")
    qtbot.keyClick(dialog._field, Qt.Key.Key_Down)
    qtbot.keyClick(dialog._field, Qt.Key.Key_Return)
    assert dialog.seconds == 16_200.0
    assert dialog.result() == 1


def test_what_is_no_time_of_the_recording_cannot_be_gone_to(dialog: GoToTimeDialog, qtbot) -> None:
    assert not can_go(dialog)
    qtbot.keyClicks(dialog._field, "tomorrow")
    assert not can_go(dialog)
    assert "tomorrow" in dialog._says.text()
    assert not dialog._meanings.isVisible()
    qtbot.keyClick(dialog._field, Qt.Key.Key_Return)
    assert dialog.seconds is None


def test_steps_are_taken_from_the_page(dialog: GoToTimeDialog, qtbot) -> None:
    qtbot.keyClicks(dialog._field, "+90")
    dialog._go()
    assert dialog.seconds == 16_290.0


def test_places_visited_are_offered(dialog: GoToTimeDialog, qtbot) -> None:
    texts = [dialog._places.item(i).text() for i in range(dialog._places.count())]
    assert texts == ["05:00  ·  Tue 3 Mar 20:09:30", "11:06:40.5  ·  Wed 4 Mar 07:11:10"]
    dialog._places.setFocus()
    dialog._places.setCurrentRow(1)
    dialog._go()
    assert dialog.seconds == 40_000.5


def test_without_a_start_there_is_no_time_of_day(qtbot) -> None:
    dialog = GoToTimeDialog(None, 3600.0, 0.0)
    qtbot.addWidget(dialog)
    dialog._field.setText("10:00")
    assert meanings(dialog) == ["10:00      as time from the start"]

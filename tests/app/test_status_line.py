"""What stands at the bottom of the window: the reading under the cursor, in the unit of its channel."""

from __future__ import annotations

import math

import pytest
from PyQt6.QtWidgets import QLabel

from app.status_line import StatusLine


@pytest.fixture
def status(qtbot) -> StatusLine:
    made = StatusLine()
    qtbot.addWidget(made)
    return made


@pytest.mark.parametrize(
    ("name", "value", "unit", "text"),
    [
        ("F7-T7", -142.3, "uV", "00:21.385   F7-T7   −142 µV"),
        ("F7-T7", 4.56, "uV", "00:21.385   F7-T7   +4.56 µV"),
        ("OSAT", 97.0, "%", "00:21.385   OSAT   97.0 %"),
        ("Resp", -0.0123, "V", "00:21.385   Resp   −0.0123 V"),
        ("Trigger", 12.0, "", "00:21.385   Trigger   12.0"),
        ("Cz", math.nan, "uV", "00:21.385   Cz"),
        ("", math.nan, "", "00:21.385   "),
    ],
)
def test_reads_time_row_and_value_in_the_row_s_own_unit(status, name, value, unit, text):
    status.show_cursor(21.385, name, value, unit)
    assert status._cursor.text() == text
    status.clear_cursor()
    assert status._cursor.text() == ""


def test_the_caliper_s_reading_stays_beside_what_is_said(status):
    status.show_measure("T3-T5: Δt 234 ms")
    status.say("saved", "good")
    assert status._measure.text() == "T3-T5: Δt 234 ms"
    assert status._message.text() == "saved"
    status.show_measure("")
    assert status._measure.text() == ""


def test_a_sentence_is_taken_away_only_while_it_is_the_one_shown(status):
    def said() -> list[str]:
        return [shown.text() for shown in status.findChildren(QLabel) if shown.text() in ("refused", "saved")]

    status.say("refused", "warning")
    status.unsay("refused")
    assert said() == []
    status.say("refused", "warning")
    status.say("saved")
    status.unsay("refused")
    assert said() == ["saved"]

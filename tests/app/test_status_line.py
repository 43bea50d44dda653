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
        ("F7-T7", 4.56, "uV", "00:21.385   F7-T7   +4.6 µV"),
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


def test_however_much_is_said_at_once_the_narrowest_window_has_room_for_it(status, qtbot):
    status.show_calibration(False)
    status.show_cursor(86399.123, "POL LHIP10-LHIP11", -1234.0, "uV")
    status.show_measure("F3-C3: Δt 987 ms, 1/Δt 1.01 Hz, peak to peak 142 µV, from −71 to 71 µV (0.5 to 70 Hz)")
    status.show_heat("share of the channel term 0.42 in layer 3, head 5")
    status.show_kept("5 changes kept, not in a file", "muted", "")
    status.show_work("Run brainmaze A over the whole recording 43 %")
    status.show_device("CUDA")
    sentence = "no montage has that name; there are: " + ", ".join(["LB-18.1"] * 40)
    status.say(sentence, "warning")
    assert status.minimumSizeHint().width() < 1024
    assert status._message.toolTip() == sentence
    status.resize(1280, 24)
    status.show()
    qtbot.waitExposed(status)
    qtbot.waitUntil(lambda: min(status._message.width(), status._measure.width()) >= 120)
    status.say("saved")
    status.unsay("saved")
    assert (status._message.text(), status._message.toolTip()) == ("", "")


def test_alone_a_sentence_has_all_the_room(status, qtbot):
    status.resize(1280, 24)
    status.show()
    qtbot.waitExposed(status)
    status.say("a sentence of some length, as refusals are: with what is wrong and what to do about it", "warning")
    qtbot.waitUntil(lambda: status._message.width() >= status._message.sizeHint().width())

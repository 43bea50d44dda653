"""What is asked of a recording is asked no longer when another one opens."""

from __future__ import annotations

import numpy as np
import pytest
from PyQt6.QtCore import QEvent, QObject
from PyQt6.QtWidgets import QDialog, QInputDialog

from analysis.recording import Channel
from app.asking import ask, follow_recording
from app.dialogs.bad_channels import BadChannelsDialog
from app.dialogs.go_to_time import GoToTimeDialog
from app.session import Session
from app.settings import Settings
from app.testing import open_window

FIRST, SECOND = "scalp-seizure-46ch/demo_edf.edf", "scalp-seizure-42ch/scalp_seizure.edf"


class ShowWatch(QObject):
    """Knows whether a dialog came on screen."""

    def __init__(self, dialog: QDialog) -> None:
        super().__init__(dialog)
        self.was_shown = False
        dialog.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.was_shown |= event.type() == QEvent.Type.Show
        return super().eventFilter(watched, event)


@pytest.fixture
def session(qapp) -> Session:
    return Session()


@pytest.fixture
def record(array_recording):
    def make(seconds: int):
        return array_recording([Channel("Cz", "Cz", "eeg", "uV", 10.0)], np.zeros((1, 10 * seconds)), 10.0)

    return make


@pytest.mark.parametrize(
    ("dialog_type", "action"),
    [(BadChannelsDialog, "bad_channels"), (QInputDialog, "choose_reference"), (GoToTimeDialog, "go_to_time")],
)
def test_actions_that_ask_come_back_when_another_recording_has_opened(shared, qtbot, monkeypatch, dialog_type, action):
    window = open_window(shared / "recordings" / FIRST, (1400, 860), Settings(theme="light"), 20.0)
    window.wait()
    show, first = dialog_type.exec, window.main.session.recording
    asked: list[bool] = []

    def open_meanwhile(dialog) -> int:
        window.main.open_recording(str(shared / "recordings" / SECOND))
        watch = ShowWatch(dialog)
        answer = show(dialog)  # until it is dismissed, since nobody answers
        asked.append(watch.was_shown)
        return answer

    monkeypatch.setattr(dialog_type, "exec", open_meanwhile)
    try:
        window.main.actions_by_id[action].trigger()
        window.wait()
        assert asked == [True]
        assert window.main.session.recording is not first
    finally:
        window.close()


@pytest.mark.parametrize("answer", [0, 1])
def test_an_answer_is_an_answer(session, record, answer):
    class Quick(QDialog):
        def exec(self) -> int:
            return answer

    session.open(record(10))
    assert ask(Quick(), session) is bool(answer)


def test_an_answer_that_comes_too_late_is_none(session, record):
    class Late(QDialog):
        def exec(self) -> int:
            session.open(record(20))
            return 1

        def reject(self) -> None:
            """As a dialog that asks before it closes."""

    session.open(record(10))
    assert not ask(Late(), session)


def test_a_dialog_ends_with_its_window(session, record, qtbot):
    session.open(record(10))
    dialog = QDialog()
    qtbot.addWidget(dialog)
    follow_recording(dialog, session)
    dialog.open()
    session.close()
    assert not dialog.isVisible()

"""A question tells its field to a screen reader, and gives back what was typed."""

from __future__ import annotations

import pytest
from PyQt6.QtWidgets import QInputDialog, QLineEdit, QWidget

from app.dialogs.ask import ask_text


@pytest.mark.parametrize(("accepted", "answer"), [(1, "30 s"), (0, None)])
def test_what_is_typed_comes_back_and_the_field_has_a_name(qtbot, monkeypatch, accepted, answer):
    parent = QWidget()
    qtbot.addWidget(parent)
    seen = []

    def answer_it(dialog: QInputDialog) -> int:
        field = dialog.findChild(QLineEdit)
        seen.append((dialog.windowTitle(), field.accessibleName(), field.text()))
        field.setText("30 s")
        return accepted

    monkeypatch.setattr(QInputDialog, "exec", answer_it)
    assert ask_text(parent, "Length of a page", "Time on a page", "10 s") == answer
    assert seen == [("Length of a page", "Length of a page", "10 s")]

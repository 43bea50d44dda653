"""The help window shows every key of the action table, and finds them."""

from __future__ import annotations

from app.actions import ACTIONS
from app.dialogs.help import HelpDialog


def test_every_action_with_a_key_is_told(qtbot):
    dialog = HelpDialog()
    qtbot.addWidget(dialog)
    told = {(row.menu, row.text) for row in dialog.shown_rows()}
    assert {(spec.menu, spec.text) for spec in ACTIONS if spec.keys} <= told


def test_typing_narrows_the_keys_to_those_that_answer(qtbot):
    dialog = HelpDialog()
    qtbot.addWidget(dialog)
    dialog.field.setText("next page")
    assert [row.text for row in dialog.shown_rows()] == ["Next page"]
    dialog.field.clear()
    assert len(dialog.shown_rows()) > len([spec for spec in ACTIONS if spec.keys])

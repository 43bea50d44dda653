"""The help window shows every key of the action table, and finds them."""

from __future__ import annotations

from app.actions import ACTIONS
from app.dialogs.help import CONVENTIONS, HelpDialog
from viewers.mark_words import SIGNS
from viewers.overlays.annotations import _PATTERNS, COLOURS
from viewers.overlays.marks import DASHED, DASHED_AND_DOTTED


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


def test_the_colours_lines_and_signs_of_marks_are_told_as_they_are_drawn():
    (told,) = [sentence for sentence in CONVENTIONS if "violet" in sentence]
    colours = {"accent": "violet", "reader": "green", "human": "black"}
    lines = {(): "solid", tuple(DASHED): "dashed", tuple(DASHED_AND_DOTTED): "dash-dotted"}
    for source, colour in COLOURS.items():
        assert lines[tuple(_PATTERNS[source])] in told[told.index(colours[colour]) :][:40]
    assert all(sign.strip() in told for sign in SIGNS.values())

"""The dialog of event rules gives back what was set in it, and nothing else."""

from __future__ import annotations

import pytest
from PyQt6.QtWidgets import QComboBox, QLabel, QSpinBox

from analysis.postprocessing import EpisodeRule, OnlineRule
from app.dialogs.event_rules import EventRulesDialog, rule_text


@pytest.mark.parametrize("rule", [None, EpisodeRule(), OnlineRule(), EpisodeRule(60.0, 10.0, 3), OnlineRule(5.0, 20.0)])
def test_what_goes_in_comes_out(qtbot, rule):
    dialog = EventRulesDialog(rule, 100.0)
    qtbot.addWidget(dialog)
    assert dialog.rule() == rule


def test_a_changed_constant_is_the_only_change(qtbot):
    dialog = EventRulesDialog(EpisodeRule(), 100.0)
    qtbot.addWidget(dialog)
    whole_numbers = [box for box in dialog.findChildren(QSpinBox) if box.value() == 5]
    whole_numbers[0].setValue(7)
    assert dialog.rule() == EpisodeRule(min_positive=7)


def test_choosing_another_rule_brings_the_papers_constants(qtbot):
    dialog = EventRulesDialog(EpisodeRule(60.0, 10.0, 3), 100.0)
    qtbot.addWidget(dialog)
    dialog.findChild(QComboBox).setCurrentIndex(2)
    assert dialog.rule() == OnlineRule()


@pytest.mark.parametrize(("duration", "suited"), [(100.0, "E.2"), (1800.0, "E.1")])
def test_says_which_rule_suits_the_recording(qtbot, duration, suited):
    dialog = EventRulesDialog(None, duration)
    qtbot.addWidget(dialog)
    assert f"here {suited}" in dialog.findChild(QComboBox).itemText(0)


def test_text_names_every_constant():
    assert rule_text(EpisodeRule()) == "E.1: join within 300 s, at least 20 s and 5 positive responses"
    assert rule_text(EpisodeRule(min_positive=1)).endswith("and 1 positive response")
    assert rule_text(OnlineRule()) == "E.2: 3 positive s in 10 s"


OWN = EpisodeRule(10.0, 8.0, 1)


@pytest.mark.parametrize(("rule", "found"), [(OWN, None), (None, None), (OnlineRule(), OnlineRule())])
def test_what_the_model_states_stands_first(qtbot, rule, found):
    dialog = EventRulesDialog(rule, 100.0, own=OWN)
    qtbot.addWidget(dialog)
    choice = dialog.findChild(QComboBox)
    assert choice.itemText(0) == "The model's own (E.1)"
    assert rule_text(OWN) in [label.text() for label in dialog.findChildren(QLabel)]
    assert (dialog.rule(), choice.currentIndex()) == (found, 0 if found is None else 2)

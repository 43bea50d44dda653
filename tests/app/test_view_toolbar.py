"""The toolbar: what it shows is what is in force, what is chosen in it takes effect, what misleads is marked."""

from __future__ import annotations

import numpy as np
import pytest
from PyQt6.QtGui import QAction

from analysis.recording import Channel
from app.session import ModelChoice, Session
from app.view_toolbar import ViewToolbar, hertz, page_text, time_constant_text


@pytest.fixture
def toolbar(qtbot) -> ViewToolbar:
    session = Session()
    toolbar = ViewToolbar(session, QAction("open"), QAction("run"))
    toolbar.session = session
    qtbot.addWidget(toolbar)
    return toolbar


def entries(button) -> dict[str, QAction]:
    return {action.text(): action for action in button.menu().actions()}


def test_fields_show_what_is_in_force(toolbar):
    assert toolbar.low.value() == "0.5 Hz"
    assert toolbar.high.value() == "70 Hz"
    assert toolbar.notch.value() == "off"
    assert toolbar.sensitivity.value() == "7 µV/mm"
    assert toolbar.page.value() == "10 s"


@pytest.mark.parametrize(
    ("field", "entry", "name", "value"),
    [
        ("low", "1 Hz   0.16 s", "highpass", 1.0),
        ("low", "off", "highpass", 0.0),
        ("high", "35 Hz", "lowpass", 35.0),
        ("notch", "60 Hz", "notch", 60.0),
        ("sensitivity", "20 µV/mm", "uv_per_mm", 20.0),
        ("page", "5 min", "page_seconds", 300.0),
    ],
)
def test_a_choice_takes_effect_and_is_shown(toolbar, field, entry, name, value):
    button = getattr(toolbar, field)
    entries(button)[entry].trigger()
    assert getattr(toolbar.session.view, name) == value
    assert entry.startswith(button.value())


def test_the_time_constant_stands_beside_the_low_filter():
    # The sheet's table: 0.1 Hz 1.6 s, 0.3 Hz 0.53 s, 0.5 Hz 0.32 s, 1 Hz 0.16 s.
    texts = {f: time_constant_text(f) for f in (0.1, 0.3, 0.5, 1.0, 0.0)}
    assert texts == {0.1: "1.6 s", 0.3: "0.53 s", 0.5: "0.32 s", 1.0: "0.16 s", 0.0: ""}


@pytest.mark.parametrize(
    ("change", "field", "remark"),
    [
        ({"highpass": 5.0}, "low", "hides slow activity"),
        ({"lowpass": 15.0}, "high", "muscle can look like beta"),
        ({"notch": 50.0}, "notch", "on"),
    ],
)
def test_settings_that_mislead_are_marked(toolbar, change, field, remark):
    button = getattr(toolbar, field)
    assert remark not in button.toolTip().split("\n")
    toolbar.session.change_view(**change)
    assert button.toolTip().split("\n")[-1] == remark


def test_a_montage_that_cannot_be_derived_is_greyed_with_its_reason(toolbar, array_recording):
    pair = Channel("Fp1-F7", "Fp1-F7", "eeg", "uV", 10.0, pair=("Fp1", "F7"))
    toolbar.session.open(array_recording([pair], np.zeros((1, 100)), 10.0))
    refused = entries(toolbar.montage)["Common average\t3"]
    assert not refused.isEnabled()
    assert "recorded bipolar" in refused.toolTip()
    assert entries(toolbar.montage)["As recorded\t1"].isChecked()


def test_models_are_listed_and_chosen(toolbar, qtbot):
    models = [ModelChoice("a", "a.pt"), ModelChoice("b", "b.pt")]
    toolbar.show_models(models, models[0])
    assert toolbar.model.value() == "a"
    with qtbot.waitSignal(toolbar.model_chosen) as chosen:
        entries(toolbar.model)["b"].trigger()
    assert chosen.args == [models[1]]
    with qtbot.waitSignal(toolbar.load_requested):
        entries(toolbar.model)["Load checkpoint…"].trigger()


@pytest.mark.parametrize(
    ("seconds", "text"), [(5, "5 s"), (90, "90 s"), (120, "2 min"), (3600, "1 h"), (86400, "24 h")]
)
def test_page_text(seconds, text):
    assert page_text(seconds) == text


def test_zero_hertz_is_off():
    assert hertz(0.0) == "off"
    assert hertz(0.5) == "0.5 Hz"

"""The toolbar: what it shows is what is in force, what is chosen in it takes effect, what misleads is marked."""

from __future__ import annotations

import numpy as np
import pytest
from PyQt6.QtGui import QAction

from analysis.recording import Channel
from app.montage_entries import MontageEntry
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


def test_montages_are_listed_with_their_keys_and_those_refused_are_grey_with_the_reason(
    toolbar, qtbot, array_recording
):
    pair = Channel("Fp1-F7", "Fp1-F7", "eeg", "uV", 10.0, pair=("Fp1", "F7"))
    toolbar.session.open(array_recording([pair], np.zeros((1, 100)), 10.0))
    toolbar.show_montages(
        [
            MontageEntry("as recorded", "As recorded", "1"),
            MontageEntry("common average", "Common average", "2", "recorded bipolar"),
            MontageEntry("mine", "Mine", starts_group=True),
        ]
    )
    found = entries(toolbar.montage)
    assert not found["Common average\t2"].isEnabled()
    assert found["Common average\t2"].toolTip() == "recorded bipolar"
    assert found["As recorded\t1"].isChecked()
    assert [action.text() for action in toolbar.montage.menu().actions()][2:4] == ["", "Mine"]
    with qtbot.waitSignal(toolbar.montage_chosen) as chosen:
        found["Mine"].trigger()
    assert chosen.args == ["mine"]
    with qtbot.waitSignal(toolbar.editor_requested):
        found["Montages of your own…\tCtrl+M"].trigger()


def test_the_montage_in_force_is_shown_short_and_lit_where_something_is_to_be_known(toolbar, array_recording):
    sites = "Fp1 Fp2 F7 F3 Fz F4 F8 T7 C3 Cz C4 T8 P7 P3 Pz P4 P8 O1 O2".split()
    channels = [Channel(n, n, "eeg", "uV", 10.0, site=n) for n in sites]
    toolbar.session.open(array_recording(channels, np.zeros((19, 100)), 10.0))
    assert toolbar.montage.value() == "Longitudinal LB-18.1"
    toolbar.session.change_view(montage="common average")
    toolbar.session.set_bad_channels(["T7"])
    assert toolbar.montage.value() == "Common average"
    assert toolbar.montage.toolTip().endswith("left out, marked bad: T7")
    toolbar.session.set_bad_channels([])
    assert "left out" not in toolbar.montage.toolTip()


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

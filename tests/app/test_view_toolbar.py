"""The toolbar: what it shows is what is in force, what is chosen in it takes effect, what misleads is marked."""

from __future__ import annotations

import numpy as np
import pytest
from PyQt6.QtCore import QObject
from PyQt6.QtGui import QAction

from analysis.recording import Channel
from app.montage_entries import MontageEntry
from app.page_note import HIDES_SLOW, MUSCLE_LIKE_BETA
from app.session import ModelChoice, Session
from app.toolbar import ChoiceButton
from app.view import SENSITIVITIES
from app.view_toolbar import ViewToolbar, hertz, time_constant_text


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


def test_notch_with_harmonics_is_one_choice(toolbar):
    entries(toolbar.notch)["60 Hz and harmonics"].trigger()
    assert (toolbar.session.view.notch, toolbar.session.view.harmonics) == (60.0, True)
    assert toolbar.notch.value() == "60 Hz"
    assert entries(toolbar.notch)["60 Hz and harmonics"].isChecked()
    entries(toolbar.notch)["50 Hz"].trigger()
    assert not toolbar.session.view.harmonics


def test_sensitivities_say_their_other_names_and_go_as_far_as_needed(toolbar):
    listed = entries(toolbar.sensitivity)
    assert "500 µV/mm" in listed
    assert "1000 µV/mm" not in listed
    assert listed["7 µV/mm"].toolTip() == "70 µV/cm; 50 µV are 7.14 mm"
    toolbar.session.change_view(uv_per_mm=float(SENSITIVITIES[-1]))
    assert entries(toolbar.sensitivity)[f"{SENSITIVITIES[-1]} µV/mm"].isChecked()


def test_high_filters_beyond_the_rate_are_greyed_with_the_reason(toolbar, array_recording):
    channel = Channel("Fz", "Fz", "eeg", "uV", 100.0, site="Fz")
    toolbar.session.open(array_recording([channel], np.zeros((1, 1000)), 100.0))
    listed = entries(toolbar.high)
    assert listed["40 Hz"].isEnabled()
    assert not listed["70 Hz"].isEnabled()
    assert "50 Hz" in listed["70 Hz"].toolTip()


def test_speeds_are_offered_with_their_seconds_and_marked_until_the_screen_is_measured(toolbar, qtbot):
    toolbar.show_speeds([(15.0, 20.0), (30.0, 10.0)], False)
    entry = entries(toolbar.page)["30 mm/s   10 s   not calibrated"]
    with qtbot.waitSignal(toolbar.speed_chosen) as chosen:
        entry.trigger()
    assert chosen.args == [30.0]
    toolbar.session.change_view(page_seconds=10.0, mm_per_second=30.0)
    assert toolbar.page.value() == "30 mm/s"
    assert "approximate" in toolbar.page.toolTip()
    toolbar.show_speeds([(15.0, 20.0), (30.0, 10.0)], True)
    assert entries(toolbar.page)["30 mm/s   10 s"].isChecked()
    assert "approximate" not in toolbar.page.toolTip()
    toolbar.session.change_view(page_seconds=20.0)
    assert toolbar.page.value() == "20 s"


def test_the_fields_lead_to_the_panel_of_channel_types_and_to_other_lengths(toolbar, qtbot):
    for button in (toolbar.low, toolbar.high, toolbar.notch, toolbar.sensitivity):
        with qtbot.waitSignal(toolbar.kinds_requested):
            entries(button)["Per channel type…"].trigger()
    with qtbot.waitSignal(toolbar.length_requested):
        entries(toolbar.page)["Other length…\tCtrl+]"].trigger()


def test_the_time_constant_stands_beside_the_low_filter():
    # The sheet's table: 0.1 Hz 1.6 s, 0.3 Hz 0.53 s, 0.5 Hz 0.32 s, 1 Hz 0.16 s.
    texts = {f: time_constant_text(f) for f in (0.1, 0.3, 0.5, 1.0, 0.0)}
    assert texts == {0.1: "1.6 s", 0.3: "0.53 s", 0.5: "0.32 s", 1.0: "0.16 s", 0.0: ""}


@pytest.mark.parametrize(
    ("change", "field", "remark"),
    [
        ({"highpass": 5.0}, "low", HIDES_SLOW),
        ({"lowpass": 15.0}, "high", MUSCLE_LIKE_BETA),
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


def test_zero_hertz_is_off():
    assert hertz(0.0) == "off"
    assert hertz(0.5) == "0.5 Hz"


def test_a_menu_that_is_filled_again_leaves_nothing_of_before(qtbot):
    button = ChoiceButton("Caption", "a tip")
    qtbot.addWidget(button)
    told, asked = [], []
    button.chosen.connect(told.append)
    for _ in range(3):
        button.set_choices([("one", 1), ("two", 2)], 1)
        button.add_command("other", lambda: asked.append("other"))
    children = len(button.findChildren(QObject))
    button.set_choices([("one", 1), ("two", 2)], 2)
    button.add_command("other", lambda: asked.append("other"))
    assert len(button.findChildren(QObject)) == children
    assert [action.text() for action in button.choices()] == ["one", "two"]
    button.choices()[0].trigger()
    button.menu().actions()[-1].trigger()
    assert (told, asked) == ([1], ["other"])

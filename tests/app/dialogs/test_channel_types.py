"""The panel of channel types shows what is in force and changes it at once."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.recording import Channel
from app.dialogs.channel_types import ChannelTypesDialog
from app.session import Session
from app.view import KindSettings


@pytest.fixture
def dialog(qtbot, array_recording):
    kinds = ("eeg", "ecg", "resp")
    channels = [Channel(kind, kind, kind, "uV", 200.0) for kind in kinds]
    session = Session()
    session.open(array_recording(channels, np.zeros((3, 4000)), 200.0))
    made = ChannelTypesDialog(session)
    made.session = session
    qtbot.addWidget(made)
    return made


def choose(dialog: ChannelTypesDialog, kind: str, name: str, text: str) -> None:
    box = dialog.boxes[kind, name]
    index = box.findText(text)
    assert index >= 0, text
    box.setCurrentIndex(index)
    box.activated.emit(index)


def test_what_is_there_can_be_set_and_what_is_not_is_grey(dialog):
    enabled = {kind for kind, name in dialog.boxes if dialog.boxes[kind, name].isEnabled()}
    assert enabled == {"eeg", "ecg", "resp"}


def test_values_in_force_are_shown(dialog):
    texts = {key: box.currentText() for key, box in dialog.boxes.items()}
    assert texts["eeg", "uv_per_mm"] == "7 µV/mm"
    assert texts["eeg", "highpass"] == "0.5 Hz   0.32 s"
    assert texts["ecg", "uv_per_mm"] == "70 µV/mm"
    assert texts["ecg", "lowpass"] == "as the page"
    assert texts["resp", "uv_per_mm"] == "fitted"
    assert texts["resp", "notch"] == "off"
    dialog.session.change_view(uv_per_mm=8.5)
    assert dialog.boxes["eeg", "uv_per_mm"].currentText() == "8.5"


def test_choices_take_effect_at_once(dialog):
    choose(dialog, "ecg", "uv_per_mm", "50 µV/mm")
    choose(dialog, "ecg", "highpass", "0.3 Hz   0.53 s")
    choose(dialog, "ecg", "notch", "60 Hz and harmonics")
    assert dialog.session.view.settings_of("ecg") == KindSettings(50.0, 0.3, None, 60.0, True)
    choose(dialog, "ecg", "notch", "as the page")
    assert dialog.session.view.settings_of("ecg") == KindSettings(50.0, 0.3)
    choose(dialog, "resp", "lowpass", "15 Hz")
    assert dialog.session.view.filters.of_kind("resp").lowpass == 15.0


def test_the_pages_own_line_is_the_page(dialog):
    choose(dialog, "eeg", "uv_per_mm", "20 µV/mm")
    choose(dialog, "eeg", "notch", "50 Hz")
    assert (dialog.session.view.uv_per_mm, dialog.session.view.notch) == (20.0, 50.0)
    assert not dialog.boxes["eeg", "notch"].model().item(0).isEnabled()
    assert dialog.boxes["ecg", "notch"].model().item(0).isEnabled()


def test_usual_values_come_back(dialog):
    choose(dialog, "ecg", "uv_per_mm", "50 µV/mm")
    dialog.restore()
    assert dialog.session.view.kinds == ()
    assert dialog.boxes["ecg", "uv_per_mm"].currentText() == "70 µV/mm"


def test_every_choice_has_a_name_for_those_who_hear_the_screen(dialog):
    names = [box.accessibleName() for box in dialog.boxes.values()]
    assert len(set(names)) == len(names) == 28
    assert "ECG: Sensitivity" in names

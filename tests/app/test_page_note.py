"""The foot of the page says what a reader must not forget."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.recording import Channel
from app.page_note import HIDES_SLOW, MUSCLE_LIKE_BETA, misleading, page_note, prefilter_text, unfiltered_note
from app.session import Session
from app.view import KindSettings, View


@pytest.fixture
def session(qtbot, array_recording) -> Session:
    channels = [Channel(name, name, "eeg", "uV", 200.0, reference="Ref") for name in "AB"]
    channels.append(Channel("ECG", "ECG", "ecg", "uV", 200.0))
    made = Session()
    made.open(array_recording(channels, np.zeros((3, 4000)), 200.0))
    return made


def test_settings_and_reference_are_said(session):
    note = page_note(session, True)
    assert note == "as recorded · 7 µV/mm · 10 s/page · 0.5–70 Hz, notch off · recorded against Ref"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"positive_up": True}, "positive up"),
        ({"clipped": True}, "cut off"),
        ({"notch": 50.0, "harmonics": True}, "notch 50 Hz and harmonics"),
        ({"kinds": (("ecg", KindSettings(70.0, 0.3, 40.0)),)}, "ECG 0.3–40 Hz, notch off"),
        ({"page_seconds": 10.0, "mm_per_second": 30.0}, "30 mm/s (not calibrated)"),
    ],
)
def test_what_is_not_usual_is_said(session, change, said):
    assert said not in page_note(session, False)
    session.change_view(**change)
    assert said in page_note(session, False)


def test_filters_of_kinds_that_are_not_there_are_not_said(session):
    session.change_view(kinds=(("emg", KindSettings(20.0, 5.0)),))
    assert "EMG" not in page_note(session, True)


def test_bad_channels_are_named(session):
    session.bad_channels = frozenset({"B", "A"})
    assert "bad: A, B" in page_note(session, True)


def test_a_file_that_tells_no_reference_is_said_not_to(session, array_recording):
    session.open(array_recording([Channel("A", "A", "eeg", "uV", 10.0)], np.zeros((1, 1000)), 10.0))
    assert page_note(session, True).endswith("reference not stated in the file")
    pair = Channel("A-B", "A-B", "eeg", "uV", 10.0, pair=("A", "B"))
    session.open(array_recording([pair], np.zeros((1, 1000)), 10.0))
    assert "reference" not in page_note(session, True)


@pytest.mark.parametrize(
    ("highpass", "lowpass", "hint"),
    [
        (2.0, 35.0, ""),
        (0.5, 0.0, ""),
        (5.0, 70.0, HIDES_SLOW),
        (0.5, 30.0, MUSCLE_LIKE_BETA),
        (5.0, 15.0, f"{HIDES_SLOW}; {MUSCLE_LIKE_BETA}"),
    ],
)
def test_filters_that_mislead_are_pointed_out(highpass, lowpass, hint):
    assert misleading(View(highpass=highpass, lowpass=lowpass)) == hint


def test_an_unfiltered_page_claims_no_filter():
    assert unfiltered_note(View(positive_up=True, page_seconds=3600.0), True) == "7 µV/mm · 1 h/page · positive up"


@pytest.mark.parametrize(
    ("stated", "text"),
    [
        ("HP:0.1Hz LP:70Hz", "HP 0.1 LP 70 Hz"),
        ("HP: DC; LP: 417 Hz", "LP 417 Hz"),
        ("LP:250Hz", "LP 250 Hz"),
        ("HP:1.591549Hz LP:30Hz N:50Hz", "HP 1.59 LP 30 notch 50 Hz"),
        ("HP:0Hz LP:0Hz N:0Hz", ""),
        ("HP:-1Hz LP:-1Hz N:-1Hz", ""),
        ("HP:0.3s LP:70Hz", "LP 70 Hz"),
        ("No filtering", ""),
        ("DC", ""),
        ("", ""),
    ],
)
def test_filters_of_the_recorder_are_read_as_files_state_them(stated, text):
    assert prefilter_text(stated) == text


def test_the_recorder_s_filters_are_said_where_all_shown_signals_have_the_same(session, array_recording):
    def note_of(*stated: str) -> str:
        brain = [Channel(f"A{i}", f"A{i}", "eeg", "uV", 10.0, prefilter=text) for i, text in enumerate(stated)]
        ecg = Channel("ECG", "ECG", "ecg", "uV", 10.0, prefilter="HP:5Hz")
        session.open(array_recording([*brain, ecg], np.zeros((len(brain) + 1, 1000)), 10.0))
        return page_note(session, True)

    assert " · recorded through HP 0.1 LP 70 Hz · " in note_of("HP:0.1Hz LP:70Hz", "HP:0.1Hz  LP:70Hz")
    assert "recorded through" not in note_of("HP:0.1Hz LP:70Hz", "HP:0.1Hz LP:35Hz")
    assert "recorded through" not in note_of("", "")

"""Habits are learned by kind of channel and come back; what an odd recording needs is not learned."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from analysis.recording import Channel
from app.habits import Habits, keep_view, view_from
from app.session import Session
from app.settings import Settings
from app.view import KindSettings, View


def recording_of(array_recording, *kinds: str):
    channels = [Channel(f"{kind}{i}", f"{kind}{i}", kind, "uV", 10.0) for i, kind in enumerate(kinds)]
    return array_recording(channels, np.zeros((len(kinds), 1000)), 10.0)


def test_settings_come_back_as_the_same_view():
    view = View(
        highpass=1.0,
        lowpass=35.0,
        notch=60.0,
        harmonics=True,
        uv_per_mm=10.0,
        page_seconds=12.5,
        mm_per_second=30.0,
        kinds=(("ecg", KindSettings(50.0, 0.3)),),
        positive_up=True,
        clipped=True,
        colours="regions",
    )
    settings = Settings()
    keep_view(settings, view, Habits(view))
    assert view_from(settings) == view
    assert view_from(Settings()) == View()


def test_scalp_and_intracranial_recordings_have_habits_of_their_own(qtbot, array_recording):
    session = Session()
    session.open(recording_of(array_recording, "seeg", "seeg"))
    assert session.view.page_kind == "ieeg"
    session.change_view(uv_per_mm=100.0, lowpass=250.0)
    session.open(recording_of(array_recording, "eeg", "ecg"))
    assert (session.view.page_kind, session.view.uv_per_mm, session.view.lowpass) == ("eeg", 7.0, 70.0)
    session.change_view(highpass=1.6)
    session.open(recording_of(array_recording, "ecog"))
    assert (session.view.uv_per_mm, session.view.lowpass, session.view.highpass) == (100.0, 250.0, 0.5)
    # In a recording that has both, contacts keep what was chosen for them.
    session.open(recording_of(array_recording, "eeg", "seeg"))
    assert session.view.row_looks.kinds["ieeg"] == 100.0
    assert session.view.filters.of_kind("ieeg").lowpass == 250.0


def test_settings_of_kinds_are_learned(qtbot, array_recording):
    session = Session()
    session.open(recording_of(array_recording, "eeg", "ecg"))
    session.change_view(kinds=session.view.with_kind("ecg", KindSettings(uv_per_mm=30.0)))
    session.open(recording_of(array_recording, "eeg", "ecg"))
    assert session.view.row_looks.kinds["ecg"] == 30.0
    settings = Settings()
    keep_view(settings, session.view, session.habits)
    assert settings.kinds["ecg"]["uv_per_mm"] == 30.0


@pytest.mark.parametrize("kind", ["eeg", "seeg"])
def test_an_odd_recording_teaches_its_filters_but_not_its_scale(qtbot, array_recording, kind):
    session = Session()
    session.open(recording_of(array_recording, kind, "ecg"))
    usual = session.view.uv_per_mm
    assert session.make_readable(580_000.0)
    # Its hearts are drawn as flat as its brains.
    assert session.view.row_looks.kinds["ecg"] == session.view.uv_per_mm > 1000
    session.change_view(highpass=2.0, uv_per_mm=50_000.0)
    session.open(recording_of(array_recording, kind, "ecg"))
    assert (session.view.uv_per_mm, session.view.highpass) == (usual, 2.0)
    assert session.view.row_looks.kinds["ecg"] == 70.0


def test_reset_brings_back_the_first_view(qtbot, array_recording):
    session = Session()
    session.open(recording_of(array_recording, "seeg"))
    first = session.view
    session.change_view(
        uv_per_mm=200.0, positive_up=True, clipped=True, colours="black", gains=(("A", 3.0),), page_seconds=3.0
    )
    session.reset_view()
    assert session.view == replace(first, page_seconds=10.0)


@pytest.mark.parametrize(
    ("seconds", "speed", "kept"), [(0.1, 0.0, 15.0), (100.0, 0.0, 15.0), (60.0, 0.0, 60.0), (4.2, 60.0, 4.2)]
)
def test_pages_that_nobody_reads_by_stay_with_their_recording(qtbot, array_recording, seconds, speed, kept):
    session = Session()
    session.open(recording_of(array_recording, "eeg", "ecg"))
    session.change_view(page_seconds=15.0)
    session.change_view(page_seconds=seconds, mm_per_second=speed)
    settings = Settings()
    keep_view(settings, session.view, session.habits)
    session.open(recording_of(array_recording, "eeg"))
    assert (session.view.page_seconds, session.view.mm_per_second) == (kept, speed if kept == seconds else 0.0)
    assert view_from(settings).page_seconds == kept

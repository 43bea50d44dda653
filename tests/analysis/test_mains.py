"""Mains hum: told from muscle, from silence, and 50 from 60 Hz."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.mains import estimate_mains
from analysis.readers import open_recording
from analysis.recording import Channel


def made(array_recording, hum: float | None, sfreq: float = 256.0, amplitude: float = 10.0):
    rng = np.random.default_rng(3)
    times = np.arange(round(60 * sfreq)) / sfreq
    data = rng.normal(0, 20, (4, times.size))
    if hum is not None:
        data += amplitude * np.sin(2 * np.pi * hum * times)
    channels = [Channel(f"C{i}", f"C{i}", "eeg", "uV", sfreq) for i in range(4)]
    return array_recording(channels, data, sfreq)


@pytest.mark.parametrize("hum", [50.0, 60.0])
def test_finds_the_line_that_is_there(array_recording, hum):
    assert estimate_mains(made(array_recording, hum)) == hum


@pytest.mark.parametrize(("hum", "sfreq"), [(None, 256.0), (40.0, 256.0), (50.0, 100.0)])
def test_finds_none_where_there_is_none_or_it_cannot_be_seen(array_recording, hum, sfreq):
    assert estimate_mains(made(array_recording, hum, sfreq)) is None


def test_one_humming_electrode_is_not_the_mains(array_recording):
    recording = made(array_recording, None)
    times = np.arange(recording.n_times) / recording.sfreq
    recording._data[0] += (100 * np.sin(2 * np.pi * 60 * times)).astype(np.float32)
    assert estimate_mains(recording) is None


def test_a_recording_that_is_too_short_has_none(array_recording):
    channels = [Channel("Cz", "Cz", "eeg", "uV", 256.0)]
    assert estimate_mains(array_recording(channels, np.zeros((1, 100)), 256.0)) is None


def test_real_recordings_of_american_laboratories_hum_at_60(shared):
    with open_recording(shared / "recordings/scalp-seizure-46ch/demo_edf.edf") as recording:
        assert estimate_mains(recording) == 60.0

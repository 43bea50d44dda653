"""The simulated recording: a sound EDF+ that says what it is, with a seizure where it says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import edfio
import numpy as np
import pytest

from analysis.readers import open_recording
from analysis.seizure_marks import seizures
from app.simulated_demo import FOCUS, SECONDS, SEED, SEIZURE, SFREQ, SITES, make_demo, simulate

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def made():
    return simulate(SEED)


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    return make_demo(tmp_path_factory.mktemp("cache") / "cerebroscope")


def test_a_seed_gives_the_same_signal_and_another_seed_another(made):
    np.testing.assert_array_equal(simulate(SEED).data, made.data)
    assert not np.array_equal(simulate(SEED + 1).data, made.data)


def test_it_says_simulated_wherever_one_looks_and_names_no_person(demo):
    assert "SIMULATED" in demo.name
    file = edfio.read_edf(demo)
    assert file.local_patient_identification == "X X X X"
    assert "SIMULATED" in file.local_recording_identification
    assert "simulated" in file.annotations[0].text


def test_our_reader_and_another_read_the_same_microvolts_as_were_made(demo, made):
    recording = open_recording(demo)
    assert recording.warnings == []
    assert recording.ch_names == (*SITES, "ECG")
    assert recording.ch_types == ("eeg",) * 19 + ("ecg",)
    assert (recording.sfreq, recording.duration) == (SFREQ, SECONDS)
    data = recording.read(0, recording.n_times)
    np.testing.assert_allclose(data, made.data, atol=0.0501)  # half of the 0.1 µV step of the file
    other = np.stack([signal.data for signal in edfio.read_edf(demo).signals])
    np.testing.assert_allclose(data, other, atol=1e-3)
    assert seizures(recording.annotations) == [(SEIZURE[0], sum(SEIZURE))]


def test_background_has_the_size_and_slope_of_eeg(made):
    eeg = made.data[:19, : 140 * SFREQ]
    eeg = eeg - eeg.mean(axis=0)
    sd = np.median(eeg.reshape(19, -1, 10 * SFREQ).std(axis=2))
    assert 8 < sd < 35  # µV, the span of four real recordings
    spectrum = (np.abs(np.fft.rfft(eeg.reshape(19, -1, 4 * SFREQ) * np.hanning(4 * SFREQ))) ** 2).mean(axis=(0, 1))
    frequency = np.fft.rfftfreq(4 * SFREQ, 1 / SFREQ)
    band = ((frequency > 2) & (frequency < 6.5)) | ((frequency > 15) & (frequency < 40))
    slope = np.polyfit(np.log(frequency[band]), np.log(spectrum[band]), 1)[0]
    assert -2.7 < slope < -1.5
    near, far = np.corrcoef(eeg)[SITES.index("F3"), [SITES.index("C3"), SITES.index("P8")]]
    assert near > 0.3 > far


def test_alpha_is_behind_and_blinks_are_in_front(made):
    power = np.abs(np.fft.rfft(made.data[:19, : 140 * SFREQ])) ** 2
    frequency = np.fft.rfftfreq(140 * SFREQ, 1 / SFREQ)
    alpha = power[:, (frequency > 9) & (frequency < 11)].sum(axis=1)
    assert {SITES[i] for i in np.argsort(alpha)[-2:]} == {"O1", "O2"}
    largest = np.percentile(made.data[:19, : 140 * SFREQ], 99.9, axis=1)
    assert {SITES[i] for i in np.argsort(largest)[-2:]} == {"Fp1", "Fp2"}


def test_the_seizure_begins_at_its_focus_slows_down_and_grows(made):
    onset, duration = SEIZURE
    eeg = made.data[:19]
    focus = eeg[SITES.index(FOCUS)]

    def ratio(start, stop):
        ictal = eeg[:, int(start * SFREQ) : int(stop * SFREQ)].std(axis=1)
        return ictal / eeg[:, : int(onset) * SFREQ].std(axis=1)

    def dominant(start, stop):
        piece = focus[int(start * SFREQ) : int(stop * SFREQ)]
        frequency = np.fft.rfftfreq(len(piece), 1 / SFREQ)
        power = np.abs(np.fft.rfft(piece * np.hanning(len(piece)))) ** 2
        return frequency[np.argmax(power * (frequency > 1.2))]

    early, middle = ratio(onset, onset + 15), ratio(onset + 30, onset + 60)
    assert SITES[np.argmax(early)] == SITES[np.argmax(middle)] == FOCUS
    assert middle.max() > 3 * early.max() / 2
    assert (middle > 2).sum() > (early > 2).sum()
    assert 14 < dominant(onset + 0.5, onset + 2) < 19
    assert 4 < dominant(onset + 12, onset + 18) < 9
    assert 1.5 < dominant(onset + duration - 15, onset + duration - 2) < 4.5
    assert ratio(onset + duration + 10, onset + duration + 100).max() < 1.3


def test_it_is_made_once_and_nothing_half_made_is_left(tmp_path, monkeypatch):
    path = make_demo(tmp_path)
    stamp = path.stat().st_mtime_ns
    assert make_demo(tmp_path) == path
    assert path.stat().st_mtime_ns == stamp
    path.unlink()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("app.synthetic_edf._header_bytes", full)
    with pytest.raises(OSError, match="space"):
        make_demo(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_making_it_loads_neither_qt_nor_a_format_library():
    code = (
        "import sys, tempfile, pathlib, app.simulated_demo as d; d.make_demo(pathlib.Path(tempfile.mkdtemp()));"
        "print(sorted({'PyQt6', 'torch', 'mne', 'edfio', 'scipy.signal'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("[]\n", "")

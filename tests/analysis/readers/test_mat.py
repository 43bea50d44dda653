"""MATLAB files of both kinds, and the hour files of the older SWEC release."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest
import scipy.io

from analysis.errors import RecordingError
from analysis.readers import open_recording

SAMPLES = np.random.default_rng(3).normal(0, 30, (3, 500)).astype(np.float32)


def hdf5_mat(path: Path, **variables: np.ndarray) -> Path:
    """A MATLAB 7.3 file: HDF5 behind a block of text, every matrix transposed."""
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, value in variables.items():
            file[name] = np.atleast_2d(value).T
            file[name].attrs["MATLAB_class"] = np.bytes_("single")
    with path.open("r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file".ljust(128))
    return path


@pytest.mark.parametrize("samples", [SAMPLES, SAMPLES.T], ids=["channels first", "samples first"])
@pytest.mark.parametrize("kind", ["classic", "7.3"])
def test_both_kinds_and_both_orders(tmp_path: Path, samples: np.ndarray, kind: str) -> None:
    path = tmp_path / "a.mat"
    if kind == "classic":
        scipy.io.savemat(path, {"EEG": samples, "fs": 250.0})
    else:
        hdf5_mat(path, EEG=samples, fs=np.array([250.0]))
    recording = open_recording(path)
    assert (recording.sfreq, recording.duration, len(recording.channels)) == (250.0, 2.0, 3)
    np.testing.assert_array_equal(recording.read(0, 500), SAMPLES)
    np.testing.assert_array_equal(recording.read(490, 510, [1])[0, :10], SAMPLES[1, 490:])


def test_labels_and_units_of_the_file(tmp_path: Path) -> None:
    names = np.array(["Fp1", "Cz", "ECG"], dtype=object)
    scipy.io.savemat(tmp_path / "a.mat", {"data": SAMPLES, "srate": 250.0, "labels": names, "unit": "mV"})
    recording = open_recording(tmp_path / "a.mat")
    assert recording.ch_names == ("Fp1", "Cz", "ECG")
    assert recording.ch_types == ("eeg", "eeg", "ecg")
    np.testing.assert_allclose(recording.read(0, 500), SAMPLES * 1000, rtol=1e-6)
    assert recording.warnings == []


def test_as_many_labels_as_channels_tell_where_time_runs(tmp_path: Path) -> None:
    scipy.io.savemat(tmp_path / "a.mat", {"data": SAMPLES[:, :2], "fs": 250.0, "labels": np.array(list("ABC"), object)})
    recording = open_recording(tmp_path / "a.mat")
    assert (len(recording.channels), recording.n_times) == (3, 2)


@pytest.mark.parametrize(
    ("variables", "why"),
    [
        ({"data": SAMPLES}, "no sampling rate, it holds only data"),
        ({"fs": 250.0}, "no matrix of samples"),
        ({"a": SAMPLES, "b": SAMPLES, "fs": 250.0}, "holds a, b, fs"),
        ({"EEG": {"data": SAMPLES}, "fs": 250.0}, "no matrix of samples"),
    ],
)
def test_refusals(tmp_path: Path, variables: dict, why: str) -> None:
    scipy.io.savemat(tmp_path / "a.mat", variables)
    with pytest.raises(RecordingError, match=why):
        open_recording(tmp_path / "a.mat")


@pytest.fixture
def hours(tmp_path: Path) -> Path:
    """Hours 1, 2 and 4 of a recording at 1 Hz, so that the third is missing."""
    for hour in (1, 2, 4):
        scipy.io.savemat(tmp_path / f"ID07_{hour}h.mat", {"EEG": np.full((2, 3600), float(hour))})
    info = {"fs": 1.0, "seizure_begin": np.array([[1800.0], [7100.0]]), "seizure_end": np.array([[1900.0], [7300.0]])}
    scipy.io.savemat(tmp_path / "ID07_info.mat", info)
    return tmp_path


def test_all_hours_open_through_the_info_file(hours: Path) -> None:
    recording = open_recording(hours / "ID07_info.mat")
    assert recording.duration == 4 * 3600
    assert recording.gaps == ((7200.0, 10800.0),)
    data = recording.read(0, recording.n_times)[0]
    np.testing.assert_array_equal(data[[0, 3599, 3600, 7199, 10800, 14399]], [1, 1, 2, 2, 4, 4])
    assert np.isnan(data[7200:10800]).all()
    assert [(a.onset, a.stop) for a in recording.annotations] == [(1800.0, 1900.0), (7100.0, 7300.0)]


def test_one_hour_has_its_own_time_and_its_own_seizures(hours: Path) -> None:
    recording = open_recording(hours / "ID07_2h.mat")
    assert (recording.duration, recording.sfreq, recording.ch_types) == (3600.0, 1.0, ("seeg", "seeg"))
    assert [(a.onset, a.stop) for a in recording.annotations] == [(3500.0, 3600.0)]
    (hours / "ID07_info.mat").unlink()
    with pytest.raises(RecordingError, match="no sampling rate"):
        open_recording(hours / "ID07_2h.mat")

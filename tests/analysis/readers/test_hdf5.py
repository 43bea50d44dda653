"""SWEC-style HDF5 files against what the official loader gives, and the faults of the released files."""

from __future__ import annotations

import builtins
import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from analysis.errors import RecordingError
from analysis.readers import open_recording

SEIZURE = np.dtype([("onsets", "<f8"), ("offsets", "<f8")])


@pytest.fixture(scope="session")
def swec(shared: Path) -> Path:
    return shared / "parity/mvpformer/swec_like"


def test_windows_equal_those_of_the_official_loader(swec: Path) -> None:
    expected = np.load(swec / "expected.npz")
    recording = open_recording(swec / "ID01/ID01_total.h5")
    assert (recording.format, recording.sfreq, recording.duration) == ("SWEC HDF5", 1024.0, 100.0)
    assert recording.ch_types == ("seeg",) * 3
    assert [(a.onset, a.stop, a.description, a.author) for a in recording.annotations] == [
        (22.5, 31.25, "sz", "file"),
        (60.0, 64.0, "sz", "file"),
    ]
    for window, begin in zip(expected["windows"], expected["window_index"] * 5 * 1024, strict=True):
        data = recording.read(int(begin), int(begin) + 15 * 1024)  # the last of them spans both parts
        halved = data.reshape(3, -1, 2).mean(axis=2)  # the loader's interpolation from 1024 to 512 Hz
        np.testing.assert_allclose(halved.reshape(3, 3, 2560).transpose(1, 0, 2), window, atol=1e-4)


def test_a_total_file_of_foreign_parts_reads_its_own(swec: Path) -> None:
    recording = open_recording(swec / "ID19/ID19_total.h5")
    part = open_recording(swec / "ID19/ID19_part_1.h5")
    assert any("ID01_part_1.h5" in w and "own parts" in w for w in recording.warnings)
    data = recording.read(0, recording.n_times)
    assert np.abs(data).max() > 10
    np.testing.assert_array_equal(data, part.read(0, part.n_times))
    assert part.sfreq == 1024.0
    assert any("one part" in w for w in part.warnings)


def test_picks_and_edges(swec: Path) -> None:
    recording = open_recording(swec / "ID01/ID01_total.h5")
    whole = recording.read(-10, recording.n_times + 10)
    assert np.isnan(whole[:, :10]).all()
    assert np.isnan(whole[:, -10:]).all()
    np.testing.assert_array_equal(recording.read(51_100, 51_300, [2, 0]), whole[[2, 0], 51_110:51_310])
    np.testing.assert_array_equal(recording.read_native(1, 49.9, 50.1), whole[1, 10 + 51_098 : 10 + 51_303])


def swec_files(folder: Path, part_numbers: tuple[int, ...], seizures: np.ndarray) -> Path:
    """A total file whose virtual dataset names parts that are not there, with parts of its own name beside it."""
    total = folder / "ID20_total.h5"
    layout = h5py.VirtualLayout((2, 100 * len(part_numbers)), "<f4")
    for place, number in enumerate(part_numbers):
        with h5py.File(folder / f"ID20_part_{number}.h5", "w") as file:
            file["data/ieeg"] = np.full((2, 100), number, np.float64 if number == 2 else np.float32)
        source = h5py.VirtualSource(f"ID02_part_{number}.h5", "data/ieeg", (2, 100))
        layout[:, place * 100 : (place + 1) * 100] = source
    with h5py.File(total, "w") as file:
        file.create_group("data").create_virtual_dataset("ieeg", layout)
        file["data/seizures"] = seizures
        file.attrs["sampling_rate"] = 10
    return total


@pytest.mark.parametrize("shape", [(1,), (1, 1)])
def test_parts_follow_in_numeric_order_and_both_tables_of_seizures_are_read(tmp_path: Path, shape: tuple) -> None:
    seizures = np.array([(3.0, 5.0)], SEIZURE).reshape(shape)
    recording = open_recording(swec_files(tmp_path, (1, 2, 10), seizures))
    assert recording.duration == 30.0
    np.testing.assert_array_equal(recording.read(0, 300)[0, ::100], [1, 2, 10])
    assert [(a.onset, a.stop) for a in recording.annotations] == [(3.0, 5.0)]
    recording.close()


def test_a_recording_without_seizures_opens(tmp_path: Path) -> None:
    recording = open_recording(swec_files(tmp_path, (1,), np.empty(0, SEIZURE)))
    assert recording.annotations == ()


def test_missing_parts_are_refused_by_name(tmp_path: Path) -> None:
    total = swec_files(tmp_path, (1,), np.empty(0, SEIZURE))
    (tmp_path / "ID20_part_1.h5").unlink()
    with pytest.raises(RecordingError, match=r"ID02_part_1\.h5, which is not there"):
        open_recording(total)


def test_a_missing_decompressor_names_the_package_and_the_extra(swec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(h5py.h5z, "filter_avail", lambda code: code < 256)  # h5py's own filters only
    with pytest.raises(RecordingError, match=r'pip install hdf5plugin .*pip install -e "\.\[swec\]"'):
        open_recording(swec / "ID01/ID01_part_1.h5")


def test_a_missing_h5py_is_said(swec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "h5py":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.delitem(sys.modules, "h5py")
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(RecordingError, match="pip install h5py"):
        open_recording(swec / "ID01/ID01_total.h5")


def test_without_a_rate_it_is_refused(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["data"] = np.zeros((2, 100), np.float32)
    with pytest.raises(RecordingError, match="no sampling rate"):
        open_recording(tmp_path / "a.h5")


def test_another_layout_is_refused_with_what_it_holds(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["acquisition/eeg"] = np.zeros((2, 100), np.float32)
    with pytest.raises(RecordingError, match="holds acquisition"):
        open_recording(tmp_path / "a.h5")


def test_a_stated_unit_is_used(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["data"] = np.ones((1, 100), np.float32)
        file["data"].attrs.update(sfreq=50.0, unit="mV")
    recording = open_recording(tmp_path / "a.h5")
    assert recording.channels[0].unit == "uV"
    assert recording.read(0, 1)[0, 0] == 1000.0
    assert not any("unit" in w for w in recording.warnings)

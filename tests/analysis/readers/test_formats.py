"""Formats by content, and refusals in one sentence that names the file and what to do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from analysis.errors import RecordingError
from analysis.readers import detect_format, needs_engine, open_recording

REFUSED = [
    ("a.edf", b"", "is empty"),
    ("a.edf", b"not a header at all" * 60, "not an EDF or BDF file"),
    ("a.edf", b"\n  <!DOCTYPE html><html>", "web page"),
    ("a.edf", b"0       " + b" " * 100, "not an EDF or BDF file"),
    ("a.edf", b"0       " + b" " * 244 + b"4   " + b" " * 10, "header is cut short: 266 of 1280 bytes"),
    ("a.xdf", b"XDF:\x01", "XDF"),
    ("a.trc", b"* MICROMED  Brain-Quick", "Micromed"),
    ("a.edf", b"PK\x03\x04zip", "zip"),
    ("a.edf.gz", b"\x1f\x8b\x08", "gzip"),
    ("a.edf", b"version https://git-lfs.github.com/spec/v1", "Git LFS"),
    ("a.vmrk", b"Brain Vision Data Exchange Marker File", "open the .vhdr"),
    ("notes.txt", b"Dear colleague", "format of this file is not known"),
    ("a.fif", b"\0\0\0\x64\0\0\0\x1f\0\0\0\x14" + b"\0" * 30, "FIF recording cannot be read"),
    ("a.set", b"MATLAB 5.0 MAT-file" + b" " * 200, "EEGLAB recording cannot be read"),
    ("a.mat", b"MATLAB 5.0 MAT-file" + b" " * 200, "MATLAB file cannot be read"),
    ("a.h5", b"\x89HDF\r\n\x1a\n" + b"\0" * 100, "HDF5 file cannot be read"),
    ("a.gdf", b"GDF 2.20" + b" " * 20, "GDF recording cannot be read"),
    ("a.lay", b"[FileInfo]\nFile=gone.dat\n", "'gone.dat', which is not there"),
]


@pytest.mark.parametrize(("name", "content", "why"), REFUSED, ids=[f"{name}: {why}" for name, _, why in REFUSED])
def test_refusals(tmp_path: Path, name: str, content: bytes, why: str, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(RecordingError) as caught:
        open_recording(path)
    message = str(caught.value)
    assert why in message
    assert f"({path}): " in message
    assert "\n" not in message
    assert capfd.readouterr() == ("", "")


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="no such file"):
        open_recording(tmp_path / "none.edf")
    with pytest.raises(RecordingError, match="a folder"):
        open_recording(tmp_path)
    with pytest.raises(RecordingError, match="not an ordinary file"):
        open_recording("/dev/null")
    with pytest.raises(RecordingError, match="cannot be reached"):
        open_recording(tmp_path / ("x" * 5000))


def test_a_file_without_permission_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.edf"
    path.write_bytes(b"0")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "open", refuse)  # root may read everything, so the system cannot be asked to refuse
    with pytest.raises(RecordingError, match="no permission"):
        open_recording(path)


@pytest.mark.parametrize(
    ("file", "fmt"),
    [
        ("scalp-seizure-42ch/scalp_seizure.edf", "edf"),
        ("bdf/test.bdf", "bdf"),
        ("fif/test_bin_raw.fif", "fif"),
        ("brainvision/test.vhdr", "brainvision"),
        ("brainvision/test.eeg", "brainvision"),
        ("eeglab/eeglab_data.set", "eeglab"),
        ("ecog-seizure-persyst/ecog_clip2.lay", "persyst"),
        ("ecog-seizure-mat/pt01_ecog_onset.mat", "mat"),
        ("ecog-seizure-mat/pt01_ecog_onset.h5", "hdf5"),
    ],
)
def test_detection(shared: Path, file: str, fmt: str) -> None:
    assert detect_format(shared / "recordings" / file) == fmt
    assert needs_engine(fmt) == (fmt not in ("edf", "bdf"))


def test_content_counts_and_not_the_name(shared: Path, tmp_path: Path) -> None:
    path = tmp_path / "recording.dat"
    path.symlink_to(shared / "recordings/bdf/test.bdf")
    assert detect_format(path) == "bdf"
    assert open_recording(path).format == "BDF"


def test_opening_an_edf_loads_no_large_library(shared: Path) -> None:
    path = shared / "recordings/scalp-seizure-42ch/scalp_seizure.edf"
    code = (
        "import sys; from analysis.readers import open_recording; from analysis.description import describe;"
        f"r = open_recording({str(path)!r}); describe(r); r.read(0, 100);"
        "assert not {'mne', 'scipy', 'h5py', 'edfio', 'torch', 'matplotlib', 'sklearn'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[3])

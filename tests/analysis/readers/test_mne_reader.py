"""Pauses, gaps, types and warnings of files that MNE reads, made with MNE or written by hand."""

from __future__ import annotations

import warnings
from datetime import UTC, datetime
from pathlib import Path

import mne
import numpy as np
import pytest
import scipy.io

from analysis.errors import RecordingError
from analysis.readers import open_recording

VHDR = """Brain Vision Data Exchange Header File Version 1.0
[Common Infos]
Codepage=UTF-8
DataFile=a.eeg
MarkerFile=a.vmrk
DataFormat=BINARY
DataOrientation=MULTIPLEXED
NumberOfChannels=2
SamplingInterval=4000
[Binary Infos]
BinaryFormat=INT_16
[Channel Infos]
Ch1=EEG\\1 left,Cz,0.5,µV
Ch2=C4,Cz,0.5,nV
"""


def saved(raw: mne.io.BaseRaw, path: Path) -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        raw.save(path, verbose="CRITICAL", overwrite=True)
    return path


def made(n: int = 1000, types: tuple[str, ...] = ("eeg", "eeg", "ecg", "stim")) -> mne.io.RawArray:
    info = mne.create_info(["Cz", "VEOG", "heart", "STI 014"], 100.0, list(types))
    data = np.arange(4 * n, dtype=float).reshape(4, n) * 1e-6
    return mne.io.RawArray(data, info, verbose="CRITICAL")


def test_types_of_the_file_and_of_names(tmp_path: Path) -> None:
    recording = open_recording(saved(made(), tmp_path / "a_raw.fif"))
    assert recording.ch_types == ("eeg", "eog", "ecg", "stim")
    assert [c.unit for c in recording.channels] == ["uV", "uV", "uV", ""]
    np.testing.assert_allclose(recording.read(0, 1000)[0], np.arange(1000), rtol=1e-6)


def test_what_was_not_recorded_is_a_gap(tmp_path: Path) -> None:
    raw = made()
    raw.set_annotations(mne.Annotations([2.0, 5.0], [1.0, 0.5], ["BAD_ACQ_SKIP", "sz"]))
    recording = open_recording(saved(raw, tmp_path / "a_raw.fif"))
    assert recording.gaps == ((2.0, 3.0),)
    data = recording.read(0, 1000)
    assert np.isnan(data[:, 200:300]).all()
    assert np.isfinite(data[:, :200]).all()
    assert np.isfinite(data[:, 300:]).all()
    assert np.isnan(recording.read(150, 250)[:, 50:]).all()
    assert {(a.onset, a.description) for a in recording.annotations} == {(2.0, "BAD_ACQ_SKIP"), (5.0, "sz")}


def test_pieces_put_together_are_cut_where_they_meet(tmp_path: Path) -> None:
    raw = mne.concatenate_raws([made(400), made(600)], verbose="CRITICAL")
    recording = open_recording(saved(raw, tmp_path / "a_raw.fif"))
    assert recording.gaps == ((4.0, 4.0),)
    assert [(w.start, w.stop) for w in recording.contiguous_spans()] == [(0.0, 4.0), (4.0, 10.0)]
    assert any("paused at 4.000 s" in w for w in recording.warnings)


def test_annotations_and_start_count_from_the_first_sample(tmp_path: Path) -> None:
    raw = made()
    raw.set_meas_date(datetime(2020, 3, 2, 10, 11, 12, tzinfo=UTC))
    raw.set_annotations(mne.Annotations([5.0], [0.5], ["sz"]))
    recording = open_recording(saved(raw.crop(3.0, 8.0), tmp_path / "a_raw.fif"))
    assert recording.start_datetime == datetime(2020, 3, 2, 10, 11, 15)
    assert [(a.onset, a.description) for a in recording.annotations] == [(2.0, "sz")]


def test_annotations_of_channels_name_them(tmp_path: Path) -> None:
    raw = made()
    raw.set_annotations(mne.Annotations([1.0], [0.5], ["spike"], ch_names=[["heart"]]))
    assert open_recording(saved(raw, tmp_path / "a_raw.fif")).annotations[0].ch_names == ("heart",)


def test_boundaries_of_eeglab_are_cuts(tmp_path: Path) -> None:
    events = np.zeros(2, dtype=[("type", "O"), ("latency", "O"), ("duration", "O")])
    events[0] = ("boundary", 300.5, np.nan)
    events[1] = ("sz", 401.0, 0.0)
    eeg = {
        "nbchan": 1.0, "srate": 100.0, "trials": 1.0, "pnts": 1000.0, "xmin": 0.0, "xmax": 9.99, "setname": "a",
        "data": np.ones((1, 1000), np.float32), "event": events, "epoch": [], "chanlocs": {"labels": "Cz"},
        "icaweights": [], "icasphere": [], "icawinv": [], "icachansind": [],
    }  # fmt: skip
    scipy.io.savemat(tmp_path / "a.set", {"EEG": eeg})
    recording = open_recording(tmp_path / "a.set")
    assert len(recording.gaps) == 1
    start, stop = recording.gaps[0]
    assert start == stop == pytest.approx(3.0, abs=0.01)
    assert [a.description for a in recording.annotations] == ["boundary", "sz"]
    assert all(np.isfinite([a.duration for a in recording.annotations]))


def brainvision(folder: Path, markers: str) -> Path:
    (folder / "a.vhdr").write_text(VHDR, encoding="utf-8")
    head = "Brain Vision Data Exchange Marker File, Version 1.0\n[Common Infos]\nCodepage=UTF-8\nDataFile=a.eeg\n"
    (folder / "a.vmrk").write_text(f"{head}[Marker Infos]\n{markers}", encoding="utf-8")
    np.arange(4000, dtype="<i2").tofile(folder / "a.eeg")
    return folder / "a.vhdr"


@pytest.mark.parametrize(
    ("second", "cut"),
    [
        ("New Segment,,1001,1,0,20200302101116000000", None),  # just as late as its samples say
        ("New Segment,,1001,1,0,20200302101216000000", "paused for 60.000 s at 4.000 s"),
        ("New Segment,,1001,1,0", "paused at 4.000 s"),
    ],
)
def test_new_segments_of_brainvision(tmp_path: Path, second: str, cut: str | None) -> None:
    recording = open_recording(
        brainvision(tmp_path, f"Mk1=New Segment,,1,1,0,20200302101112000000\nMk2={second}\nMk3=Comment,sz,1501,250,0\n")
    )
    assert recording.gaps == (() if cut is None else ((4.0, 4.0),))
    assert any(cut in w for w in recording.warnings) if cut else recording.warnings == []
    assert (recording.annotations[-1].description, recording.annotations[-1].onset) == ("sz", 6.0)


def test_brainvision_labels_references_and_small_units(tmp_path: Path) -> None:
    recording = open_recording(brainvision(tmp_path, "Mk1=New Segment,,1,1,0,20200302101112000000\n"))
    assert [(c.original_name, c.reference, c.unit) for c in recording.channels] == [
        ("EEG, left", "Cz", "uV"),
        ("C4", "Cz", "uV"),
    ]
    np.testing.assert_allclose(recording.read(10, 12), [[10.0, 11.0], [10.5e-3, 11.5e-3]], rtol=1e-6)


def test_a_missing_data_file_is_named(tmp_path: Path) -> None:
    path = brainvision(tmp_path, "Mk1=New Segment,,1,1,0\n")
    (tmp_path / "a.eeg").unlink()
    with pytest.raises(RecordingError, match=r"'a\.eeg', which is not there"):
        open_recording(path)

"""Every real recording opens with the channels, rate, length, annotations and seizures its source table states."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from analysis.errors import RecordingError
from analysis.readers import open_recording
from analysis.recording import Recording
from analysis.seizure_marks import seizures

Spans = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Stated:
    """One row of the source table; `sfreq` is the rate of the EEG channels."""

    file: str
    format: str
    n_channels: int
    sfreq: float
    duration: float
    n_annotations: int = 0
    seizures: Spans = ()
    gaps: Spans = ()
    types: dict[str, int] = field(default_factory=dict)


STATED = [
    Stated(
        "scalp-seizure-42ch/scalp_seizure.edf", "EDF+C", 42, 200, 236, 26, ((0.0, 85.0),),
        types={"eeg": 27, "ecg": 2, "misc": 13},
    ),
    Stated(
        "scalp-seizure-46ch/demo_edf.edf", "EDF+C", 46, 200, 45, 8, ((15.1523, 44.1211),),
        types={"eeg": 22, "ecg": 1, "misc": 23},
    ),
    Stated("ecog-seizure-mat/pt01_ecog_onset.mat", "MATLAB", 84, 1000, 3.001, types={"eeg": 84}),
    Stated("ecog-seizure-mat/pt01_ecog_onset.h5", "HDF5", 84, 1000, 3.001, types={"ecog": 84}),
    Stated(
        "ecog-seizure-persyst/ecog_clip2.lay", "Persyst", 83, 200, 4.235, 5, ((0.0, 0.5), (1.0, 1.5)),
        types={"eeg": 23, "ecg": 2, "misc": 58},
    ),
    Stated("eegmmidb/eegmmidb_overlapping_annotations.edf", "EDF+C", 64, 128, 124, 38, types={"eeg": 64}),
    Stated("eeglab/eeglab_data.set", "EEGLAB", 32, 128, 238.3125, 154, types={"eeg": 30, "eog": 2}),
    Stated("fif/resting_eo_200hz_raw.fif", "FIF", 2, 200, 360, types={"eeg": 2}),
    Stated("fif/test_bin_raw.fif", "FIF", 33, 1000, 7.9, types={"eeg": 32, "stim": 1}),
    Stated("brainvision/test.vhdr", "BrainVision", 32, 1000, 7.9, 13, types={"eeg": 26, "misc": 6}),
    Stated(
        "brainvision/test_old_layout_latin1_software_filter.vhdr", "BrainVision", 29, 250, 1.004, 1,
        types={"eeg": 25, "eog": 4},
    ),
    Stated("edf/test.edf", "EDF+C", 139, 512, 6, 5, types={"eeg": 138, "stim": 1}),
    Stated("edf/duplicate_channel_labels.edf", "EDF+C", 3, 250, 10, types={"eeg": 3}),
    Stated(
        "edf/test_edf_stim_channel.edf", "EDF", 25, 128, 9.59375,
        types={"eeg": 19, "eog": 2, "ecg": 2, "stim": 1, "misc": 1},
    ),
    Stated("edf/test_stim_channel.edf", "EDF+C", 3, 200, 600, types={"stim": 2, "eeg": 1}),
    Stated("edf/test_uneven_samp.edf", "EDF", 2, 100, 110, types={"eeg": 2}),
    Stated("bdf/test.bdf", "BDF", 73, 2048, 1, types={"eeg": 66, "eog": 3, "misc": 3, "stim": 1}),
    Stated("bdf/test_bdf_stim_channel.bdf", "BDF", 4, 500, 10, types={"eeg": 3, "stim": 1}),
    Stated("bdf/openbci_8ch.bdf", "BDF", 8, 250, 73, types={"eeg": 8}),
    Stated("bdf/openbci_8ch.edf", "EDF", 8, 250, 73, types={"eeg": 8}),
    Stated("bdf/event_file_457.bdf", "BDF+C", 1, 1, 1081, 457, types={"misc": 1}),
    Stated("edfplus-c-d/edfPlusC.edf", "EDF+C", 11, 200, 20, 1),
    Stated(
        "edfplus-c-d/edfPlusD.edf", "EDF+D", 11, 200, 20, 1,
        gaps=((1, 2), (3, 4), (10, 12), (13, 15), (16, 19)),
    ),
    Stated("edfplus-c-d/bdfPlusC.bdf", "BDF+C", 11, 200, 20, 1),
    Stated("edfplus-c-d/edfAnnonC.edf", "EDF+C", 2, 30000, 1.2, 8, types={"eeg": 2}),
    Stated("chbmit-headers/chb05_06.edf", "EDF+C", 23, 256, 2, types={"eeg": 23}),
    Stated("chbmit-headers/chb05_13.edf", "EDF+C", 23, 256, 2, types={"eeg": 23}),
    Stated("siena-headers/PN00-1.edf", "EDF+C", 35, 512, 2, types={"eeg": 29, "ecg": 1, "misc": 4, "stim": 1}),
    Stated("siena-headers/PN00-2.edf", "EDF+C", 35, 512, 2, types={"eeg": 29, "ecg": 1, "misc": 4, "stim": 1}),
]  # fmt: skip

REFUSED = [
    ("sleep-edf/SC4001EC-Hypnogram.edf", "only annotations"),
    ("xdf/minimal.xdf", "XDF"),
    ("mat/test_edf_eeglab.mat", "no sampling rate"),
]


@pytest.mark.parametrize("stated", STATED, ids=lambda stated: stated.file)
def test_it_opens_as_stated(shared: Path, stated: Stated, capfd: pytest.CaptureFixture[str]) -> None:
    recording = open_recording(shared / "recordings" / stated.file)
    assert recording.format == stated.format
    assert len(recording.channels) == stated.n_channels
    assert len(set(recording.ch_names)) == stated.n_channels
    assert recording.sfreq == pytest.approx(stated.sfreq, rel=1e-9)
    assert recording.duration == pytest.approx(stated.duration, abs=1e-9)
    assert len(recording.annotations) == stated.n_annotations
    assert seizures(recording.annotations) == [pytest.approx(span) for span in stated.seizures]
    assert recording.gaps == stated.gaps
    if stated.types:
        assert {kind: recording.ch_types.count(kind) for kind in set(recording.ch_types)} == stated.types
    data = recording.read(0, min(recording.n_times, 2000))
    assert data.dtype == np.float32
    assert data.shape == (stated.n_channels, min(recording.n_times, 2000))
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(("file", "why"), REFUSED)
def test_it_is_refused_as_stated(shared: Path, file: str, why: str) -> None:
    with pytest.raises(RecordingError, match=why) as caught:
        open_recording(shared / "recordings" / file)
    assert Path(file).name in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_table_leaves_no_recording_out(shared: Path) -> None:
    root = shared / "recordings"
    openable = {".edf", ".bdf", ".vhdr", ".set", ".fif", ".lay", ".mat", ".h5", ".xdf"}
    there = {str(p.relative_to(root)) for p in root.glob("*/*") if p.suffix in openable and p.parent.name != "broken"}
    assert there == {stated.file for stated in STATED} | {file for file, _ in REFUSED}


@pytest.mark.parametrize(
    "stated", [s for s in STATED if s.format[:3] in ("EDF", "BDF") and not s.gaps], ids=lambda stated: stated.file
)
def test_samples_equal_mne_to_float32_rounding(shared: Path, stated: Stated) -> None:
    """Where every channel has the EEG's rate, MNE reads these right (in volts, except for stim channels)."""
    import mne

    path = shared / "recordings" / stated.file
    recording = open_recording(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        raw = mne.io.read_raw(path, verbose="CRITICAL")
    compared = 0
    for i, channel in enumerate(recording.channels):
        if channel.unit == "uV" and channel.sfreq == raw.info["sfreq"] and channel.type != "stim":
            expected = raw.get_data(picks=[i], verbose="CRITICAL")[0] * 1e6
            actual = recording.read_native(i, 0.0, recording.duration)
            np.testing.assert_allclose(actual, expected, rtol=1.5e-7, atol=1e-7 * np.abs(expected).max())
            compared += 1
    assert compared >= 1


FOREIGN = [s for s in STATED if s.format in ("FIF", "BrainVision", "EEGLAB", "Persyst")]


@pytest.mark.parametrize("stated", FOREIGN, ids=lambda stated: stated.file)
def test_foreign_samples_equal_mne_in_microvolts(shared: Path, stated: Stated) -> None:
    import mne

    path = shared / "recordings" / stated.file
    recording = open_recording(path)
    raw = mne.io.read_raw(path, verbose="CRITICAL")
    volts = [i for i, c in enumerate(recording.channels) if c.unit == "uV"]
    expected = (raw.get_data(picks=volts, verbose="CRITICAL") * 1e6).astype(np.float32)
    np.testing.assert_allclose(recording.read(0, recording.n_times, volts), expected, rtol=1e-6)
    middle = recording.read(100, 200, volts[::-1])
    np.testing.assert_allclose(middle, expected[::-1, 100:200], rtol=1e-6)


def channel(recording: Recording, name: str) -> int:
    return recording.ch_names.index(name)


def test_brainvision_keeps_units_that_are_no_voltages(shared: Path) -> None:
    recording = open_recording(shared / "recordings/brainvision/test.vhdr")
    units = {c.name: c.unit for c in recording.channels[-6:]}
    assert units == {"CP5": "BS", "CP6": "µS", "HL": "ARU", "HR": "uS", "Vb": "S", "ReRef": "C"}
    # All channels of this amplifier test hold the same signal, at 0.5 of each channel's own unit.
    data = recording.read(0, 500)
    for name in units:
        steps = data[channel(recording, name)] / 0.5
        np.testing.assert_allclose(steps, np.round(steps), atol=1e-3)
        assert np.abs(steps).max() > 10


def test_persyst_labels_are_the_files_own(shared: Path) -> None:
    recording = open_recording(shared / "recordings/ecog-seizure-persyst/ecog_clip2.lay")
    first = recording.channels[0]
    assert (first.name, first.original_name, first.reference) == ("Fp1", "Fp1-Ref", "Ref")
    assert recording.channels[channel(recording, "EKG1")].original_name == "POL EKG1-Ref"


def test_data_files_open_through_the_header_beside_them(shared: Path) -> None:
    for data, header in [
        ("brainvision/test.eeg", "brainvision/test.vhdr"),
        ("eeglab/eeglab_data.fdt", "eeglab/eeglab_data.set"),
        ("ecog-seizure-persyst/ecog_clip2.dat", "ecog-seizure-persyst/ecog_clip2.lay"),
    ]:
        recording = open_recording(shared / "recordings" / data)
        assert recording.id == open_recording(shared / "recordings" / header).id


@pytest.mark.parametrize("name", ["pt01_ecog_onset.mat", "pt01_ecog_onset.h5"])
def test_amplitudes_that_cannot_be_microvolts_are_said_and_not_changed(shared: Path, name: str) -> None:
    recording = open_recording(shared / "recordings/ecog-seizure-mat" / name)
    assert any("no unit" in w for w in recording.warnings)
    assert any("not believable for microvolts" in w for w in recording.warnings)
    assert 1e5 < np.std(recording.read(0, 3001)) < 3e5


def test_a_start_below_the_second_and_an_earlier_first_sample(shared: Path) -> None:
    fif = open_recording(shared / "recordings/fif/resting_eo_200hz_raw.fif")
    assert fif.start_datetime is not None
    assert fif.start_datetime.isoformat() == "2019-02-27T08:18:12"  # measured from 08:18:02, first sample 10 s later
    brainvision = open_recording(shared / "recordings/brainvision/test.vhdr")
    assert brainvision.start_datetime is not None
    assert brainvision.start_datetime.isoformat() == "2013-11-13T16:14:03.794232"

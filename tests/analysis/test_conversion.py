"""Copies as EDF+ and BDF+ against their sources, through our reader and through MNE and edfio."""

from __future__ import annotations

import errno
import warnings
from pathlib import Path
from typing import Any

import edfio
import mne
import numpy as np
import pytest
import scipy.io

from analysis.conversion import convert
from analysis.description import describe, to_text
from analysis.errors import RecordingError
from analysis.progress import Cancelled, Progress
from analysis.readers import open_recording
from analysis.readers.edf import EdfRecording
from analysis.recording import Recording

EDF_SOURCES = [
    "scalp-seizure-42ch/scalp_seizure.edf",
    "scalp-seizure-46ch/demo_edf.edf",
    "edf/test.edf",
    "edf/test_edf_stim_channel.edf",
    "edf/test_uneven_samp.edf",
    "edf/test_stim_channel.edf",
    "edf/duplicate_channel_labels.edf",
    "bdf/test.bdf",
    "bdf/test_bdf_stim_channel.bdf",
    "bdf/openbci_8ch.bdf",
    "bdf/event_file_457.bdf",
    "edfplus-c-d/edfPlusD.edf",
    "edfplus-c-d/edfAnnonC.edf",
    "edfplus-c-d/bdfPlusC.bdf",
    "eegmmidb/eegmmidb_overlapping_annotations.edf",
    "chbmit-headers/chb05_06.edf",
    "broken/duplicate_and_dash_channels.edf",
    "broken/physical_min_equals_max.edf",
    "broken/digital_min_above_max.edf",
    "broken/latin1_annotation.edf",
    "broken/latin1_patient_name.edf",
    "broken/first_tal_offset.edf",
    "broken/edfplus_d_gap.edf",
    "broken/mixed_sampling_rates.edf",
    "broken/unit_spellings.edf",
    "broken/zero_start_date.edf",
    "broken/start_time_colons_24h.edf",
    "broken/truncated_last_record.edf",
    "broken/header_length_wrong.edf",
    "broken/annotations_15000.edf",
]


def said(recording: Recording) -> list[tuple[float, float, str, tuple[str, ...]]]:
    return sorted((round(a.onset, 6), a.duration, a.description, a.ch_names) for a in recording.annotations)


def assert_same_facts(copy: Recording, source: Recording) -> None:
    assert [(c.name, c.type, c.unit, c.sfreq) for c in copy.channels] == [
        (c.name, c.type, c.unit, c.sfreq) for c in source.channels
    ]
    assert (copy.sfreq, copy.n_times, copy.gaps) == (source.sfreq, source.n_times, source.gaps)
    assert copy.start_datetime == source.start_datetime
    assert said(copy) == said(source)


@pytest.mark.parametrize("wide", [False, True], ids=["same width", "to 24 bits"])
@pytest.mark.parametrize("file", EDF_SOURCES)
def test_copies_of_edf_and_bdf_lose_nothing(shared: Path, tmp_path: Path, file: str, wide: bool) -> None:
    path = shared / "recordings" / file
    out = tmp_path / ("copy.bdf" if wide or path.suffix == ".bdf" else "copy.edf")
    done = convert(path, out)
    source, copy = open_recording(path), open_recording(out)
    assert isinstance(source, EdfRecording)
    assert isinstance(copy, EdfRecording)
    assert done.format == copy.format
    assert copy.format.endswith("+D" if source.gaps else "+C")
    assert_same_facts(copy, source)
    np.testing.assert_array_equal(copy.read(0, copy.n_times), source.read(0, source.n_times))
    ours = [s for s in copy.header.signals if not s.is_annotation]
    theirs = [s for s in source.header.signals if not s.is_annotation]
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.label == other.label
        np.testing.assert_equal(
            (mine.physical_min, mine.physical_max, mine.digital_min, mine.digital_max),
            (other.physical_min, other.physical_max, other.digital_min, other.digital_max),
        )
    assert copy.warnings == [] or source.warnings != []


@pytest.mark.parametrize("file", ["scalp-seizure-46ch/demo_edf.edf", "broken/latin1_annotation.edf"])
def test_other_readers_read_the_copy(shared: Path, tmp_path: Path, file: str) -> None:
    out = tmp_path / "copy.edf"
    convert(shared / "recordings" / file, out)
    source = open_recording(shared / "recordings" / file)
    raw = mne.io.read_raw_edf(out, verbose="CRITICAL")
    microvolts = raw.get_data(verbose="CRITICAL")[:19] * 1e6
    np.testing.assert_allclose(source.read(0, source.n_times, range(19)), microvolts, rtol=1e-6, atol=1e-4)
    assert [a["description"] for a in raw.annotations] == [a.description for a in source.annotations]
    edf = edfio.read_edf(out)
    assert len(edf.signals) == len(source.channels)
    assert [round(a.onset, 4) for a in edf.annotations] == [round(a.onset, 4) for a in source.annotations]
    assert source.start_datetime is not None
    assert edf.startdate == source.start_datetime.date()


def test_annotations_beyond_the_data_are_copied_too(shared: Path, tmp_path: Path) -> None:
    convert(shared / "recordings/bdf/event_file_457.bdf", tmp_path / "copy.bdf")
    copy = open_recording(tmp_path / "copy.bdf")
    assert isinstance(copy, EdfRecording)
    assert len(copy.annotations) + len(copy.annotations_outside) == 1081


@pytest.mark.parametrize("file", ["bdf/test.bdf", "bdf/test_bdf_stim_channel.bdf", "bdf/openbci_8ch.bdf"])
def test_24_bits_go_into_16_where_the_values_fit(shared: Path, tmp_path: Path, file: str) -> None:
    convert(shared / "recordings" / file, tmp_path / "copy.edf")
    source, copy = open_recording(shared / "recordings" / file), open_recording(tmp_path / "copy.edf")
    assert isinstance(source, EdfRecording)
    assert_same_facts(copy, source)
    for i, j in enumerate(source.signal_indices):
        step = abs(source.header.signals[j].gain)
        a, b = (r.read_native(i, 0, source.duration) for r in (source, copy))
        assert np.abs(a.astype(np.float64) - b).max() < max(step / 8, np.abs(a).max() * 1.2e-7)


def test_24_bits_that_do_not_fit_into_16_are_refused(shared: Path, tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"16 bits cannot hold .* squarewave .* \.bdf"):
        convert(shared / "recordings/edfplus-c-d/bdfPlusC.bdf", tmp_path / "copy.edf")
    assert list(tmp_path.iterdir()) == []


# source, output, largest error in microvolts that the format leaves
FOREIGN = [
    ("fif/resting_eo_200hz_raw.fif", "a.edf", 0.0),
    ("fif/test_bin_raw.fif", "a.edf", 0.0),
    ("brainvision/test.vhdr", "a.edf", 0.0),
    ("brainvision/test_old_layout_latin1_software_filter.vhdr", "a.edf", 2e-6),
    ("ecog-seizure-persyst/ecog_clip2.lay", "a.edf", 0.02),
    ("eeglab/eeglab_data.set", "a.edf", 0.006),
    ("eeglab/eeglab_data.set", "a.bdf", 1e-4),
    ("ecog-seizure-mat/pt01_ecog_onset.h5", "a.bdf", 0.3),
    ("../parity/mvpformer/swec_like/ID19/ID19_total.h5", "a.bdf", 0.0),
]


@pytest.mark.parametrize(("file", "out", "error"), FOREIGN)
def test_other_formats_keep_their_numbers_and_times(
    shared: Path, tmp_path: Path, file: str, out: str, error: float
) -> None:
    done = convert(shared / "recordings" / file, tmp_path / out)
    source, copy = open_recording(shared / "recordings" / file), open_recording(tmp_path / out)
    assert [c.name for c in copy.channels] == [c.name for c in source.channels]
    assert copy.ch_types == source.ch_types
    assert [c.unit.replace("µ", "u") for c in source.channels] == [c.unit for c in copy.channels]
    assert (copy.sfreq, copy.n_times) == (pytest.approx(source.sfreq, rel=1e-9), source.n_times)
    assert copy.start_datetime == source.start_datetime
    assert said(copy) == said(source)
    difference = np.abs(copy.read(0, copy.n_times).astype(np.float64) - source.read(0, source.n_times))
    assert difference.max() <= error
    assert any("rounded" in note for note in done.notes) == (error > 0)


def test_16_bits_are_refused_where_they_would_lose(shared: Path, tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"would round G1 by up to 4\.6 µV .*ends in \.bdf"):
        convert(shared / "recordings/ecog-seizure-mat/pt01_ecog_onset.h5", tmp_path / "a.edf")
    assert list(tmp_path.iterdir()) == []


def test_missing_samples_are_marked(shared: Path, tmp_path: Path) -> None:
    done = convert(shared / "recordings/broken/brainvision_nan.vhdr", tmp_path / "a.edf")
    source, copy = open_recording(shared / "recordings/broken/brainvision_nan.vhdr"), open_recording(tmp_path / "a.edf")
    marks = [(a.onset, a.duration, a.ch_names) for a in copy.annotations if a.description == "missing data"]
    assert marks == [(4.0, 2.0, ()), (8.0, 2.0, ("F3",))]
    data, missing = copy.read(0, copy.n_times), np.isnan(source.read(0, source.n_times))
    assert np.abs(data[missing]).max() < 0.01
    assert np.abs(data[~missing] - source.read(0, source.n_times)[~missing]).max() < 0.01
    assert any("missing data" in note for note in done.notes)


def test_a_length_that_no_record_divides_is_filled_and_said(tmp_path: Path) -> None:
    samples = np.random.default_rng(0).integers(-500, 500, (2, 100_003)).astype(np.float32)  # a prime number
    scipy.io.savemat(tmp_path / "a.mat", {"EEG": samples, "fs": 999.0})
    done = convert(tmp_path / "a.mat", tmp_path / "a.edf")
    copy = open_recording(tmp_path / "a.edf")
    assert copy.n_times == 100_899
    np.testing.assert_array_equal(copy.read(0, 100_003), samples)
    assert np.all(copy.read(100_003, copy.n_times) == samples[:, -1:])
    assert any("held for 0.897 s" in note for note in done.notes)


def test_gaps_and_small_units_of_fif(tmp_path: Path) -> None:
    info = mne.create_info(["Cz", "MEG 001"], 100.0, ["eeg", "mag"])
    data = np.stack([np.arange(1000) * 1e-6, np.arange(1000) * 1e-15])
    raw = mne.io.RawArray(data, info, verbose="CRITICAL")
    raw.set_annotations(mne.Annotations([2.0], [1.0], ["BAD_ACQ_SKIP"]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        raw.save(tmp_path / "a_raw.fif", verbose="CRITICAL")
    convert(tmp_path / "a_raw.fif", tmp_path / "a.edf")
    copy = open_recording(tmp_path / "a.edf")
    assert [(c.name, c.unit) for c in copy.channels] == [("Cz", "uV"), ("MEG 001", "fT")]
    np.testing.assert_allclose(copy.read(400, 1000)[1], np.arange(400, 1000), atol=1e-3)
    assert any(a.description == "missing data" and a.onset == 2.0 and a.duration == 1.0 for a in copy.annotations)


@pytest.mark.parametrize(
    "file", ["scalp-seizure-46ch/demo_edf.edf", "edf/test_edf_stim_channel.edf", "fif/test_bin_raw.fif"]
)
def test_anonymised_copies_hold_no_person_no_date_and_no_time_of_day(shared: Path, tmp_path: Path, file: str) -> None:
    done = convert(shared / "recordings" / file, tmp_path / "a.edf", anonymize=True)
    copy, source = open_recording(tmp_path / "a.edf"), open_recording(shared / "recordings" / file)
    assert isinstance(copy, EdfRecording)
    assert copy.header.raw[8:88].strip() == b"X X X X"
    assert copy.header.raw[88:168].strip() == b"Startdate X X X X"
    assert copy.header.raw[168:184] == b"01.01.8500.00.00"
    assert source.start_datetime is not None
    assert copy.start_datetime is None
    assert describe(copy)["start"] is None
    assert "start unknown" in to_text(describe(copy))
    assert said(copy) == said(source)
    assert any("look through them" in note for note in done.notes) == bool(source.annotations)


def test_a_copy_of_a_file_without_a_day_keeps_its_time_of_day(shared: Path, tmp_path: Path) -> None:
    source = bytearray((shared / "recordings/scalp-seizure-46ch/demo_edf.edf").read_bytes())
    source[88:184] = b"Startdate X X X X".ljust(80) + b"01.01.85" + b"13.14.15"
    (tmp_path / "source.edf").write_bytes(source)
    convert(tmp_path / "source.edf", tmp_path / "a.edf")
    assert (tmp_path / "a.edf").read_bytes()[168:184] == b"01.01.8513.14.15"
    convert(tmp_path / "source.edf", tmp_path / "b.edf", anonymize=True)
    assert (tmp_path / "b.edf").read_bytes()[168:184] == b"01.01.8500.00.00"
    assert open_recording(tmp_path / "a.edf").start_datetime is None


def test_the_patient_of_a_plain_file_becomes_a_name(shared: Path, tmp_path: Path) -> None:
    convert(shared / "recordings/edf/test_uneven_samp.edf", tmp_path / "a.edf")
    copy = open_recording(tmp_path / "a.edf")
    assert isinstance(copy, EdfRecording)
    assert copy.header.patient.startswith("X X X A_3Hz_sinewave")
    assert copy.header.recording.startswith("Startdate 13-JUL-2000 X X 110_seconds")


class CancelAt(Progress):
    """Cancels at its n-th report."""

    def __init__(self, n: int) -> None:
        self.left = n

    def report(self, done: float, total: float, message: str = "") -> None:
        assert 0 <= done <= total
        self.left -= 1
        if self.left <= 0:
            raise Cancelled


@pytest.mark.parametrize("file", ["scalp-seizure-42ch/scalp_seizure.edf", "eeglab/eeglab_data.set"])
def test_a_cancelled_copy_leaves_nothing(shared: Path, tmp_path: Path, file: str) -> None:
    with pytest.raises(Cancelled):
        convert(shared / "recordings" / file, tmp_path / "a.edf", progress=CancelAt(1))
    assert list(tmp_path.iterdir()) == []


def test_the_source_is_never_overwritten(shared: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.edf"
    path.write_bytes((shared / "recordings/broken/first_tal_offset.edf").read_bytes())
    (tmp_path / "b.edf").symlink_to(path)
    before = path.read_bytes()
    for out in (path, tmp_path / "b.edf"):
        with pytest.raises(RecordingError, match="the output is the recording itself"):
            convert(path, out)
    assert path.read_bytes() == before


def test_an_older_copy_is_replaced(shared: Path, tmp_path: Path) -> None:
    out = tmp_path / "a.edf"
    out.write_text("old")
    convert(shared / "recordings/broken/first_tal_offset.edf", out)
    assert open_recording(out).duration == 10.0


@pytest.mark.parametrize(
    ("code", "why"),
    [(errno.ENOSPC, "disk is full"), (errno.EACCES, "no permission"), (errno.EROFS, "can only be read")],
)
def test_what_the_system_refuses_is_said(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, why: str
) -> None:
    def refuse(*_: Any) -> None:
        raise OSError(code, "refused")

    out = tmp_path / "a.edf"
    out.write_text("older")
    monkeypatch.setattr("os.fsync", refuse)
    with pytest.raises(RecordingError, match=why):
        convert(shared / "recordings/broken/first_tal_offset.edf", out)
    assert [path.name for path in tmp_path.iterdir()] == ["a.edf"]
    assert out.read_text() == "older"


def test_places_and_names_that_cannot_be(shared: Path, tmp_path: Path) -> None:
    source = shared / "recordings/broken/first_tal_offset.edf"
    with pytest.raises(RecordingError, match="folder does not exist"):
        convert(source, tmp_path / "none" / "a.edf")
    with pytest.raises(RecordingError, match=r"must end in \.edf or \.bdf"):
        convert(source, tmp_path / "a.fif")

"""Every faulty file behaves as its README's column of right behaviour says."""

from __future__ import annotations

from datetime import datetime
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from analysis.errors import RecordingError
from analysis.readers import open_recording
from analysis.recording import Recording

TEN_TWENTY = "Fp1 Fp2 F7 F3 Fz F4 F8 T7 C3 Cz C4 T8 P7 P3 Pz P4 P8 O1 O2".split()
# A 3 Hz burst of 100 µV whose flattened tops give its fundamental 111 µV, in noise of SD 20 µV.
FUNDAMENTAL_MICROVOLTS, BURST_HZ = 111.0, 3.0

# file, channels, duration, what the warnings name ("" for none at all)
OPENED = [
    ("nrec_minus_one.edf", 19, 10.0, "worked out from the file size"),
    ("truncated_last_record.edf", 19, 9.0, "9 of 10 records"),
    ("more_data_than_header.edf", 19, 12.0, "10 records, the file holds 12"),
    ("duplicate_and_dash_channels.edf", 23, 8.0, "4 separators"),
    ("physical_min_equals_max.edf", 19, 10.0, "Fz: not calibrated"),
    ("digital_min_above_max.edf", 19, 10.0, "Cz: digital minimum above maximum"),
    ("latin1_patient_name.edf", 19, 10.0, ""),
    ("first_tal_offset.edf", 19, 10.0, ""),
    ("edfplus_d_gap.edf", 19, 70.0, ""),
    ("mixed_sampling_rates.edf", 11, 10.0, ""),
    ("unit_spellings.edf", 7, 10.0, ""),
    ("latin1_annotation.edf", 19, 10.0, ""),
    ("zero_start_date.edf", 19, 10.0, ""),
    ("start_time_colons_24h.edf", 19, 10.0, "no valid time"),
    ("annotations_15000.edf", 1, 600.0, ""),
    ("prefixed_names.edf", 21, 10.0, ""),
    ("header_length_wrong.edf", 19, 10.0, "1024"),
    ("brainvision_nan.vhdr", 8, 20.0, ""),
]
REFUSED = [
    ("empty.edf", "empty"),
    ("html_page.edf", "not an EDF file"),
    ("no_records.edf", "no data in the file"),
    ("brainvision_renamed.vhdr", "'old name.eeg'"),
]
# Where the burst is in the recording's own time, and where the annotation of it lies.
BURSTS = {file: (3.5, 6.5) for file, *_ in OPENED if file not in ("unit_spellings.edf", "annotations_15000.edf")}
BURSTS |= {
    "duplicate_and_dash_channels.edf": (3.0, 6.0),
    "first_tal_offset.edf": (3.5, 6.5),
    "edfplus_d_gap.edf": (66.0, 68.0),
    "brainvision_nan.vhdr": (12.0, 15.0),
}
WITHOUT_ANNOTATION = {"duplicate_and_dash_channels.edf", "zero_start_date.edf", "latin1_annotation.edf"}


@pytest.fixture(scope="session")
def broken(shared: Path) -> Path:
    return shared / "recordings/broken"


def burst(recording: Recording, picks: list[int], start: float, stop: float) -> np.ndarray:
    """Complex amplitude in microvolts of the 3 Hz burst in whole cycles of [start, stop)."""
    first = round(start * recording.sfreq)
    n = round(round((stop - start) * BURST_HZ) / BURST_HZ * recording.sfreq)
    wave = np.exp(-2j * np.pi * BURST_HZ * np.arange(n) / recording.sfreq)
    return recording.read(first, first + n, picks) @ wave * (2 / n)


@pytest.mark.parametrize(("file", "n_channels", "duration", "warning"), OPENED)
def test_it_opens(broken: Path, file: str, n_channels: int, duration: float, warning: str) -> None:
    recording = open_recording(broken / file)
    assert recording.annotations is not None
    assert len(recording.channels) == n_channels
    assert recording.duration == duration
    if warning:
        assert any(warning in said for said in recording.warnings)
    else:
        assert recording.warnings == []


@pytest.mark.parametrize(("file", "why"), REFUSED)
def test_it_is_refused_in_one_line(broken: Path, file: str, why: str) -> None:
    with pytest.raises(RecordingError) as caught:
        open_recording(broken / file)
    assert why in str(caught.value)
    assert file in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_tables_leave_no_recording_out(broken: Path) -> None:
    there = {path.name for path in broken.iterdir() if path.suffix in (".edf", ".vhdr")}
    assert there == {file for file, *_ in OPENED} | {file for file, _ in REFUSED}


@pytest.mark.parametrize("file", BURSTS)
def test_the_burst_lies_under_its_annotation_with_its_size_and_polarity(broken: Path, file: str) -> None:
    recording = open_recording(broken / file)
    start, stop = BURSTS[file]
    if file not in WITHOUT_ANNOTATION:
        marked = [(a.onset, a.stop) for a in recording.annotations if a.description == "sz"]
        assert marked == [pytest.approx((start, stop))]
    picks = [i for i, c in enumerate(recording.channels) if c.is_brain]
    inside = burst(recording, picks, start, stop)
    before = burst(recording, picks, start - 1, start)
    np.testing.assert_allclose(np.abs(inside), FUNDAMENTAL_MICROVOLTS, atol=10)
    assert np.abs(before).max() < 25
    turned = np.angle(inside / inside.mean())
    assert np.abs(turned).max() < 0.1  # the same polarity in every channel


def test_a_channel_without_physical_range_is_kept_out(broken: Path) -> None:
    recording = open_recording(broken / "physical_min_equals_max.edf")
    fz = recording.channels[recording.ch_names.index("Fz")]
    assert (fz.type, fz.calibrated, fz.is_brain, fz.unit) == ("eeg", False, False, "counts")
    assert sum(c.is_brain for c in recording.channels) == 18


def test_separators_are_left_out_and_duplicates_told_apart(broken: Path) -> None:
    recording = open_recording(broken / "duplicate_and_dash_channels.edf")
    assert all(c.is_brain and c.pair for c in recording.channels)
    twins = [c for c in recording.channels if c.original_name == "T8-P8"]
    assert [c.name for c in twins] == ["T8-P8", "T8-P8 (2)"]
    assert twins[0].pair == twins[1].pair == ("T8", "P8")
    rows = recording.read(0, 2048, [recording.ch_names.index(c.name) for c in twins])
    np.testing.assert_array_equal(rows[0], rows[1])


def test_header_texts_are_shown_as_they_are(broken: Path) -> None:
    from analysis.readers.edf_header import read_header

    header = read_header(broken / "latin1_patient_name.edf")
    assert "Prénom_Müller" in header.patient
    assert header.recording.endswith("Équipement")


def test_annotations_in_latin1_and_utf8_are_readable(broken: Path) -> None:
    found = open_recording(broken / "latin1_annotation.edf").annotations
    assert [(a.onset, a.description) for a in found] == [(3.5, "début de crise"), (8.25, "fin: éveil")]


def test_the_clock_start_has_the_half_second_of_the_first_record(broken: Path) -> None:
    recording = open_recording(broken / "first_tal_offset.edf")
    assert recording.start_datetime == datetime(2020, 3, 2, 10, 11, 12, 500_000)


@pytest.mark.parametrize("file", ["zero_start_date.edf", "start_time_colons_24h.edf"])
def test_a_start_that_is_no_time_is_unknown(broken: Path, file: str) -> None:
    assert open_recording(broken / file).start_datetime is None


def test_a_gap_is_known_and_both_annotations_are_listed(broken: Path) -> None:
    recording = open_recording(broken / "edfplus_d_gap.edf")
    assert recording.gaps == ((5.0, 65.0),)
    assert [(a.onset, a.description) for a in recording.annotations] == [(2.0, "before gap"), (66.0, "sz")]
    data = recording.read(0, recording.n_times)
    assert np.isnan(data[:, 1000:13000]).all()
    assert np.isfinite(data[:, :1000]).all()
    assert np.isfinite(data[:, 13000:]).all()


def test_each_channel_keeps_its_rate_and_unit(broken: Path) -> None:
    recording = open_recording(broken / "mixed_sampling_rates.edf")
    rates = {c.name: c.sfreq for c in recording.channels}
    assert (rates["Fp1"], rates["ECG"], rates["Resp"], rates["SpO2"]) == (256.0, 512.0, 25.0, 1.0)
    assert recording.sfreq == 256.0
    assert [c.name for c in recording.channels if c.is_brain] == "Fp1 Fp2 F7 F3 Fz F4 F8 T7".split()
    spo2 = recording.ch_names.index("SpO2")
    assert recording.channels[spo2].unit == "%"
    assert recording.channels[spo2].type == "misc"
    np.testing.assert_allclose(recording.read_native(spo2, 0, 10), np.linspace(97, 92.5, 10), atol=0.05)
    assert len(recording.read_native(recording.ch_names.index("ECG"), 0, 10)) == 5120


def test_every_spelling_of_microvolts_is_understood(broken: Path) -> None:
    recording = open_recording(broken / "unit_spellings.edf")
    assert {c.unit for c in recording.channels} == {"uV"}
    assert all(c.is_brain for c in recording.channels)
    np.testing.assert_allclose(np.abs(recording.read(0, 2000)).max(axis=1), 50.0, rtol=2e-3)


def test_fifteen_thousand_annotations_are_listed(broken: Path) -> None:
    found = open_recording(broken / "annotations_15000.edf").annotations
    assert len(found) == 15_000
    assert {a.description for a in found} == {"x"}
    assert all(a.onset <= b.onset for a, b in pairwise(found))


def test_prefixed_names_are_the_ten_twenty_system(broken: Path) -> None:
    recording = open_recording(broken / "prefixed_names.edf")
    scalp = [c for c in recording.channels if c.type == "eeg"]
    assert [c.site for c in scalp] == TEN_TWENTY
    assert [c.name for c in scalp][7:13] == ["T3", "C3", "Cz", "C4", "T4", "T5"]
    assert {c.reference for c in scalp} == {"REF"}
    assert [(c.name, c.type) for c in recording.channels[19:]] == [("EKG1", "ecg"), ("PH", "misc")]


def test_missing_samples_of_brainvision_stay_missing(broken: Path) -> None:
    recording = open_recording(broken / "brainvision_nan.vhdr")
    missing = np.isnan(recording.read(0, recording.n_times))
    assert missing[:, 1000:1500].all()
    f3 = recording.ch_names.index("F3")
    assert missing[f3, 2000:2500].all()
    assert missing.sum() == 8 * 500 + 500

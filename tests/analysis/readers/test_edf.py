"""EDF and BDF reading against integers known beforehand and against edfio."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import edfio
import numpy as np
import pytest

from analysis.errors import RecordingError
from analysis.readers import open_recording
from analysis.readers.edf import EdfRecording, read_edf_annotations

WIDE = ((-3276.8, 3276.7), (-32768, 32767))
FINE = ((-262144.0, 262143.0), (-8388608, 8388607))


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def physical(digital: np.ndarray, ranges: tuple, factor: float = 1.0) -> np.ndarray:
    """float64 scaling, rounded once to float32."""
    (low, high), (first, last) = ranges
    gain = (high - low) / (last - first)
    return ((digital.astype(np.float64) * gain + (low - first * gain)) * factor).astype(np.float32)


@pytest.mark.parametrize("bdf", [False, True])
def test_every_window_and_pick_equals_float64_scaling(
    tmp_path: Path, edf_writer: Callable, rng: np.random.Generator, bdf: bool
) -> None:
    ranges = FINE if bdf else WIDE
    digital = [rng.integers(*ranges[1], (9, 100), endpoint=True) for _ in range(6)]
    signals = [(name, "uV", *ranges, 100) for name in ("Fp1", "Fp2", "C3", "C4", "O1", "O2")]
    texts = [b"+%d\x14\x14\0" % i for i in range(9)]
    recording = open_recording(edf_writer(tmp_path / "a.edf", signals, digital, texts, bdf=bdf))
    expected = np.stack([physical(d.ravel(), ranges) for d in digital])
    np.testing.assert_allclose(recording.read(0, 900), expected, rtol=1.2e-7, atol=0)
    for start, stop, picks in [
        (0, 1, None),
        (99, 101, [0]),
        (250, 700, [5, 0, 2, 3]),
        (899, 900, [1]),
        (300, 300, [1]),
    ]:
        rows = list(range(6)) if picks is None else picks
        np.testing.assert_array_equal(recording.read(start, stop, picks), recording.read(0, 900)[rows, start:stop])


def test_scaling_equals_edfio(tmp_path: Path, rng: np.random.Generator) -> None:
    signals = [
        edfio.EdfSignal(rng.normal(0, 60, 2560), 256, label=name, physical_dimension=unit, physical_range=(-500, 450))
        for name, unit in (("Fp1", "uV"), ("Fp2", "mV"), ("Resp", "%"))
    ]
    path = tmp_path / "a.edf"
    edfio.Edf(signals).write(path)
    recording = open_recording(path)
    for i, factor in enumerate((1.0, 1000.0, 1.0)):
        expected = (edfio.read_edf(path).signals[i].data * factor).astype(np.float32)
        np.testing.assert_allclose(recording.read(0, 2560)[i], expected, rtol=2.4e-7)


def test_samples_outside_are_nan(tmp_path: Path, edf_writer: Callable) -> None:
    recording = open_recording(edf_writer(tmp_path / "a.edf", [("Cz", "uV", *WIDE, 10)], [np.ones((2, 10), int)]))
    data = recording.read(-3, 24)
    assert np.isnan(data[0, :3]).all()
    assert np.isnan(data[0, 23:]).all()
    assert np.isfinite(data[0, 3:23]).all()


def test_channels_of_other_rates_come_to_the_eegs_rate(tmp_path: Path, edf_writer: Callable) -> None:
    ramp = np.arange(40)
    signals = [("Cz", "uV", *WIDE, 8), ("ECG", "uV", *WIDE, 16), ("Resp", "uV", *WIDE, 4)]
    digital = [np.zeros((5, 8), int), np.arange(80).reshape(5, 16), np.arange(20).reshape(5, 4) * 10]
    recording = open_recording(edf_writer(tmp_path / "a.edf", signals, digital))
    assert recording.sfreq == 8.0
    assert [c.sfreq for c in recording.channels] == [8.0, 16.0, 4.0]
    data = recording.read(0, 40)
    # The mean of each pair of the faster one; half-way points of the slower one, its last sample held.
    np.testing.assert_allclose(data[1], physical(2 * ramp + 0.5, WIDE), rtol=1e-5)
    np.testing.assert_allclose(data[2], physical(np.minimum(ramp * 5, 190), WIDE), rtol=1e-5)
    np.testing.assert_array_equal(recording.read(13, 29), data[:, 13:29])
    np.testing.assert_allclose(recording.read_native(1, 1.0, 1.5), physical(np.arange(16, 24), WIDE), rtol=1e-6)
    np.testing.assert_allclose(recording.read_native(2, 4.5, 6.0)[:2], physical(np.array([180, 190]), WIDE), rtol=1e-6)
    assert np.isnan(recording.read_native(2, 4.5, 6.0)[2:]).all()


def gap_file(path: Path, edf_writer: Callable) -> Path:
    """Ten records of one second and 10 samples at 0-3, 65-68 and 100-101 s, sample values counting up."""
    onsets = [0.5, 1.5, 2.5, 3.5, 65.5, 66.5, 67.5, 68.5, 100.5, 101.5]
    texts = [f"+{onset}\x14\x14\0".encode() for onset in onsets]
    texts[4] += b"+66.5\x152\x14sz\x14\0"
    return edf_writer(path, [("Cz", "uV", *WIDE, 10)], [np.arange(100).reshape(10, 10)], texts, reserved="EDF+D")


def test_gaps_of_discontinuous_files_are_kept(tmp_path: Path, edf_writer: Callable) -> None:
    recording = open_recording(gap_file(tmp_path / "a.edf", edf_writer))
    assert recording.format == "EDF+D"
    assert recording.gaps == ((4.0, 65.0), (69.0, 100.0))
    assert recording.duration == 102.0
    assert recording.start_datetime == datetime(2020, 3, 2, 10, 11, 12, 500_000)
    assert [(a.onset, a.duration, a.description) for a in recording.annotations] == [(66.0, 2.0, "sz")]
    assert [(w.start, w.stop) for w in recording.contiguous_spans()] == [(0.0, 4.0), (65.0, 69.0), (100.0, 102.0)]
    whole = recording.read(0, 1020)[0]
    expected = np.full(1020, np.nan, np.float32)
    for first, place, count in ((0, 0, 40), (40, 650, 40), (80, 1000, 20)):
        expected[place : place + count] = physical(np.arange(first, first + count), WIDE)
    np.testing.assert_allclose(whole, expected, rtol=1e-6)
    np.testing.assert_array_equal(recording.read(35, 655)[0], whole[35:655])
    np.testing.assert_array_equal(recording.read_native(0, 3.5, 65.5), whole[35:655])


@pytest.mark.parametrize("chunk", [None, 1, 3])
def test_one_pass_gives_all_samples_and_the_annotations(
    tmp_path: Path, edf_writer: Callable, chunk: int | None
) -> None:
    path = gap_file(tmp_path / "a.edf", edf_writer)
    recording, other = EdfRecording(path), EdfRecording(path)
    seen = np.full((1, recording.n_times), np.nan, np.float32)
    for start, block in recording.scan_blocks(chunk):
        seen[:, start : start + block.shape[1]] = block
    np.testing.assert_allclose(seen, recording.read(0, recording.n_times), rtol=2.4e-7)
    recording.records.all_annotation_bytes = None  # type: ignore[assignment]  # a second read would fail
    assert recording.annotations == other.annotations


def test_one_pass_over_mixed_rates_equals_reading(shared: Path) -> None:
    recording = open_recording(shared / "recordings/broken/mixed_sampling_rates.edf")
    assert isinstance(recording, EdfRecording)
    seen = np.concatenate([block.copy() for _, block in recording.scan_blocks(3)], axis=1)
    np.testing.assert_allclose(seen, recording.read(0, recording.n_times), rtol=2.4e-7, atol=1e-5)


def test_threads_read_at_once_without_disturbing_each_other(shared: Path) -> None:
    recording = open_recording(shared / "recordings/scalp-seizure-42ch/scalp_seizure.edf")
    whole = recording.read(0, recording.n_times)
    wrong: list[int] = []

    def read_often(seed: int) -> None:
        rng = np.random.default_rng(seed)
        for start in rng.integers(0, recording.n_times - 3000, 60).tolist():
            if not np.array_equal(recording.read(start, start + 2777), whole[:, start : start + 2777]):
                wrong.append(start)

    threads = [threading.Thread(target=read_often, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_large_records_with_few_annotation_bytes_are_not_read_whole(tmp_path: Path, edf_writer: Callable) -> None:
    signals = [("Cz", "uV", *WIDE, 40_000)]
    texts = [b"+%d\x14\x14\0+%d.25\x14spike\x14\0" % (i, i) for i in range(4)]
    recording = EdfRecording(edf_writer(tmp_path / "a.edf", signals, [np.zeros((4, 40_000), int)], texts))
    recording.records.blocks = None  # type: ignore[method-assign, assignment]
    assert [a.onset for a in recording.annotations] == [0.25, 1.25, 2.25, 3.25]


def test_full_annotation_fields_do_not_run_into_each_other(tmp_path: Path, edf_writer: Callable) -> None:
    texts = [b"+0\x14\x14\0+0\x14ab\x14", b"+1\x14\x14\0+1\x14cd\x14"]
    recording = open_recording(edf_writer(tmp_path / "a.edf", [("Cz", "uV", *WIDE, 4)], [np.zeros((2, 4), int)], texts))
    assert [(a.onset, a.description) for a in recording.annotations] == [(0.0, "ab"), (1.0, "cd")]


def test_annotations_of_one_channel_name_it(tmp_path: Path, edf_writer: Callable) -> None:
    texts = [b"+0\x14\x14\0+0.5\x14spike@@EEG C3-Ref\x14\0+0.75\x14mail a@@b\x14\0"]
    recording = open_recording(
        edf_writer(tmp_path / "a.edf", [("EEG C3-Ref", "uV", *WIDE, 4)], [np.zeros((1, 4), int)], texts)
    )
    assert [(a.description, a.ch_names) for a in recording.annotations] == [("spike", ("C3",)), ("mail a@@b", ())]


def test_status_channel_of_biosemi_gives_the_trigger_code(shared: Path) -> None:
    import mne

    path = shared / "recordings/bdf/test_bdf_stim_channel.bdf"
    recording = open_recording(path)
    expected = mne.io.read_raw_bdf(path, verbose="CRITICAL").get_data(picks=["Status"])[0]
    assert recording.channels[3].type == "stim"
    np.testing.assert_array_equal(recording.read(0, recording.n_times, [3])[0], expected.astype(int) & 0xFFFF)
    assert expected.max() > 0


def test_missing_units_are_said(tmp_path: Path, edf_writer: Callable) -> None:
    signals = [("Fp1", "", *WIDE, 4), ("Fp2", "furlong", *WIDE, 4), ("DC1", "", *WIDE, 4)]
    recording = open_recording(edf_writer(tmp_path / "a.edf", signals, [np.zeros((1, 4), int)] * 3))
    assert [(c.type, c.unit) for c in recording.channels] == [("eeg", "uV"), ("misc", "furlong"), ("misc", "")]
    assert any("Fp1" in w and "microvolts" in w for w in recording.warnings)
    assert any("Fp2 (furlong)" in w for w in recording.warnings)


def test_a_file_that_shrinks_while_open_is_an_error_in_words(tmp_path: Path, edf_writer: Callable) -> None:
    path = edf_writer(tmp_path / "a.edf", [("Cz", "uV", *WIDE, 100)], [np.zeros((9, 100), int)])
    recording = open_recording(path)
    path.write_bytes(path.read_bytes()[:1500])
    with pytest.raises(RecordingError, match="became shorter"):
        recording.read(0, 900)


def test_reading_a_closed_recording_is_an_error(tmp_path: Path, edf_writer: Callable) -> None:
    path = edf_writer(tmp_path / "a.edf", [("Cz", "uV", *WIDE, 10)], [np.zeros((9, 10), int)])
    with open_recording(path) as recording:
        recording.read(0, 5)
    with pytest.raises(ValueError, match="closed"):
        recording.read(0, 5)


def test_the_id_depends_on_content_and_not_on_place(tmp_path: Path, edf_writer: Callable) -> None:
    made = [
        edf_writer(tmp_path / name, [("Cz", "uV", *WIDE, 10)], [np.full((9, 10), value)])
        for name, value in (("a.edf", 1), ("b.edf", 1), ("c.edf", 2))
    ]
    first, same, other = (open_recording(path).id for path in made)
    assert first == same != other


def test_a_hypnogram_gives_its_annotations_but_no_recording(shared: Path) -> None:
    path = shared / "recordings/sleep-edf/SC4001EC-Hypnogram.edf"
    found = read_edf_annotations(path)
    assert len(found) == 154
    assert max(a.stop for a in found) == 86400.0
    assert found[0].description == "Sleep stage W"


@pytest.mark.parametrize(
    ("fields", "start"),
    [
        ({}, datetime(2020, 3, 2, 10, 11, 12)),
        ({"date": "02-03-20", "time": "10:11:12"}, datetime(2020, 3, 2, 10, 11, 12)),
        ({"date": "13.03.59", "recording": "Startdate 13-MAR-2059 X X X"}, datetime(2059, 3, 13, 10, 11, 12)),
        ({"date": "13.03.90", "recording": ""}, datetime(1990, 3, 13, 10, 11, 12)),
        ({"date": "13.03.84", "recording": ""}, datetime(2084, 3, 13, 10, 11, 12)),
        ({"date": "13.03.20", "recording": "Startdate 13-MAR-1920 X X X"}, datetime(1920, 3, 13, 10, 11, 12)),
        ({"date": "00.00.00"}, None),
        ({"date": "31.02.20"}, None),
        ({"date": "junk", "time": "junk"}, None),
        ({"date": "01.01.85", "time": "00.00.00", "recording": "Startdate X X X X"}, None),
        ({"date": "01.01.85", "time": "13.00.00", "recording": "Startdate X X X X"}, None),
        ({"date": "01.01.85", "time": "13.00.00", "recording": "Startdate 01-JAN-1985"}, datetime(1985, 1, 1, 13)),
        ({"date": "01.01.85", "time": "13.00.00", "recording": "ward 3"}, datetime(1985, 1, 1, 13)),
    ],
)
def test_starts(tmp_path: Path, edf_writer: Callable, fields: dict[str, str], start: datetime | None) -> None:
    path = edf_writer(tmp_path / "a.edf", [("Cz", "uV", *WIDE, 10)], [np.zeros((1, 10), int)], **fields)
    assert open_recording(path).start_datetime == start


def test_records_that_go_back_in_time_are_shown_in_order_and_said(tmp_path: Path, edf_writer: Callable) -> None:
    texts = [b"+0\x14\x14\0", b"+1\x14\x14\0", b"+0\x14\x14\0", b"+9\x14\x14\0"]
    recording = open_recording(
        edf_writer(tmp_path / "a.edf", [("Cz", "uV", *WIDE, 2)], [np.arange(8).reshape(4, 2)], texts, reserved="EDF+D")
    )
    assert recording.gaps == ((2.0, 2.0), (3.0, 9.0))
    assert any("record 3 begins before" in w for w in recording.warnings)
    assert np.isfinite(recording.read(0, 6)).all()


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (b"-3276.8 ", b"-3276,8 ", "calibrated"),  # a decimal comma
        (b"-3276.8 ", b"-32768e-", "not calibrated"),
        (b"10      ", b"ten     ", "number of samples"),
        (b"10      ", b"-10     ", "number of samples"),
    ],
)
def test_odd_numbers_in_the_header(tmp_path: Path, edf_writer: Callable, old: bytes, new: bytes, expected: str) -> None:
    path = edf_writer(tmp_path / "a.edf", [("Cz", "uV", *WIDE, 10)], [np.arange(40).reshape(4, 10)])
    content = path.read_bytes()
    assert old in content[256:512]
    path.write_bytes(content[:256] + content[256:512].replace(old, new) + content[512:])
    if expected == "number of samples":
        with pytest.raises(RecordingError, match=expected):
            open_recording(path)
        return
    recording = open_recording(path)
    assert recording.channels[0].calibrated == (expected == "calibrated")
    assert any("not calibrated" in w for w in recording.warnings) == (expected != "calibrated")
    values = physical(np.arange(40), WIDE) if expected == "calibrated" else np.arange(40)
    np.testing.assert_allclose(recording.read(0, 40)[0], values, rtol=1e-6)


def test_a_duration_that_is_no_number_is_taken_as_a_second(tmp_path: Path, edf_writer: Callable) -> None:
    path = edf_writer(tmp_path / "a.edf", [("Cz", "uV", *WIDE, 10)], [np.zeros((4, 10), int)], duration="0")
    recording = open_recording(path)
    assert (recording.sfreq, recording.duration) == (10.0, 4.0)
    assert any("taken as 1 s" in w for w in recording.warnings)

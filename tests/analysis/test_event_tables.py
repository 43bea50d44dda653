"""Every event format is read as its users write it, faults included, and ours goes round without loss."""

from __future__ import annotations

import struct
from datetime import datetime
from pathlib import Path

import pytest

from analysis.annotation import Annotation
from analysis.errors import RecordingError
from analysis.event_tables import find_seizures, read_events, seizures, write_events


@pytest.mark.parametrize(
    ("file", "name", "expected", "duration", "n_warnings"),
    [
        ("broken/events_faulty.csv_bi", None, [(120, 200), (400, 420), (590, 600)], 600, 5),
        ("broken/chb_summary_quirks.txt", "ex_01.edf", [(130, 212), (2972, 3053)], 3600, 0),
        ("broken/chb_summary_quirks.txt", "ex_02", [(327, 420)], None, 0),
        ("broken/chb_summary_quirks.txt", "ex_03.edf", [], 3600, 0),
        ("chbmit-headers/chb05-summary.txt", "chb05_06.edf", [(417, 532)], 3600, 0),
        ("chbmit-headers/chb05-summary.txt", "chb05_13", [(1086, 1196)], 3600, 0),
        ("chbmit-headers/chb05-summary.txt", "chb05_08", [], 3600, 0),
        ("siena-headers/Seizures-list-PN00.txt", "PN00-1.edf", [(1143, 1213)], 2605, 0),
        ("siena-headers/Seizures-list-PN00.txt", "PN00-2", [(1220, 1274)], 2282, 0),
        ("siena-headers/Seizures-list-PN00.txt", "PN00-3", [(765, 2489)], 2489, 1),
        ("scalp-seizure-42ch/scalp_seizure_events.tsv", None, [(0, 85)], None, 0),
        ("scalp-seizure-42ch/scalp_seizure.edf", None, [(0, 85)], 236, None),
        ("scalp-seizure-46ch/demo_edf.edf", None, [(15.152344, 44.121094)], 45, None),
        ("ecog-seizure-mat/pt01_events.csv", None, [(1, 3)], None, 0),
        ("ecog-seizure-persyst/ecog_clip2.lay", None, [(0, 0.5), (1, 1.5)], 4.235, None),
        ("eegmmidb/eegmmidb_overlapping_annotations.edf", None, [], 124, None),
        ("broken/latin1_annotation.edf", None, [], 10, None),
        ("broken/edfplus_d_gap.edf", None, [(66, 68)], 70, None),
    ],
)
def test_shared_event_files(
    shared: Path,
    file: str,
    name: str | None,
    expected: list[tuple[float, float]],
    duration: float | None,
    n_warnings: int | None,
) -> None:
    table = read_events(shared / "recordings" / file, name)
    assert seizures(table.events) == [pytest.approx(span, abs=1e-4) for span in expected]
    assert table.duration == (None if duration is None else pytest.approx(duration, abs=1e-3))
    assert n_warnings is None or len(table.warnings) == n_warnings


def test_a_hypnogram_without_a_signal_is_a_list_of_events(shared: Path) -> None:
    table = read_events(shared / "recordings/sleep-edf/SC4001EC-Hypnogram.edf")
    assert len(table.events) == 154
    assert table.events[0].description == "Sleep stage W"
    assert table.events[-1].stop == 86400


@pytest.mark.parametrize("name", ["no_records.edf", "html_page.edf", "empty.edf"])
def test_broken_recordings_have_no_events(shared: Path, name: str) -> None:
    with pytest.raises(RecordingError, match=name):
        read_events(shared / "recordings/broken" / name)


def test_all_rows_of_a_bids_table_are_kept_in_order(shared: Path) -> None:
    table = read_events(shared / "recordings/scalp-seizure-42ch/scalp_seizure_events.tsv")
    assert len(table.events) == 26
    assert table.events[5] == Annotation(
        1.0, 0.0, "high amp RDA F4, C4", author="sidecar", extras=(("value", "22"), ("sample", "200"))
    )


TABLES = {
    "szcore.tsv": (
        "onset\tduration\teventType\tconfidence\tchannels\tdateTime\trecordingDuration\n"
        "10.5\t20\tsz_foc\t0.8\tT3,T5\t2020-01-02 03:04:05\t600\n"
    ),
    "tuh.csv": (
        "# version = csv_v1.0.0\n# duration = 600.00 secs\nchannel,start_time,stop_time,label,confidence\n"
        "T3,10.5,30.5,cpsz,0.8\nT5,10.5,30.5,cpsz,0.8\n"
    ),
    "tuh.tse": "version = tse_v1.0.0\n\n0.0 10.5 bckg 1.0\n10.5 30.5 cpsz 0.8\n30.5 600.0 bckg 1.0\n",
    "persyst.csv": (
        "File,x.dat\nTestTime,23:59:00\n\nEvent,Start Time,End Time,Channel\nSeizure,23:59:10.5,23:59:30.5,T3\n"
        "Seizure,d1 00:00:10,d1 00:00:20,T3\n"
    ),
    "clock.csv": "Onset,Duration (s),Annotation\n00:00:10.5,20,Seizure\n",
    "epviz.csv": "Onset,Duration,Description\n10.5,20,seizure\n",
    "comma decimals.csv": "onset;duration;description\n10,5;20,0;seizure\n",
    "no label.csv": "onset_s,duration_s\n10.5,20\n",
    "stop.tsv": "begin (s)\tend (s)\tlabel\n10.5\t30.5\tseizure\n",
}


@pytest.mark.parametrize("name", TABLES)
def test_formats_of_the_field(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(TABLES[name])
    expected = [(10.5, 30.5), (70.0, 80.0)] if name == "persyst.csv" else [(10.5, 30.5)]
    table = read_events(path)
    assert seizures(table.events) == expected
    assert bool(table.warnings) == (name == "no label.csv")


@pytest.mark.parametrize(
    ("text", "n_warnings"), [("nan", 1), ("inf", 1), ("long", 1), ("n/a", 0), ("", 0), ("-", 0), ("0", 0)]
)
def test_a_duration_that_is_no_number_is_told(tmp_path: Path, text: str, n_warnings: int) -> None:
    path = tmp_path / "e.tsv"
    path.write_text(f"onset\tduration\teventType\n5\t{text}\tsz\n")
    table = read_events(path)
    assert table.events == (Annotation(5.0, 0.0, "sz", author="sidecar"),)
    assert len(table.warnings) == n_warnings
    assert find_seizures(table.events).unended == (5.0,)
    if n_warnings:
        assert table.warnings[0].startswith(f"e.tsv, line 2: the duration or end {text!r} is not a time")


def test_an_end_serves_where_the_duration_is_no_number(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_text("onset,duration,stop,label\n5,nan,9,sz\n20,n/a,nan,sz\n")
    table = read_events(path)
    assert seizures(table.events) == [(5.0, 9.0)]
    assert [w.split(":")[0] for w in table.warnings] == ["e.csv, line 3"]


def test_szcore_columns_arrive(tmp_path: Path) -> None:
    path = tmp_path / "e.tsv"
    path.write_text(TABLES["szcore.tsv"])
    table = read_events(path)
    assert table.events == (Annotation(10.5, 20.0, "sz_foc", ("T3", "T5"), 0.8, "sidecar"),)
    assert table.duration == 600
    assert table.start_datetime == datetime(2020, 1, 2, 3, 4, 5)


def wfdb_seizures(pairs: list[tuple[int, int]], rate: int = 256) -> bytes:
    """A .seizures file as the WFDB library writes it: resolution note, time reset, then `[` and `]` with skips."""
    note = f"## time resolution: {rate}".encode()
    out = struct.pack("<HH", 22 << 10, (63 << 10) | len(note)) + note + b"\0" * (len(note) % 2)
    out += struct.pack("<HHHH", 59 << 10, 0xFFFF, 0xFFFF, 1)
    time = 0
    for onset, stop in pairs:
        for second, code in ((onset, 32), (stop, 33)):
            step = second * rate - time
            out += struct.pack("<HHHH", 59 << 10, step >> 16, step & 0xFFFF, code << 10)
            time = second * rate
    return out + b"\0\0"


@pytest.mark.parametrize("rate", [256, 512])
def test_wfdb_seizures_file(tmp_path: Path, rate: int) -> None:
    path = tmp_path / "chb01_03.edf.seizures"
    path.write_bytes(wfdb_seizures([(2996, 3036), (3300, 3310)], rate))
    assert seizures(read_events(path).events) == [(2996, 3036), (3300, 3310)]


def test_events_go_round_without_loss(tmp_path: Path) -> None:
    events = (
        Annotation(0.25, 0.0, "eyes open", (), None, "sidecar", (("value", "3"),)),
        Annotation(86399.123456, 20.5, "sz", ("Fp1", "T3"), 0.75, "sidecar"),
    )
    write_events(tmp_path / "e.tsv", events, datetime(2021, 5, 6, 7, 8, 9), 90000.5)
    table = read_events(tmp_path / "e.tsv")
    assert table.duration == 90000.5
    assert table.start_datetime == datetime(2021, 5, 6, 7, 8, 9)
    kept = [(e.onset, e.duration, e.description, e.ch_names, e.confidence) for e in table.events]
    assert kept == [(e.onset, e.duration, e.description, e.ch_names, e.confidence) for e in events]
    assert table.events[0].extras == (("value", "3"),)


def test_a_recording_without_events_gets_a_background_row(tmp_path: Path) -> None:
    write_events(tmp_path / "e.tsv", (), None, 45.0)
    assert (tmp_path / "e.tsv").read_text() == (
        "onset\tduration\teventType\tconfidence\tchannels\tdateTime\trecordingDuration\n"
        "0\t45\tbckg\tn/a\tall\tn/a\t45\n"
    )


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "e.tsv"
    path.write_text("old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match="No space"):
        write_events(path, (), None, 1.0)
    assert [p.name for p in tmp_path.iterdir()] == ["e.tsv"]
    assert path.read_text() == "old"


def test_names_of_a_list_are_found_by_hint_or_listed(shared: Path) -> None:
    summary = shared / "recordings/chbmit-headers/chb05-summary.txt"
    table = read_events(summary, hints=["events.tsv", "some/chb05_06.tsv"])
    assert seizures(table.events) == [(417, 532)]
    with pytest.raises(RecordingError, match=r"39 recordings .*--recording \(chb05_01\.edf"):
        read_events(summary)
    with pytest.raises(RecordingError, match=r"does not tell of chb99_01"):
        read_events(summary, "chb99_01")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.tsv", b"", "is empty"),
        ("blank.tsv", b"\n\n", "is empty"),
        ("binary.csv", b"\0\1\2" * 50, "not a text file"),
        ("page.csv", b"<html><body>Not found</body></html>", "no column is called onset"),
        ("probabilities.tsv", b"onset\tduration\tprobability\n0\t5\t0.1\n", "a table of probabilities"),
        ("cut.seizures", wfdb_seizures([(10, 20)])[:-6], "ends in the middle"),
    ],
)
def test_refused_in_one_sentence(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(RecordingError, match=message) as refusal:
        read_events(path)
    assert str(path) in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="no such file"):
        read_events(tmp_path / "nothing.tsv")


def test_faulty_lines_are_told_once_each_and_no_more_than_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "e.tsv"
    path.write_text("onset\tduration\ttrial_type\n" + "x\t1\tsz\n" * 100 + "5\t2\tsz\n")
    table = read_events(path)
    assert seizures(table.events) == [(5, 7)]
    assert len(table.warnings) == 26
    assert table.warnings[0].startswith("e.tsv, line 2: the onset 'x'")
    assert table.warnings[-1] == "e.tsv: 75 more lines with faults"


def test_events_past_the_end_of_the_recording_are_left_out_or_cut(tmp_path: Path) -> None:
    path = tmp_path / "e.tsv"
    rows = ["10\t5\tsz\t600", "40\t20\tsz\t600", "45\t0\tmark\t600", "100\t5\tsz\t600", "500\t5\tsz\t600"]
    path.write_text("onset\tduration\teventType\trecordingDuration\n" + "\n".join(rows) + "\n")
    assert [e.stop for e in read_events(path).events] == [15, 60, 45, 105, 505]
    table = read_events(path, duration=45.0)
    assert [(e.onset, e.stop) for e in table.events] == [(10, 15), (40, 45), (45, 45)]
    assert table.warnings == (
        "e.tsv: 2 events reach past the end at 45 s, left out",
        "e.tsv: an event reaches past the end at 45 s, cut there",
    )
    assert read_events(path, duration=600.0).warnings == ()


def test_background_is_no_event_but_tells_the_length(tmp_path: Path) -> None:
    path = tmp_path / "e.tsv"
    path.write_text("onset\tduration\ttrial_type\n0\t30\tbckg\n30\t10\tsz\n40\t60\tBCKG\n")
    table = read_events(path)
    assert [(e.onset, e.stop, e.description) for e in table.events] == [(30, 40, "sz")]
    assert table.duration == 100

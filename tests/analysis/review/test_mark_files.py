"""SaveRequest marks: what goes into which file, what is never overwritten, and what is kept of what was there."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.annotation import Annotation, Review
from analysis.errors import RecordingError
from analysis.event_columns import COLUMNS, EXACT, OUR_COLUMNS
from analysis.event_tables import read_marks
from analysis.readers import open_recording
from analysis.review.mark_files import (
    CATEGORIES,
    SaveRequest,
    category_of,
    examine_table,
    fits_copy,
    save_marks,
    select,
)
from analysis.review.mark_tables import describe_columns, format_marks

OWN = Annotation(1.0, 0.0, "spike", ("Fp1",), author="reader", review=Review(comment="why"))
OF_FILE = Annotation(2.0, 1.0, "eyes open")
EVENT = Annotation(3.0, 2.0, "sz", author="model:A")
ACCEPTED = replace(EVENT, review=Review("accepted"))
REJECTED = replace(EVENT, review=Review("rejected"))
MOVED = replace(EVENT, onset=EVENT.onset + 0.5, review=Review(changed="2026-03-04T09:00:00Z"))
ALL = (OWN, OF_FILE, EVENT, ACCEPTED, REJECTED, replace(OWN, review=Review("rejected")))
SOURCE = Path("nowhere.edf")


def _request(path: Path, *marks: Annotation, **more) -> SaveRequest:
    return SaveRequest(path, marks, SOURCE, None, 10.0, **more)


def test_every_mark_is_of_one_category() -> None:
    kinds = ["own", "file", "undecided", "accepted", "rejected", "rejected", "changed"]
    assert [category_of(mark) for mark in (*ALL, MOVED)] == kinds
    assert select(ALL, {"own", "accepted"}) == (OWN, ACCEPTED)
    assert set(kinds) == set(CATEGORIES)


@pytest.mark.parametrize("name", ["m.tsv", "m.csv", "M.TSV"])
def test_a_table_holds_all_that_marks_say(tmp_path: Path, name: str) -> None:
    saved = save_marks(_request(tmp_path / name, *ALL))
    assert (saved.count, saved.backup, saved.notes) == (6, None, ())
    assert sorted(map(repr, read_marks(tmp_path / name).events)) == sorted(map(repr, ALL))
    described = sorted(path.name for path in tmp_path.glob("*.json"))
    assert described == ([] if name.endswith("csv") else [f"{name[0]}.json"])


def test_all_columns_of_ours_are_described() -> None:
    names = {*COLUMNS, *OUR_COLUMNS, EXACT}
    described = describe_columns(names)
    assert set(described) == names
    assert all(described[name]["Description"] for name in names)


def test_a_description_that_exists_keeps_what_it_says(tmp_path: Path) -> None:
    beside = tmp_path / "m.json"
    beside.write_text('{"value": {"Description": "théirs"}, "onset": {"Units": "ms"}}')
    save_marks(_request(tmp_path / "m.tsv", OWN))
    described = json.loads(beside.read_text("utf-8"))
    assert list(described)[:2] == ["value", "onset"]
    assert described["onset"] == {"Units": "ms"}
    assert "reviewState" in described
    assert described["IntendedUse"] == "Research use only: not for diagnosis."


@pytest.mark.parametrize("text", ["not JSON", "[1]", '{"SamplingFrequency": 256}'])
def test_a_file_that_describes_something_else_is_left_alone(tmp_path: Path, text: str) -> None:
    (tmp_path / "m.json").write_text(text)
    saved = save_marks(_request(tmp_path / "m.tsv", OWN))
    assert saved.notes == ("the columns are not described, since m.json is about something else",)
    assert (tmp_path / "m.json").read_text() == text


def test_what_was_in_a_file_is_kept_beside_it_unless_we_wrote_it(tmp_path: Path) -> None:
    path = tmp_path / "m.tsv"
    path.write_text("Dear reader\n")
    first = save_marks(_request(path, OWN))
    assert first.backup == tmp_path / "m.tsv.bak"
    assert first.backup.read_text() == "Dear reader\n"
    second = save_marks(_request(path, OWN, OF_FILE, written=first.digest))
    assert second.backup is None
    path.write_text(path.read_text() + "\n")
    third = save_marks(_request(path, OWN, written=second.digest, known=ALL))
    assert third.backup == tmp_path / "m.tsv.bak2"
    assert first.backup.read_text() == "Dear reader\n"
    assert save_marks(_request(path, OWN, known=ALL)).backup is None  # there was nothing to write


def test_a_table_of_another_reader_is_asked_about(tmp_path: Path) -> None:
    path = tmp_path / "m.tsv"
    other = replace(OWN, onset=7.0)
    path.write_bytes(format_marks([OWN, other], None, 10.0))
    contents = examine_table(_request(path, OWN))
    assert contents is not None
    assert (contents.kept, contents.outdated, contents.strangers) == (1, 0, 1)
    save_marks(_request(path, OWN, OF_FILE))
    assert [mark.onset for mark in read_marks(path).events] == [1.0, 2.0, 7.0]
    save_marks(_request(path, OWN, OF_FILE, keep_strangers=False))
    assert [mark.onset for mark in read_marks(path).events] == [1.0, 2.0]
    assert examine_table(_request(tmp_path / "none.tsv")) is None


def test_the_recording_is_never_written(shared: Path, tmp_path: Path) -> None:
    recording = tmp_path / "recording.edf"
    recording.write_bytes((shared / "recordings/broken/latin1_annotation.edf").read_bytes())
    before = recording.read_bytes()
    (tmp_path / "link.edf").symlink_to(recording)
    for name in ("recording.edf", "link.edf"):
        with pytest.raises(RecordingError, match="this is the recording itself"):
            save_marks(SaveRequest(tmp_path / name, (OWN,), recording))
    with pytest.raises(RecordingError, match="the name says no format"):
        save_marks(SaveRequest(tmp_path / "marks.txt", (OWN,), recording))
    assert recording.read_bytes() == before


def test_a_copy_says_what_it_can_and_tells_what_it_cannot(shared: Path, tmp_path: Path) -> None:
    source, out = shared / "recordings/broken/latin1_annotation.edf", tmp_path / "copy.edf"
    out.write_bytes(b"what was there")
    saved = save_marks(SaveRequest(out, (OWN, ACCEPTED, REJECTED), source, None, 10.0))
    assert saved.count == 2
    assert saved.backup == tmp_path / "copy.edf.bak"
    assert saved.backup.read_bytes() == b"what was there"
    assert saved.notes == (
        "a rejected mark is not in the copy, which could not say so",
        "the copy holds times, texts and channels of marks: save a table as well for all they say",
    )
    with open_recording(out) as copy:
        told = [(a.onset, a.description, a.ch_names, a.author) for a in copy.annotations]
    assert told == [(1.0, "spike", ("Fp1",), "file"), (3.0, "sz", (), "model:A")]


@pytest.mark.parametrize(
    ("mark", "fits"),
    [
        (Annotation(1.0, 0.0, "spike", ("Fp1",), author="reader", review=Review(created="then", changed="now")), True),
        (OWN, False),
        (ACCEPTED, False),
        (replace(OF_FILE, confidence=0.5), False),
        (replace(OF_FILE, extras=(("value", "7"),)), False),
        (replace(OF_FILE, review=Review(tag="Spike")), False),
    ],
)
def test_a_copy_holds_times_texts_and_channels(mark: Annotation, fits: bool) -> None:
    assert fits_copy(mark) == fits


def test_a_disk_that_cannot_be_written_leaves_what_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m.tsv"
    path.write_text("onset\tduration\n")
    monkeypatch.setattr("os.replace", _full)
    with pytest.raises(OSError, match="No space"):
        save_marks(_request(path, OWN))
    assert path.read_text() == "onset\tduration\n"


def _full(*_: object) -> None:
    raise OSError(28, "No space left on device")

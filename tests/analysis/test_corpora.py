"""Which recordings are meant by files, folders, BIDS data sets and lists, and that no two share a folder."""

from pathlib import Path

import pytest

from analysis.corpora import find_recordings, is_corpus
from analysis.errors import RecordingError


def _touch(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"0")


def _folders(*sources: Path) -> list[str]:
    return [entry.folder for entry in find_recordings(sources)]


def test_a_folder_gives_its_recordings_and_nothing_that_belongs_to_one(tmp_path: Path) -> None:
    _touch(
        tmp_path, "b.edf", "a.vhdr", "a.eeg", "a.vmrk", "deep/c.fif.gz", "notes.txt", ".hidden/d.edf", "e.set", "e.fdt"
    )
    (tmp_path / "f.mff").mkdir()
    _touch(tmp_path / "f.mff", "signal1.bin")
    assert _folders(tmp_path) == ["a", "b", "e", "f", "deep/c"]


def test_a_bids_data_set_gives_its_raw_recordings_with_their_events(tmp_path: Path) -> None:
    _touch(
        tmp_path,
        "dataset_description.json",
        "sub-1/eeg/sub-1_task-x_eeg.edf",
        "sub-1/eeg/sub-1_task-x_events.tsv",
        "sub-1/eeg/sub-1_task-x_channels.tsv",
        "sub-2/ieeg/sub-2_task-x_ieeg.vhdr",
        "sub-2/ieeg/other.edf",
        "derivatives/sub-1/sub-1_task-x_eeg.edf",
        "sourcedata/raw_eeg.edf",
    )
    entries = find_recordings([tmp_path])
    assert [entry.folder for entry in entries] == ["sub-1/eeg/sub-1_task-x_eeg", "sub-2/ieeg/sub-2_task-x_ieeg"]
    assert entries[0].reference == tmp_path / "sub-1/eeg/sub-1_task-x_events.tsv"
    assert entries[1].reference is None


def test_lists_name_recordings_beside_them_with_their_references(tmp_path: Path) -> None:
    _touch(tmp_path, "data/a.edf", "data/b.edf", "b_truth.tsv")
    plain, table = tmp_path / "list.txt", tmp_path / "list.tsv"
    plain.write_text("data/a.edf\n\ndata/b.edf\n")
    table.write_text("recording\treference\ndata/a.edf\tn/a\ndata/b.edf\tb_truth.tsv\n")
    assert _folders(plain) == ["a", "b"]
    assert [entry.reference and entry.reference.name for entry in find_recordings([table])] == [None, "b_truth.tsv"]


def test_no_recording_comes_twice_and_no_two_share_a_folder(tmp_path: Path) -> None:
    _touch(tmp_path, "one/a.edf", "two/a.edf", "one/a.bdf")
    entries = find_recordings([tmp_path / "one/a.edf", tmp_path / "one", tmp_path / "two/a.edf"])
    assert [entry.path.relative_to(tmp_path).as_posix() for entry in entries] == [
        "one/a.edf",
        "one/a.bdf",
        "two/a.edf",
    ]
    assert len({entry.folder for entry in entries}) == 3


def test_a_link_keeps_its_name_and_counts_once(tmp_path: Path) -> None:
    _touch(tmp_path, "objects/0f3.edf")
    (tmp_path / "data").mkdir()
    (tmp_path / "data/sub-1.edf").symlink_to(tmp_path / "objects/0f3.edf")
    entries = find_recordings([tmp_path / "data", tmp_path / "objects"])
    assert [(entry.path.name, entry.folder) for entry in entries] == [("sub-1.edf", "sub-1")]


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ("file\na.edf\n", "list.tsv", "must name a column recording"),
        ("gone.edf\n", "list.txt", "a file of the list is not there"),
        ("", "list.txt", "no recording was found"),
    ],
)
def test_lists_that_name_nothing_are_refused(tmp_path: Path, text: str, name: str, message: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(RecordingError, match=message):
        find_recordings([tmp_path / name])


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="no such file or folder"):
        find_recordings([tmp_path / "gone.edf"])


def test_one_ordinary_recording_is_no_corpus(tmp_path: Path) -> None:
    _touch(tmp_path, "a.edf")
    (tmp_path / "a.mff").mkdir()
    assert not is_corpus([str(tmp_path / "a.edf")])
    assert not is_corpus([str(tmp_path / "a.mff")])
    assert is_corpus([str(tmp_path)])
    assert is_corpus([str(tmp_path / "list.txt")])
    assert is_corpus(["a.edf", "b.edf"])

"""Files appear whole or not at all, beside links, devices, other threads and full disks."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

import pytest

from models.whole_files import whole_file


def write_whole(path: Path, data: bytes) -> None:
    with whole_file(path) as file:
        file.write(data)


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "f"
    write_whole(path, b"old")

    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="space") as caught:
        write_whole(path, b"new")
    assert caught.value.filename == str(path)
    assert [p.name for p in tmp_path.iterdir()] == ["f"]
    assert path.read_bytes() == b"old"


def test_a_link_keeps_pointing_and_a_device_is_written_not_replaced(tmp_path):
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_bytes(b"old")
    link.symlink_to(real)
    write_whole(link, b"new")
    assert link.is_symlink()
    assert real.read_bytes() == b"new"
    write_whole(Path(os.devnull), b"x")
    assert not Path(os.devnull).is_file()


@pytest.mark.parametrize(
    ("target", "kind"),
    [("folder", IsADirectoryError), ("missing/f", FileNotFoundError), ("file/f", NotADirectoryError)],
)
def test_a_place_that_cannot_be_written_is_named(tmp_path, target, kind):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(kind) as caught:
        write_whole(tmp_path / target, b"x")
    assert caught.value.filename == str(tmp_path / target)


def test_files_are_as_readable_as_any_other(tmp_path):
    write_whole(tmp_path / "a", b"")
    (tmp_path / "b").touch()
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "b").stat().st_mode


def test_a_name_as_long_as_the_system_allows_can_be_written(tmp_path):
    path = tmp_path / ("n" * 255)
    write_whole(path, b"x")
    assert path.read_bytes() == b"x"


def test_an_error_of_the_writer_keeps_its_own_file_and_leaves_nothing(tmp_path):
    (tmp_path / "f").write_bytes(b"old")

    def copy_what_is_not_there() -> None:
        with whole_file(tmp_path / "f") as file:
            file.write(b"half")
            file.write((tmp_path / "source").read_bytes())

    with pytest.raises(FileNotFoundError) as caught:
        copy_what_is_not_there()
    assert caught.value.filename == str(tmp_path / "source")
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == {"f": b"old"}


@pytest.mark.skipif(os.name != "posix", reason="NOT TESTED: permissions of POSIX systems only")
def test_the_mask_of_the_process_is_not_touched(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "umask", None)  # whoever calls it changes it for every other thread for a moment
    write_whole(tmp_path / "a", b"x")
    assert (tmp_path / "a").read_bytes() == b"x"


def test_many_threads_write_one_file(tmp_path):
    path = tmp_path / "f"
    texts = [bytes([i]) * 100_000 for i in range(8)]
    threads = [threading.Thread(target=write_whole, args=(path, text)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_bytes() in texts
    assert [p.name for p in tmp_path.iterdir()] == ["f"]

"""Errors in words, the log, and the hooks that keep the program alive."""

from __future__ import annotations

import errno
import logging
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from analysis.errors import AnalysisError, RecordingError
from app import errors
from app.errors import (
    StartError,
    describe_error,
    hide_in_log,
    install_hooks,
    is_expected,
    log_error,
    start_log,
    stop_log,
)
from models.errors import CheckpointError

ROOT = Path(__file__).parents[2]


def system_error(code: int, name: str | None = None) -> OSError:
    return OSError(code, "system's words", name) if name else OSError(code, "system's words")


@pytest.fixture
def log(tmp_path):
    path = start_log(tmp_path / "log")
    yield path
    stop_log()
    errors._hidden.clear()


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (RecordingError("empty (a.edf): choose another"), "empty (a.edf): choose another"),
        (CheckpointError("key a\n  expected (1,)\n  found (2,)"), "key a expected (1,) found (2,)"),
        (AnalysisError("x" * 5000), "x" * 599 + "…"),
        (StartError("no display"), "no display"),
        (system_error(errno.ENOSPC), "the disk is full (out): free some space or choose another folder"),
        (system_error(errno.ENOSPC, "/o/f"), "the disk is full (/o/f): free some space or choose another folder"),
        (
            system_error(errno.EACCES, "/f"),
            "permission denied (/f): change its permissions or choose another place",
        ),
        (system_error(errno.ENOENT, "/f"), "there is no such file or folder (/f): check the path"),
        (system_error(errno.EISDIR, "/f"), "this is a folder (/f): name a file"),
        (MemoryError(), "there is not enough memory for this: close other programs or choose a shorter span"),
        (KeyError("k"), "unexpected KeyError: 'k'"),
        (system_error(errno.EPIPE), "unexpected BrokenPipeError: [Errno 32] system's words"),
    ],
)
def test_sentences(error, sentence):
    said, details = describe_error(error, file="out")
    assert said == sentence
    assert type(error).__name__ in details
    assert is_expected(error) == (not sentence.startswith("unexpected"))


def test_details_hold_the_traceback_and_the_cause():
    try:
        try:
            raise ValueError("deep")
        except ValueError as cause:
            raise RecordingError("outer") from cause
    except RecordingError as error:
        _, details = describe_error(error)
    assert details.index("ValueError: deep") < details.index("RecordingError: outer")
    assert "test_errors.py" in details


def test_the_unexpected_is_in_the_log_without_the_name_of_the_recording(log):
    hide_in_log("/data/Mueller_Anna.edf", "recording 5f3a")
    try:
        raise ValueError("cannot parse /data/Mueller_Anna.edf")
    except ValueError as error:
        log_error(error)
        sentence, _ = describe_error(error)
    text = log.read_text("utf-8")
    assert "cannot parse recording 5f3a" in text
    assert "Traceback" in text
    assert "Mueller" not in text
    assert str(log) in sentence


@pytest.mark.parametrize("named", ["Mueller Anna.edf", "./Mueller Anna.edf", "{folder}/Mueller Anna.edf"])
def test_a_recording_is_hidden_however_it_is_spelled(log, tmp_path, monkeypatch, named):
    monkeypatch.chdir(tmp_path)
    named = named.format(folder=tmp_path)
    hide_in_log(named, "a recording")
    log_error(ValueError(f"cannot read {named}, {Path(named).absolute()} or {str(Path(named))!r}"))
    log_error(FileNotFoundError(2, "No such file", "Mueller Anna.edf"))
    text = log.read_text("utf-8")
    assert "Mueller" not in text
    assert "cannot read a recording, a recording or 'a recording'" in text


def test_the_log_turns_over_instead_of_growing(log):
    logger = logging.getLogger("somewhere")
    for _ in range(30):
        logger.warning("x" * 100_000)
    files = sorted(p.name for p in log.parent.iterdir())
    assert files == ["cerebroscope.log", "cerebroscope.log.1", "cerebroscope.log.2", "cerebroscope.log.3"]
    assert all(p.stat().st_size <= 1_000_000 for p in log.parent.iterdir())


def test_starting_the_log_twice_writes_once(log):
    assert start_log(log.parent) == log
    logging.getLogger("somewhere").warning("once")
    assert log.read_text("utf-8").count("once") == 1


def test_an_error_that_goes_through_many_hands_is_in_the_log_once(log):
    first, alike = RecordingError("no such channel (a.edf): open another file"), RecordingError("another")
    for error in (first, first, alike, first):
        log_error(error)
    assert log.read_text().count("ERROR") == 2


def test_hooks_log_and_show_once_per_place_and_can_be_taken_away(log):
    shown, stopped = [], []
    before = sys.excepthook, threading.excepthook
    remove = install_hooks(shown.append, lambda: stopped.append(1))
    try:
        for _ in range(3):
            thread = threading.Thread(target=lambda: [][1])
            thread.start()
            thread.join()
        for kind in (KeyError, KeyboardInterrupt):
            try:
                raise kind("main")
            except BaseException as error:
                sys.excepthook(kind, error, error.__traceback__)
        leaving = threading.Thread(target=sys.exit)
        leaving.start()
        leaving.join()
    finally:
        remove()
    assert [type(error) for error in shown] == [IndexError, KeyError]
    assert stopped == [1]
    assert log.read_text("utf-8").count("IndexError: ") == 3
    assert (sys.excepthook, threading.excepthook) == before


def test_a_slot_that_raises_does_not_end_the_program(tmp_path):
    code = f"""
import sys
from pathlib import Path
from PyQt6.QtCore import QCoreApplication, QTimer
from app.errors import install_hooks, start_log
start_log(Path({str(tmp_path)!r}))
install_hooks(lambda error: print("shown", type(error).__name__))
app = QCoreApplication([])
QTimer.singleShot(0, lambda: 1 / 0)
QTimer.singleShot(50, app.quit)
app.exec()
print("still here")
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "shown ZeroDivisionError\nstill here\n", "")
    assert "ZeroDivisionError" in (tmp_path / "cerebroscope.log").read_text("utf-8")


def test_words_are_found_without_qt():
    code = "import sys, app.errors, app.settings; print(sorted({'PyQt6', 'numpy', 'torch'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.stdout == "[]\n"

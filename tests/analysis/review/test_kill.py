"""A real process is killed in the middle of its work a hundred times, and loses at most the gesture in progress."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from analysis.annotation import Annotation
from analysis.review.journal import open_journal
from analysis.review.mark_book import MarkBook

ROOT = Path(__file__).parents[3]
JOURNALS, KILLS = 10, 10  # each journal is gone on with after a kill


@pytest.fixture
def writer() -> Iterator[subprocess.Popen[str]]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    program = Path(__file__).with_name("killed_writer.py")
    with subprocess.Popen(
        [sys.executable, str(program)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=environment,
    ) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


def _restored(path: Path, random_reader: ModuleType) -> MarkBook:
    account, sentences = open_journal(path)
    assert sentences == []
    book = MarkBook()
    book.set_base(random_reader.base_marks())
    book.adopt(account.history)
    return book


def _facts(book: MarkBook) -> tuple[dict[int, Annotation], list[object], list[object]]:
    """What stands, what can be undone and what can be redone; times may differ by a second."""
    return (
        {mark.id: mark for mark in book.marks.items},
        [(edit.label, edit.changes) for edit in book.done],
        [(edit.label, edit.changes) for edit in book.undone],
    )


def _acknowledged(writer: subprocess.Popen[str], path: Path, seed: int, dice: random.Random) -> int:
    """How many gestures a process had finished and said so when it was killed at a random moment."""
    assert writer.stdin is not None
    assert writer.stdout is not None
    writer.stdin.write(f"{path} {seed}\n")
    writer.stdin.flush()
    lines = [writer.stdout.readline().strip()]
    while lines[-1] == "+":  # the process may be faster than the one that tells its id
        lines.append(writer.stdout.readline().strip())
    child = int(lines[-1])
    if dice.random() < 0.8:
        lines.append(writer.stdout.readline().strip())
    time.sleep(dice.uniform(0.0, 0.03))
    os.kill(child, signal.SIGKILL)
    while lines[-1] != "dead":
        lines.append(writer.stdout.readline().strip())
        assert lines[-1], "the process ended by itself"
    return lines.count("+")


@pytest.mark.skipif(os.name != "posix", reason="nothing is killed like this on this system")
def test_a_hundred_kills_lose_at_most_the_gesture_in_progress(
    tmp_path: Path, random_reader: ModuleType, writer: subprocess.Popen[str]
) -> None:
    dice = random.Random(20260731)
    gestures = in_progress = 0
    for number in range(JOURNALS):
        path = tmp_path / f"{number}.journal"
        for kill in range(KILLS):
            seed = 100 * number + kill
            reader = random_reader.Reader(_restored(path, random_reader), seed)
            finished = _acknowledged(writer, path, seed, dice)
            for _ in range(finished):
                reader.gesture()
            found = _facts(_restored(path, random_reader))
            if found != _facts(reader.book):
                reader.gesture()  # the one that was in progress may be there as a whole
                in_progress += 1
            assert found == _facts(reader.book)
            assert found[0] == reader.expected
            gestures += finished
    assert gestures > 3 * JOURNALS * KILLS
    assert in_progress < JOURNALS * KILLS / 2

"""A program that marks until it is killed; run by test_kill.py.

Reads lines `journal seed` and forks a process for each, which says `+` after every gesture that is finished; tells that
process's id at its start and `dead` at its end.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from analysis.review.journal import Journal, open_journal
from analysis.review.mark_book import MarkBook

sys.path.insert(0, str(Path(__file__).parent))
from random_reader import Reader, base_marks


def mark_for_ever(path: Path, seed: int) -> None:
    """Open a journal, restore the book from it, and go on marking."""
    account, sentences = open_journal(path)
    assert sentences == []
    journal = Journal(path, "id", "place", account)
    book = MarkBook(journal.step)
    book.set_base(base_marks())
    book.adopt(account.history)
    reader = Reader(book, seed)
    while True:
        reader.gesture()
        os.write(1, b"+\n")


def main() -> None:
    """Serve until there is no more to read."""
    for line in sys.stdin:
        path, seed = line.rstrip("\n").rsplit(" ", 1)
        child = os.fork()
        if child == 0:
            mark_for_ever(Path(path), int(seed))
        os.write(1, f"{child}\n".encode())
        os.waitpid(child, 0)
        os.write(1, b"dead\n")


if __name__ == "__main__":
    main()

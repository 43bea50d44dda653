"""The table of a corpus comes back as it was written, and its scores are those of all recordings as one."""

from pathlib import Path

import pytest

from analysis.corpus_table import COLUMNS, DONE, FAILED, Row, pooled, read_table, write_table
from analysis.errors import RecordingError

ROWS = [
    Row("/data/a.edf", "a", DONE, duration=3600.0, events=3, seizures=2, found=1, false_alarms=2, seconds=1.25),
    Row("/data/b.edf", "b", FAILED, "the file is\tempty\n(b.edf): copy it again"),
    Row("/data/c.edf", "sub/c", DONE, duration=7200.5, events=0, seizures=0, found=0, false_alarms=0, seconds=2.0),
    Row("/data/d.edf", "d", DONE, duration=600.0, events=5),
]


def test_a_table_comes_back_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "recordings.tsv"
    write_table(ROWS, path)
    again = read_table(path)
    assert again[0] == ROWS[0]
    assert again[1].reason == "the file is empty (b.edf): copy it again"
    assert again[2:] == ROWS[2:]


def test_scores_are_pooled_over_what_somebody_has_marked() -> None:
    scores = pooled(ROWS)
    assert scores is not None
    assert (scores.tp, scores.fp, scores.n_reference) == (1, 2, 2)
    assert scores.hours == pytest.approx((3600 + 7200.5) / 3600)
    assert scores.sensitivity == 0.5
    assert scores.fp_per_24h == pytest.approx(2 * 24 / scores.hours)
    assert pooled([ROWS[1], ROWS[3]]) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("onset\tduration\n", "not a table of recordings"),
        ("", "not a table of recordings"),
        ("\t".join(COLUMNS) + "\na\tb\n", "a row of the table is damaged"),
        ("\t".join(COLUMNS) + "\n" + "\t".join(["x"] * len(COLUMNS)) + "\n", "a row of the table is damaged"),
    ],
)
def test_other_tables_are_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "t.tsv").write_text(text)
    with pytest.raises(RecordingError, match=message):
        read_table(tmp_path / "t.tsv")

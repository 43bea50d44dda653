"""Predicting many recordings: one table, nothing done twice, and one that fails does not stop the others."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.corpus_table import DONE, FAILED, TABLE, read_table
from analysis.progress import Cancelled, Progress
from app.corpus import PARTS, Asked, Task, cut, join_task, predict_corpus, run_part, run_task
from models.errors import CheckpointError

ASKED = Asked("random:axon:tiny", device="cpu", batch_size=1)
SCALP = ("recordings/scalp-seizure-42ch/scalp_seizure.edf", "recordings/scalp-seizure-46ch/demo_edf.edf")


class _Stops(Progress):
    """Cancels once the second recording is scored."""

    def report(self, done: float, total: float, message: str = "") -> None:
        if done > 1.2:
            raise Cancelled


def _sources(shared: Path) -> list[Path]:
    return [shared / name for name in SCALP]


def _written(out: Path) -> dict[str, int]:
    """When each run was written: to the nanosecond, as two runs of a test may share the second of ``created``."""
    return {path.parent.name: path.stat().st_mtime_ns for path in out.rglob("run.json")}


def test_each_recording_gets_a_folder_and_a_row(shared: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty.edf"
    empty.write_bytes(b"")
    outcome = predict_corpus([*_sources(shared), empty], ASKED, tmp_path / "out")
    rows = read_table(tmp_path / "out" / TABLE)
    assert [row.state for row in rows] == [DONE, DONE, FAILED]
    assert rows[0].seizures == 1  # from the table beside it
    assert rows[1].duration == 45.0
    assert "the file is empty" in rows[2].reason
    assert outcome.warnings == (f"empty: {rows[2].reason}",)
    for row in rows[:2]:
        assert {path.name for path in (tmp_path / "out" / row.folder).iterdir()} == {
            "events.tsv",
            "probabilities.tsv",
            "run.json",
        }
    assert outcome.facts["event"]["sensitivity"] == sum(row.found or 0 for row in rows) / 2


def test_what_is_done_is_not_done_again_unless_something_else_is_asked(shared: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    local = tmp_path / "local.edf"
    shutil.copy(shared / SCALP[1], local)
    sources = [shared / SCALP[0], local]
    with pytest.raises(Cancelled):
        predict_corpus(sources, ASKED, out, progress=_Stops())
    first = _written(out)
    assert set(first) == {"scalp_seizure"}
    predict_corpus(sources, ASKED, out)
    second = _written(out)
    assert second["scalp_seizure"] == first["scalp_seizure"]
    predict_corpus(sources, ASKED, out)
    assert _written(out) == second
    for row in read_table(out / TABLE):  # what the work took, when it was done
        assert row.seconds == json.loads((out / row.folder / "run.json").read_text())["wall_time"]
    shutil.copy(shared / SCALP[0], local)  # another recording of the same name
    predict_corpus(sources, ASKED, out)
    third = _written(out)
    assert third["scalp_seizure"] == second["scalp_seizure"]
    assert third["local"] != second["local"]
    predict_corpus(sources, replace(ASKED, threshold=0.1), out)
    assert all(_written(out)[name] != third[name] for name in third)


def test_a_corpus_whose_recordings_all_fail_has_its_table(tmp_path: Path) -> None:
    empty = tmp_path / "empty.edf"
    empty.write_bytes(b"")
    predict_corpus([empty], ASKED, tmp_path / "new" / "out")
    (row,) = read_table(tmp_path / "new" / "out" / TABLE)
    assert (row.state, row.folder) == (FAILED, "empty")


def test_a_model_that_cannot_be_loaded_stops_everything(shared: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.safetensors"
    broken.write_bytes(b"nothing")
    with pytest.raises(CheckpointError, match=r"broken\.safetensors"):
        predict_corpus(_sources(shared), Asked(str(broken)), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_recording_in_parts_is_the_whole(shared: Path, tmp_path: Path) -> None:
    whole, _ = _run_whole(shared, tmp_path / "whole")
    task = replace(whole, out=tmp_path / "cut")
    pieces = cut(task, 50.0)
    assert [piece.name for piece in pieces] == [f"scalp_seizure ({i} of 5)" for i in range(1, 6)]
    parts = [run_part(piece) for piece in pieces]
    again = run_part(pieces[2])
    assert again.created == parts[2].created  # kept for whoever goes on later
    row = join_task(task, parts)
    assert row.state == DONE
    for name in ("events.tsv", "probabilities.tsv"):
        texts = [(folder / "scalp_seizure" / name).read_text() for folder in (tmp_path / "whole", tmp_path / "cut")]
        assert texts[0] == texts[1]
    assert cut(task, 50.0) == [task]  # done


def _run_whole(shared: Path, out: Path) -> tuple[Task, Path]:
    tasks: list[Task] = []

    def keep(given: Sequence[Task], _progress: Progress) -> list:
        tasks.extend(given)
        return [run_task(task) for task in given]

    predict_corpus([shared / SCALP[0]], ASKED, out, keep)
    return tasks[0], out


def test_parts_are_forgotten_when_the_corpus_is_complete(shared: Path, tmp_path: Path) -> None:
    def in_parts(tasks: Sequence[Task], _progress: Progress) -> list:
        return [join_task(task, [run_part(piece) for piece in cut(task, 100.0)]) for task in tasks]

    predict_corpus([shared / SCALP[0]], ASKED, tmp_path, in_parts)
    assert not (tmp_path / PARTS).exists()

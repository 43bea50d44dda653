"""The bench of start-up: each thing is started anew in its own process, and the first start of all is not counted."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from app import bench_start
from app.bench_apart import run_apart
from app.bench_files import BenchFile, make_file
from app.bench_pages import compiled_in
from app.benches import Plan

CASES = {case.name for case in bench_start.CASES}


def test_the_first_start_sees_to_compiled_modules_and_is_not_counted(monkeypatch):
    asked = []

    def run(_module, arguments, variables):
        asked.append((arguments[0], variables["PYTHONPYCACHEPREFIX"]))
        number = float(len(asked))
        return {"bare": number} if arguments[0] == "bare" else dict.fromkeys(CASES - {"start help"}, number)

    monkeypatch.setattr(bench_start, "run_apart", run)
    monkeypatch.setattr(bench_start, "_time", lambda arguments, _variables: 2.0 if "--help" in arguments else 1.0)
    found = bench_start.bench(Plan("quick"))
    assert [what for what, _ in asked] == ["bare", "window"] * 3  # two rounds are counted
    assert len({folder for _, folder in asked}) == 1
    rows = {case.name: measured for case, measured in found.rows}
    assert rows["start window"].samples == (4.0, 6.0)
    assert rows["start window"].floor == 3.0
    assert (rows["start help"].samples, rows["start help"].floor) == ((2.0, 2.0), 1.0)


def test_a_start_that_fails_says_why_in_every_row(monkeypatch):
    monkeypatch.setattr(bench_start, "run_apart", lambda *_: "failed: no Qt")
    assert {row for _, row in bench_start.bench(Plan("quick")).rows} == {"failed: no Qt"}


def test_the_real_window_is_started_and_opens_a_file(tmp_path):
    path = make_file(BenchFile("day", 23, 256, 120), tmp_path)
    found = run_apart("app.bench_start_child", ["window", "0.0", str(path)], compiled_in(tmp_path / "compiled"))
    assert isinstance(found, dict), found
    assert set(found) == CASES - {"start help"}
    assert found["start modules"] > 100
    assert list(Path(tmp_path / "compiled").rglob("main_window*.pyc"))


def test_what_a_start_is_held_against_loads_nothing_of_the_window():
    code = (
        "import json, sys; from app import bench_start_child; bench_start_child.main(sys.argv[1:]);"
        "print(json.dumps(sorted({'viewers', 'app.main_window', 'analysis.recording'} & set(sys.modules))))"
    )
    root = Path(bench_start.__file__).parents[1]
    command = [sys.executable, "-c", code, "bare", "0.0", ""]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True, timeout=120)
    assert json.loads(done.stdout.splitlines()[-1]) == []

"""The page of the benches: the machine, every row, what missed its target and why, and what was not measured."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from app import bench
from app.bench_cases import Case, Measured
from app.bench_report import report_text
from app.benches import BENCHES, Found, Part, Plan

FACTS = {
    "system": "Linux-test",
    "processor": "a processor",
    "cores": 2,
    "memory_gb": 25.0,
    "gpu": None,
    "load": 0.1,
    "python": "3.11",
    "pyqt": "6",
    "numpy": "2",
    "yardstick_ms": 11.4,
    "copy_gb_s": 8.0,
    "product_gflop_s": 70.0,
}
ROWS = [
    (Case("fast", "a fast thing", 16.0), Measured((8.0, 8.0, 8.0), floor=2.0, floor_of="a copy")),
    (Case("slow", "a slow thing", 16.0, missed="its loop is in Python"), Measured((32.0,))),
    (Case("strange", "a strange thing", None, rival="it", gain=2.0), Measured((4.0,), rival=(2.0,))),
    (Case("absent", "an absent thing", None), "not measured: no GPU"),
]


def sections(text: str) -> dict[str, list[str]]:
    """The lines below each heading."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line.startswith("#"):
            found[line.strip("# ")] = here = []
        elif line:
            here.append(line)
    return found


def test_every_row_is_on_the_page_and_what_missed_its_target_says_why():
    name = next(iter(BENCHES))
    parts = [Part(name, Found(ROWS, ["first line\nsecond line"]), 90.0)]
    text = report_text(FACTS, Plan("middle", busy=True), parts)
    found = sections(text)
    assert "main.py bench --size middle --busy --report" in text
    assert "a processor, 2 cores, 25 GB" in text
    rows = [line for line in found[name] if line.startswith("|")]
    assert len(rows) == 2 + len(ROWS)
    assert rows[2].split(" | ")[1:] == ["8.00 (8.00-8.00) ms", "", "", "2.00", "4.0", "< 16.0 ms", "yes |"]
    assert rows[3].endswith("**no** |")
    assert found[name][-2:] == ["- first line", "- second line"]
    assert found["Missed targets"] == [
        "- a slow thing: 32.0 ms, wanted < 16.0 ms; by the yardstick about 16.0 ms on the machine of the targets. "
        "Reason: its loop is in Python.",
        "- a strange thing: 4.00 ms, wanted >= 2 x. Reason: no reason is known.",
    ]
    assert found["Not measured"] == ["- an absent thing: no GPU"]


def test_a_page_without_misses_says_so():
    found = sections(report_text(FACTS, Plan(), [Part(next(iter(BENCHES)), Found(ROWS[:1]), 1.0)]))
    assert found["Missed targets"] == ["None."]
    assert found["Not measured"] == ["Nothing."]


def test_the_command_writes_the_page_whole(monkeypatch, tmp_path, capsys):
    name = next(iter(BENCHES))
    monkeypatch.setattr(bench, "import_module", lambda _name: SimpleNamespace(bench=lambda _plan: Found(ROWS)))
    monkeypatch.setattr(bench, "machine", lambda: FACTS)
    page = tmp_path / "benchmarks.md"
    assert bench.run_benches([name], Plan("quick"), report=str(page)) == 0
    assert "## Missed targets" in page.read_text("utf-8")
    assert [file.name for file in tmp_path.iterdir()] == ["benchmarks.md"]
    assert "1 within target, 2 over, 1 not measured" in capsys.readouterr().out


@pytest.mark.parametrize("size", ["quick", "middle", "full"])
def test_the_page_says_how_much_was_run(size):
    assert f"--size {size}" in report_text(FACTS, Plan(size), [])

"""The benchmark: its recordings are what it says, its table says what was measured, its clock counts what it should."""

from __future__ import annotations

import json
import shutil
import time
from collections import namedtuple
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import mne
import numpy as np
import pytest

from analysis.errors import AnalysisError
from analysis.readers import open_recording
from app import bench, bench_machine, bench_pages, bench_viewer
from app.bench_cases import VIEWER_CASES, Case, Measured, document, gains, value, verdict
from app.bench_engine import ENGINE_CASES, measure_engine
from app.bench_files import FILES, BenchFile, forget, make_file, shortened
from app.bench_table import markdown, table
from app.bench_viewer import SCENARIOS, Stage
from app.benches import BENCHES, Found, Plan
from app.cli import main
from app.synthetic_edf import SyntheticHeader, to_digital, write_synthetic_file

# The recordings


def test_sizes_are_those_the_targets_speak_of():
    sizes = {name: (f.channels, f.sfreq, f.seconds, f.marks) for name, f in FILES.items()}
    assert sizes["day"][:3] == (23, 256, 86_400)
    assert sizes["hour"][:3] == (23, 256, 3_600)
    assert sizes["hour64"][:3] == (64, 512, 3_600)
    assert sizes["wide"][:3] == (128, 1024, 600)
    assert (sizes["marks3000"][3], sizes["marks100000"][3]) == (3_000, 100_000)
    assert 1.0e9 < FILES["day"].bytes < 1.1e9


@pytest.mark.parametrize("name", FILES)
def test_files_are_read_alike_by_us_and_by_mne(tmp_path, name):
    file = shortened(FILES[name], 0.0)
    file = BenchFile(file.name, file.channels, file.sfreq, 130, min(file.marks, 500))
    path = make_file(file, tmp_path)
    ours, theirs = open_recording(path), mne.io.read_raw_edf(path, verbose="ERROR")
    assert ours.warnings == []
    assert len(ours.channels) == len(set(ours.ch_names)) == file.channels
    assert {c.is_brain for c in ours.channels} == {True}
    assert (ours.sfreq, ours.duration) == (file.sfreq, 130)
    assert len(ours.annotations) == len(theirs.annotations) == file.marks
    np.testing.assert_allclose([a.onset for a in ours.annotations], theirs.annotations.onset, atol=1e-3)
    for start in (0, 64 * file.sfreq - 50):  # the second is where the signal begins again
        np.testing.assert_allclose(ours.read(start, start + 100), theirs[:, start : start + 100][0] * 1e6, atol=1e-2)
    steps = np.abs(np.diff(ours.read(0, 70 * file.sfreq)[0]))
    assert steps[64 * file.sfreq - 1] <= 1.5 * np.percentile(steps, 99.9)  # and it shows no jump there
    assert 15 < ours.read(0, 2560).std(axis=1).mean() < 35


def test_a_file_can_be_made_cold(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(bytes(1000))
    assert forget(path) in (True, False)
    assert path.read_bytes() == bytes(1000)


@pytest.mark.parametrize("seconds", [3, 5])
def test_a_synthetic_file_that_ends_early_is_an_error_and_leaves_nothing(tmp_path, seconds):
    header = SyntheticHeader(("Fz",), 100, seconds, "TEST")
    block = to_digital(np.zeros((2, 1, 100)))
    with pytest.raises(ValueError, match="records"):
        write_synthetic_file(tmp_path / "f.edf", header, [block], [])
    assert list(tmp_path.iterdir()) == []


def test_digital_values_are_clipped_not_wrapped():
    np.testing.assert_array_equal(to_digital(np.array([0.04, 0.06, -1e9, 1e9])), [0, 1, -32767, 32767])


# The table


def test_judgement_is_by_what_the_case_says():
    samples = Measured((*[10.0] * 94, *[100.0] * 6))
    for judged_by, expected in (("median", 10.0), ("p95", 100.0), ("most", 100.0)):
        assert value(Case("c", "t", 1.0, judged_by=judged_by), samples) == expected
    assert verdict(Case("c", "t", 10.5), samples) == "pass"
    assert verdict(Case("c", "t", 10.0), samples) == "over"
    assert verdict(Case("c", "t", 50.0, judged_by="p95"), samples) == "over"
    assert verdict(Case("c", "t", None), samples) == ""


def test_the_table_stands_in_columns_and_says_what_is_missing():
    rows = [
        (Case("a", "one thing", 16.0, (72.0, 72.0)), Measured((8.0, 12.0, 10.0), 3.0)),
        (Case("b", "another thing", 800.0, (1300.0, 2000.0)), Measured((1000.0,), 900.0)),
        (Case("c", "a third", 100.0), "failed: it broke"),
        (Case("d", "beside another", None, rival="it", gain=3), Measured((5.0,) * 3, None, (20.0,) * 3, 1.0, "a copy")),
    ]
    lines = table(rows, detail=True).splitlines()
    head = ["case", "ours", "rival", "ratio", "floor", "x", "floor", "target", "p95", "cpu", "n"]
    assert lines[0].split() == head
    assert lines[1].split("  ")[0] == "one thing"
    for part in ("10.0 (9.00-11.0) ms", "72.0*", "7.20 x", "< 16.0 ms", "pass"):
        assert part in lines[1]
    for part in ("1,300-2,000*", "(1.30-2.00)", "over"):
        assert part in lines[2]
    assert lines[3].endswith("failed: it broke")
    assert lines[1].index("< 16.0") == lines[2].index("< 800")
    assert lines[4].split()[-3:] == ["pass", "5.00", "3"]
    for part in ("20.0 (20.0-20.0)", "4.00 x", "1.00", "5.0", ">= 3 x"):
        assert part in lines[4]
    assert document(*rows[0])["result"] == "pass"
    assert document(*rows[2])["not_measured"] == "failed: it broke"
    marked = markdown(rows).splitlines()
    assert {line.count("|") for line in marked} == {9}
    assert marked[3].endswith("**no** |")
    assert "not measured: failed: it broke" in marked[4]


def test_samples_taken_in_turn_are_compared_pair_by_pair():
    """A busy moment that meets both doubles neither ratio."""
    case = Case("c", "t", None, rival="the other", gain=1.9)
    both = Measured((1.0, 1.0, 10.0), rival=(2.0, 2.0, 20.0))
    assert gains(case, both) == (2.0, 2.0, 2.0)
    assert verdict(case, both) == "pass"
    apart = Measured((1.0, 1.0), rival=(1.5, 1.5, 9.0))
    assert gains(case, apart) == (1.5, 1.5, 1.5)
    assert verdict(case, apart) == "over"
    facts = document(case, Measured((2.0,), rival=(4.0,), floor=0.5, floor_of="a copy"))
    assert (facts["ratio"], facts["times_floor"], facts["floor_of"], facts["result"]) == (2.0, 4.0, "a copy", "pass")
    assert verdict(Case("c", "t", None, gain=2.0), Measured((1.0,))) == ""


def test_every_target_of_the_specification_is_a_case(shared):
    text = (
        (shared / "specs/reading-and-drawing.md").read_text("utf-8").split("## Targets")[1].split("Everything below")[0]
    )
    assert text.count("\n|") == 2 + 10
    assert len(VIEWER_CASES) == 28
    targets = {case.name: case.target for case in VIEWER_CASES}
    expected = {
        "start": 800, "day open cold": 500, "day open warm": 150, "day page": 16, "day jump": 25, "day zoom": 25,
        "day sensitivity": 12, "hour page": 16, "hour scroll": 16, "hour64 page": 16, "hour64 scroll": 16,
        "wide page": 16, "wide jump": 33, "page 60 s": 33, "page 5 min": 33, "page 1 h": 33, "page 24 h": 33,
        "hour montage": 100, "hour filter": 100, "wide montage": 200, "wide filter": 200, "marks3000 open": 500,
        "marks3000 page": 20, "marks100000 open": 1000, "marks100000 page": 50, "busy page": 50, "memory": 400,
        "hour topography": 2,
    }  # fmt: skip
    assert targets == expected


def test_every_case_comes_from_a_scenario_that_is_run():
    scenarios = {bench_pages.scenario_of(case) for case in VIEWER_CASES}
    assert scenarios == set(bench_pages.SCENARIOS_OF_FILES) | {"busy"} == set(SCENARIOS)


# The clock


class FakeWindow:
    """Shows a page some milliseconds after it was asked for."""

    def __init__(self, delay: float) -> None:
        self.delay = delay
        self.asked: list[tuple] = []
        self.ready_at = 0.0
        reading = SimpleNamespace(settled=lambda: time.perf_counter() >= self.ready_at)
        self.main = SimpleNamespace(session=SimpleNamespace(recording=object()), reading=reading)

    def _ask(self, *what) -> None:
        self.asked.append(what)
        self.ready_at = time.perf_counter() + self.delay

    show = set_montage = set_sensitivity = set_filter = _ask


@pytest.mark.usefixtures("qapp")
def test_a_sample_lasts_until_the_page_is_painted_and_waiting_takes_no_processor_time():
    window = FakeWindow(0.05)
    stage = Stage(window, 600.0, 4)
    stage.jumps("jump")
    walls, cpus = np.array(stage.samples["jump"]).T
    assert len(walls) == 4
    assert walls.min() >= 50
    assert np.median(cpus) < 0.8 * np.median(walls)
    assert all(0 <= start <= 590 and length == 10 for start, length in window.asked)


@pytest.mark.usefixtures("qapp")
def test_pages_follow_each_other_and_scrolling_moves_by_a_part_of_a_page():
    window = FakeWindow(0.0)
    stage = Stage(window, 600.0, 3)
    stage.pages("page")
    starts = [start for start, _ in window.asked]
    np.testing.assert_allclose(np.diff(starts), 10.0)
    assert len(stage.samples["page"]) == 3
    window.asked.clear()
    stage.scroll("scroll")
    np.testing.assert_allclose(np.diff([start for start, _ in window.asked]), 10 / 15)
    stage.filters("filter")
    stage.montages("montage", ("a", "b"))
    stage.zooms("zoom")
    stage.sensitivities("sensitivity")
    assert {case: len(samples) for case, samples in stage.samples.items()} == {
        "page": 3,
        "scroll": 6,
        "filter": 4,
        "montage": 4,
        "zoom": 3,
        "sensitivity": 3,
    }


@pytest.mark.usefixtures("qapp")
def test_a_page_that_never_comes_ends_the_scenario(monkeypatch):
    monkeypatch.setattr(bench_viewer, "_PATIENCE", 0.1)
    stage = Stage(FakeWindow(60.0), 600.0, 1)
    with pytest.raises(TimeoutError):
        stage.jumps("jump")


def test_memory_is_that_of_this_process():
    assert 20 < bench_machine.resident_mb() < 20_000


# The whole


def test_the_real_window_is_measured_in_a_process_of_its_own(tmp_path):
    path = make_file(BenchFile("hour", 23, 256, 180), tmp_path)
    found = bench_pages.run_scenario("hour", 2, [path])
    assert isinstance(found, dict), found
    assert {case: len(samples) for case, samples in found.items()} == {
        "hour page": 2,
        "hour scroll": 4,
        "hour montage": 4,
        "hour filter": 4,
        "hour topography": 8,
    }
    assert all(wall > 0.1 and cpu >= 0 for samples in found.values() for wall, cpu in samples)


def test_a_scenario_that_fails_says_why(tmp_path):
    found = bench_pages.run_scenario("hour", 2, [tmp_path / "missing.edf"])
    assert isinstance(found, str)
    assert "there is no such file" in found


def test_the_engine_is_measured():
    found = measure_engine(1)
    beside = {f"pool engine {what}" for what in ("start", "call", "array")}
    assert set(found) == {case.name for case in ENGINE_CASES} | beside | {"bare"}
    assert found["engine kill"][0] > 500  # killed only after it was asked
    assert all(sample > 0 for samples in found.values() for sample in samples)


def small(_plan: Plan) -> Found:
    """A bench of one row."""
    return Found([(ENGINE_CASES[0], Measured((1.0, 2.0)))], ["a remark"])


def broken(_plan: Plan) -> Found:
    """A bench that fails."""
    raise ZeroDivisionError


@pytest.fixture
def two_benches(monkeypatch):
    here = SimpleNamespace(small=small, broken=broken)
    monkeypatch.setattr(bench, "import_module", lambda _name: here)
    monkeypatch.setattr(bench, "BENCHES", {"small": ("here:small", "one row"), "broken": ("here:broken", "nothing")})
    monkeypatch.setattr(bench, "machine", lambda: dict.fromkeys(FACTS, 1.0) | {"gpu": None, "load": None})


FACTS = "system processor cores memory_gb python pyqt numpy yardstick_ms copy_gb_s product_gflop_s".split()


def test_json(two_benches, capsys):
    assert main(["bench", "small", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert [(case["bench"], case["case"]) for case in printed["cases"]] == [("small", "engine start")]
    assert printed["cases"][0]["median"] == 1.5
    assert printed["machine"]["cores"] == 1
    assert printed["size"] == "full"


def test_a_bench_that_fails_keeps_none_of_the_others_from_its_figures(two_benches, capsys):
    assert bench.run_benches([], Plan("quick")) == 0
    said = capsys.readouterr().out
    assert "a remark" in said
    assert "failed: " in said
    assert said.endswith("0 within target, 0 over, 1 not measured\n")


def test_every_bench_of_the_list_is_there():
    """Its function exists where the list says, and the command's help names it."""
    for place, _what in BENCHES.values():
        module, _, function = place.partition(":")
        assert callable(getattr(import_module(module), function))


def test_the_machine_is_described():
    facts = bench_machine.machine()
    assert facts["copy_gb_s"] > 0.1
    assert facts["product_gflop_s"] > 0.1
    assert facts["yardstick_ms"] > 0.1
    assert str(facts["numpy"]) in "\n".join(bench_machine.describe_machine(facts))


def test_floors_of_pages_are_below_what_a_page_takes_and_grow_with_what_it_shows():
    cases = {case.name: case for case in VIEWER_CASES}
    floors = {}
    for name, case in cases.items():
        found = bench_pages.with_floor(case, Measured((1e6,)), FILES)
        floors[name] = found.floor
        assert (found.floor is None) == (found.floor_of == "")
    assert floors["start"] is floors["memory"] is None
    assert 0 < floors["day page"] == floors["hour scroll"] < floors["day jump"] < floors["wide jump"]
    assert floors["day jump"] < floors["page 60 s"] < floors["page 5 min"] > floors["page 1 h"]


def test_an_unknown_bench_and_a_full_disk_are_one_line(capsys, monkeypatch, tmp_path):
    assert main(["bench", "paint"]) == 1
    said = capsys.readouterr().err
    assert said == f"error: no bench is called 'paint': there are {', '.join(BENCHES)}\n"
    assert main(["bench", "engine", "--report", str(tmp_path / "none/b.md")]) == 1
    assert "there is no such folder" in capsys.readouterr().err
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(10**12, 10**12, 10**6))
    with pytest.raises(AnalysisError, match="free some space"):
        bench_pages.bench(Plan("quick"))


def test_recordings_are_removed_afterwards(tmp_path, monkeypatch):
    monkeypatch.setattr(bench_pages.tempfile, "tempdir", str(tmp_path))
    with bench_pages.workplace(1000) as folder:
        (Path(folder) / "f").touch()
    assert list(tmp_path.iterdir()) == []

"""The bench of memory: its rows say what grew, and the window of a small course does not grow."""

from __future__ import annotations

import os

import numpy as np
import pytest

from app import bench_memory, bench_peer
from app.bench_apart import run_apart
from app.bench_cases import value, verdict
from app.bench_files import BenchFile, make_file
from app.bench_machine import peak_mb, resident_mb
from app.bench_memory import Course, explain, memory_rows
from app.benches import Plan


def test_rows_of_what_was_measured():
    found = {
        "bare": [100.0],
        "memory steady": [300.0, 310.0],
        "memory peak": [350.0],
        "memory pages": [12.0],
        "memory recordings": [-3.0],
        "memory widgets": [0.0],
        "memory objects": [40.0],
        "after each": [300.0, 301.0],
    }
    rows = {case.name: (case, measured) for case, measured in memory_rows(found)}
    assert list(rows) == [case.name for case in bench_memory.CASES]
    assert verdict(*rows["memory steady"]) == verdict(*rows["memory recordings"]) == "pass"
    assert verdict(*rows["memory pages"]) == "over"
    assert rows["memory steady"][1].floor == 100.0
    assert rows["memory engine"][1] == "not measured at this size"
    assert "300, 301 MB" in explain(Course(10, 2, False), found)
    assert {row for _, row in memory_rows("failed: it broke")} == {"failed: it broke"}


def test_memory_of_a_process_is_that_which_it_holds():
    before = resident_mb()
    held = np.ones(64 << 17)  # 64 MB
    assert 55 < resident_mb() - before < 90
    assert resident_mb(os.getpid()) == pytest.approx(resident_mb(), rel=0.05)
    assert peak_mb() >= resident_mb() - 1
    del held


def test_the_real_window_goes_through_a_small_course_and_leaves_nothing_behind(tmp_path):
    files = [BenchFile("day", 23, 256, 300), BenchFile("one", 23, 256, 120), BenchFile("other", 23, 256, 120)]
    paths = [str(make_file(file, tmp_path)) for file in files]
    found = run_apart("app.bench_memory", ["40", "4", "0", *paths])
    assert isinstance(found, dict), found
    rows = {case.name: (case, measured) for case, measured in memory_rows(found)}
    assert value(*rows["memory steady"]) > found["bare"][0]
    assert len(found["after each"]) == 6
    assert value(*rows["memory widgets"]) == 0
    assert value(*rows["memory objects"]) < 1000


def test_a_peer_that_is_not_installed_is_said_once(monkeypatch):
    monkeypatch.setattr(bench_peer, "find_spec", lambda _name: None)
    peer = bench_peer.Peer(Plan("quick"), 1, {}, {})
    peer.measure("day")
    assert (peer.samples, peer.remarks) == ({}, [bench_peer.INSTALL])


def test_a_peer_is_measured_in_turn_and_its_first_start_is_not_counted(monkeypatch, tmp_path):
    asked = []

    def answer(module, arguments, variables):
        asked.append((module, arguments[0], arguments[3], variables))
        return {"start": [5.0]} if arguments[0] == "start" else "no display"

    monkeypatch.setattr(bench_peer, "find_spec", lambda _name: object())
    monkeypatch.setattr(bench_peer, "_rival_words", lambda: "rival")
    monkeypatch.setattr("app.bench_apart.run_apart", answer)
    peer = bench_peer.Peer(Plan("quick"), 1, {"hour": tmp_path / "a", "marks3000": tmp_path / "b"}, {"X": "1"})
    for scenario, is_counted in (("start", False), ("start", True), ("start", True), ("marks", True), ("busy", True)):
        peer.measure(scenario, is_counted)
    assert peer.samples == {"start": [5.0, 5.0]}
    assert peer.remarks == ["rival", "mne-qt-browser, marks3000: no display"]
    hour, marks = str(tmp_path / "a"), str(tmp_path / "b")
    assert asked == 3 * [("app.bench_peer", "start", hour, {"X": "1"})] + [
        ("app.bench_peer", "marks3000", marks, {"X": "1"})
    ]

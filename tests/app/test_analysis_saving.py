"""Saving an analysis: figures of every form, numbers with their meaning, and one sentence where it cannot be."""

from __future__ import annotations

import json

import numpy as np
import pytest
from PyQt6.QtWidgets import QFileDialog, QWidget

from analysis.analyses import Analysis, NamedArray
from analysis.recording import Window
from analysis.results import AnalysisRequest
from app.analysis_saving import AnalysisSaving
from app.engine_process import EngineProcess
from app.jobs import JobRunner


@pytest.fixture(scope="module")
def engine():
    with EngineProcess() as made:
        yield made


@pytest.fixture
def saving(qtbot, engine):
    window = QWidget()
    qtbot.addWidget(window)
    runner = JobRunner(parent=window)
    made = AnalysisSaving(runner, engine, window)
    made.sentences = []
    made.said.connect(made.sentences.append)
    yield made
    runner.shutdown()


@pytest.fixture
def result() -> Analysis:
    request = AnalysisRequest("effective-rank", "abc", ("d",), window=Window(0, 10), options={"window": 10.0})
    arrays = {"effective_rank": NamedArray(np.array([3.0, 5.0]), ("layer",), "1", "number of dimensions", "paper")}
    provenance = {"recording": {"path": "night.edf"}, "span": [0.0, 10.0]}
    return Analysis(
        request, "now", "1.0", provenance, title="Rank", models=("AXON",), arrays=arrays,
        facts={"n_rows": 99, "rows": "tokens"}, labels={"layer": ("0", "1")},
    )  # fmt: skip


def wait(qtbot, saving) -> str:
    qtbot.waitUntil(lambda: bool(saving.sentences), timeout=60_000)
    return saving.sentences[-1]


@pytest.mark.parametrize(("suffix", "start"), [(".svg", b"<?xml"), (".pdf", b"%PDF"), (".png", b"\x89PNG")])
def test_figures_of_every_form(saving, qtbot, result, tmp_path, suffix, start):
    path = tmp_path / f"figure{suffix}"
    saving.write_figure(result, path)
    assert wait(qtbot, saving) == f"saved {path}"
    assert path.read_bytes().startswith(start)


def test_numbers_come_with_what_they_mean(saving, qtbot, result, tmp_path):
    saving.write_numbers(result, tmp_path / "rank.npz")
    assert wait(qtbot, saving) == f"saved {tmp_path / 'rank.npz'} and {tmp_path / 'rank.json'}"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["rank.json", "rank.npz"]
    with np.load(tmp_path / "rank.npz") as arrays:
        np.testing.assert_array_equal(arrays["effective_rank"], [3.0, 5.0])
    described = json.loads((tmp_path / "rank.json").read_text())
    assert described["arrays"]["effective_rank"]["meaning"] == "number of dimensions"
    assert described["arrays"]["effective_rank"]["defined_by"] == "paper"


def test_what_cannot_be_written_is_one_sentence(saving, qtbot, result, tmp_path):
    saving.write_figure(result, tmp_path / "nowhere" / "figure.svg")
    assert "there is no such file or folder" in wait(qtbot, saving)
    assert saving.write_figure(result, tmp_path / "figure.gif") is None
    assert "figure.gif" in saving.sentences[-1]
    assert list(tmp_path.iterdir()) == []


def test_the_suffix_is_that_of_the_chosen_form(saving, qtbot, result, tmp_path, monkeypatch):
    answer = (str(tmp_path / "figure"), "PDF (*.pdf)")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: answer)
    saving.ask_figure(result)
    assert wait(qtbot, saving) == f"saved {tmp_path / 'figure.pdf'}"


def test_there_must_be_something_to_save(saving):
    saving.ask_figure(None)
    saving.ask_numbers(None)
    assert saving.sentences == ["there is nothing to save yet: run an analysis first"] * 2

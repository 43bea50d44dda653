"""The bench of inference: rows by model with their rivals and floors, from a tiny recording that is really measured."""

from dataclasses import replace

import numpy as np
import pytest

from analysis.engine import inference_speed
from analysis.readers import open_recording
from app import bench, bench_inference
from app.bench_files import HOUR, make_file
from app.benches import Plan


def test_rows_hold_seconds_for_an_hour_beside_both_rivals(tmp_path):
    path = make_file(replace(HOUR, seconds=64, marks=1), tmp_path)
    with open_recording(path) as recording:
        model = inference_speed.measure(recording, "random:axon:tiny", 2)
    assert {form: len(model[form]) for form in (*inference_speed.FORMS, "model")} == {
        "served": 2, "in turn": 2, "one": 2, "model": 2,
    }  # fmt: skip
    assert all(own < whole for own, whole in zip(model["model"], model["in turn"], strict=True))
    assert model["apart"] <= model["same"] == inference_speed.SAME
    found = {"recorded": 64.0, "channels": 23, "models": {"axon": model}}
    rows = {case.name: (case, measured) for case, measured in bench_inference.inference_rows(found)}
    assert set(rows) == {"inference axon ahead", "inference axon batch"}
    case, measured = rows["inference axon ahead"]
    assert case.unit == "s"
    assert measured.samples == pytest.approx([3600 / 64 * s for s in model["served"]])
    assert measured.rival == pytest.approx([3600 / 64 * s for s in model["in turn"]])
    assert measured.floor == pytest.approx(3600 / 64 * np.median(model["model"]))
    assert rows["inference axon batch"][1].rival == pytest.approx([3600 / 64 * s for s in model["one"]])


def test_hours_in_a_minute_are_told():
    model = {"served": [1.0], "in turn": [2.0], "one": [4.0], "model": [0.5], "batch": 8, "title": "AXON", "apart": 0.0}
    text = bench_inference.explain({"recorded": 120.0, "channels": 23, "models": {"axon": model}})
    assert "AXON: 2 hours of recording per minute, 1 without reading ahead, 0.5 one at a time; 25% of" in text


def test_a_bench_that_fails_says_so_in_its_row(monkeypatch, capsys):
    monkeypatch.setattr(bench_inference, "measure_inference", lambda *_: "failed: no torch")
    assert bench.run_benches(["inference"], Plan("quick")) == 0
    assert "failed: no torch" in capsys.readouterr().out

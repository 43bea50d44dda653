"""The bench of inference: rows by model with their rivals and floors, from a tiny recording that is really measured."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from analysis.engine import inference_speed
from analysis.engine.serving import Serving
from analysis.readers import open_recording
from app import bench, bench_inference
from app.bench_files import HOUR, make_file
from app.benches import Plan


def test_rows_hold_seconds_for_an_hour_beside_one_window_at_a_time(tmp_path):
    path = make_file(replace(HOUR, seconds=64, marks=1), tmp_path)
    with open_recording(path) as recording:
        model = inference_speed.measure(recording, "random:axon:tiny", 2)
    assert {form: len(model[form]) for form in (*inference_speed.FORMS, "model")} == {
        "in turn": 2, "ahead": 2, "one": 2, "model": 2,
    }  # fmt: skip
    assert all(own < whole for own, whole in zip(model["model"], model["in turn"], strict=True))
    assert model["apart"] <= model["same"] == inference_speed.SAME
    assert model["usual"] == ("ahead" if Serving().reads_ahead(torch.device("cpu")) else "in turn")
    found = {"recorded": 64.0, "channels": 23, "models": {"axon": model}}
    ((case, measured),) = bench_inference.inference_rows(found)
    assert (case.name, case.unit) == ("inference axon", "s")
    assert measured.samples == pytest.approx([3600 / 64 * s for s in model[model["usual"]]])
    assert measured.rival == pytest.approx([3600 / 64 * s for s in model["one"]])
    assert measured.floor == pytest.approx(3600 / 64 * np.median(model["model"]))


@pytest.mark.parametrize(("usual", "hours"), [("in turn", "2"), ("ahead", "1")])
def test_hours_in_a_minute_are_told_and_what_reading_ahead_gives(usual, hours):
    model = {"in turn": [1.0], "ahead": [2.0], "one": [4.0], "model": [0.5], "batch": 8, "title": "AXON", "apart": 0.0}
    found = {"recorded": 120.0, "channels": 23, "models": {"axon": model | {"usual": usual}}}
    text = bench_inference.explain(found)
    assert f"AXON: {hours} hours of recording per minute, read {usual}; reading ahead is 0.50 x as fast" in text
    assert "where 50% of the time is the model's own" in text


def test_a_bench_that_fails_says_so_in_its_row(monkeypatch, capsys):
    monkeypatch.setattr(bench_inference, "measure_inference", lambda *_: "failed: no torch")
    assert bench.run_benches(["inference"], Plan("quick")) == 0
    assert "failed: no torch" in capsys.readouterr().out

"""The truth file: what is written is read, and what is damaged is refused in words."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from analysis.errors import RecordingError
from analysis.simulation.truth import Artefact, Seizure, Source, State, Truth, read_truth, truth_path, write_truth

SEIZURE = Seizure(
    onset=12.25,
    duration=30.5,
    region="temporal left mid",
    focus_xyz=(-0.05, 0.01, 0.03),
    focus_channel="T7",
    focus_rank=("T7", "F7", "C3"),
    topography={"T7": 1.1, "F7": 0.5, "C3": 0.4},
    peak_uv=55.0,
    contrast=3.5,
    fast_s=2.5,
    f_start=18.0,
    f_end=2.0,
    sources=(Source("focus", 0.0, "T7", 1.0), Source("neighbour", 6.5, "F7", 0.5)),
    postictal_s=20.0,
)
TRUTH = Truth(
    seed=3,
    fs=256.0,
    duration_s=60.0,
    reference="none",
    electrodes="10-20",
    channels=("T7", "F7", "C3"),
    positions={"T7": (-0.08, 0.0, 0.0), "F7": (-0.07, 0.05, 0.0), "C3": (-0.06, 0.0, 0.08)},
    state=(State("drowsy", 5.0, 10.0),),
    events=(SEIZURE,),
    artefacts=(Artefact("blink", 1.5, 0.6, ("F7",), 90.0),),
    spikes=(3.25, 9.0),
    parameters={"scale_uv": 14.0},
    simulator="1",
)


@pytest.mark.parametrize("asked", ["one.edf", "one.truth.json"])
def test_what_is_written_is_read(tmp_path, asked):
    write_truth(truth_path(tmp_path / "one.edf"), TRUTH)
    assert [path.name for path in tmp_path.iterdir()] == ["one.truth.json"]
    assert read_truth(tmp_path / asked) == TRUTH
    assert read_truth(str(tmp_path / asked)).events[0].stop == 42.75


def test_a_recording_without_a_truth_file_has_none(tmp_path):
    assert read_truth(tmp_path / "one.edf") is None


def test_fields_of_a_newer_program_are_left_out(tmp_path):
    document = asdict(TRUTH) | {"mood": "good"}
    document["events"][0]["mood"] = "bad"
    (tmp_path / "one.truth.json").write_text(json.dumps(document))
    assert read_truth(tmp_path / "one.edf") == TRUTH


def without(key: str) -> str:
    document = asdict(TRUTH)
    del document["events"][0][key]
    return json.dumps(document)


DAMAGED = {
    "no json": "{",
    "a list": "[]",
    "a field missing": without("focus_channel"),
    "a place of two numbers": json.dumps(asdict(TRUTH)).replace("[-0.05, 0.01, 0.03]", "[1, 2]"),
    "bytes": "\udcff",
    "deep": "[" * 100_000,
}


@pytest.mark.parametrize("text", DAMAGED.values(), ids=DAMAGED.keys())
def test_a_damaged_file_is_refused_in_one_sentence(tmp_path, text):
    path = tmp_path / "one.truth.json"
    path.write_text(text, errors="surrogateescape")
    with pytest.raises(RecordingError, match="damaged") as caught:
        read_truth(tmp_path / "one.edf")
    assert str(path) in str(caught.value)


def test_another_layout_is_refused_by_its_number(tmp_path):
    (tmp_path / "one.truth.json").write_text(json.dumps(asdict(TRUTH) | {"version": 9}))
    with pytest.raises(RecordingError, match="layout 9"):
        read_truth(tmp_path / "one.edf")

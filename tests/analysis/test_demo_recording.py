"""The bundled recording is what its seed makes, says what it is, and holds what the demonstration needs."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from analysis.event_tables import read_events
from analysis.readers import open_recording
from analysis.seizure_marks import seizures
from analysis.simulation.demo import RECORDING, SEED, make_demo
from analysis.simulation.files import EVENTS_SUFFIX
from analysis.simulation.truth import read_truth, truth_path

HEADER = 256 * (1 + 19 + 1)


@pytest.fixture(scope="module")
def again(tmp_path_factory):
    return make_demo(tmp_path_factory.mktemp("demo"))


@pytest.fixture(scope="module")
def truth():
    return read_truth(RECORDING)


def test_the_seed_makes_the_bundled_file_again(again):
    """Other processors round the last bit of a float otherwise, which moves a sample in thousands by one step."""
    made, bundled = again.read_bytes(), RECORDING.read_bytes()
    assert made[:HEADER] == bundled[:HEADER]
    assert len(made) == len(bundled) < 6_000_000
    mine, theirs = (np.frombuffer(part, "<i2", offset=HEADER).astype(int) for part in (made, bundled))
    assert np.abs(mine - theirs).max() <= 1
    assert np.mean(mine != theirs) < 1e-3


def test_the_seed_makes_the_bundled_truth_and_events_again(again, truth):
    made = read_truth(again)
    assert (made.channels, made.artefacts, made.spikes) == (truth.channels, truth.artefacts, truth.spikes)
    for one, other in zip(made.events, truth.events, strict=True):
        assert (one.onset, one.duration, one.region, one.focus_rank) == (
            other.onset,
            other.duration,
            other.region,
            other.focus_rank,
        )
        assert one.peak_uv == pytest.approx(other.peak_uv, rel=1e-5)
    beside = [path.with_name(f"{path.stem}{EVENTS_SUFFIX}").read_text("utf-8") for path in (again, RECORDING)]
    assert beside[0] == beside[1]


def test_ten_minutes_of_the_ten_twenty_system_that_say_they_are_simulated(truth):
    recording = open_recording(RECORDING)
    assert recording.warnings == []
    assert (recording.duration, len(recording.ch_names), recording.sfreq) == (600, 19, 256)
    assert recording.ch_names == truth.channels
    assert "simulated" in recording.annotations[0].description
    spans = [(one.onset, one.stop) for one in truth.events]
    np.testing.assert_allclose(seizures(recording.annotations), spans, rtol=0, atol=1e-6)
    table = RECORDING.with_name(f"{RECORDING.stem}{EVENTS_SUFFIX}")
    assert [one.onset for one in read_events(table).events] == pytest.approx([one.onset for one in truth.events])


def test_three_foci_spikes_and_a_rhythmic_movement_far_from_any_seizure(truth):
    assert [one.region for one in truth.events] == ["mid-temporal-left", "frontal-right", "parietal-left"]
    assert [one.focus_channel for one in truth.events] == ["T7", "F4", "P3"]
    assert len(truth.spikes) > 0
    kinds = {one.kind for one in truth.artefacts}
    assert {"blink", "eye-movement", "muscle", "movement", "rhythmic-movement", "loose-electrode"} <= kinds
    rhythmic = [one for one in truth.artefacts if one.kind == "rhythmic-movement"]
    gaps = [
        min(abs(one.onset - seizure.stop), abs(seizure.onset - one.onset - one.duration))
        for one in rhythmic
        for seizure in truth.events
    ]
    assert max(one.duration for one in rhythmic) > 20
    assert min(gaps) > 30


def test_no_shipped_training_has_seen_its_seed():
    recipes = list(Path(str(files("assets"))).glob("recipes/*.toml"))
    spans = [span for path in recipes for span in _seed_spans(tomllib.loads(path.read_text("utf-8")))]
    assert len(spans) >= 4
    assert not [span for span in spans if span[0] <= SEED < span[1]]


def _seed_spans(document: dict) -> list[tuple[int, int]]:
    found = []
    for value in document.values():
        if isinstance(value, dict):
            found += _seed_spans(value)
    if "first_seed" in document:
        found.append((document["first_seed"], document["first_seed"] + int(document["recordings"])))
    return found


def test_the_truth_lies_beside_it():
    assert truth_path(RECORDING).is_file()

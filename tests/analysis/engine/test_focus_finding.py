"""Whether foci are found: with maps that are known, on the seizures and windows that the bench speaks of."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from analysis.engine import compared_maps, focus_finding
from analysis.engine.compared_maps import KEEP_ONE, OCCLUSION, SIGNED, UNSIGNED
from analysis.engine.focus_finding import (
    FIRST_SECONDS,
    METHODS,
    QUIET_BEFORE,
    RMS_RATIO,
    count_part,
    find_focus,
    held_out_seizures,
    rms_ratio,
    windows_of,
)
from analysis.engine.inputs import LoadedModel
from analysis.simulation.settings import Settings
from models.random_checkpoints import load_any

SHORT = Settings(duration=150, sfreq=128, seizures=1, length=(25.0, 30.0), contrast=(8.0, 9.0))


@pytest.fixture(scope="module")
def cases():
    return list(held_out_seizures(range(2), SHORT))


def loaded(name):
    return focus_finding._load(name)


def test_seizures_are_the_same_whichever_part_asks(cases):
    (second,) = held_out_seizures([1], SHORT)
    assert second.seizure == cases[1].seizure
    assert len({case.recording.id for case in cases}) == 2
    for case in cases:
        assert case.seizure.onset >= QUIET_BEFORE
        assert [(a.onset, a.stop) for a in case.recording.annotations] == [(case.seizure.onset, case.seizure.stop)]
        focal = case.recording.ch_names[case.focus.picks[case.focus.focus]]
        assert focal == case.seizure.focus_channel


@pytest.mark.parametrize(
    ("family", "stated", "expected"),
    [
        ("axon", 10.0, (10.0, [99.0, 103.0])),  # in the middle at 4 and 8 s
        ("mvpformer", 30.0, (30.0, [85.0])),
        ("neurduo", 60.0, (15.0, [100.0])),
    ],
)
def test_windows_hold_no_more_of_a_seizure_than_its_first_15_s(family, stated, expected):
    model = loaded(f"random:{family}:{'tiny-chbmit' if family == 'neurduo' else 'tiny'}")
    model = LoadedModel(model.network, model.facts)
    model.facts.preprocessing["window_seconds"] = stated
    assert windows_of(model, 100.0) == expected
    assert max(expected[1]) + expected[0] <= 100.0 + FIRST_SECONDS


def test_the_ratio_is_that_of_the_levels(cases):
    """A channel that is made three times as large from the onset on has three times the ratio."""
    case = cases[0]
    before = rms_ratio(case)
    data = case.recording._data
    kept = data.copy()
    data -= data.mean(0)
    data[4, round(case.seizure.onset * 128) :] *= 3.0
    data -= data.mean(0)
    after = rms_ratio(case)
    case.recording._data[:] = kept
    assert after[4] / before[4] == pytest.approx(3.0, rel=0.1)
    assert before.shape == (19,)


def test_a_model_that_listens_to_one_channel_is_found_out(cases, monkeypatch):
    """AXON whose score is the size of one channel: every method names that channel alone, whatever is there."""
    case = cases[0]
    model = loaded("random:axon:tiny")
    place = case.recording.ch_names.index("Pz")

    monkeypatch.setattr(model.network.encoder, "embed_standardised", lambda scaled, places: scaled[:, [place]])
    monkeypatch.setattr(model.network.encoder, "contextualise", lambda tokens, places: tokens)
    monkeypatch.setattr(
        model.network, "scores", lambda x: torch.stack([0 * x.mean((1, 2)), x.abs().pow(3).mean((1, 2))], -1)
    )
    sought = find_focus(model, case)
    found = sought.maps
    assert set(found) == set(METHODS)
    for name in (UNSIGNED, SIGNED, OCCLUSION, KEEP_ONE):
        others = np.delete(found[name], place)
        np.testing.assert_allclose(others, 0.0, atol=1e-6)
        assert abs(found[name][place]) > 1e-4
    assert found[OCCLUSION][place] == pytest.approx(found[KEEP_ONE][place], rel=1e-4)
    assert found[SIGNED][place] == pytest.approx(found[OCCLUSION][place], rel=0.05)  # both add up to the change


def test_a_part_counts_trained_and_randomised_weights(monkeypatch):
    monkeypatch.setattr(compared_maps, "PATH_POINTS", 2)
    found = count_part(["random:axon:tiny"], range(1, 3), seeds=2, settings=SHORT)
    assert [one["number"] for one in found["seizures"]] == [1, 2]
    rows = found["models"]["random:axon:tiny"]
    assert [row["seed"] for row in rows] == [1, 0]
    assert all(set(row["trained"]) == set(row["random"]) == set(METHODS) for row in rows)
    assert len(found[RMS_RATIO]) == 2
    json.dumps(found)


def test_weights_are_drawn_anew_by_the_seed():
    model = loaded("random:axon:tiny")
    first, same, other = (
        torch.cat([p.flatten() for p in focus_finding._randomised(model, seed).network.parameters()])
        for seed in (0, 0, 1)
    )
    own = torch.cat([p.flatten() for p in model.network.parameters()])
    assert torch.equal(first, same)
    assert not torch.equal(first, other)
    assert not torch.equal(first, own)
    assert load_any("random:axon:tiny").checkpoint == model.network.checkpoint

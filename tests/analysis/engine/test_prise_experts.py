"""Which experts of a PRiSE-EEG carry the tokens of a recording."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from analysis.engine.analyze import analyze
from analysis.engine.prise_experts import routing_similarity


@pytest.fixture(scope="module")
def scalp(shared: Path) -> Path:
    return shared / "recordings" / "scalp-seizure-46ch" / "demo_edf.edf"


def test_every_token_is_carried_by_a_routed_expert(scalp: Path) -> None:
    found = analyze("experts", scalp, ["random:prise-eeg"], 0, 20)
    usage, load = found.values("usage"), found.values("load")
    assert usage.shape == (8, 20, 8)
    np.testing.assert_allclose(np.nansum(usage, -1), 1.0, atol=1e-5)
    np.testing.assert_allclose(load, usage.mean(1), atol=1e-6)
    shared = found.values("n_shared").astype(int)
    for block, count in enumerate(shared):
        assert np.isnan(load[block, :count]).all()
        assert not np.isnan(load[block, count:]).any()
    entropy = found.values("load_entropy")
    assert ((entropy >= 0) & (entropy <= 1)).all()
    np.testing.assert_allclose(found.values("second_onset"), np.arange(20), atol=1e-6)


def test_routing_in_the_same_recording_is_the_same(scalp: Path) -> None:
    found = analyze("experts", scalp, ["random:prise-eeg"], 0, 10, {"other": str(scalp)})
    assert found.facts["routing_similarity"] == pytest.approx(1.0, abs=1e-6)
    np.testing.assert_array_equal(found.values("other_load")[0], found.values("load"))
    np.testing.assert_allclose(found.values("routing_similarity"), np.ones((2, 2)), atol=1e-6)
    assert found.labels["recording"] == ("demo_edf.edf (1)", "demo_edf.edf (2)")


def test_routing_is_as_alike_as_the_angle_between_usages() -> None:
    first = np.array([[np.nan, 0.5, 0.5], [1.0, 0.0, 0.0]])
    second = np.array([[np.nan, 1.0, 0.0], [0.0, 1.0, 0.0]])
    assert routing_similarity(first, first) == pytest.approx(1.0)
    assert routing_similarity(first, second) == pytest.approx(0.5 / (1.5**0.5 * 2**0.5))

"""Gradient geometry: closed forms of cosine and affinity, a projection that keeps angles, sets of a recording."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from analysis.engine.analyze import analyze
from analysis.engine.prise_gradients import PROJECTED, Projection, affinity, mean_cosine, subspace
from analysis.errors import AnalysisError
from analysis.progress import Cancelled, Progress


def test_cosine_at_equal_steps() -> None:
    first = np.array([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]])
    second = np.array([[2.0, 0.0], [1.0, 1.0], [1.0, 1.0]])
    assert mean_cosine(first, second) == pytest.approx((1 + 0.5**0.5) / 2)
    assert mean_cosine(first, -first) == pytest.approx(-1.0)
    assert np.isnan(mean_cosine(first[2:], second[2:]))


def test_affinity_is_one_for_the_same_and_nothing_for_orthogonal_subspaces() -> None:
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.normal(size=(40, 12)))[0]
    inside = [rng.normal(size=(30, 4)) @ basis[:, part].T for part in (slice(0, 4), slice(0, 4), slice(4, 8))]
    bases = [subspace(steps + 3.0 * basis[:, 11], 4) for steps in inside]  # the mean step does not count
    assert affinity(bases[0], bases[1]) == pytest.approx(1.0)
    assert affinity(bases[0], bases[2]) == pytest.approx(0.0, abs=1e-12)
    half = subspace(rng.normal(size=(30, 4)) @ basis[:, 2:6].T, 4)
    assert affinity(bases[0], half) == pytest.approx(0.5)
    # Two random subspaces of a wide space have the overlap k / P.
    random = [np.linalg.qr(rng.normal(size=(2000, 5)))[0] for _ in range(2)]
    assert affinity(*random) == pytest.approx(5 / 2000, abs=0.005)


@pytest.mark.parametrize("size", [3000, 100_000])
def test_the_projection_is_linear_fixed_and_keeps_angles(size: int) -> None:
    project = Projection(size)
    generator = torch.Generator().manual_seed(1)
    first, second = torch.randn(2, size, generator=generator)
    mixed = 0.6 * first + 0.8 * second
    ours = torch.stack([project(part) for part in (first, second, mixed)])
    assert ours.shape == (3, PROJECTED)
    torch.testing.assert_close(ours[2], 0.6 * ours[0] + 0.8 * ours[1], rtol=1e-3, atol=1e-3)
    torch.testing.assert_close(ours[0], Projection(size)(first))
    for a, b in ((0, 0), (0, 1), (0, 2)):
        vectors = (first, second, mixed)
        length = vectors[a].norm() * vectors[b].norm()
        assert abs(float(ours[a] @ ours[b] - vectors[a] @ vectors[b]) / float(length)) < 5 / PROJECTED**0.5


def test_labelled_sets_and_recordings_are_compared(shared: Path) -> None:
    scalp = shared / "recordings" / "scalp-seizure-46ch" / "demo_edf.edf"
    options = {"window": 3, "steps": 9, "batch": 1}
    found = analyze("gradient-geometry", scalp, ["random:prise-eeg"], None, None, options)
    assert found.labels["set"] == ("no seizure", "seizure")
    for name in ("cosine", "affinity", "routing_similarity"):
        table = found.values(name)
        np.testing.assert_allclose(np.diag(table), 1.0, atol=1e-4)
        np.testing.assert_allclose(table, table.T, atol=1e-5)
        assert -1 <= table[0, 1] <= 1
    assert found.values("affinity_by_rank").shape == (6, 2, 2)
    assert (found.values("gradient_norm") > 0).all()
    # A recording and itself are one set twice.
    same = analyze("gradient-geometry", scalp, ["random:prise-eeg"], 0, 9, {**options, "other": str(scalp)})
    for name in ("cosine", "affinity", "routing_similarity"):
        np.testing.assert_allclose(same.values(name), 1.0, atol=1e-4)


def test_one_group_too_few_steps_and_cancelling(shared: Path) -> None:
    scalp = shared / "recordings" / "scalp-seizure-46ch" / "demo_edf.edf"
    with pytest.raises(AnalysisError, match="two groups of at least 1 window are needed"):
        analyze("gradient-geometry", scalp, ["random:prise-eeg"], 0, 10, {"window": 5})
    with pytest.raises(AnalysisError, match="a whole number of at least 9"):
        analyze("gradient-geometry", scalp, ["random:prise-eeg"], 0, 10, {"steps": 4})

    told: list[str] = []

    class Stop(Progress):
        def report(self, done: float, total: float = 1.0, message: str = "") -> None:
            told.append(message)
            if message.startswith("gradients of") and done >= 2:
                raise Cancelled

    with pytest.raises(Cancelled):
        analyze(
            "gradient-geometry", scalp, ["random:prise-eeg"], None, None, {"window": 3, "batch": 1}, progress=Stop()
        )
    assert sum(text.startswith("gradients of") for text in told) == 3

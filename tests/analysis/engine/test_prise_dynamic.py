"""Lag correlations of a recording: those of NumPy, with their bias, second by second."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from analysis.engine.analyze import analyze


def test_correlations_are_those_of_the_signal_that_the_model_is_given(shared: Path) -> None:
    scalp = shared / "recordings" / "scalp-seizure-46ch" / "demo_edf.edf"
    found = analyze("dynamic-groups", scalp, ["random:prise-eeg"], 20, 12, {"window": 4})
    rho = found.values("correlation")
    n = len(found.labels["channel"])
    assert rho.shape == (12, 4, 6, n, n)
    np.testing.assert_allclose(found.values("second_onset"), np.arange(12), atol=1e-6)
    assert np.abs(rho).max() <= 1 + 1e-5
    # At no lag a channel is like itself, and the table is its own mirror.
    np.testing.assert_allclose(np.diagonal(rho[:, :, 0], axis1=-2, axis2=-1), 1.0, atol=1e-4)
    np.testing.assert_allclose(rho[:, :, 0], rho[:, :, 0].swapaxes(-1, -2), atol=1e-5)
    size = np.abs(rho)
    np.testing.assert_allclose(found.values("mean_size"), size.mean((0, 1)), rtol=1e-4)
    apart = ~np.eye(n, dtype=bool)
    np.testing.assert_allclose(found.values("strength"), size[..., apart].mean((0, -1)), rtol=1e-4)
    # Section 4.2: strength over the other channels, standardised over channels, times gamma = beta / 2 = 1.
    symmetric = (size + size.swapaxes(-1, -2)) / 2
    strength = np.where(np.eye(n, dtype=bool), 0, symmetric).sum(-1) / (n - 1)
    mean, spread = strength.mean(-1, keepdims=True), strength.std(-1, keepdims=True)
    expected = np.clip((strength - mean) / (spread + 1e-6), -3, 3)
    np.testing.assert_allclose(found.values("bias"), expected, atol=2e-3)
    assert (found.values("kept") == 1).all()
    assert found.facts["has_selector"] is False
    assert found.facts["lag_seconds"][3] == 12 / 256

"""Maps of several methods on one grid, against closed forms and independent libraries."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest
import torch
from scipy.stats import pearsonr, spearmanr
from torch import Tensor

from analysis.engine.attribution import integrated_gradients
from analysis.engine.compared_maps import (
    KEEP_ONE,
    METHODS,
    OCCLUSION,
    RMS,
    SIGNED,
    UNSIGNED,
    _on_seconds,
    agreement,
    channel_maps,
    gradient_maps,
    path_gradients,
    plain_correlation,
    seconds_of,
    signal_map,
)
from analysis.engine.explained import Explained
from analysis.progress import Progress


@pytest.fixture
def signal() -> Tensor:
    return torch.randn(1, 5, 35, generator=torch.Generator().manual_seed(0))


@pytest.fixture
def weights() -> Tensor:
    return torch.randn(5, 35, generator=torch.Generator().manual_seed(1))


@pytest.fixture
def window(signal: Tensor, weights: Tensor) -> Explained:
    scale = torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0])[:, None]
    return Explained(
        signal, scale, torch.full_like(scale, 7.0), lambda x: (x * weights).sum((1, 2))[:, None], nullcontext, 10.0, 0.0
    )


def test_all_that_ask_a_linear_model_agree_wholly(window: Explained, weights: Tensor) -> None:
    baseline = torch.zeros_like(window.signal)
    values = path_gradients(window, baseline, 0, Progress())
    torch.testing.assert_close(values, window.signal[0] * weights, rtol=0, atol=1e-5)
    maps = {
        **gradient_maps(values, 10.0),
        **channel_maps(window, baseline, 0, True, Progress()),
        RMS: signal_map(window),
    }
    table = agreement(maps, METHODS)
    names = [METHODS.index(name) for name in (SIGNED, OCCLUSION, KEEP_ONE)]
    np.testing.assert_allclose(table[np.ix_(names, names)], 1, atol=1e-12)
    assert np.isnan(table[METHODS.index("Grad-CAM")]).all()
    np.testing.assert_allclose(np.diag(table)[[METHODS.index(name) for name in maps]], 1, atol=1e-12)
    i, j = METHODS.index(UNSIGNED), METHODS.index(RMS)
    expected = spearmanr(maps[UNSIGNED].by_channel, maps[RMS].by_channel).statistic
    assert table[i, j] == table[j, i] == pytest.approx(expected, abs=1e-12)
    by_second = agreement(maps, METHODS, True)
    assert by_second[METHODS.index(SIGNED), METHODS.index(OCCLUSION)] == pytest.approx(1, abs=1e-12)
    assert np.isnan(by_second[METHODS.index(KEEP_ONE)]).all()


def test_the_path_is_that_of_integrated_gradients(window: Explained) -> None:
    bent = Explained(window.signal, window.scale, window.offset, lambda x: torch.tanh(x / 2).sum((1, 2))[:, None],
                     nullcontext, 10.0, 0.0)  # fmt: skip
    baseline = torch.full_like(window.signal, 0.2)
    torch.testing.assert_close(
        path_gradients(bent, baseline, 0, Progress()), integrated_gradients(bent, baseline, 0).values, rtol=0, atol=1e-5
    )


def test_the_map_without_a_model_is_the_rms_in_microvolts(window: Explained) -> None:
    found = signal_map(window)
    microvolts = (window.signal[0] * window.scale).numpy()
    np.testing.assert_allclose(found.by_channel, microvolts.std(1), rtol=1e-5)
    centred = microvolts - microvolts.mean(1, keepdims=True)
    np.testing.assert_allclose(found.by_second[:, 3], np.sqrt((centred[:, 30:] ** 2).mean(1)), rtol=1e-5)


def test_seconds_are_summed_and_the_last_may_be_short() -> None:
    values = np.arange(50.0).reshape(2, 25)
    np.testing.assert_allclose(seconds_of(values, 10.0), [[45, 145, 110], [295, 395, 235]])


def test_patches_are_shared_out_over_seconds() -> None:
    values = np.array([[1.0, 3.0]])
    np.testing.assert_allclose(_on_seconds(values, np.array([0.0, 2.5]), 2.5, 5), [[1, 1, 2, 3, 3]])
    short = _on_seconds(np.array([[2.0, 4.0]]), np.array([0.0, 0.5]), 0.5, 3)  # the patches end before the window does
    np.testing.assert_allclose(short, [[3, 4, 4]])


def test_plain_correlation_is_pearsons() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 4, 5))
    assert plain_correlation(a, b) == pytest.approx(pearsonr(a.ravel(), b.ravel()).statistic, abs=1e-12)
    assert np.isnan(plain_correlation(a, np.ones((4, 5))))

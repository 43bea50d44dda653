"""The wavelet transform against PyWavelets and the golden coefficients."""

from __future__ import annotations

import numpy as np
import pytest
import pywt
import torch

from models.mvpformer import wavelet


def test_filters_are_those_of_pywavelets() -> None:
    reference = pywt.Wavelet("db4")
    assert np.allclose(reference.dec_lo, wavelet.LOW_PASS, atol=1e-16, rtol=0)
    assert np.allclose(reference.dec_hi, wavelet.HIGH_PASS, atol=1e-16, rtol=0)


@pytest.mark.parametrize("n_samples", [14, 15, 27, 28, 100, 1000, 1023, 2560, 2561])
def test_coefficients_equal_pywavelets(n_samples: int) -> None:
    signal = np.random.default_rng(n_samples).normal(size=(3, n_samples))
    bands = pywt.wavedec(signal, "db4", mode="periodic")
    assert wavelet.band_lengths(n_samples) == tuple(band.shape[-1] for band in bands)
    ours = wavelet.decompose(torch.from_numpy(signal)).numpy()
    np.testing.assert_allclose(ours, np.concatenate(bands, axis=-1), rtol=0, atol=1e-12)


@pytest.mark.parametrize(("n_samples", "levels"), [(7, 0), (13, 0), (14, 1), (1000, 7), (2560, 8)])
def test_depth_is_the_most_the_filter_allows(n_samples: int, levels: int) -> None:
    assert wavelet.max_levels(n_samples) == levels == pywt.dwt_max_level(n_samples, 8)


def test_golden_coefficients(golden_arrays: dict, golden_signal: torch.Tensor) -> None:
    golden = golden_arrays["wavelet"]
    np.testing.assert_allclose(wavelet.decompose(golden_signal).numpy(), golden["coefficients"], rtol=0, atol=1e-4)
    assert wavelet.band_lengths(2560) == tuple(golden["band_lengths"])


def test_gradient_reaches_the_signal() -> None:
    signal = torch.randn(2, 30, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(wavelet.decompose, signal)

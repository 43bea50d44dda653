"""The fast form of the signal encoder gives the numbers of the direct one, with oneDNN's operators or without."""

from __future__ import annotations

import pytest
import torch

from models.neurduo import encoder
from models.neurduo.encoder import FastSignalEncoder, SignalPatchEncoder


@pytest.mark.parametrize("is_fused", [True, False])
@pytest.mark.parametrize(("n_chunks", "length"), [(1, 128), (2, 25), (16, 64), (37, 7)])
def test_the_fast_form_equals_the_direct_one(monkeypatch, is_fused: bool, n_chunks: int, length: int) -> None:
    if not is_fused:
        monkeypatch.setattr(encoder, "_has_fused", lambda weight: False)
    generator = torch.Generator().manual_seed(n_chunks)
    direct = SignalPatchEncoder(hidden=24, kernel_sizes=(3, 7, 15), width=40).eval()
    for parameter in direct.parameters():  # of a size at which an error shows
        parameter.data = torch.randn(parameter.shape, generator=generator) / parameter[0].numel() ** 0.5
    chunks = torch.randn(n_chunks, length, generator=generator)
    with torch.inference_mode():
        wanted, found = direct(chunks), FastSignalEncoder(direct)(chunks)
    assert wanted.std() > 0.1
    torch.testing.assert_close(found, wanted, rtol=1e-5, atol=3e-6)


@pytest.mark.parametrize("is_fused", [True, False])
def test_products_in_bfloat16_are_as_far_off_as_rounding_makes_them(monkeypatch, is_fused: bool) -> None:
    """Three layers each rounded to 8 binary digits: some thousandths of the outputs' size, and not less than that."""
    if not is_fused:
        monkeypatch.setattr(encoder, "_has_fused", lambda weight: False)
    generator = torch.Generator().manual_seed(7)
    direct = SignalPatchEncoder(hidden=32, kernel_sizes=(3, 7, 15), width=40).eval()
    for parameter in direct.parameters():
        parameter.data = torch.randn(parameter.shape, generator=generator) / parameter[0].numel() ** 0.5
    chunks = torch.randn(19, 128, generator=generator)
    with torch.inference_mode():
        wanted, found = direct(chunks), FastSignalEncoder(direct, torch.bfloat16)(chunks)
    assert found.dtype == torch.float32
    off = (found - wanted).pow(2).mean().sqrt() / wanted.std()
    assert 2e-4 < off < 1e-2


def test_numbers_of_double_precision_go_without_onednn() -> None:
    torch.manual_seed(0)
    direct = SignalPatchEncoder(hidden=8, kernel_sizes=(3, 5), width=8).double().eval()
    chunks = torch.randn(3, 32, dtype=torch.float64)
    with torch.inference_mode():
        torch.testing.assert_close(FastSignalEncoder(direct)(chunks), direct(chunks), rtol=1e-12, atol=1e-13)

"""The same module on another grid: frequency bands x time of a sound, as the paper's last experiment."""

from __future__ import annotations

import doctest
from typing import Any

import torch
from torch import Tensor

from models.axon import attention as module
from models.axon.attention import AxisAttention
from models.axon.config import AxonConfig


def _sound_tokens(width: int) -> Tensor:
    """Log power of a rising tone in 16 bands x 24 frames, mapped to tokens (1, 16, 24, width)."""
    rate, frame = 8000, 400
    time = torch.arange(24 * frame) / rate
    sound = torch.sin(2 * torch.pi * (200 * time + 900 * time**2))
    power = torch.fft.rfft(sound.reshape(24, frame) * torch.hann_window(frame)).abs().square()[:, :192]
    bands = power.reshape(24, 16, 12).sum(-1).add(1e-6).log()  # (frames, bands)
    generator = torch.Generator().manual_seed(0)
    return bands.T[None, :, :, None] * torch.randn(width, generator=generator)


def test_axis_attention_runs_over_frequency_and_time() -> None:
    torch.manual_seed(0)
    attention: Any = AxisAttention(AxonConfig(embed_dim=32, num_heads=4))
    y = _sound_tokens(32).requires_grad_()
    out = attention(y)
    assert out.shape == (1, 16, 24, 32)
    gradient = torch.autograd.grad(out[0, 3, 7].sum(), y)[0][0].abs().sum(-1)
    on_axis = torch.zeros(16, 24, dtype=torch.bool)
    on_axis[3], on_axis[:, 7] = True, True
    assert (gradient[~on_axis] == 0).all()
    assert (gradient[on_axis] > 0).float().mean() > 0.9


def test_the_example_in_the_module_runs() -> None:
    found = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert found.attempted >= 8
    assert found.failed == 0

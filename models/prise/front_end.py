"""From patches of one second to features: the waveform at three scales, and the spectrum (spec section 3).

Letters: B batch, T patches, C channels, P samples of a patch, D width (D_t from the waveform, D_f from the spectrum).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from models.prise.config import PriseConfig

KERNELS = (7, 15, 31)
POWER_FLOOR = 1e-10
EPSILON = 1e-5
_PART = 1024  # patches


class WaveStack(nn.Module):
    """Two strided convolutions, each with GELU and a norm over all channels: (N, 1, 256) -> (N, 64 * 32)."""

    def __init__(self, kernel: int, width: int) -> None:
        super().__init__()
        self.first = nn.Conv1d(1, width, kernel, stride=4, padding=kernel // 2)
        self.first_norm = nn.GroupNorm(1, width)
        self.second = nn.Conv1d(width, width, kernel, stride=2, padding=kernel // 2)
        self.second_norm = nn.GroupNorm(1, width)

    def forward(self, x: Tensor) -> Tensor:
        """Features of each waveform, flattened."""
        x = self.first_norm(nn.functional.gelu(self.first(x)))
        return self.second_norm(nn.functional.gelu(self.second(x))).flatten(1)


class FrontEnd(nn.Module):
    """x = Linear(ZN(waveform features)) next to Linear(ZN(log spectrum))."""

    def __init__(self, config: PriseConfig) -> None:
        super().__init__()
        steps = config.patch_size // 8
        self.stacks = nn.ModuleList(WaveStack(kernel, config.conv_dim) for kernel in KERNELS)
        self.join = nn.Linear(len(KERNELS) * config.conv_dim * steps, config.time_dim)
        self.join_norm = nn.LayerNorm(config.time_dim)
        self.time = nn.Linear(config.time_dim, config.time_dim)
        self.frequency = nn.Linear(config.patch_size // 2 + 1, config.frequency_dim)

    def forward(self, patches: Tensor) -> Tensor:
        """Features (B, T, C, D) of patches (B, T, C, P)."""
        flat = patches.flatten(0, 2)[:, None]  # (B T C, 1, P)
        # Patches know nothing of each other: without gradients a part at a time keeps the convolutions' memory small.
        parts = (flat,) if torch.is_grad_enabled() else flat.split(_PART)
        wave = torch.cat([self._waveform(part) for part in parts]).unflatten(0, patches.shape[:3])
        return torch.cat([self.time(znorm(wave)), self.frequency(znorm(self.spectrum(patches)))], -1)

    def _waveform(self, flat: Tensor) -> Tensor:
        """Features (N, D_t) of waveforms (N, 1, P)."""
        scales = torch.cat([stack(flat) for stack in self.stacks], -1)
        made: Tensor = self.join_norm(nn.functional.gelu(self.join(scales)))
        return made

    def spectrum(self, patches: Tensor) -> Tensor:
        """log10 of the power of each patch under a Hann window, (…, P / 2 + 1)."""
        window = torch.hann_window(patches.shape[-1], periodic=True, device=patches.device)
        power = torch.fft.rfft(patches * window).abs().square() / window.square().sum()
        return (power + POWER_FLOOR).log10()


def znorm(x: Tensor) -> Tensor:
    """x minus its mean over its standard deviation, over the features."""
    return (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True, correction=0) + EPSILON)


def split_patches(signal: Tensor, size: int) -> Tensor:
    """(B, C, samples) -> (B, T, C, P), without the samples at the end that fill no patch."""
    return signal[..., : signal.shape[-1] // size * size].unflatten(-1, (-1, size)).transpose(1, 2)

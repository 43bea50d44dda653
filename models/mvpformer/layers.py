"""Encoder, MLP and block of MVPFormer (paper appendix B.2 and B.3, algorithms 4 to 6).

Letters: B batch, T segments, C channels, L samples of a segment, E embedding width, I inner width.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from models.mvpformer import wavelet
from models.mvpformer.attention import MVPAttention
from models.mvpformer.config import MVPFormerConfig

# On a CPU rows are worked on in parts whose intermediates stay in the cache: (rows, coefficients) and (rows, I).
ENCODED_ROWS = 256
MLP_ROWS = 512


def by_parts(work: Callable[[Tensor], Tensor], x: Tensor, rows: int) -> Tensor:
    """`work` on (..., n), each row by itself, at most `rows` of them at a time on a CPU, all at once elsewhere."""
    if x.device.type != "cpu" or x.numel() <= rows * x.shape[-1]:
        return work(x)
    return torch.cat([work(part) for part in x.flatten(0, -2).split(rows)]).unflatten(0, x.shape[:-1])


class WaveletEncoder(nn.Module):
    """Each segment of each channel on its own: wavelet coefficients, RMS norm, linear map (algorithm 4)."""

    def __init__(self, config: MVPFormerConfig) -> None:
        super().__init__()
        n_coefficients = sum(wavelet.band_lengths(config.size_input))
        self.norm = nn.RMSNorm(n_coefficients, eps=config.layer_norm_epsilon)
        self.projection = nn.Linear(n_coefficients, config.n_embd, bias=False)

    def forward(self, signal: Tensor) -> Tensor:
        """(B, T, C, L) microvolts -> (B, T, C, E); the transform is always in at least float32."""
        return by_parts(self._encode, signal, ENCODED_ROWS)

    def _encode(self, signal: Tensor) -> Tensor:
        wide = signal if signal.dtype.itemsize >= 4 else signal.float()
        coefficients = wavelet.decompose(wide).to(self.projection.weight.dtype)
        embedding: Tensor = self.projection(self.norm(coefficients))
        return embedding


class GatedMLP(nn.Module):
    """down(SiLU(gate(x)) * up(x)); algorithm 6 prints a sum, the published code and weights use the product."""

    def __init__(self, config: MVPFormerConfig) -> None:
        super().__init__()
        self.gate = nn.Linear(config.n_embd, config.n_inner, bias=False)
        self.up = nn.Linear(config.n_embd, config.n_inner, bias=False)
        self.down = nn.Linear(config.n_inner, config.n_embd, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """(..., E) -> (..., E)."""
        return by_parts(self._transform, x, MLP_ROWS)

    def _transform(self, x: Tensor) -> Tensor:
        gate, up = self.gate(x), self.up(x)
        # In place where no gradient is wanted: new memory of this size is paid for with a page fault every 4 kB.
        inner = functional.silu(gate) * up if torch.is_grad_enabled() else functional.silu(gate, inplace=True).mul_(up)
        out: Tensor = self.down(inner)
        return out


class Block(nn.Module):
    """Attention and MLP side by side on one normed input, both added to the un-normed one (algorithm 5)."""

    def __init__(self, config: MVPFormerConfig) -> None:
        super().__init__()
        self.norm = nn.RMSNorm(config.n_embd, eps=config.layer_norm_epsilon)
        self.attention = MVPAttention(config)
        self.mlp = GatedMLP(config)
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self, x: Tensor, time_rows: Tensor, channel_rows: Tensor, *, last_only: bool = False, plain: bool = False
    ) -> Tensor:
        """(B, T, C, E) -> the same, or (B, 1, C, E) for the last segment alone; other arguments as MVPAttention's."""
        normed = self.norm(x)
        attended = self.attention(normed, time_rows, channel_rows, last_only=last_only, plain=plain)
        if last_only:
            x, normed = x[:, -1:], normed[:, -1:]
        out = x + self.dropout(attended)
        return out.add_(self.mlp(normed))

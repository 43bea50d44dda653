"""From chunks to channel tokens (paper section 3.2.1): signal patch encoder, metadata encoder, input norm.

Letters: M chunks of one channel each, L samples of a chunk, H hidden width, D token width, K branches.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

# GELU in place: a fresh array of this size costs more than the function.
_gelu_ = torch.ops.aten.gelu_
_BLOCK_CHUNKS = 5  # what goes through the fast form at a time: its values then stay in the processor's caches


class SignalPatchEncoder(nn.Module):
    """(M, L) samples -> (M, D), each chunk on its own (eq. 3): convolutions of several widths, pooled by attention."""

    def __init__(self, hidden: int, kernel_sizes: Sequence[int], width: int) -> None:
        super().__init__()
        self.hidden, self.kernel_sizes = hidden, tuple(kernel_sizes)
        self.branches = nn.ModuleList(
            nn.Sequential(
                nn.Conv1d(1, hidden, size, padding=size // 2),
                nn.GELU(),
                nn.Conv1d(hidden, hidden, 3, padding=1),
                nn.GELU(),
            )
            for size in kernel_sizes
        )
        self.merge = nn.Sequential(nn.Conv1d(len(kernel_sizes) * hidden, hidden, 1), nn.GELU())
        self.temporal_gate = nn.Linear(hidden, 1)
        self.proj = nn.Linear(hidden, width)

    def forward(self, chunks: Tensor) -> Tensor:
        """The direct form of the equations, which keeps gradients."""
        x = chunks[:, None]  # (M, 1, L)
        features = self.merge(torch.cat([branch(x) for branch in self.branches], dim=1)).transpose(1, 2)  # (M, L, H)
        weights = self.temporal_gate(features).softmax(dim=1)  # (M, L, 1)
        return self.proj((weights * features).sum(dim=1))


class FastSignalEncoder:
    """The same numbers sooner, without gradients, for an encoder whose weights no longer change.

    Samples come first and channels last, so that the first convolutions are one matrix product for all branches, the
    second ones a grouped convolution without reordering, and the merge a matrix product.
    """

    def __init__(self, encoder: SignalPatchEncoder) -> None:
        hidden, widest = encoder.hidden, max(encoder.kernel_sizes)
        n_branches = len(encoder.kernel_sizes)
        first = encoder.proj.weight.new_zeros(widest, n_branches * hidden)
        seconds, first_bias, second_bias = [], [], []
        for i, (size, branch) in enumerate(zip(encoder.kernel_sizes, encoder.branches, strict=True)):
            begin = widest // 2 - size // 2
            inner, outer = _convolutions(branch)
            first[begin : begin + size, i * hidden : (i + 1) * hidden] = inner.weight.detach()[:, 0].T
            first_bias.append(_bias(inner))
            seconds.append(outer.weight.detach())
            second_bias.append(_bias(outer))
        merge: Any = encoder.merge[0]
        self._half, self._widest, self._groups = widest // 2, widest, n_branches
        self._first, self._first_bias = first, torch.cat(first_bias)
        weight = torch.cat(seconds)[:, :, None]  # (K H, H, 1, 3)
        self._second = weight.contiguous(memory_format=torch.channels_last)
        self._second_bias = torch.cat(second_bias)
        self._merge = merge.weight.detach()[:, :, 0].T.contiguous()  # (K H, H)
        self._merge_bias = merge.bias.detach()
        self._gate = encoder.temporal_gate.weight.detach().T  # its bias cancels in the softmax
        self._proj, self._proj_bias = encoder.proj.weight.detach().T, encoder.proj.bias.detach()

    def __call__(self, chunks: Tensor) -> Tensor:
        """(M, L) samples -> (M, D)."""
        if len(chunks) <= _BLOCK_CHUNKS:
            return self._encode(chunks)
        return torch.cat([self._encode(part) for part in chunks.split(_BLOCK_CHUNKS)])

    def _encode(self, chunks: Tensor) -> Tensor:
        n_chunks, length = chunks.shape
        windows = F.pad(chunks, (self._half, self._half)).unfold(1, self._widest, 1)  # (M, L, widest)
        x = torch.addmm(self._first_bias, windows.reshape(n_chunks * length, self._widest), self._first)
        x = _gelu_(x).view(n_chunks, 1, length, -1).permute(0, 3, 1, 2)  # (M, K H, 1, L), channels last in memory
        x = F.conv2d(x, self._second, self._second_bias, padding=(0, 1), groups=self._groups)
        x = _gelu_(x.permute(0, 2, 3, 1).reshape(n_chunks * length, -1))  # (M L, K H)
        features = _gelu_(torch.addmm(self._merge_bias, x, self._merge))  # (M L, H)
        weights = torch.mm(features, self._gate).view(n_chunks, 1, length).softmax(dim=2)
        pooled = torch.bmm(weights, features.view(n_chunks, length, -1))[:, 0]
        return torch.addmm(self._proj_bias, pooled, self._proj)


def _convolutions(branch: Any) -> tuple[nn.Conv1d, nn.Conv1d]:
    """The two convolutions of a branch."""
    return branch[0], branch[2]


def _bias(convolution: nn.Conv1d) -> Tensor:
    assert convolution.bias is not None  # published encoders have one everywhere
    return convolution.bias.detach()


class MetadataEncoder(nn.Module):
    """Where an electrode is and what it was recorded against -> (B, C, D), constant over time (eq. 4)."""

    def __init__(self, coordinates: int, hidden: int, n_references: int, width: int) -> None:
        super().__init__()
        self.width = width
        self.coord_proj = nn.Sequential(nn.Linear(coordinates, hidden), nn.GELU(), nn.Linear(hidden, width))
        self.reference_embed = nn.Embedding(n_references, width)

    def forward(self, positions: Tensor | None, reference_ids: Tensor | None) -> Tensor | None:
        """Positions (B, C, 3) on the unit sphere and ids (B, C); what is None adds nothing."""
        token = None if positions is None else self.coord_proj(positions)
        if reference_ids is None:
            return token
        reference = self.reference_embed(reference_ids)
        return reference if token is None else token + reference

"""From chunks to channel tokens (paper section 3.2.1): signal patch encoder, metadata encoder, input norm.

Letters: M chunks of one channel each, L samples of a chunk, H hidden width, D token width, K branches.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

_BLOCK_CHUNKS = 16  # what goes through the fast form at a time: the memory it takes then stays small
_FUSED = "_linear_pointwise", "_reorder_linear_weight", "_convolution_pointwise", "_reorder_convolution_weight"
# How oneDNN is asked for the exact GELU after a product or a convolution.
_THEN_GELU: tuple[str, list[float], str] = ("gelu", [], "none")


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
    second ones a grouped convolution without reordering, and the merge a matrix product. On a processor each is one
    call of oneDNN that ends in its GELU: as a pass of its own the function costs as much as the convolution.

    With `products` in bfloat16 samples, weights and what lies between the layers are rounded to it, sums are not;
    the attention over samples and what follows are in the format of the weights.
    """

    def __init__(self, encoder: SignalPatchEncoder, products: torch.dtype | None = None) -> None:
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
        self._half, self._widest = widest // 2, widest
        self._products = dtype = products or encoder.proj.weight.dtype
        first, merged = first.T, merge.weight.detach()[:, :, 0]  # (K H, widest), (H, K H)
        second = torch.cat(seconds)[:, :, None]  # (K H, H, 1, 3)
        self._first = _ProductThenGelu(first.to(dtype), torch.cat(first_bias).to(dtype))
        self._second = _ConvolutionThenGelu(second.to(dtype), torch.cat(second_bias).to(dtype), n_branches)
        self._merge = _ProductThenGelu(merged.to(dtype), merge.bias.detach().to(dtype))
        self._gate = encoder.temporal_gate.weight.detach().T  # its bias cancels in the softmax
        self._proj, self._proj_bias = encoder.proj.weight.detach().T, encoder.proj.bias.detach()

    def __call__(self, chunks: Tensor) -> Tensor:
        """(M, L) samples -> (M, D)."""
        if len(chunks) <= _BLOCK_CHUNKS:
            return self._encode(chunks)
        return torch.cat([self._encode(part) for part in chunks.split(_BLOCK_CHUNKS)])

    def _encode(self, chunks: Tensor) -> Tensor:
        n_chunks, length = chunks.shape
        padded = F.pad(chunks.to(self._products), (self._half, self._half))
        windows = padded.unfold(1, self._widest, 1)  # (M, L, widest)
        x = self._first(windows.reshape(n_chunks * length, self._widest))
        x = self._second(x.view(n_chunks, 1, length, -1).permute(0, 3, 1, 2))  # (M, K H, 1, L), channels last in memory
        merged = self._merge(x.permute(0, 2, 3, 1).reshape(n_chunks * length, -1))  # (M L, H)
        features = merged.to(self._gate.dtype)
        weights = torch.mm(features, self._gate).view(n_chunks, 1, length).softmax(dim=2)
        pooled = torch.bmm(weights, features.view(n_chunks, length, -1))[:, 0]
        return torch.addmm(self._proj_bias, pooled, self._proj)


class _ProductThenGelu:
    """x (N, in) -> GELU(x W^T + b) (N, out)."""

    def __init__(self, weight: Tensor, bias: Tensor) -> None:
        self._bias, self._is_fused = bias, _has_fused(weight)
        self._weight = torch.ops.mkldnn._reorder_linear_weight(weight.contiguous()) if self._is_fused else weight

    def __call__(self, x: Tensor) -> Tensor:
        if self._is_fused:
            fused: Tensor = torch.ops.mkldnn._linear_pointwise(x, self._weight, self._bias, *_THEN_GELU)
            return fused
        return F.gelu(F.linear(x, self._weight, self._bias))


class _ConvolutionThenGelu:
    """x (M, groups * in, 1, L) -> GELU of its convolution, in groups, with (out, in, 1, 3), one zero at either end."""

    def __init__(self, weight: Tensor, bias: Tensor, groups: int) -> None:
        self._bias, self._groups, self._is_fused = bias, groups, _has_fused(weight)
        self._places = [0, 1], [1, 1], [1, 1], groups  # padding, stride, dilation
        self._weight = weight.contiguous(memory_format=torch.channels_last)
        if self._is_fused:
            self._weight = torch.ops.mkldnn._reorder_convolution_weight(self._weight, *self._places)

    def __call__(self, x: Tensor) -> Tensor:
        if self._is_fused:
            fused = torch.ops.mkldnn._convolution_pointwise
            y: Tensor = fused(x, self._weight, self._bias, *self._places, *_THEN_GELU)
            return y
        return F.gelu(F.conv2d(x, self._weight, self._bias, padding=(0, 1), groups=self._groups))


def computes_in_bfloat16(device: torch.device) -> bool:
    """Whether products of a device in bfloat16 are faster than in float32, not only possible."""
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    if device.type != "cpu" or not _has_onednn():
        return False
    asked = [getattr(torch.cpu, name, None) for name in ("_is_avx512_bf16_supported", "_is_amx_tile_supported")]
    return any(is_there() for is_there in asked if is_there is not None)


def _has_fused(weight: Tensor) -> bool:
    """Whether this build of torch offers oneDNN's operators for such a weight, and the processor has what they need."""
    if weight.device.type != "cpu" or not _has_onednn():
        return False
    return weight.dtype == torch.float32 or (weight.dtype == torch.bfloat16 and computes_in_bfloat16(weight.device))


@cache
def _has_onednn() -> bool:
    return torch.backends.mkldnn.is_available() and all(hasattr(torch.ops.mkldnn, name) for name in _FUSED)


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

"""The fast and the slow stream: pre-norm Mamba blocks over time, the fast one with attention across channels.

Letters: B items, C channels, R = B C rows (row = item * C + channel), T steps, D width, H heads.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models.neurduo.mamba import Mamba, MambaState, MambaStep, StepState, transposed


class AttentionWeights(nn.Module):
    """Projections of a multi-head attention, named as in torch.nn.MultiheadAttention."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.in_proj_weight = nn.Parameter(torch.empty(3 * width, width))
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * width))
        self.out_proj = nn.Linear(width, width)
        nn.init.xavier_uniform_(self.in_proj_weight)
        nn.init.zeros_(self.out_proj.bias)


class ChannelAttention(nn.Module):
    """x + MHA(LN(x)) across the channels of one step (eq. 6)."""

    def __init__(self, width: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.norm = nn.LayerNorm(width)
        self.attn = AttentionWeights(width)

    def forward(self, x: Tensor, bias: Tensor | None) -> Tensor:
        """x (S, C, D) of S independent steps; `bias` broadcasts to (S, 1, C, C): -inf at channels that are hidden."""
        n_steps, n_channels, width = x.shape
        qkv = F.linear(self.norm(x), self.attn.in_proj_weight, self.attn.in_proj_bias)
        qkv = qkv.view(n_steps, n_channels, 3, self.n_heads, -1).permute(2, 0, 3, 1, 4)  # (3, S, H, C, D / H)
        mixed = F.scaled_dot_product_attention(qkv[0], qkv[1], qkv[2], attn_mask=bias)
        return x + self.attn.out_proj(mixed.transpose(1, 2).reshape(n_steps, n_channels, width))


class ChannelAttentionStep:
    """One channel attention prepared for single steps; later changes of its weights are not seen."""

    def __init__(self, attention: ChannelAttention, n_rows: int) -> None:
        self._norm = norm_arguments(attention.norm)
        self._qkv = transposed(attention.attn.in_proj_weight, n_rows), attention.attn.in_proj_bias.detach()
        self._out = transposed(attention.attn.out_proj.weight, n_rows), attention.attn.out_proj.bias.detach()
        self._n_heads = attention.n_heads

    def __call__(self, x: Tensor, n_channels: int, bias: Tensor | None) -> Tensor:
        """x (R, D) of one step, rows item-major; see ChannelAttention."""
        qkv = torch.addmm(self._qkv[1], torch.layer_norm(x, *self._norm), self._qkv[0])
        q, k, v = qkv.view(-1, n_channels, 3, self._n_heads, x.shape[1] // self._n_heads).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=bias).transpose(1, 2).reshape(x.shape)
        return x + torch.addmm(self._out[1], mixed, self._out[0])


def norm_arguments(norm: nn.LayerNorm) -> tuple[tuple[int, ...], Tensor, Tensor, float]:
    """What torch.layer_norm takes beside the input."""
    return tuple(norm.normalized_shape), norm.weight.detach(), norm.bias.detach(), norm.eps


def hidden_channels(missing: Tensor | None, dtype: torch.dtype) -> Tensor | None:
    """The attention bias (B, 1, 1, C) of missing channels (B, C), non-zero where absent; None where none is.

    An item of which all channels are missing hides none.
    """
    if missing is None or not missing.any():
        return None
    absent = missing != 0
    absent = absent & ~absent.all(dim=1, keepdim=True)
    bias = torch.zeros(absent.shape, dtype=dtype, device=missing.device)
    return bias.masked_fill(absent, float("-inf"))[:, None, None]


class MambaStack(nn.Module):
    """x += Mamba(LN(x)) layer by layer, channel attention after every `attention_every`-th, a norm at the end."""

    def __init__(
        self,
        width: int,
        n_layers: int,
        n_states: int,
        conv_width: int,
        expand: int,
        attention_every: int = 0,
        n_heads: int = 1,
        input_width: int | None = None,
    ) -> None:
        super().__init__()
        self.attention_every = attention_every
        self.input_proj = nn.Linear(input_width, width) if input_width not in (None, width) else None
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(n_layers))
        self.blocks = nn.ModuleList(Mamba(width, n_states, conv_width, expand) for _ in range(n_layers))
        self.residuals = nn.ModuleList(nn.Identity() for _ in range(n_layers))  # for those who look inside
        n_attention = n_layers // attention_every if attention_every else 0
        self.channel_attn = nn.ModuleList(ChannelAttention(width, n_heads) for _ in range(n_attention))
        self.final_norm = nn.LayerNorm(width)

    def zero_states(self, n_rows: int) -> list[MambaState]:
        """The states before anything was read, one per layer."""
        return [block.zero_state(n_rows) for block in self.blocks]  # type: ignore[operator]

    def forward(
        self, x: Tensor, states: Sequence[MambaState], n_channels: int = 1, bias: Tensor | None = None
    ) -> tuple[Tensor, list[MambaState]]:
        """x (R, T, D) and the states before it -> the normalised output (R, T, D) and the states after it.

        `bias` (B, 1, 1, C) hides channels from the others, see `hidden_channels`.
        """
        if self.input_proj is not None:
            x = self.input_proj(x)
        after = []
        for i, (norm, block) in enumerate(zip(self.norms, self.blocks, strict=True)):
            y, state = block(norm(x), states[i])
            x = x + y
            after.append(state)
            if self.attention_every and (i + 1) % self.attention_every == 0:
                x = self._mix(x, self.channel_attn[i // self.attention_every], n_channels, bias)
            x = self.residuals[i](x)
        return self.final_norm(x), after

    def _mix(self, x: Tensor, attention: nn.Module, n_channels: int, bias: Tensor | None) -> Tensor:
        """Channel attention on (R, T, D), all steps at once."""
        n_rows, n_steps, width = x.shape
        n_items = n_rows // n_channels
        steps = x.view(n_items, n_channels, n_steps, width).transpose(1, 2).reshape(-1, n_channels, width)
        if bias is not None:
            bias = bias.repeat_interleave(n_steps, dim=0)  # (B T, 1, 1, C)
        steps = attention(steps, bias)
        return steps.view(n_items, n_steps, n_channels, width).transpose(1, 2).reshape(n_rows, n_steps, width)


class StackStep:
    """A stack prepared for single steps of some rows; later changes of its weights are not seen."""

    def __init__(self, stack: MambaStack, n_rows: int) -> None:
        self._input_proj, self._every = stack.input_proj, stack.attention_every
        self._norms = [norm_arguments(norm) for norm in stack.norms]  # type: ignore[arg-type]
        self._final = norm_arguments(stack.final_norm)
        self._blocks = [MambaStep(block, n_rows) for block in stack.blocks]  # type: ignore[arg-type]
        self._attention = [ChannelAttentionStep(a, n_rows) for a in stack.channel_attn]  # type: ignore[arg-type]
        largest = max(block.inner * block.n_states for block in stack.blocks)  # type: ignore[operator]
        self.room = stack.final_norm.weight.new_empty(n_rows * int(largest))

    def __call__(self, x: Tensor, states: Sequence[StepState], n_channels: int, bias: Tensor | None) -> Tensor:
        """x (R, D) -> the normalised output (R, D); `states` move on by one step."""
        if self._input_proj is not None:
            x = self._input_proj(x)
        for i, (norm, block) in enumerate(zip(self._norms, self._blocks, strict=True)):
            x = block(x, torch.layer_norm(x, *norm), states[i], self.room)
            if self._every and (i + 1) % self._every == 0:
                x = self._attention[i // self._every](x, n_channels, bias)
        return torch.layer_norm(x, *self._final)

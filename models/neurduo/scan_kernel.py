"""The selective scan as a Triton kernel, forward only; imported only where it is used, since it needs triton.

Letters as in `models.neurduo.scans`: R rows, T steps, E inner width, N states. One program takes one row and a few
inner channels through all steps and keeps their states in registers, so that memory holds the inputs, y, and one
state before and one after: nothing of the size R T N E.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

# One warp, whose threads have some states of a few channels each: no step waits for another warp.
_CHANNELS = 32
_WARPS = 1


@triton.jit
def _scan_rows(
    x: Any,
    delta: Any,
    a: Any,
    b: Any,
    c: Any,
    before: Any,
    y: Any,
    after: Any,
    n_steps: Any,
    width: Any,
    n_states: Any,
    x_row: Any,
    x_step: Any,
    delta_row: Any,
    delta_step: Any,
    b_row: Any,
    b_step: Any,
    c_row: Any,
    c_step: Any,
    CHANNELS: tl.constexpr,
    STATES: tl.constexpr,
) -> None:
    row = tl.program_id(0).to(tl.int64)
    channel = tl.program_id(1) * CHANNELS + tl.arange(0, CHANNELS)
    state = tl.arange(0, STATES)
    has_channel, has_state = channel < width, state < n_states
    is_there = has_channel[:, None] & has_state[None, :]
    rate = tl.load(a + channel[:, None] * n_states + state[None, :], mask=is_there, other=0.0).to(tl.float32)
    kept = row * n_states * width + state[None, :] * width + channel[:, None]
    s = tl.load(before + kept, mask=is_there, other=0.0).to(tl.float32)
    x += row * x_row + channel
    delta += row * delta_row + channel
    b += row * b_row + state
    c += row * c_row + state
    y += row * n_steps * width + channel
    for _ in range(n_steps):
        step = tl.load(delta, mask=has_channel, other=0.0).to(tl.float32)
        inflow = step * tl.load(x, mask=has_channel, other=0.0).to(tl.float32)
        enter = tl.load(b, mask=has_state, other=0.0).to(tl.float32)
        leave = tl.load(c, mask=has_state, other=0.0).to(tl.float32)
        s = tl.exp(step[:, None] * rate) * s + inflow[:, None] * enter[None, :]
        tl.store(y, tl.sum(s * leave[None, :], axis=1), mask=has_channel)
        x += x_step
        delta += delta_step
        b += b_step
        c += c_step
        y += width
    tl.store(after + kept, s, mask=is_there)


@torch.no_grad()
def triton_scan(x: Tensor, delta: Tensor, a: Tensor, b: Tensor, c: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
    """See `models.neurduo.scans.Scan`; computed in float32 whatever the inputs are in, no gradients."""
    n_rows, n_steps, width = x.shape
    x, delta, b, c = (_rows(values) for values in (x, delta, b, c))
    y = torch.empty(n_rows, n_steps, width, dtype=x.dtype, device=x.device)
    after = torch.empty(state.shape, dtype=state.dtype, device=state.device)
    if not after.numel():
        return y, after
    strides = [stride for values in (x, delta, b, c) for stride in values.stride()[:2]]
    grid = n_rows, triton.cdiv(width, _CHANNELS)
    states = triton.next_power_of_2(a.shape[1])
    _scan_rows[grid](
        *(x, delta, a.contiguous(), b, c, state.contiguous(), y, after),
        *(n_steps, width, a.shape[1], *strides),
        CHANNELS=_CHANNELS,
        STATES=states,
        num_warps=_WARPS,
    )
    return y, after


def _rows(values: Tensor) -> Tensor:
    """(R, T, ..) with the last dimension side by side in memory; parts of a wider array are taken where they lie."""
    return values if values.stride(2) == 1 else values.contiguous()

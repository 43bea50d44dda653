"""The selective scan of a Mamba block in interchangeable forms: equal results, different speed (FACTS of the block:
S <- exp(delta A) S + (delta x) B, y = S C, per row and inner channel).

Letters: R rows, T steps, E inner width, N states. All forms take x and delta (R, T, E), A (E, N) negative, B and C
(R, T, N) and the state (R, N, E) before the first step, which is left alone; they give y (R, T, E) without the skip
term and the state after the last step.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping
from functools import cache
from typing import Protocol

import torch
from torch import Tensor

# Values of one buffer (4 MB); above a few times this the C library takes fresh pages from the system at every call,
# which costs more than the arithmetic.
_BLOCK_VALUES = 2**20
_MOST_STEPS = 32


class Scan(Protocol):
    """One form of the scan; see the head of this file."""

    def __call__(
        self, x: Tensor, delta: Tensor, a: Tensor, b: Tensor, c: Tensor, state: Tensor
    ) -> tuple[Tensor, Tensor]:
        """y (R, T, E) and the last state (R, N, E)."""


def plain_scan(x: Tensor, delta: Tensor, a: Tensor, b: Tensor, c: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
    """Step by step as the formula says; keeps gradients, works on any device and in any precision."""
    at = a.T
    outputs = []
    for t in range(x.shape[1]):
        inflow = (delta[:, t] * x[:, t])[:, None] * b[:, t, :, None]  # (R, N, E)
        state = torch.exp(delta[:, t, None] * at) * state + inflow
        outputs.append((state * c[:, t, :, None]).sum(1))
    return (torch.stack(outputs, 1) if outputs else x), state


def block_scan(x: Tensor, delta: Tensor, a: Tensor, b: Tensor, c: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
    """The fast form on a CPU, without gradients: everything but the recurrence is done for several steps at a time.

    The recurrence itself is one call a step on buffers that stay in the processor's cache.
    """
    n_rows, n_steps, width = x.shape
    n_states = a.shape[1]
    size = max(1, min(_MOST_STEPS, n_steps, _BLOCK_VALUES // max(1, n_rows * n_states * width)))
    at = a.T.contiguous()
    decay = x.new_empty(size, n_rows, n_states, width)
    states = torch.empty_like(decay)
    y = torch.empty_like(x)
    steps, inflow = delta.transpose(0, 1), (delta * x).transpose(0, 1)  # (T, R, E)
    b, c = b.transpose(0, 1), c.transpose(0, 1)  # (T, R, N)
    for start in range(0, n_steps, size):
        stop = min(start + size, n_steps)
        d, s = decay[: stop - start], states[: stop - start]
        torch.mul(steps[start:stop, :, None], at, out=d).exp_()
        torch.mul(inflow[start:stop, :, None], b[start:stop, :, :, None], out=s)
        for i in range(stop - start):
            torch.addcmul(s[i], d[i], state, out=s[i])
            state = s[i]
        y[:, start:stop] = torch.matmul(c[start:stop, :, None], s)[:, :, 0].transpose(0, 1)
        state = state.clone()  # the buffer is filled anew
    return y, state


def mamba_ssm_scan(x: Tensor, delta: Tensor, a: Tensor, b: Tensor, c: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
    """The kernels of the package mamba-ssm, on a GPU.

    They start from zero; the state that was there before adds C exp(A sum(delta)) S, since the recurrence is linear.
    """
    kernels = importlib.import_module("mamba_ssm.ops.selective_scan_interface")
    y, last = kernels.selective_scan_fn(
        x.transpose(1, 2).contiguous(),
        delta.transpose(1, 2).contiguous(),
        a.contiguous(),
        b.transpose(1, 2).contiguous(),
        c.transpose(1, 2).contiguous(),
        return_last_state=True,
    )  # y (R, E, T), last (R, E, N)
    y, last = y.transpose(1, 2), last.transpose(1, 2)
    if state.any():
        elapsed = delta.cumsum(1)  # (R, T, E)
        n_steps = x.shape[1]
        size = max(1, _BLOCK_VALUES * 16 // max(1, state.numel()))
        for start in range(0, n_steps, size):
            part = elapsed[:, start : start + size]
            carried = torch.exp(part[:, :, None] * a.T) * state[:, None]  # (R, steps, N, E)
            y[:, start : start + size] += (carried * c[:, start : start + size, :, None]).sum(2)
        last = last + torch.exp(elapsed[:, -1, None] * a.T) * state
    return y, last


SCANS: Mapping[str, Scan] = {"plain": plain_scan, "block": block_scan, "mamba-ssm": mamba_ssm_scan}


@cache
def has_mamba_ssm() -> bool:
    """Whether the package mamba-ssm is installed; it is imported only when a GPU is to use it."""
    return importlib.util.find_spec("mamba_ssm") is not None


def choose_scan(x: Tensor, keeps_gradients: bool) -> str:
    """The name of the fastest form that can be used for this input."""
    if x.is_cuda and x.dtype == torch.float32 and has_mamba_ssm():
        return "mamba-ssm"
    return "plain" if keeps_gradients else "block"

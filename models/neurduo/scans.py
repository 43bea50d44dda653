"""The selective scan of a Mamba block in interchangeable forms: equal results, different speed (FACTS of the block:
S <- exp(delta A) S + (delta x) B, y = S C, per row and inner channel).

Letters: R rows, T steps, E inner width, N states. All forms take x and delta (R, T, E), A (E, N) negative, B and C
(R, T, N) and the state (R, N, E) before the first step, which is left alone; they give y (R, T, E) without the skip
term and the state after the last step.
"""

from __future__ import annotations

import importlib
import importlib.util
import logging
from collections.abc import Mapping
from functools import cache
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

logger = logging.getLogger(__name__)

# Values of one buffer (4 MB); above a few times this the C library takes fresh pages from the system at every call,
# which costs more than the arithmetic.
_BLOCK_VALUES = 2**20
_CACHED_VALUES = 2**17  # of a buffer that is to stay in the cache of the processor
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
    """The fast form on a CPU, without gradients: decays of some steps at a time, the rest on one state in place.

    State and decays stay in the processor's cache; keeping the states of several steps, to read them at once, does not.
    """
    n_rows, n_steps, width = x.shape
    n_states = a.shape[1]
    size = max(1, min(_MOST_STEPS, n_steps, _CACHED_VALUES // max(1, n_rows * n_states * width)))
    at, state = a.T.contiguous(), state.clone()
    decay = x.new_empty(size, n_rows, n_states, width)
    y = x.new_empty(n_steps, n_rows, 1, width)
    steps = delta.transpose(0, 1)[:, :, None]  # (T, R, 1, E)
    inflow = (delta * x).transpose(0, 1).contiguous()[:, :, None]
    b, c = b.transpose(0, 1).contiguous()[..., None], c.transpose(0, 1).contiguous()[:, :, None]
    for start in range(0, n_steps, size):
        stop = min(start + size, n_steps)
        d = decay[: stop - start]
        torch.mul(steps[start:stop], at, out=d).exp_()
        for i in range(start, stop):
            state.mul_(d[i - start]).addcmul_(inflow[i], b[i])
            torch.bmm(c[i], state, out=y[i])
    return y[:, :, 0].transpose(0, 1).contiguous(), state


class _KeptStates(torch.autograd.Function):
    """The block form with its gradient: states are kept once, decays worked out again on the way back.

    Letting autograd follow `plain_scan` costs several passes and copies of every state a step.
    """

    @staticmethod
    def forward(ctx: Any, *given: Tensor) -> tuple[Tensor, Tensor]:
        """x, delta, A, B, C and the state before -> y and the last state."""
        x, delta, a, b, c, state = given
        n_rows, n_steps, width = x.shape
        states = x.new_empty(n_steps + 1, n_rows, a.shape[1], width)
        states[0] = state
        steps, inflow, at = delta.transpose(0, 1), (delta * x).transpose(0, 1), a.T.contiguous()
        b_, c_ = b.transpose(0, 1), c.transpose(0, 1)
        y = torch.empty_like(x)
        for low, high in _parts(n_steps, states[0].numel()):
            decay = (steps[low:high, :, None] * at).exp_()
            made = states[low + 1 : high + 1]
            torch.mul(inflow[low:high, :, None], b_[low:high, :, :, None], out=made)
            for i in range(high - low):
                made[i].addcmul_(decay[i], states[low + i])
            y[:, low:high] = torch.matmul(c_[low:high, :, None], made)[:, :, 0].transpose(0, 1)
        ctx.save_for_backward(x, delta, a, b, c, states)
        return y, states[-1].clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor, ...]:
        """What the gradients of y and of the last state are to x, delta, A, B, C and the state before."""
        x, delta, a, b, c, states = ctx.saved_tensors
        grad_y, carry = upstream
        at, needs_a = a.T.contiguous(), ctx.needs_input_grad[2]
        steps, grads = delta.transpose(0, 1), grad_y.transpose(0, 1)  # (T, R, E)
        x_, b_, c_ = x.transpose(0, 1), b.transpose(0, 1), c.transpose(0, 1)
        grad_x, grad_delta = torch.empty_like(x_), torch.empty_like(steps)
        grad_b, grad_c, grad_a = torch.empty_like(b_), torch.empty_like(c_), torch.zeros_like(at)
        carry = carry.clone()
        for low, high in reversed(_parts(x.shape[1], carry.numel())):
            decay = (steps[low:high, :, None] * at).exp_()
            g = grads[low:high, :, None] * c_[low:high, :, :, None]  # of the states, (T, R, N, E)
            for i in reversed(range(high - low)):
                g[i] += carry
                torch.mul(g[i], decay[i], out=carry)
            inflow = steps[low:high] * x_[low:high]
            grad_b[low:high] = torch.matmul(g, inflow[..., None])[..., 0]
            grad_c[low:high] = torch.matmul(states[low + 1 : high + 1], grads[low:high, ..., None])[..., 0]
            grad_inflow = torch.matmul(b_[low:high, :, None], g)[:, :, 0]
            exponent = decay.mul_(g).mul_(states[low:high])  # the gradient of delta A
            if needs_a:
                grad_a += torch.einsum("trne,tre->ne", exponent, steps[low:high])
            grad_x[low:high] = grad_inflow * steps[low:high]
            grad_delta[low:high] = exponent.mul_(at).sum(2).addcmul_(grad_inflow, x_[low:high])
        made = (grad_x, grad_delta, grad_b, grad_c)
        grad_x, grad_delta, grad_b, grad_c = (value.transpose(0, 1) for value in made)
        return grad_x, grad_delta, grad_a.T, grad_b, grad_c, carry


def _parts(n_steps: int, values: int) -> list[tuple[int, int]]:
    """Spans of steps whose states fill one buffer."""
    size = max(1, min(_MOST_STEPS, _BLOCK_VALUES // max(1, values)))
    return [(low, min(low + size, n_steps)) for low in range(0, n_steps, size)]


def kept_scan(x: Tensor, delta: Tensor, a: Tensor, b: Tensor, c: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
    """The fast form on a CPU with gradients, of the first order."""
    y, last = _KeptStates.apply(x, delta, a, b, c, state)
    return y, last


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


def triton_scan(x: Tensor, delta: Tensor, a: Tensor, b: Tensor, c: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
    """Our own kernel for a GPU, without gradients; it needs triton, which is imported only here."""
    y, last = importlib.import_module("models.neurduo.scan_kernel").triton_scan(x, delta, a, b, c, state)
    return y, last


SCANS: Mapping[str, Scan] = {
    "plain": plain_scan,
    "block": block_scan,
    "kept": kept_scan,
    "triton": triton_scan,
    "mamba-ssm": mamba_ssm_scan,
}


@cache
def has_mamba_ssm() -> bool:
    """Whether the package mamba-ssm is installed; it is imported only when a GPU is to use it."""
    return importlib.util.find_spec("mamba_ssm") is not None


@cache
def has_triton() -> bool:
    """Whether triton is installed; where it is not, that is said once in the log."""
    is_there = importlib.util.find_spec("triton") is not None
    if not is_there:
        logger.info("the selective scan runs as single operations on the GPU, since triton is not installed")
    return is_there


def choose_scan(x: Tensor, keeps_gradients: bool) -> str:
    """The name of the fastest form that can be used for this input."""
    if not x.is_cuda:
        return "kept" if keeps_gradients else "block"
    if x.dtype == torch.float32 and has_mamba_ssm():
        return "mamba-ssm"
    if keeps_gradients:
        return "plain"
    return "triton" if x.dtype != torch.float64 and has_triton() else "block"

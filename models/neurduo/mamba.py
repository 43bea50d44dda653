"""The Mamba block (version 1), with parameters named and shaped as in the package mamba-ssm, whole or step by step.

Letters: R rows, T steps, D width, E inner width, N states, K convolution width, P rank of delta.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models.neurduo.scans import SCANS, choose_scan

# How the published initialisation draws the step sizes, in steps.
DT_MIN, DT_MAX, DT_FLOOR = 1e-3, 1e-1, 1e-4
_MANY_ROWS = 4  # from here on a transposed weight is worth its copy


@dataclass
class MambaState:
    """What a block keeps between steps: the last K inputs of its convolution (R, K, E), newest last; S (R, N, E)."""

    conv: Tensor
    ssm: Tensor

    def clone(self) -> MambaState:
        """A copy that shares nothing."""
        return MambaState(self.conv.clone(), self.ssm.clone())


class Mamba(nn.Module):
    """One block: projection, causal depthwise convolution, selective scan, gate, projection.

    `scan` names the form that is used ("plain", "block", "mamba-ssm"), None the fastest that can be.
    """

    scan: str | None = None

    def __init__(self, width: int, n_states: int = 16, conv_width: int = 4, expand: int = 2) -> None:
        super().__init__()
        self.inner, self.n_states, self.conv_width = expand * width, n_states, conv_width
        self.rank = math.ceil(width / 16)
        self.in_proj = nn.Linear(width, 2 * self.inner, bias=False)
        self.conv1d = nn.Conv1d(self.inner, self.inner, conv_width, groups=self.inner, padding=conv_width - 1)
        self.x_proj = nn.Linear(self.inner, self.rank + 2 * n_states, bias=False)
        self.dt_proj = nn.Linear(self.rank, self.inner)
        self.A_log = nn.Parameter(torch.empty(self.inner, n_states))
        self.D = nn.Parameter(torch.empty(self.inner))
        self.out_proj = nn.Linear(self.inner, width, bias=False)
        self.reset_state_space()

    @torch.no_grad()
    def reset_state_space(self) -> None:
        """Draw the time constants as Mamba's authors do: steps log-uniform in 0.001-0.1, A = -(1 ... N)."""
        self.A_log.copy_(torch.arange(1, self.n_states + 1, dtype=torch.float32).log().expand_as(self.A_log))
        self.D.fill_(1.0)
        self.dt_proj.weight.uniform_(-(self.rank**-0.5), self.rank**-0.5)
        drawn = torch.rand(self.inner) * (math.log(DT_MAX) - math.log(DT_MIN)) + math.log(DT_MIN)
        steps = drawn.exp().clamp(min=DT_FLOOR)
        self.dt_proj.bias.copy_(steps + torch.log(-torch.expm1(-steps)))  # the inverse of softplus

    def zero_state(self, n_rows: int) -> MambaState:
        """The state before anything was read."""
        weight = self.in_proj.weight
        return MambaState(
            weight.new_zeros(n_rows, self.conv_width, self.inner), weight.new_zeros(n_rows, self.n_states, self.inner)
        )

    def forward(self, x: Tensor, state: MambaState | None = None) -> tuple[Tensor, MambaState]:
        """(R, T, D) and the state before it, zero where none is given -> (R, T, D) and the state after it."""
        state = state or self.zero_state(x.shape[0])
        x, gate = self.in_proj(x).chunk(2, dim=-1)  # (R, T, E) each
        history = torch.cat([state.conv[:, 1:], x], dim=1)  # K - 1 inputs before the first
        x = F.silu(self._convolve(history, x.shape[1]))
        delta, b, c = self._selection(x)
        keeps_gradients = torch.is_grad_enabled() and (x.requires_grad or self.A_log.requires_grad)
        scan = SCANS[self.scan or choose_scan(x, keeps_gradients)]
        y, ssm = scan(x, delta, -torch.exp(self.A_log), b, c, state.ssm)
        y = torch.addcmul(y, x, self.D)
        conv = torch.cat([state.conv[:, -1:], history], dim=1)[:, -self.conv_width :]
        return self.out_proj(y * F.silu(gate)), MambaState(conv, ssm)

    def nominal_time_constants(self, step_seconds: float) -> Tensor:
        """Seconds (E, N) in which each state decays by e where the input leaves delta at its bias (paper E.3)."""
        return step_seconds / (F.softplus(self.dt_proj.bias)[:, None] * torch.exp(self.A_log))

    def _convolve(self, history: Tensor, n_steps: int) -> Tensor:
        """(R, K - 1 + T, E) -> (R, T, E), tap by tap: faster on a CPU than a grouped convolution."""
        out: Tensor = self.conv1d.bias  # type: ignore[assignment]
        for tap in range(self.conv_width):
            out = torch.addcmul(out, history[:, tap : tap + n_steps], self.conv1d.weight[:, 0, tap])
        return out

    def _selection(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """What the input selects: delta (.., E), B and C (.., N)."""
        rank, b, c = self.x_proj(x).split([self.rank, self.n_states, self.n_states], dim=-1)
        return F.softplus(self.dt_proj(rank)), b, c


@dataclass
class StepState:
    """The state of a block as single steps keep it: the last K inputs as a list of (R, E), and S (R, N, E)."""

    conv: list[Tensor]
    ssm: Tensor

    @classmethod
    def of(cls, state: MambaState) -> Self:
        """From the state of whole sequences; nothing is shared."""
        return cls([tap.contiguous() for tap in state.conv.clone().unbind(1)], state.ssm.contiguous().clone())

    def push(self, x: Tensor) -> list[Tensor]:
        """Take in the convolution's newest input (R, E); the last K of them."""
        del self.conv[0]
        self.conv.append(x)
        return self.conv

    def gather(self) -> MambaState:
        """The state as whole sequences take it; nothing is shared."""
        return MambaState(torch.stack(self.conv, dim=1), self.ssm.clone())


class MambaStep:
    """One block prepared for single steps of some rows: constants worked out once, the state changed in place.

    Later changes of the block's weights are not seen.
    """

    def __init__(self, block: Mamba, n_rows: int) -> None:
        with torch.no_grad():
            self._in_proj, self._x_proj, self._dt_weight, self._out_proj = (
                transposed(layer.weight, n_rows)
                for layer in (block.in_proj, block.x_proj, block.dt_proj, block.out_proj)
            )
            self._taps = list(block.conv1d.weight.detach()[:, 0].T.contiguous())  # K of (E,)
            self._conv_bias = block.conv1d.bias.detach()  # type: ignore[union-attr]
            self._dt_bias = block.dt_proj.bias.detach()
            self._a = -torch.exp(block.A_log).T.contiguous()  # (N, E)
            self._d = block.D.detach()
        self._inner, self._split = block.inner, [block.rank, block.n_states, block.n_states]

    def __call__(self, residual: Tensor, x: Tensor, state: StepState, room: Tensor) -> Tensor:
        """residual (R, D) plus the block's output for the input x (R, D); `state` moves on by one step.

        The array behind `room` holds a value of S each in the meantime; blocks may share it.
        """
        x, gate = torch.mm(x, self._in_proj).split(self._inner, dim=1)
        taps, x = state.push(x), self._conv_bias
        for tap, weight in zip(taps, self._taps, strict=True):
            x = torch.addcmul(x, tap, weight)
        x = F.silu(x, inplace=True)
        rank, b, c = torch.mm(x, self._x_proj).split(self._split, dim=1)
        delta = F.softplus(torch.addmm(self._dt_bias, rank, self._dt_weight))
        decay = room[: state.ssm.numel()].view(state.ssm.shape)
        state.ssm.mul_(torch.mul(delta[:, None], self._a, out=decay).exp_())
        state.ssm.addcmul_(delta.mul_(x)[:, None], b[:, :, None])
        y = torch.bmm(c[:, None], state.ssm)[:, 0]
        y.addcmul_(x, self._d).mul_(F.silu(gate))
        return torch.addmm(residual, y, self._out_proj)


def transposed(weight: Tensor, n_rows: int) -> Tensor:
    """A weight (out, in) as the second factor of a product with a few rows, laid out as that is fastest."""
    turned = weight.detach().T
    return turned.contiguous() if n_rows >= _MANY_ROWS else turned

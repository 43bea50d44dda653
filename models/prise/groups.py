"""Biases of the attention from groups to channels, and the choice of dynamic groups (spec section 4).

Letters: B batch, T patches, C channels, P samples of a patch, S static and K dynamic groups, G = S + K, W windows.
"""

from __future__ import annotations

import math
from functools import cache

import torch
from torch import Tensor, nn

from models.prise.electrodes import ELECTRODES, LAGS, N_DYNAMIC, STATIC_GROUPS, WINDOW_SAMPLES, WINDOWS

_NO_SIGNAL = 1e-8
_SPREAD = 1e-6
_CLIP = 3.0
FIRST_TEMPERATURE, LAST_TEMPERATURE = 1.0, 0.1


@cache
def membership() -> Tensor:
    """Which electrode belongs to which static group, bool (S, 90)."""
    return torch.tensor([[name in members for name in ELECTRODES] for members in STATIC_GROUPS.values()])


class StaticGroups(nn.Module):
    """M_s + Delta: 0 inside a group and -beta outside, with a learned correction (paper: weak, soft, learnable)."""

    def __init__(self, beta: float) -> None:
        super().__init__()
        self.beta = beta
        self.delta = nn.Parameter(torch.zeros(len(STATIC_GROUPS), len(ELECTRODES)))

    @property
    def inside(self) -> Tensor:
        """Which electrode belongs to which group, bool (S, 90)."""
        return membership().to(self.delta.device)

    def prior(self, index: Tensor) -> Tensor:
        """M_s (S, C) of the channels present."""
        return torch.where(self.inside[:, index], 0.0, -self.beta)

    def forward(self, index: Tensor) -> Tensor:
        """Bias (S, C) of the channels present."""
        return self.prior(index) + self.delta[:, index]


def lag_correlation(patches: Tensor) -> Tensor:
    """rho: correlation of every channel with every later one, (B, T, W, lags, C, C) of patches (B, T, C, P).

    rho[..., c, e] compares channel c in a window with channel e so many samples later, both within the window; it is
    0 where one of them is constant.
    """
    windows = patches.unflatten(-1, (WINDOWS, WINDOW_SAMPLES)).transpose(2, 3)  # (B, T, W, C, 64)
    return torch.stack([_correlate(windows, lag) for lag in LAGS], 3)


def _correlate(windows: Tensor, lag: int) -> Tensor:
    early, late = windows[..., : WINDOW_SAMPLES - lag], windows[..., lag:]
    early, late = (part - part.mean(-1, keepdim=True) for part in (early, late))
    return _unit(early) @ _unit(late).transpose(-1, -2)


def _unit(x: Tensor) -> Tensor:
    norm = x.norm(dim=-1, keepdim=True)
    return torch.where(norm < _NO_SIGNAL, 0.0, x / norm.clamp_min(_NO_SIGNAL))


class DynamicGroups(nn.Module):
    """M_d: how strongly each channel moves with the others, by window and lag, standardised over channels."""

    def __init__(self, beta: float) -> None:
        super().__init__()
        self.gamma = nn.Parameter(torch.full((N_DYNAMIC,), beta / 2))

    def forward(self, patches: Tensor, hidden: Tensor | None = None) -> Tensor:
        """Bias (B, T, K, C) of patches (B, T, C, P); `hidden` (B, T, C) patches are not looked at and get 0."""
        return self.from_correlation(lag_correlation(patches), hidden)

    def from_correlation(self, rho: Tensor, hidden: Tensor | None = None) -> Tensor:
        """The same, of lag correlations (B, T, W, lags, C, C)."""
        symmetric = (rho.abs() + rho.abs().transpose(-1, -2)) / 2
        channels = rho.shape[-1]
        seen = torch.ones(*rho.shape[:2], channels, dtype=rho.dtype, device=rho.device)
        if hidden is not None:
            seen = seen.masked_fill(hidden, 0.0)
        pairs = seen[..., :, None] * seen[..., None, :] * (1 - torch.eye(channels, device=rho.device))
        n = seen.sum(-1)[:, :, None, None, None]
        strength = (symmetric * pairs[:, :, None, None]).sum(-1) / (n - 1).clamp_min(1)  # (B, T, W, lags, C)
        return self.gamma[:, None] * self._standardise(strength, seen[:, :, None, None], n).flatten(2, 3)

    @staticmethod
    def _standardise(strength: Tensor, seen: Tensor, n: Tensor) -> Tensor:
        """Over the channels that are seen, clipped at 3; 0 for the others."""
        count = n.clamp_min(1)
        mean = (strength * seen).sum(-1, keepdim=True) / count
        variance = ((strength - mean).square() * seen).sum(-1, keepdim=True) / count
        # The root of zero has no gradient; a channel alone, or all alike, have no spread.
        spread = variance.clamp_min(1e-20).sqrt()
        return ((strength - mean) / (spread + _SPREAD)).clamp(-_CLIP, _CLIP) * seen


class Selector(nn.Module):
    """Keeps the 12 dynamic groups a sample needs most: Gumbel top-k in training, plain top-k afterwards."""

    def __init__(self, width: int, keep: int) -> None:
        super().__init__()
        self.score = nn.Linear(width, N_DYNAMIC)
        self.keep = keep
        self.temperature = FIRST_TEMPERATURE

    def forward(self, features: Tensor) -> Tensor:
        """1 for the groups kept and 0 for the others, (B, K), of features (B, T, C, D); soft gradients in training."""
        score = self.score(features.mean((1, 2)))
        if not self.training:
            return self._top(score)
        noisy = score - torch.empty_like(score).exponential_().log()
        soft = self.keep * (noisy / self.temperature).softmax(-1)
        return self._top(noisy) - soft.detach() + soft

    def _top(self, score: Tensor) -> Tensor:
        return torch.zeros_like(score).scatter_(-1, score.topk(self.keep, -1).indices, 1.0)


def selection_temperature(share: float) -> float:
    """Temperature after a share (0 to 1) of the training: from 1.0 down to 0.1, exponentially."""
    return max(LAST_TEMPERATURE, FIRST_TEMPERATURE * LAST_TEMPERATURE ** min(max(share, 0.0), 1.0))


def group_bias(static: Tensor, dynamic: Tensor) -> Tensor:
    """M (B, T, G, C) of static (S, C) and dynamic (B, T, K, C) biases."""
    return torch.cat([static.expand(*dynamic.shape[:2], -1, -1), dynamic], 2)


def removal_bias(keep: Tensor) -> Tensor:
    """Minus infinity for the groups that are not kept (B, G), to be added to scores as (B, 1, 1, G)."""
    return torch.zeros_like(keep).masked_fill(keep < 0.5, -math.inf)[:, None, None]

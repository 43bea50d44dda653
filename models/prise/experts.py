"""Mixture of experts: a shared expert, a pool of which some are shared too, and a router (spec section 6).

Letters: N tokens, D width, F hidden units of an expert, E = 9 experts (0 is the base shared one).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from models.prise.config import N_POOL, PriseConfig

BIAS_RATE = 1e-4
BALANCE_WEIGHT = 1e-5


@dataclass(frozen=True)
class Routing:
    """What a router decided: chosen experts (N, k) as numbers 1..8, their gates (N, k), and tokens per pool expert."""

    experts: Tensor
    gates: Tensor
    load: Tensor

    @property
    def entropy(self) -> float:
        """Entropy of the load over that of an even one; NaN where there is one routed expert only."""
        there = self.load[self.load >= 0]
        share = there / there.sum().clamp_min(1)
        return float(-torch.special.xlogy(share, share).sum() / math.log(len(share))) if len(share) > 1 else math.nan


class Mixture(nn.Module):
    """y = expert 0 + the shared ones of the pool + the routed ones, each times its gate.

    `n_shared` may be changed on a trained model: the weights stay where they are, another split decides who is asked.
    """

    expert_bias: Tensor

    def __init__(self, config: PriseConfig, n_shared: int) -> None:
        super().__init__()
        experts, width, hidden = N_POOL + 1, config.embed_dim, config.expert_dim
        self.gate = nn.Parameter(torch.empty(experts, width, hidden))
        self.up = nn.Parameter(torch.empty(experts, width, hidden))
        self.down = nn.Parameter(torch.empty(experts, hidden, width))
        self.affinity = nn.Parameter(torch.empty(N_POOL, width))
        self.register_buffer("expert_bias", torch.zeros(N_POOL))
        self.n_shared = n_shared
        self.top_k = config.top_k
        self.forced: int | None = None  # a pool expert that every token is sent to, as an intervention
        self.pinned: Tensor | None = None  # choices (N, k) that are kept whatever the tokens, for attributions
        self.routing = _Tell()
        for weight, fan in ((self.gate, width), (self.up, width), (self.down, hidden), (self.affinity, width)):
            nn.init.normal_(weight, std=1 / math.sqrt(fan))

    def forward(self, x: Tensor) -> Tensor:
        """(…, D) -> (…, D)."""
        flat = x.flatten(0, -2)
        out = self._shared(flat)
        routing = self.route(flat)
        self.routing(routing)
        return self._add_routed(out, flat, routing).view(x.shape)

    def affinities(self, flat: Tensor) -> Tensor:
        """sigmoid(v . e) of tokens (N, D) with all experts of the pool, (N, 8)."""
        return torch.sigmoid(flat @ self.affinity.T)

    def route(self, flat: Tensor) -> Routing:
        """Choose k routed experts for each token (N, D); the bias decides who is chosen, not how much it counts."""
        affinity = self.affinities(flat)
        score = affinity.detach() + self.expert_bias
        score[:, : self.n_shared] = -math.inf
        chosen = score.topk(self.top_k, -1).indices
        if self.pinned is not None:
            chosen = self.pinned
        if self.forced is not None:
            chosen = torch.full_like(chosen, self.forced - 1)
        gates = affinity.gather(-1, chosen)
        if self.top_k > 1:
            gates = gates / gates.sum(-1, keepdim=True)
        load = torch.bincount(chosen.flatten(), minlength=N_POOL).to(flat.dtype)
        load[: self.n_shared] = -1  # not routed
        return Routing(chosen + 1, gates, load)

    def _shared(self, flat: Tensor) -> Tensor:
        """The sum of shared experts is one feed-forward whose hidden units stand side by side."""
        n = 1 + self.n_shared
        gate, up = (weight[:n].transpose(0, 1).flatten(1) for weight in (self.gate, self.up))
        out: Tensor = functional.silu(flat @ gate).mul(flat @ up) @ self.down[:n].flatten(0, 1)
        return out

    def _add_routed(self, out: Tensor, flat: Tensor, routing: Routing) -> Tensor:
        """Tokens sorted by expert, so that each expert works once on all that are sent to it."""
        expert = routing.experts.flatten()
        order = expert.argsort(stable=True)
        token = order // self.top_k
        counts = torch.bincount(expert, minlength=N_POOL + 1).tolist()
        gates = routing.gates.flatten()[order]
        begin = 0
        for number, count in enumerate(counts):
            if count:
                rows = token[begin : begin + count]
                made = self.expert(flat[rows], number) * gates[begin : begin + count, None]
                out = out.index_add(0, rows, made)
                begin += count
        return out

    def expert(self, x: Tensor, number: int) -> Tensor:
        """One expert on tokens (N, D): W_o(SiLU(W_g v) * (W_i v))."""
        made: Tensor = functional.silu(x @ self.gate[number]).mul(x @ self.up[number]) @ self.down[number]
        return made

    def balance_loss(self, sequences: Tensor) -> Tensor:
        """Sequence balance loss of tokens (sequences, n, D), mean over the sequences."""
        n_routed = N_POOL - self.n_shared
        affinity = self.affinities(sequences)[..., self.n_shared :]
        score = affinity.detach() + self.expert_bias[self.n_shared :]
        chosen = torch.zeros_like(score).scatter_(-1, score.topk(self.top_k, -1).indices, 1.0)
        share = (affinity / affinity.sum(-1, keepdim=True)).mean(1)  # (sequences, routed)
        n = sequences.shape[1]
        return (n_routed / (self.top_k * n) * (chosen.sum(1) * share).sum(-1)).mean()

    @torch.no_grad()
    def settle_bias(self, load: Tensor) -> None:
        """After a step of the optimiser: make experts that got too many tokens less likely, and the others more."""
        routed = slice(self.n_shared, N_POOL)
        load = load[routed].to(self.expert_bias)
        self.expert_bias[routed] += BIAS_RATE * torch.sign(load.mean() - load)


class DenseFeedForward(nn.Module):
    """One gated feed-forward in place of the experts: the pilot that the allocation is found with."""

    def __init__(self, config: PriseConfig) -> None:
        super().__init__()
        self.gate = nn.Linear(config.embed_dim, config.dense_dim, bias=False)
        self.up = nn.Linear(config.embed_dim, config.dense_dim, bias=False)
        self.down = nn.Linear(config.dense_dim, config.embed_dim, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """(…, D) -> (…, D)."""
        out: Tensor = self.down(functional.silu(self.gate(x)) * self.up(x))
        return out


class _Tell(nn.Module):
    """Does nothing; a recorder that listens to it hears every routing."""

    def forward(self, routing: Routing) -> Routing:
        """Hand on."""
        return routing

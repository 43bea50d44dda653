"""The parts of an AXON block besides attention: norm, feed-forward, gates, and the codes of time and place.

Letters: B batch, C channels, T patches, D embedding width.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from models.axon.config import AxonConfig

EPSILON = 1e-8
AXIS_BIAS = (0.5, 0.0)  # a slight lean to time: softmax gives 0.622 (public code)
SCALE_BIAS = (0.0, 1.0)  # towards the long window: 0.731 (public code)
FIRST_TEMPERATURE, LAST_TEMPERATURE, COOLING_STEPS = 2.0, 1.0, 1500
_PERIOD_BASE = 10_000.0
_DRAWN = 2.0  # leaves most weights between 0.2 and 0.8


class RMSNorm(nn.Module):
    """x / sqrt(mean(x^2) + eps) times a weight, over the last axis."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        """Normalise (…, D)."""
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + EPSILON) * self.weight


class FeedForward(nn.Module):
    """W_o(a * (SiLU(g) + GELU(g))), [a, g] = W_i v, with the tanh form of GELU (public code)."""

    def __init__(self, config: AxonConfig) -> None:
        super().__init__()
        inner = config.ffn_expansion * config.embed_dim
        self.in_proj = nn.Linear(config.embed_dim, 2 * inner)
        self.out_proj = nn.Linear(inner, config.embed_dim)

    def forward(self, x: Tensor) -> Tensor:
        """Transform (…, D) token by token."""
        value, gate = self.in_proj(x).chunk(2, dim=-1)
        mixed: Tensor = self.out_proj(value * (functional.silu(gate) + functional.gelu(gate, approximate="tanh")))
        return mixed


class TokenGate(nn.Module):
    """softmax(MLP(sg(y)) / tau): the weights of a token's paths, which send no gradient back (paper, adaptive gate).

    With `stops_gradient` off they do: whoever asks how the answer depends on the signal must follow every way there.
    """

    def __init__(self, config: AxonConfig, bias: tuple[float, ...]) -> None:
        super().__init__()
        width = config.gate_width
        self.mlp = nn.Sequential(nn.Linear(config.embed_dim, width), nn.GELU(), nn.Linear(width, len(bias)))
        self.bias = bias
        self.temperature = LAST_TEMPERATURE
        self.stops_gradient = True
        self.reset()

    def reset(self) -> None:
        """Begin with the same weights for every token: nothing from the token, the bias alone."""
        last = self.mlp[2]
        assert isinstance(last, nn.Linear)
        nn.init.zeros_(last.weight)
        with torch.no_grad():
            if not last.bias.is_meta:
                last.bias.copy_(torch.tensor(self.bias))

    def draw(self, generator: torch.Generator) -> None:
        """Take random weights that make tokens differ, as a trained gate's do, and a start of training's do not."""
        last = self.mlp[2]
        assert isinstance(last, nn.Linear)
        with torch.no_grad():
            drawn = torch.randn(last.weight.shape, generator=generator) * (_DRAWN / math.sqrt(last.in_features))
            last.weight.copy_(drawn)

    def forward(self, y: Tensor) -> Tensor:
        """Weights (B, C, T, n) of normalised tokens (B, C, T, D); they sum to one."""
        seen = y.detach() if self.stops_gradient else y
        return (self.mlp(seen) / self.temperature).softmax(-1)


class LayerGate(nn.Module):
    """One learned weight a layer, the same for every token: sigmoid(l) for the first path, the rest for the second."""

    def __init__(self, logit: float) -> None:
        super().__init__()
        self.logit = nn.Parameter(torch.tensor(logit))
        self.temperature = LAST_TEMPERATURE

    def forward(self, y: Tensor) -> Tensor:
        """Weights (B, C, T, 2)."""
        first = torch.sigmoid(self.logit)
        return torch.stack([first, 1 - first]).expand(*y.shape[:-1], 2)


def gate_temperature(step: int) -> float:
    """Temperature of the gates at a step of the training: from 2 to 1 in a straight line over 1500 steps (paper)."""
    share = min(max(step, 0) / COOLING_STEPS, 1.0)
    return FIRST_TEMPERATURE + share * (LAST_TEMPERATURE - FIRST_TEMPERATURE)


def time_code(n_patches: int, width: int, device: torch.device | None = None) -> Tensor:
    """Sine on even, cosine on odd features, of the patch number; (T, D) float32."""
    place = torch.arange(n_patches, dtype=torch.float32, device=device)[:, None]
    rate = torch.exp(torch.arange(0, width, 2, dtype=torch.float32, device=device) * (-math.log(_PERIOD_BASE) / width))
    code = torch.empty(n_patches, width, device=device)
    code[:, 0::2], code[:, 1::2] = torch.sin(place * rate), torch.cos(place * rate)
    return code


def place_encoder(config: AxonConfig) -> nn.Module:
    """From electrode positions (…, 3) in the config's unit to features (…, D)."""
    width = config.embed_dim
    if config.spatial_encoder == "paper":
        return nn.Linear(3, width)
    return nn.Sequential(nn.Linear(3, width), nn.GELU(), nn.LayerNorm(width))


def standardised(signal: Tensor, missing: Tensor | None = None) -> Tensor:
    """Each channel minus its mean, over its standard deviation (n - 1) of the window, in float32.

    `signal` is (B, C, samples); a flat channel, and one that is `missing` (B, C), becomes zeros.
    """
    signal = signal.float()
    if missing is not None:
        signal = signal.masked_fill(missing[..., None], 0.0)
    centred = signal - signal.mean(-1, keepdim=True)
    return centred / signal.std(-1, keepdim=True).clamp_min(1e-12)

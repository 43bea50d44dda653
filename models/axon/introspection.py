"""Which inner values of an AXON have a meaning, how to collect them, and what they add up to (spec section 8).

Letters: B windows, C channels, T patches, N = C * T tokens (token = channel * T + patch), H heads.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from models.axon.attention import AxisAttention, DenseAttention
from models.axon.interventions import gates_of
from models.axon.model import Axon
from models.recorder import record

COLLAPSE_RATIO = 0.40  # paper: below it a gate has decided for all tokens alike


@dataclass(frozen=True)
class Gates:
    """Weights of each layer's gates: `axis` (B, C, T, paths), time first; `scale` (B, C, T, scales), short first."""

    axis: Mapping[int, Tensor]
    scale: Mapping[int, Tensor]


def collect_gates(model: Axon, signal: Tensor, positions: Tensor, missing: Tensor | None = None) -> Gates:
    """Run the model and keep what its gates say."""
    axis = {f"axis {i}": gate for i, gate in gates_of(model, "axis").items()}
    try:
        scale = {f"scale {i}": gate for i, gate in gates_of(model, "scale").items()}
    except ValueError:
        scale = {}
    with torch.no_grad(), record({**axis, **scale}) as records:
        model.tokens(signal, positions, missing)
    return Gates(
        {int(name.split()[1]): values[-1] for name, values in records.items() if name.startswith("axis")},
        {int(name.split()[1]): values[-1] for name, values in records.items() if name.startswith("scale")},
    )


def entropy_ratio(weights: Tensor) -> float:
    """Mean entropy of weights (…, paths) over that of equal ones: 1 undecided, 0 decided."""
    entropy = -torch.special.xlogy(weights, weights).sum(-1)
    return float(entropy.mean() / math.log(weights.shape[-1]))


@dataclass(frozen=True)
class Dispersion:
    """How much the temporal weight differs between tokens, and how much of that their content makes.

    D_token^2 = D_content^2 + D_position^2 over windows of one grid (population moments). `content` is corrected for
    the number of windows by N / (N - 1) and None for a single one; `content_biased` is not corrected.
    """

    token: float
    position: float
    content_biased: float
    content: float | None
    n_windows: int


def dispersion(alpha: Tensor) -> Dispersion:
    """D_token, D_content and D_position of temporal weights (B, C, T), a window each."""
    alpha = alpha.double().flatten(1)  # (B, N)
    mean, of_place = alpha.mean(), alpha.mean(0)
    token = (alpha - mean).square().mean().sqrt().item()
    content = (alpha - of_place).square().mean().sqrt().item()
    position = (of_place - mean).square().mean().sqrt().item()
    n = len(alpha)
    corrected = content * math.sqrt(n / (n - 1)) if n > 1 else None
    return Dispersion(token, position, content, corrected, n)


@dataclass(frozen=True)
class AttentionMaps:
    """One layer's attention: over time by scale (B, C, H, T, T), short first, and over space (B, T, H, C, C)."""

    temporal: tuple[Tensor, ...]
    spatial: Tensor


def attention_maps(
    model: Axon, signal: Tensor, positions: Tensor, layer: int, missing: Tensor | None = None
) -> AttentionMaps:
    """The weights of a layer's softmaxes, by the plain form."""
    attn = _axis_attention(model, layer)
    taps: dict[str, nn.Module] = {f"t{i}": attend.weights for i, attend in enumerate(attn.branches)}
    taps["s"] = attn.spatial.weights
    with torch.no_grad(), record(taps) as records:
        tokens = model.tokens(signal, positions, missing, plain=True)
    batch, channels, patches, _ = tokens.shape
    temporal = [values[-1].unflatten(0, (batch, channels)) for name, values in records.items() if name.startswith("t")]
    return AttentionMaps(tuple(temporal), records["s"][-1].unflatten(0, (batch, patches)))


def effective_weights(maps: AttentionMaps, axis: Tensor, scale: Tensor | None) -> Tensor:
    """Where each token of a layer looks: (B, N, N), mean over heads; rows sum to one, off-axis entries are 0.

    Token (c, t) puts alpha times its windows' mixture on (c, t') and beta times its spatial weights on (c', t); both
    count on itself. `axis` (B, C, T, 2) and `scale` (B, C, T, scales) are the gates. Our definition.
    """
    batch, channels, patches, _ = axis.shape
    over_time = [part.mean(2) for part in maps.temporal]  # (B, C, T, T)
    if scale is None:
        mixed = over_time[0]
    else:
        mixed = sum((scale[..., i : i + 1] * part for i, part in enumerate(over_time)), torch.zeros(()))
    space = maps.spatial.mean(2)  # (B, T, C, C)
    out = torch.zeros(batch, channels, patches, channels, patches)
    c, t = torch.arange(channels), torch.arange(patches)
    out[:, c, :, c, :] += (axis[..., :1] * mixed).transpose(0, 1)
    out[:, :, t, :, t] += (axis[..., 1:2] * space.transpose(1, 2)).permute(2, 0, 1, 3)
    return out.reshape(batch, channels * patches, channels * patches)


@dataclass(frozen=True)
class RelationMass:
    """Share of a layer's attention on a token itself, its own channel, its own time, and neither; they sum to one."""

    itself: float
    channel: float
    time: float
    off_axis: float


def uniform_mass(n_channels: int, n_patches: int) -> RelationMass:
    """What equal attention to all N tokens gives: 1/N, (T - 1)/N, (C - 1)/N and the rest."""
    n = n_channels * n_patches
    itself, channel, time = 1 / n, (n_patches - 1) / n, (n_channels - 1) / n
    return RelationMass(itself, channel, time, 1 - itself - channel - time)


def relation_mass(weights: Tensor, n_channels: int, n_patches: int) -> RelationMass:
    """Shares of attention (…, N, N) by relation, mean over all rows (paper, analysis of dense attention)."""
    token = torch.arange(n_channels * n_patches)
    channel, patch = token // n_patches, token % n_patches
    same_channel = channel[:, None] == channel[None, :]
    same_time = patch[:, None] == patch[None, :]
    itself = same_channel & same_time
    rows = weights.double().flatten(0, -3).mean(0) if weights.ndim > 2 else weights.double()
    share = [
        float((rows * part).sum() / rows.shape[0])
        for part in (itself, same_channel & ~itself, same_time & ~itself, ~same_channel & ~same_time)
    ]
    return RelationMass(*share)


def dense_relation_mass(
    model: Axon, signal: Tensor, positions: Tensor, missing: Tensor | None = None
) -> dict[int, RelationMass]:
    """Relation masses of every layer of a dense model; ValueError for another variant."""
    if model.config.variant != "dense":
        raise ValueError(f"relation masses are of dense attention, and this is the variant {model.config.variant}")
    attentions = model.encoder.attentions
    taps = {str(i): a.everywhere.weights for i, a in enumerate(attentions) if isinstance(a, DenseAttention)}
    channels, patches = signal.shape[1], model.config.n_patches(signal.shape[-1])
    with torch.no_grad(), record(taps, lambda weights: relation_mass(weights, channels, patches)) as records:
        model.tokens(signal, positions, missing, plain=True)
    return {int(name): values[-1] for name, values in records.items()}


def layer_outputs(model: Axon, signal: Tensor, positions: Tensor, missing: Tensor | None = None) -> dict[str, Tensor]:
    """Tokens (B, C, T, D) after each stage: "block 0" … and "final norm"."""
    stages: dict[str, nn.Module] = {f"block {i}": block for i, block in enumerate(model.encoder.blocks)}
    stages["final norm"] = model.encoder.final_norm
    with torch.no_grad(), record(stages) as records:
        model.tokens(signal, positions, missing)
    return {name: values[-1] for name, values in records.items()}


def _axis_attention(model: Axon, layer: int) -> AxisAttention:
    attentions = model.encoder.attentions
    if not 0 <= layer < len(attentions):
        raise ValueError(f"there is no layer {layer}: the model has layers 0 to {len(attentions) - 1}")
    attention = attentions[layer]
    if not isinstance(attention, AxisAttention):
        raise ValueError("a dense model has no attention by axis; look at its relation masses instead")
    return attention

"""Which inner values of a PRiSE-EEG have a meaning, and how to collect them (spec sections 6, 7 and 10).

Letters: B batch, T patches, C channels, G groups, H heads, D width.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from models.prise.blocks import Block
from models.prise.experts import Mixture, Routing
from models.prise.front_end import split_patches
from models.prise.groups import lag_correlation
from models.prise.model import Prise
from models.recorder import record


def routings(model: Prise, signal: Tensor, channels: Sequence[str]) -> dict[str, tuple[Routing, tuple[int, ...]]]:
    """What each block's router decided, and the shape of the tokens it decided on, by the block's name.

    Tokenizer and group blocks route (B T, G) tokens, temporal ones (B G, T), decoder ones (B T, C). ValueError for a
    dense pilot.
    """
    names = dict(zip(model.block_names(), model.blocks(), strict=True))
    taps: dict[str, nn.Module] = {}
    shapes: dict[str, nn.Module] = {}
    for name, block in names.items():
        if not isinstance(block.ffn, Mixture):
            raise ValueError("a dense pilot has no experts")
        taps[name], shapes[f"shape {name}"] = block.ffn.routing, block.norm_ffn
    index = model.index(channels)
    with torch.no_grad(), record({**taps, **shapes}, _routing_or_shape) as records:
        x = model.features(signal, index)
        keep = model.kept_groups(x)
        model.decode(model.encode(model.tokenize(x, model.bias(signal, index)), keep), keep, index)
    return {name: (records[name][-1], records[f"shape {name}"][-1]) for name in names}


def _routing_or_shape(output: Any) -> Any:
    return output if isinstance(output, Routing) else tuple(output.shape[:-1])


def tokenizer_attention(model: Prise, signal: Tensor, channels: Sequence[str]) -> Tensor:
    """How much each group looks at each channel: (B, T, G, C), mean over heads and tokenizer blocks."""
    index = model.index(channels)
    blocks = model.blocks()[: model.config.n_tokenizer]
    taps: dict[str, nn.Module] = {str(i): block.attention.weights for i, block in enumerate(blocks)}
    with torch.no_grad(), record(taps, lambda weights: weights.mean(1)) as records:
        x = model.features(signal, index)
        model.tokenize(x, model.bias(signal, index), plain=True)
    mean = torch.stack([values[-1] for values in records.values()]).mean(0)
    return mean.unflatten(0, x.shape[:2])


def block_outputs(
    model: Prise, signal: Tensor, channels: Sequence[str], keep: Callable[[Tensor], Any] | None = None
) -> dict[str, Any]:
    """Tokens (B, T, G, D) after each tokenizer and encoder block and the last norm, by name."""
    n = model.config.n_tokenizer + len(model.encoder)
    stages: dict[str, nn.Module] = dict(zip(model.block_names()[:n], model.blocks()[:n], strict=True))
    batch = signal.shape[0]
    index = model.index(channels)
    with torch.no_grad(), record({**stages, "final norm": model.encoder_norm}) as records:
        x = model.features(signal, index)
        model.encode(model.tokenize(x, model.bias(signal, index)), model.kept_groups(x))  # of all groups, kept or not
    patches = x.shape[1]
    shaped: dict[str, Any] = {}
    for name, values in records.items():
        value = values[-1]
        if value.ndim == 3:
            over_time = name.startswith("time")
            value = value.unflatten(0, (batch, -1))
            value = value.transpose(1, 2) if over_time else value
        assert value.shape[1] == patches
        shaped[name] = value if keep is None else keep(value)
    return shaped


def dynamic_correlation(model: Prise, signal: Tensor) -> Tensor:
    """Lag correlations between channels, (B, T, windows, lags, C, C)."""
    return lag_correlation(split_patches(signal, model.config.patch_size))


@dataclass(frozen=True)
class PriorPreservation:
    """How much of the static groups is left after training (the paper's Table 12).

    `ratio` is |Delta| / |M_s| (Frobenius, over the channels present), `inside` and `outside` the mean bias of channels
    in and out of a group.
    """

    ratio: float
    inside: float
    outside: float

    @property
    def gap(self) -> float:
        """Inside minus outside; the strength of the groups before training."""
        return self.inside - self.outside


def prior_preservation(model: Prise, channels: Sequence[str]) -> PriorPreservation:
    """How much of the prior is left, over the channels named."""
    index = model.index(channels)
    with torch.no_grad():
        prior, bias = model.static_groups.prior(index), model.static_groups(index)
        member = model.static_groups.inside[:, index]
        norm = prior.norm()
        ratio = float((bias - prior).norm() / norm) if norm > 0 else float("nan")
        return PriorPreservation(ratio, float(bias[member].mean()), float(bias[~member].mean()))


def block_of(model: Prise, name: str) -> Block:
    """A block by its name; ValueError lists the names."""
    names = model.block_names()
    if name not in names:
        raise ValueError(f"no block is called {name!r}; there are: {', '.join(names)}")
    return model.blocks()[names.index(name)]

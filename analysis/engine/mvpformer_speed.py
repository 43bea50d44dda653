"""How fast MVPFormer classifies on a CPU, beside the eager textbook form of the same weights, in the same process.

`python -m analysis.engine.mvpformer_speed SEGMENTS CHANNELS ROUNDS THREADS WHICH` prints JSON; `main.py bench
mvpformer` makes the table of it. WHICH is 0 for times of both in turn (milliseconds), 1 or 2 for the highest memory of
a process that runs only ours or only the textbook form, once (MB).

The textbook form is what the formulas say with the means of eager torch: all tokens of all layers, a key for every
query head, and each term of the score as a matrix of all tokens by all tokens.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor
from torch.nn import functional

from analysis.engine.product_rate import product_rate
from models.mvpformer import wavelet
from models.mvpformer.attention import MVPAttention
from models.mvpformer.config import MVPFORMER_S, MVPFormerConfig
from models.mvpformer.layers import Block, GatedMLP, WaveletEncoder
from models.mvpformer.model import MVPFormer

CONFIG = replace(MVPFORMER_S, task="classification")
_MICROVOLTS = 30.0
_STATUS = Path("/proc/self/status")


def textbook_logits(model: MVPFormer, signal: Tensor) -> Tensor:
    """(B, T, C, L) microvolts -> (B, classes), as `MVPFormer.logits`."""
    _, n_segments, n_channels, _ = signal.shape
    x = textbook_embedding(model.encoder, signal)
    rows = model.time_table[:n_segments], model.channel_table[:n_channels]
    for module in model.blocks:
        block = cast(Block, module)
        normed = block.norm(x)
        x = x + textbook_attention(block.attention, normed, *rows) + _mlp(block.mlp, normed)
    last = model.final_norm(x)[:, -1]
    logits: Tensor = model.head(last.mean(dim=1))
    return logits


def textbook_embedding(encoder: WaveletEncoder, signal: Tensor) -> Tensor:
    """The wavelet coefficients as convolutions with a stride of two, then norm and projection: (..., L) -> (..., E)."""
    low, high = (torch.tensor(taps[::-1], dtype=signal.dtype) for taps in (wavelet.LOW_PASS, wavelet.HIGH_PASS))
    kernel = torch.stack([low, high])[:, None]  # (2, 1, taps)
    approximation, details = signal.flatten(0, -2)[:, None], []
    for _ in range(wavelet.max_levels(signal.shape[-1])):
        n = approximation.shape[-1]
        before, n_out = wavelet.TAPS - 2, (n + wavelet.TAPS - 1) // 2
        after = 2 * n_out + wavelet.TAPS - 2 - before - n
        padded = torch.cat([approximation[..., n - before :], approximation, approximation[..., :after]], dim=-1)
        approximation, detail = functional.conv1d(padded, kernel, stride=2).split(1, dim=1)
        details.append(detail)
    coefficients = torch.cat([approximation, *reversed(details)], dim=-1).view(*signal.shape[:-1], -1)
    embedding: Tensor = encoder.projection(encoder.norm(coefficients))
    return embedding


def textbook_attention(attention: MVPAttention, normed: Tensor, time_rows: Tensor, channel_rows: Tensor) -> Tensor:
    """(B, T, C, E) normed tokens -> (B, T, C, E), all scores (B, H, N, N) at once."""
    _, n_segments, n_channels, _ = normed.shape
    tokens, width = normed.flatten(1, 2), attention.head_dim
    group = attention.n_head // attention.n_head_kv

    def split(x: Tensor) -> Tensor:
        """(..., n, heads d) -> (..., H, n, d)."""
        x = x.unflatten(-1, (-1, width)).transpose(-3, -2)
        return x if x.shape[-3] == attention.n_head else x.repeat_interleave(group, dim=-3)

    query = split(attention.query(tokens))
    key, value = (split(part) for part in attention.key_value(tokens).chunk(2, dim=-1))
    time_key, channel_key = split(attention.time_key(time_rows)), split(attention.channel_key(channel_rows))
    u, v, w = split(attention.bias.view(3, 1, -1))  # (H, 1, d) each

    token = torch.arange(n_segments * n_channels)
    segment, channel = token // n_channels, token % n_channels
    lag = segment[:, None] - segment
    inside = (lag <= attention.plain_form.window) | (segment == n_segments - 1)[:, None]
    time_row = (n_segments - 1 - lag).clamp(max=n_segments - 1)
    channel_row = n_channels - 1 - (channel[:, None] - channel).abs()

    # One term after the other, so that no more than three such matrices are in memory at a time.
    score = ((query + u) @ key.mT) * inside
    rows = (query + v) @ time_key.mT  # (B, H, N, T)
    score = score + rows.gather(-1, time_row.expand(*rows.shape[:-1], -1))
    rows = (query + w) @ channel_key.mT  # (B, H, N, C)
    score = score + rows.gather(-1, channel_row.expand(*rows.shape[:-1], -1))
    score = (score / width**0.5).masked_fill(lag < 0, -torch.inf)
    attended = (score.softmax(-1) @ value).transpose(1, 2).flatten(2)
    out: Tensor = attention.output(attended)
    return out.view(normed.shape)


def _mlp(mlp: GatedMLP, x: Tensor) -> Tensor:
    out: Tensor = mlp.down(functional.silu(mlp.gate(x)) * mlp.up(x))
    return out


def operations(config: MVPFormerConfig, n_segments: int, n_channels: int) -> float:
    """Operations (a product and a sum are two) of the matrix products without which there are no logits, (T, C).

    Projections of the last layer for the last segment only, but for its keys and values; attention over the keys inside
    the window, and one product for those outside.
    """
    n_tokens, width, heads = n_segments * n_channels, config.n_embd, config.n_head * config.head_dim
    keys, rest = 2 * width * config.kv_width, 2 * width * width + 3 * width * config.n_inner
    full = config.n_layer - 1
    projections = (full + 1) * n_tokens * keys + (full * n_tokens + n_channels) * rest
    earlier = range(n_segments - 1)
    inside = sum(min(segment, config.window_segments) + 1 for segment in earlier)
    outside = sum(max(0, segment - config.window_segments) for segment in earlier)
    last = 2 * n_segments
    attention = heads * n_channels**2 * (full * (2 * inside + outside + last) + last)
    encoder = n_tokens * sum(wavelet.band_lengths(config.size_input)) * width
    return 2.0 * (projections + attention + encoder)


def bare_products(model: MVPFormer, n_segments: int, n_channels: int) -> Callable[[], Tensor]:
    """Work that multiplies tokens with weights, as many as `operations` counts, layer by layer, and does no more."""
    n_tokens = n_segments * n_channels
    tokens, inner = torch.randn(n_tokens, model.config.n_embd), torch.randn(n_tokens, model.config.n_inner)
    coefficients = torch.randn(n_tokens, model.encoder.projection.in_features)
    pairs: list[tuple[Tensor, Tensor]] = [(coefficients, model.encoder.projection.weight)]
    blocks = [cast(Block, module) for module in model.blocks]
    for block in blocks:
        n = n_channels if block is blocks[-1] else n_tokens
        attention, mlp = block.attention, block.mlp
        pairs.append((tokens, attention.key_value.weight))
        pairs += [(tokens[:n], part.weight) for part in (attention.query, attention.output, mlp.gate, mlp.up)]
        pairs.append((inner[:n], mlp.down.weight))

    def multiply() -> Tensor:
        return [functional.linear(x, weight) for x, weight in pairs][-1]

    return multiply


@torch.inference_mode()
def measure(n_segments: int, n_channels: int, rounds: int, config: MVPFormerConfig = CONFIG) -> dict[str, Any]:
    """Samples of a window from signal to logits by either form in turn, and of a recording's next window by ours.

    "products" are samples of what both forms multiply tokens with, taken in turn too.
    "difference" is the greatest between both forms' logits, as a share of the largest logit.
    """
    model, signal = _example(n_segments, n_channels, config)
    embeddings = model.embed(signal)

    def next_window() -> Tensor:
        """All but the newest segment are known from the window before."""
        newest = model.embed(signal[:, -1:])
        return model.logits_from_embeddings(torch.cat([embeddings[:, :-1], newest], dim=1))

    samples: dict[str, list[float]] = {"ours": [], "next": [], "textbook": [], "products": []}
    works: dict[str, Callable[[], Tensor]] = {
        "ours": lambda: model.logits(signal),
        "next": next_window,
        "textbook": lambda: textbook_logits(model, signal),
        "products": bare_products(model, n_segments, n_channels),
    }
    made = {name: work() for name, work in works.items()} if rounds > 1 else {"ours": model.logits(signal)}
    for _ in range(rounds):
        for name, work in works.items():
            began = time.perf_counter()
            made[name] = work()
            samples[name].append(1e3 * (time.perf_counter() - began))
    largest = made["textbook"].abs().max()
    apart = max(float((made[name] - made["textbook"]).abs().max() / largest) for name in ("ours", "next"))
    gflop = operations(config, n_segments, n_channels) / 1e9
    return {**samples, "difference": apart, "gflop": gflop, "gflops": product_rate()}


@torch.inference_mode()
def measure_memory(n_segments: int, n_channels: int, ours: bool, config: MVPFormerConfig = CONFIG) -> dict[str, Any]:
    """The highest memory of this process, which does nothing else, in MB, weights and libraries with it."""
    model, signal = _example(n_segments, n_channels, config)
    if ours:
        model.logits(signal)
    else:
        textbook_logits(model, signal)
    return {"memory": peak_megabytes()}


def peak_megabytes() -> float:
    """The most memory that this process ever had, MB."""
    if _STATUS.exists():  # what getrusage tells may be that of the process that started this one
        line = next(line for line in _STATUS.read_text().splitlines() if line.startswith("VmHWM:"))
        return float(line.split()[1]) / 1024
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (1024**2 if sys.platform == "darwin" else 1024)


def _example(n_segments: int, n_channels: int, config: MVPFormerConfig) -> tuple[MVPFormer, Tensor]:
    """A random model and a random window of one item."""
    torch.manual_seed(0)
    return MVPFormer(config).eval(), _MICROVOLTS * torch.randn(1, n_segments, n_channels, config.size_input)


def main(arguments: list[str]) -> None:
    """Print what was measured as JSON."""
    n_segments, n_channels, rounds, threads, which = (int(argument) for argument in arguments)
    torch.set_num_threads(threads)
    if which == 0:
        print(json.dumps(measure(n_segments, n_channels, rounds)))
    else:
        print(json.dumps(measure_memory(n_segments, n_channels, ours=which == 1)))


if __name__ == "__main__":
    main(sys.argv[1:])

"""How the cost of attention by axis grows, beside full attention over all tokens, in the same process.

`python -m analysis.engine.axon_speed ROUNDS THREADS` prints the samples as JSON; `main.py bench axon` makes the table
of them. Time of one layer at the published width (512, 8 heads), of the same layer with its weights in memory instead
of fused, and of its attention, its projections and its gates alone, milliseconds; where the system tells it, the
highest memory above that before the call, MB.
"""

from __future__ import annotations

import ctypes
import json
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from analysis.engine.product_rate import product_rate
from models.axon.attention import Attend, AxisAttention, DenseAttention, window_bias
from models.axon.config import AXON, DENSE

GRID = ((19, 11), (64, 11), (64, 33), (64, 60), (128, 33))  # channels, patches
_STATUS, _REFS = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def interactions(channels: int, patches: int) -> tuple[int, int]:
    """Pairs of tokens that a layer looks at: by axis C T^2 + T C^2, and all (C T)^2."""
    return channels * patches**2 + patches * channels**2, (channels * patches) ** 2


def operations(channels: int, patches: int) -> tuple[float, float]:
    """Operations (a product and a sum are two) of the matrix products that a layer cannot do without, by axis and all.

    By axis: projections of both axes, two gates, the scores of each axis once, and the values of each axis once, since
    the windows over time weigh the same ones. Altogether: one set of projections, scores and values of all pairs.
    """
    tokens, width = channels * patches, AXON.embed_dim
    by_axis, altogether = interactions(channels, patches)
    gates = 2 * (width + 2) * AXON.gate_width
    return (
        2.0 * (tokens * (8 * width**2 + gates) + 2 * width * by_axis),
        2.0 * (tokens * 4 * width**2 + 2 * width * altogether),
    )


def even_tokens() -> float:
    """How many more tokens a token may look at altogether for what projections and gates cost it more by axis."""
    width = AXON.embed_dim
    return (4 * width**2 + 2 * (width + 2) * AXON.gate_width) / (2 * width)


def measure(rounds: int) -> dict[str, list[float]]:
    """Samples by case, such as "axis 64 x 11": own and rival in turn, so that both meet the same machine."""
    torch.manual_seed(0)
    axis = AxisAttention(AXON).eval()
    layers: dict[str, Callable[[Tensor], Tensor]] = {"axis": axis, "dense": DenseAttention(DENSE).eval()}
    projections = (axis.temporal_qkv, axis.temporal_out, axis.spatial_qkv, axis.spatial_out)
    alone = {"axis": by_axis, "dense": altogether}
    forms: dict[str, Callable[[Tensor], Any]] = {
        **layers,
        "unfused": partial(axis, plain=True),
        "projections": lambda x: [part(x) for part in projections],
        "gates": lambda x: [gate(x) for gate in (axis.axis_gate, axis.scale_gate) if gate is not None],
    }
    samples: dict[str, list[float]] = {}
    for channels, patches in GRID:
        x, qkv = (torch.randn(1, channels, patches, n * AXON.embed_dim) for n in (1, 3))
        place = f"{channels} x {patches}"
        for name, layer in layers.items():
            _time(layer, x)  # warm
            memory = _memory(layer, x)
            if memory is not None:
                samples[f"{name} {place} memory"] = [memory]
        for _ in range(rounds):
            for name, layer in forms.items():
                samples.setdefault(f"{name} {place}", []).append(_time(layer, x))
            for name in alone:
                samples.setdefault(f"{name} {place} alone", []).append(_time(alone[name], qkv))
    return samples


def by_axis(qkv: Tensor) -> Tensor:
    """Attention of a layer without its projections: both windows over time, then space; (1, C, T, 3 D) -> (C, T, D)."""
    attend = Attend(AXON.num_heads)
    over_time = [attend(qkv[0], window_bias(qkv.shape[2], radius)) for radius in AXON.scales]
    return sum(over_time, attend(qkv[0].transpose(0, 1), None).transpose(0, 1))


def altogether(qkv: Tensor) -> Tensor:
    """Attention over all tokens without its projections; (1, C, T, 3 D) -> (1, C T, D)."""
    return Attend(DENSE.num_heads)(qkv.flatten(1, 2), None)


@torch.inference_mode()
def _time(layer: Callable[[Tensor], Any], x: Tensor) -> float:
    began = time.perf_counter()
    layer(x)
    return 1e3 * (time.perf_counter() - began)


@torch.inference_mode()
def _memory(layer: Callable[[Tensor], Tensor], x: Tensor) -> float | None:
    """Megabytes by which the resident memory rises in a call; None where the system does not tell."""
    try:
        ctypes.CDLL(None).malloc_trim(0)  # or what earlier calls left behind is used anew, and nothing rises
    except (AttributeError, OSError, TypeError):
        return None
    try:
        _REFS.write_text("5")  # the highest mark begins anew
        before = _resident("VmRSS")
        layer(x)
        return (_resident("VmHWM") - before) / 1024
    except OSError:
        return None


def _resident(name: str) -> float:
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith(name))
    return float(line.split()[1])


def main(arguments: list[str]) -> None:
    """Print the samples as JSON."""
    rounds, threads = (int(argument) for argument in arguments)
    torch.set_num_threads(threads)
    found: dict[str, Any] = measure(rounds)
    found["gflop"] = {f"{c} x {t}": [needed / 1e9 for needed in operations(c, t)] for c, t in GRID}
    found["even"], found["gflops"] = even_tokens(), product_rate()
    found["pairs"] = {f"{c} x {t}": interactions(c, t) for c, t in GRID}
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1:])

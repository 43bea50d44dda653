"""How the cost of attention by axis grows, beside full attention over all tokens, in the same process.

`python -m analysis.engine.axon_speed ROUNDS THREADS` prints the samples as JSON; `main.py bench axon` makes the table
of them. Time of one attention layer at the published width (512, 8 heads), milliseconds; where the system tells it, the
highest memory above that before the call, megabytes.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from models.axon.attention import AxisAttention, DenseAttention
from models.axon.config import AXON, DENSE

GRID = ((19, 11), (64, 11), (64, 33), (128, 33))  # channels, patches
_STATUS, _REFS = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def interactions(channels: int, patches: int) -> tuple[int, int]:
    """Pairs of tokens that a layer looks at: by axis C T^2 + T C^2, and all (C T)^2."""
    return channels * patches**2 + patches * channels**2, (channels * patches) ** 2


def measure(rounds: int) -> dict[str, list[float]]:
    """Samples by case, such as "axis 64 x 11": own and rival in turn, so that both meet the same machine."""
    torch.manual_seed(0)
    layers: dict[str, nn.Module] = {"axis": AxisAttention(AXON).eval(), "dense": DenseAttention(DENSE).eval()}
    samples: dict[str, list[float]] = {}
    for channels, patches in GRID:
        x = torch.randn(1, channels, patches, AXON.embed_dim)
        place = f"{channels} x {patches}"
        for name, layer in layers.items():
            _time(layer, x)  # warm
            memory = _memory(layer, x)
            if memory is not None:
                samples[f"{name} {place} memory"] = [memory]
        for _ in range(rounds):
            for name, layer in layers.items():
                samples.setdefault(f"{name} {place}", []).append(_time(layer, x))
    return samples


@torch.inference_mode()
def _time(layer: nn.Module, x: Tensor) -> float:
    began = time.perf_counter()
    layer(x)
    return 1e3 * (time.perf_counter() - began)


@torch.inference_mode()
def _memory(layer: nn.Module, x: Tensor) -> float | None:
    """Megabytes by which the resident memory rises in a call; None where the system does not tell."""
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
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1:])

"""How fast the mixture of experts works when tokens are sorted by expert, beside one token after the other.

`python -m analysis.engine.prise_speed ROUNDS THREADS` prints the samples as JSON; `main.py bench prise` makes the table
of them. Time of one mixture of the B size on the tokens of one second (42 groups) and of ten, of all its blocks on
groups that its selector keeps and on all of them, and of its attention of groups to groups in ten seconds, fused and
with its weights in memory, milliseconds.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from analysis.engine.product_rate import product_rate
from models.prise.blocks import Attention
from models.prise.config import PRISE_B
from models.prise.experts import Mixture
from models.prise.model import Prise

TOKENS = (42, 420)  # of a second, and of ten
GROUPS = (10, 42)  # seconds, each of which attends to its own groups
CHANNELS = 19


def by_token(mixture: Mixture, x: Tensor) -> Tensor:
    """The same mixture written as its formula reads: every token meets its experts by itself."""
    routing = mixture.route(x)
    out = torch.zeros_like(x)
    for n in range(len(x)):
        for expert in (*range(mixture.n_shared + 1),):
            out[n] += mixture.expert(x[n], expert)
        for expert, gate in zip(routing.experts[n].tolist(), routing.gates[n], strict=True):
            out[n] += gate * mixture.expert(x[n], expert)
    return out


def operations(mixture: Mixture, count: int) -> float:
    """Operations (a product and a sum are two) of the experts that so many tokens are sent to."""
    _, width, hidden = mixture.gate.shape
    return 2.0 * count * 3 * width * hidden * (1 + mixture.n_shared + mixture.top_k)


def attention_operations() -> float:
    """Operations of one attention of groups to groups: projections, scores and values."""
    seconds, groups = GROUPS
    width = PRISE_B.embed_dim
    kv = width // PRISE_B.num_heads * PRISE_B.n_kv_head
    return 2.0 * seconds * groups * (2 * width**2 + 2 * width * kv + 2 * groups * width)


def measure(rounds: int) -> dict[str, list[float]]:
    """Samples by case, such as "grouped 420": own and rival in turn; "difference" is the greatest between the two.

    "gflop 420" are billions of operations that cannot be avoided, "gflops" how many a second this machine does.
    """
    torch.manual_seed(0)
    mixture = Mixture(PRISE_B, 1).eval()
    attention = Attention(PRISE_B).eval()
    samples: dict[str, list[float]] = {"gflops": [product_rate()], "gflop fused": [attention_operations() / 1e9]}
    with torch.inference_mode():
        for count in TOKENS:
            x = torch.randn(count, PRISE_B.embed_dim)
            samples[f"gflop {count}"] = [operations(mixture, count) / 1e9]
            samples[f"difference {count}"] = [float((mixture(x) - by_token(mixture, x)).abs().max())]
            for _ in range(rounds):
                for name, work in (("grouped", partial(mixture, x)), ("by token", partial(by_token, mixture, x))):
                    samples.setdefault(f"{name} {count}", []).append(_time(work))
        x = torch.randn(*GROUPS, PRISE_B.embed_dim)
        samples["weights MB"] = [4e-6 * GROUPS[0] * PRISE_B.num_heads * GROUPS[1] ** 2]
        samples["difference fused"] = [float((attention(x, x) - attention(x, x, plain=True)).abs().max())]
        for _ in range(5 * rounds):
            samples.setdefault("fused", []).append(_time(partial(attention, x, x)))
            samples.setdefault("unfused", []).append(_time(partial(attention, x, x, plain=True)))
        return samples | _kept_groups(rounds)


def _kept_groups(rounds: int) -> dict[str, list[float]]:
    """Samples of all blocks on the groups that a selector keeps, and on all of them, of which it drops the rest."""
    model = Prise(replace(PRISE_B, has_selector=True)).eval()
    x = torch.randn(1, GROUPS[0], CHANNELS, PRISE_B.embed_dim)
    signal = torch.randn(1, CHANNELS, GROUPS[0] * PRISE_B.patch_size)
    bias, keep = model.bias(signal, torch.arange(CHANNELS)), model.kept_groups(x)
    forms: dict[str, Callable[[], Tensor]] = {
        "kept": partial(model.encode_kept, x, bias, keep),
        "all groups": lambda: model.encode(model.tokenize(x, bias), keep),
    }
    apart = [float((forms["kept"]() - forms["all groups"]()).abs().max())]
    samples: dict[str, list[float]] = {name: [] for name in forms}
    for _ in range(rounds):
        for name, work in forms.items():
            samples[name].append(_time(work))
    return samples | {"difference kept": apart, "kept of all": [100 * float(keep.mean())]}


def _time(work: Callable[[], Tensor]) -> float:
    began = time.perf_counter()
    work()
    return 1e3 * (time.perf_counter() - began)


def main(arguments: list[str]) -> None:
    """Print the samples as JSON."""
    rounds, threads = (int(argument) for argument in arguments)
    torch.set_num_threads(threads)
    print(json.dumps(measure(rounds)))


if __name__ == "__main__":
    main(sys.argv[1:])

"""How fast the mixture of experts works when tokens are sorted by expert, beside one token after the other.

`python -m analysis.engine.prise_speed ROUNDS THREADS` prints the samples as JSON; `main.py bench prise` makes the table
of them. Time of one mixture of the B size on the tokens of ten seconds (42 groups), milliseconds.
"""

from __future__ import annotations

import json
import sys
import time

import torch
from torch import Tensor

from models.prise.config import PRISE_B
from models.prise.experts import Mixture

TOKENS = (42, 420)  # of a second, and of ten


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


def measure(rounds: int) -> dict[str, list[float]]:
    """Samples by case, such as "grouped 420": own and rival in turn; "difference" is the greatest between the two."""
    torch.manual_seed(0)
    mixture = Mixture(PRISE_B, 1).eval()
    samples: dict[str, list[float]] = {}
    with torch.inference_mode():
        for count in TOKENS:
            x = torch.randn(count, PRISE_B.embed_dim)
            samples[f"difference {count}"] = [float((mixture(x) - by_token(mixture, x)).abs().max())]
            for _ in range(rounds):
                for name, work in (("grouped", mixture), ("by token", lambda x=x: by_token(mixture, x))):
                    began = time.perf_counter()
                    work(x)
                    samples.setdefault(f"{name} {count}", []).append(1e3 * (time.perf_counter() - began))
    return samples


def main(arguments: list[str]) -> None:
    """Print the samples as JSON."""
    rounds, threads = (int(argument) for argument in arguments)
    torch.set_num_threads(threads)
    print(json.dumps(measure(rounds)))


if __name__ == "__main__":
    main(sys.argv[1:])

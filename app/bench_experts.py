"""PRiSE's speed: a mixture of experts with tokens sorted by expert, beside one token after the other.

The measuring is done by `analysis.engine.prise_speed` in a process of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from app.bench_apart import measure_apart
from app.bench_cases import Case, Measured
from app.benches import Found, Plan


def bench(plan: Plan) -> Found:
    """Measure PRiSE-EEG's experts with all cores."""
    from app.engine_process import core_count

    found = measure_prise(plan.pick(5, 10, 20), core_count())
    if isinstance(found, str):
        return Found([(Case("prise", "PRiSE-EEG's experts", None), found)])
    return Found(prise_rows(found), [explain(found)])


def measure_prise(rounds: int, threads: int) -> dict[str, Any] | str:
    """The samples of one process, or what it complained of."""
    return measure_apart("analysis.engine.prise_speed", rounds, threads, threads=threads)


def prise_rows(found: Mapping[str, Any]) -> list[tuple[Case, Measured]]:
    """The rows of the table: three for each number of tokens, and one of the attention."""
    rows: list[tuple[Case, Measured]] = []
    for count in (int(name.removeprefix("grouped ")) for name in found if name.startswith("grouped ")):
        grouped, single = np.array(found[f"grouped {count}"]), np.array(found[f"by token {count}"])
        text = f"mixture of {count} tokens"
        rows += [
            (Case(f"prise {count} by token", f"{text}: token by token", None), _measured(single)),
            (
                Case(f"prise {count} grouped", f"{text}: sorted by expert", None, rival="token by token"),
                _beside(found, grouped, single, f"gflop {count}"),
            ),
            (
                Case(f"prise {count} share", f"{text}: that, share of token by token", 1.0, unit=""),
                _measured(grouped / single),
            ),
        ]
    case = Case("prise attention", "groups to groups, 10 s: fused attention", None, rival="with its weights in memory")
    rows.append((case, _beside(found, found["fused"], found["unfused"], "gflop fused")))
    return rows


def _beside(found: Mapping[str, Any], own: Any, rival: Any, gflop: str) -> Measured:
    """Samples of ours and of a rival in turn, with the floor of their matrix products."""
    needed, rate = found[gflop][0], found["gflops"][0]
    floor_of = f"{needed:.2g} GFLOP at the {rate:.0f} GFLOP/s of a large matrix product here"
    return Measured(_measured(own).samples, None, _measured(rival).samples, 1e3 * needed / rate, floor_of)


def explain(found: Mapping[str, Any]) -> str:
    """That both forms compute the same."""
    most = max(value[0] for name, value in found.items() if name.startswith("difference"))
    return (
        f"both forms of mixture and attention agree within {most:.0e}; size B, for each token the base "
        "expert, one that is shared and one that it is routed to"
    )


def _measured(samples: Any) -> Measured:
    return Measured(tuple(float(sample) for sample in samples))

"""PRiSE's speed: a mixture of experts with tokens sorted by expert, beside one token after the other.

The measuring is done by `analysis.engine.prise_speed` in a process of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
    """The rows of the table: one for each number of tokens, one of the choice of groups and one of the attention."""
    rows: list[tuple[Case, Measured]] = []
    for count in (int(name.removeprefix("grouped ")) for name in found if name.startswith("grouped ")):
        text = f"mixture of {count} tokens: sorted by expert"
        case = Case(f"prise {count}", text, None, rival="token by token", gain=1.0)
        rows.append((case, _beside(found, f"grouped {count}", f"by token {count}", f"gflop {count}")))
    case = Case("prise kept", "blocks of 10 s: groups that are kept", None, rival="all groups, some dropped after")
    rows.append((case, _beside(found, "kept", "all groups")))
    case = Case("prise attention", "groups to groups, 10 s: fused attention", None, rival="with its weights in memory")
    rows.append((case, _beside(found, "fused", "unfused", "gflop fused")))
    return rows


def _beside(found: Mapping[str, Any], own: str, rival: str, gflop: str | None = None) -> Measured:
    """Samples of ours and of a rival in turn, with the floor of their matrix products."""
    samples, other = (tuple(map(float, found[name])) for name in (own, rival))
    if gflop is None:
        return Measured(samples, None, other)
    needed, rate = found[gflop][0], found["gflops"][0]
    floor_of = f"{needed:.2g} GFLOP at the {rate:.0f} GFLOP/s of a large matrix product here"
    return Measured(samples, None, other, 1e3 * needed / rate, floor_of)


def explain(found: Mapping[str, Any]) -> str:
    """That both forms compute the same."""
    most = max(value[0] for name, value in found.items() if name.startswith("difference"))
    return (
        f"both forms of mixture, groups and attention agree within {most:.0e}; size B, for each token the base "
        f"expert, one that is shared and one that it is routed to; {found['kept of all'][0]:.0f} % of groups are kept; "
        f"all weights between the groups of 10 s are {found['weights MB'][0]:.2g} MB, which the caches hold as well: "
        "fusing them away gains no time at this size"
    )

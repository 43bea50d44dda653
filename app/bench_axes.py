"""AXON's speed: a layer of attention by axis beside one of attention over all tokens, over a grid of sizes.

The cost by axis grows as C T^2 + T C^2, over all tokens as (C T)^2; the rows say how much of that the clock and the
memory see. The measuring is done by `analysis.engine.axon_speed` in a process of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from app.bench_apart import measure_apart
from app.bench_cases import Case, Measured
from app.benches import Found, Plan

_MANY = 2000  # tokens; with fewer, what a call costs by itself outweighs the pairs that it looks at


def bench(plan: Plan) -> Found:
    """Measure AXON's layers with all cores."""
    from app.engine_process import core_count

    found = measure_axon(plan.pick(5, 10, 20), core_count())
    if isinstance(found, str):
        return Found([(Case("axon", "AXON's layers", None), found)])
    return Found(axon_rows(found), [explain(found)])


def measure_axon(rounds: int, threads: int) -> dict[str, Any] | str:
    """The samples of one process, or what it complained of."""
    return measure_apart("analysis.engine.axon_speed", rounds, threads, threads=threads)


def axon_rows(found: Mapping[str, Any]) -> list[tuple[Case, Measured]]:
    """The rows of the table, four or six for each size of the grid."""
    rows: list[tuple[Case, Measured]] = []
    for place in found["pairs"]:
        channels, patches = (int(number) for number in place.split(" x "))
        text = f"{channels} ch x {patches} s"
        axis, dense = np.array(found[f"axis {place}"]), np.array(found[f"dense {place}"])
        gflop, gflops = found["gflop"][place], found["gflops"]
        floor_of = f"{gflop:.2g} GFLOP at the {gflops:.0f} GFLOP/s of a large matrix product here"
        own, unfused = _measured(axis).samples, _measured(found[f"unfused {place}"]).samples
        target = 1.0 if channels * patches >= _MANY else None
        axis_alone, dense_alone = np.array(found[f"axis {place} alone"]), np.array(found[f"dense {place} alone"])
        rows += [
            (Case(f"axon {place} dense", f"{text}: layer with attention over all tokens", None), _measured(dense)),
            (
                Case(f"axon {place} axis", f"{text}: layer by axis, fused", None, rival="with its weights in memory"),
                Measured(own, None, unfused, 1e3 * gflop / gflops, floor_of),
            ),
            (Case(f"axon {place} share", f"{text}: that, share of all tokens", None, unit=""), _measured(axis / dense)),
            (
                Case(f"axon {place} alone", f"{text}: without projections and gates, share", target, unit=""),
                _measured(axis_alone / dense_alone),
            ),
        ]
        if f"axis {place} memory" in found:
            least, rival = (found[f"{which} {place} memory"][0] for which in ("axis", "dense"))
            rows += [
                (Case(f"axon {place} MB dense", f"{text}: memory of all tokens", None, unit="MB"), Measured((rival,))),
                (Case(f"axon {place} MB", f"{text}: memory by axis", None, unit="MB"), Measured((least,))),
            ]
    return rows


def explain(found: Mapping[str, Any]) -> str:
    """What the ratios are to be held against: pairs of tokens looked at, by axis and altogether."""
    lines = []
    for place, (by_axis, altogether) in found["pairs"].items():
        lines.append(
            f"{place}: {by_axis:,} pairs of tokens by axis, {altogether:,} altogether, {by_axis / altogether:.3f}"
        )
    return "pairs of tokens that a layer looks at, C T^2 + T C^2 and (C T)^2\n" + "\n".join(lines)


def _measured(samples: Any) -> Measured:
    return Measured(tuple(float(sample) for sample in samples))

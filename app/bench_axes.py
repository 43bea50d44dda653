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
_RIVAL = "attention over all tokens"


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
    """The rows of the table, two or three for each size of the grid, each beside attention over all tokens."""
    rows: list[tuple[Case, Measured]] = []
    for place in found["pairs"]:
        channels, patches = (int(number) for number in place.split(" x "))
        text = f"{channels} ch x {patches} s"
        gflop, gflops = found["gflop"][place][0], found["gflops"]
        floor_of = f"{gflop:.2g} GFLOP at the {gflops:.0f} GFLOP/s of a large matrix product here"
        gain = 1.0 if channels * patches >= _MANY else None
        rows += [
            (
                Case(f"axon {place}", f"{text}: layer by axis", None, rival=_RIVAL),
                _beside(found, place, "", 1e3 * gflop / gflops, floor_of),
            ),
            (
                Case(f"axon {place} alone", f"{text}: without projections and gates", None, rival=_RIVAL, gain=gain),
                _beside(found, place, " alone"),
            ),
        ]
        if f"axis {place} memory" in found:
            case = Case(f"axon {place} MB", f"{text}: memory of the layer", None, unit="MB", rival=_RIVAL)
            rows.append((case, _beside(found, place, " memory")))
    return rows


def _beside(found: Mapping[str, Any], place: str, what: str, floor: float | None = None, of: str = "") -> Measured:
    own, rival = (tuple(map(float, found[f"{form} {place}{what}"])) for form in ("axis", "dense"))
    return Measured(own, None, rival, floor, of)


def explain(found: Mapping[str, Any]) -> str:
    """What the ratios are to be held against: pairs of tokens looked at, operations needed, and time per operation."""
    lines = ["pairs of tokens that a layer looks at are C T^2 + T C^2 by axis and (C T)^2 altogether"]
    for place, (by_axis, altogether) in found["pairs"].items():
        own, all_tokens = found["gflop"][place]
        parts = (f"axis {place}", f"dense {place}", f"unfused {place}", f"projections {place}", f"gates {place}")
        axis, dense, unfused, projections, gates = (float(np.median(found[part])) for part in parts)
        attention = float(np.median(found[f"axis {place} alone"]))
        lines.append(
            f"{place}: {by_axis:,} pairs by axis, {altogether:,} altogether; {own:.2g} and {all_tokens:.2g} GFLOP, "
            f"{own / all_tokens:.2f} x, in {axis / dense:.2f} x the time; of {axis:.3g} ms by axis {projections:.3g} "
            f"are projections, {gates:.2g} gates and {attention:.2g} attention; with the weights of attention in "
            f"memory {unfused / axis:.2f} x the time"
        )
    lines.append(
        f"small windows: the second set of projections and the gates take a token as many operations as looking at "
        f"{found['even']:,.0f} more tokens, so that a window of fewer needs more of them by axis than altogether; what "
        "both axes and both windows over time give is held until the gates mix it, which takes the memory"
    )
    return "\n".join(lines)

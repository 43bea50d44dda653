"""FlashMVPA's speed and memory over the grid of the paper's tables S3 and S4, beside the plain form and flex attention.

The measuring is done by `analysis.engine.flashmvpa_speed` in a process of its own. Without a GPU the rows say so, and
only the numbers themselves are compared, in Triton's interpreter.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from app.bench_apart import measure_apart
from app.bench_cases import Case, Measured, Rows
from app.benches import Found, Plan

GRID = (1, 10, 20, 30, 40, 50)  # segments and channels of tables S3 and S4
WAYS = {"flash": "FlashMVPA", "plain": "plain MVPA", "flex": "compiled flex attention"}
# Parts per million of the result: what rounding may do, forward; gradients round twice.
ALLOWED = {"forward float32": 10, "gradients float32": 10, "forward bfloat16": 10_000, "gradients bfloat16": 20_000}
_MODULE = "analysis.engine.flashmvpa_speed"


def bench(plan: Plan) -> Found:
    """Compare the numbers, and measure the grid where there is a GPU."""
    found = measure_flashmvpa(plan.pick(5, 10, 30), plan.pick((50,), (10, 50), GRID))
    if isinstance(found, str):
        return Found([(Case("flashmvpa", "FlashMVPA", None), found)])
    rows = [*difference_rows(found), *grid_rows(found)]
    return Found(rows, [explain(found)] if found.get("cells") else [])


def measure_flashmvpa(rounds: int, sizes: tuple[int, ...]) -> dict[str, Any] | str:
    """What one process found, or what it complained of."""
    return measure_apart(_MODULE, rounds, *sizes, threads=1)


def difference_rows(found: Mapping[str, Any]) -> Rows:
    """How far the kernels' results are from the plain form's."""
    where = "on the GPU" if found.get("cells") else "in Triton's interpreter"
    rows: Rows = []
    for name, allowed in ALLOWED.items():
        case = Case(f"flashmvpa {name}", f"{name}, {where}: away from plain", allowed, unit="ppm")
        shares = found["difference"]
        missing = "not measured: triton is not installed"
        rows.append((case, missing if shares is None else Measured((1e6 * shares[name],))))
    return rows


def grid_rows(found: Mapping[str, Any]) -> Rows:
    """Four rows for each place of the grid, or four that say why there is none."""
    if not found.get("cells"):
        said = f"not measured: {found['reason']}"
        units = {
            "time beside plain MVPA": "ms",
            "time beside compiled flex attention": "ms",
            "rate of computing": "TFLOP/s",
            "memory beside plain MVPA": "GB",
        }
        where = "T x C up to 50 x 50, batch 64"
        return [(Case(f"flashmvpa {text}", f"{where}: {text}", None, unit=unit), said) for text, unit in units.items()]
    return [row for place, cell in found["cells"].items() for row in _cell_rows(place, cell, found["ceilings"])]


def _cell_rows(place: str, cell: Mapping[str, Any], ceilings: Mapping[str, float]) -> Rows:
    cases = {
        "plain": Case(f"flashmvpa {place}", f"{place}: FlashMVPA", None, rival=WAYS["plain"]),
        "flex": Case(f"flashmvpa {place} flex", f"{place}: beside flex", None, rival=WAYS["flex"]),
        "rate": Case(f"flashmvpa {place} rate", f"{place}: rate", None, unit="TFLOP/s"),
        "memory": Case(f"flashmvpa {place} GB", f"{place}: memory", None, unit="GB", rival=WAYS["plain"]),
    }
    own = cell["flash"]
    if isinstance(own, str):
        return [(case, own) for case in cases.values()]
    floor, floor_of = _floor(cell, ceilings)
    samples = {name: tuple(cell[name]["ms"]) if isinstance(cell[name], dict) else () for name in ("plain", "flex")}
    rates = tuple(cell["operations"] / milliseconds / 1e9 for milliseconds in own["ms"])
    taken = (cell["plain"]["GB"],) if isinstance(cell["plain"], dict) else ()
    measured = {
        "plain": Measured(tuple(own["ms"]), rival=samples["plain"], floor=floor, floor_of=floor_of),
        "flex": Measured(tuple(own["ms"]), rival=samples["flex"], floor=floor, floor_of=floor_of),
        "rate": Measured(rates),
        "memory": Measured((own["GB"],), rival=taken, floor=cell["bytes"] / 1e9, floor_of="inputs and outputs"),
    }
    return [(case, measured[name]) for name, case in cases.items()]


def _floor(cell: Mapping[str, Any], ceilings: Mapping[str, float]) -> tuple[float, str]:
    """Milliseconds that the operations or the bytes need at the rates this GPU was seen to reach."""
    computing = cell["operations"] / ceilings["TFLOP/s"] / 1e9
    moving = cell["bytes"] / ceilings["GB/s"] / 1e6
    if computing > moving:
        return computing, f"operations at {ceilings['TFLOP/s']:.0f} TFLOP/s"
    return moving, f"bytes at {ceilings['GB/s']:.0f} GB/s"


def explain(found: Mapping[str, Any]) -> str:
    """The grids as the paper prints them: milliseconds, rate and memory of each way, segments down, channels across."""
    sizes = sorted({int(place.split(" x ")[0]) for place in found["cells"]})
    ceilings = found["ceilings"]
    lines = [
        f"{found['gpu']}: copies at {ceilings['GB/s']:,.0f} GB/s, multiplies bfloat16 at {ceilings['TFLOP/s']:,.0f} "
        "TFLOP/s; attention of one layer of size S alone, forward, bfloat16, batch 64; ms / TFLOP/s / GB, T down, "
        "C across; all rates count the operations of the split form"
    ]
    for way, name in WAYS.items():
        lines += ["", name, *_grid(found["cells"], way, sizes)]
    return "\n".join(lines)


def _grid(cells: Mapping[str, Any], way: str, sizes: list[int]) -> list[str]:
    head = ["T \\ C", *map(str, sizes)]
    body = [[str(t), *(_entry(cells[f"{t} x {c}"], way) for c in sizes)] for t in sizes]
    widths = [max(map(len, column)) for column in zip(head, *body, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in (head, *body)]


def _entry(cell: Mapping[str, Any], way: str) -> str:
    found = cell[way]
    if isinstance(found, str):
        return found
    milliseconds = float(np.median(found["ms"]))
    return f"{milliseconds:.3g} / {cell['operations'] / milliseconds / 1e9:.3g} / {found['GB']:.2f}"

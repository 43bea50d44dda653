"""Sanity checks as tables of text: one for a terminal, the same for a spreadsheet, and their rows for a panel."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.analyses import Analysis
from analysis.analysis_tables import heading

HELD = {True: "holds", False: "does not hold", None: "not decided"}
MEASURE_TITLES = {"rank": "rank of focus", "top3": "in top 3", "auroc": "AUROC", "correlation": "rho with field"}


@dataclass(frozen=True)
class Table:
    """A title, the heads of columns, and rows of cells as they are written."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def trust_lines(result: Analysis) -> list[str]:
    """What there is to print of sanity checks: each verdict with its limit, then the numbers in columns."""
    lines = []
    for verdict in result.facts["verdicts"]:
        limit = f" (limit: {verdict['limit']})" if verdict["limit"] else ""
        lines.append(f"{verdict['check']}: {HELD[verdict['holds']]}{limit}")
        lines.append(f"  {verdict['sentence']}")
    for table in trust_tables(result):
        cells = [table.heads, *table.rows]
        widths = [max(len(row[i]) for row in cells) for i in range(len(table.heads))]
        lines += ["", table.title]
        for row in cells:
            first, *others = (
                cell.ljust(width) if i == 0 else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            lines.append("  " + "  ".join([first, *others]).rstrip())
    return [*lines, ""]


def trust_text(result: Analysis) -> str:
    """The same as tab-separated text for a spreadsheet."""
    lines = [*heading(result), "check\tholds\tlimit\tsentence"]
    for verdict in result.facts["verdicts"]:
        lines.append("\t".join([verdict["check"], HELD[verdict["holds"]], verdict["limit"], verdict["sentence"]]))
    for table in trust_tables(result):
        lines += [f"# {table.title}", *("\t".join(row) for row in (table.heads, *table.rows))]
    return "\n".join(lines) + "\n"


def trust_tables(result: Analysis) -> list[Table]:
    """The numbers behind the verdicts."""
    tables = [agreement_table(result), likeness_table(result), area_table(result)]
    return [*tables, truth_table(result)] if "truth" in result.arrays else tables


def agreement_table(result: Analysis) -> Table:
    """Spearman's rho of every two methods over channels."""
    names = result.labels["method"]
    rows = tuple((name, *(number(v) for v in row)) for name, row in zip(names, result.values("agreement"), strict=True))
    return Table("Agreement of methods over channels, Spearman's rho", ("", *names), rows)


def likeness_table(result: Analysis) -> Table:
    """Likeness to the map as it is, by depth: mean and standard deviation over draws."""
    names = result.labels["map"]
    mean, spread = result.values("likeness_mean"), result.values("likeness_sd")
    rows = tuple(
        (depth, *(_with_spread(m, s) for m, s in zip(mean[:, i], spread[:, i], strict=True)))
        for i, depth in enumerate(result.labels["depth"])
    )
    n = result.values("likeness").shape[2]
    title = f"Weights re-drawn down to a depth, {n} draw{'s' if n != 1 else ''}: rho with the map as it is, mean ± SD"
    return Table(title, ("re-drawn down to", *names), rows)


def area_table(result: Analysis) -> Table:
    """Areas of deletion and insertion in each method's order, and of random orders."""
    rows: list[tuple[str, ...]] = [
        (name, score(down), score(up))
        for name, down, up in zip(
            result.labels["method"], result.values("deletion_area"), result.values("insertion_area"), strict=True
        )
        if math.isfinite(down)
    ]
    ways = ("deletion", "insertion")
    chance = [result.values(f"{way}_area_random") for way in ways]
    rows.append(("random, mean", *(score(float(areas.mean())) for areas in chance)))
    rows.append(("random, 95 %", *(_band(areas) for areas in chance)))
    return Table("Mean score along the curve", ("order", *ways), tuple(rows))


def truth_table(result: Analysis) -> Table:
    """How far each map finds the simulated focus, and the rank that models with re-drawn weights give it."""
    measures = result.labels["measure"]
    heads = ("map", *(MEASURE_TITLES.get(name, name) for name in measures), "rank, re-drawn")
    redrawn = result.values("truth_redrawn")[..., measures.index("rank")]
    rows = tuple(
        (name, *(_measure(m, v) for m, v in zip(measures, values, strict=True)), _mean_spread(ranks))
        for name, values, ranks in zip(result.labels["method"], result.values("truth"), redrawn, strict=True)
        if np.isfinite(values).any()
    )
    return Table("Overlap with the simulated focus", heads, rows)


def number(value: float) -> str:
    """A correlation as it is written."""
    return f"{value + 0.0:.2f}".replace("-0.00", "0.00").replace("-", "−") if math.isfinite(value) else "—"


def score(value: float) -> str:
    """A score as it is written."""
    return f"{value:.3g}".replace("-", "−") if math.isfinite(value) else "—"


def _with_spread(mean: float, spread: float) -> str:
    return f"{number(mean)} ± {number(spread)}" if math.isfinite(mean) else "—"


def _measure(name: str, value: float) -> str:
    if not math.isfinite(value):
        return "—"
    if name == "rank":
        return f"{value:.3g}"
    return f"{value:.0%}" if name == "top3" else number(value)


def _mean_spread(values: np.ndarray) -> str:
    known = values[np.isfinite(values)]
    return f"{known.mean():.1f} ± {known.std():.1f}" if known.size else "—"


def _band(values: np.ndarray) -> str:
    return " to ".join(score(float(at)) for at in np.percentile(values, (2.5, 97.5)))


def verdicts_of(result: Analysis) -> Sequence[dict[str, object]]:
    """The verdicts in the order of the checks."""
    found: Sequence[dict[str, object]] = result.facts["verdicts"]
    return found

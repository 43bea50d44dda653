"""The rows of a bench as text: in columns for a terminal, in a Markdown table for the report."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from app.bench_cases import Case, Measured, gains, value, verdict

HEAD = ("case", "ours", "rival", "ratio", "floor", "x floor", "target", "")
LEGEND = (
    "ours and rival: the median (and the quarters to either side of it); ratio: how many times better than the rival, "
    "pair by pair where both were taken in turn; floor: what cannot be avoided; *: measured before, on another machine "
    "of this kind"
)
_NOTHING = "not measured"


def table(rows: Sequence[tuple[Case, Measured | str]], detail: bool = False) -> str:
    """The rows as aligned text; a sentence in place of a measurement says why there is none."""
    lines = [[*HEAD, *(("p95", "cpu", "n") if detail else ())]]
    for case, measured in rows:
        if isinstance(measured, str):
            lines.append([case.text, measured])
        else:
            lines.append(_cells(case, measured) + (_details(measured) if detail else []))
    full = [line for line in lines if len(line) > 2]
    widths = [
        max(len(line[0]) for line in lines),
        *(max(map(len, column)) for column in list(zip(*full, strict=True))[1:]),
    ]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=False)).rstrip() for line in lines
    )


def markdown(rows: Sequence[tuple[Case, Measured | str]]) -> str:
    """The rows as a table of Markdown."""
    lines = [[*HEAD[:-1], "met"], ["---"] + ["---:"] * (len(HEAD) - 3) + ["---", "---"]]
    for case, measured in rows:
        if isinstance(measured, str):
            said = measured if measured.startswith(_NOTHING) else f"{_NOTHING}: {measured}"
            lines.append([case.text, said, "", "", "", "", target_text(case), ""])
        else:
            *cells, met = _cells(case, measured)
            lines.append([*cells, {"pass": "yes", "over": "**no**", "": ""}[met]])
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def target_text(case: Case) -> str:
    """What a row should reach."""
    parts = []
    if case.target is not None:
        of = {"median": "", "p95": " (p95)", "most": " (most)"}[case.judged_by]
        parts.append(f"< {number(case.target)}{of} {case.unit}".rstrip())
    if case.gain is not None:
        parts.append(f">= {case.gain:.3g} x")
    return ", ".join(parts)


def number(figure: float) -> str:
    """A figure with three digits or so."""
    size = abs(figure)
    return f"{figure:,.0f}" if size >= 100 else f"{figure:.1f}" if size >= 10 else f"{figure:.2f}"


def _cells(case: Case, measured: Measured) -> list[str]:
    ratio = gains(case, measured)
    return [
        case.text,
        f"{_spread(case, measured.samples)} {case.unit}".rstrip(),
        _rival(case, measured),
        "" if ratio is None else _ratio(*ratio),
        "" if measured.floor is None else number(measured.floor),
        "" if not measured.floor else f"{value(case, measured) / measured.floor:.1f}",
        target_text(case),
        verdict(case, measured),
    ]


def _details(measured: Measured) -> list[str]:
    cpu = "" if measured.cpu is None else number(measured.cpu)
    return [number(float(np.percentile(measured.samples, 95))), cpu, str(len(measured.samples))]


def _rival(case: Case, measured: Measured) -> str:
    if measured.rival:
        return _spread(case, measured.rival)
    if case.peer is None:
        return ""
    low, high = case.peer
    return f"{number(low)}*" if low == high else f"{number(low)}-{number(high)}*"


def _spread(case: Case, samples: tuple[float, ...]) -> str:
    if case.judged_by == "most":
        return number(max(samples))
    low, middle, high = np.percentile(samples, (25, 50, 75))
    if case.judged_by == "p95":
        return f"{number(middle)}, p95 {number(float(np.percentile(samples, 95)))}"
    return number(middle) if len(samples) < 3 else f"{number(middle)} ({number(low)}-{number(high)})"


def _ratio(low: float, middle: float, high: float) -> str:
    within = "" if number(low) == number(high) else f" ({number(low)}-{number(high)})"
    return f"{number(middle)} x{within}"

"""What is measured, what it should be, what a peer needs for it, and the table that says so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Case:
    """One row: the median (or the 95th percentile, or the most) of what is measured should stay below `target`.

    `peer` is what mne-qt-browser 0.7.5 needs on the same kind of machine, least and most; None where nobody measured.
    """

    name: str
    text: str
    target: float | None
    peer: tuple[float, float] | None = None
    unit: str = "ms"
    judged_by: str = "median"


VIEWER_CASES = (
    Case("start", "process start to first painted page", 800, (1300, 2000)),
    Case("day open cold", "24 h, 23 ch, 1 GB: open to first page, cold", 500, (1600, 7000)),
    Case("day open warm", "24 h: open to first page, warm", 150),
    Case("day page", "24 h: next page", 16, (72, 72)),
    Case("day jump", "24 h: jump anywhere", 25, (75, 75)),
    Case("day zoom", "24 h: another page length", 25, (122, 122)),
    Case("day sensitivity", "24 h: sensitivity", 12, (60, 60)),
    Case("hour page", "1 h, 23 ch: next page", 16, (18, 18)),
    Case("hour scroll", "1 h, 23 ch: scroll, a frame", 16, (27, 27)),
    Case("hour64 page", "1 h, 64 ch, 512 Hz: next page", 16, (19, 19)),
    Case("hour64 scroll", "1 h, 64 ch: scroll, a frame", 16, (29, 29)),
    Case("wide page", "128 ch, 1024 Hz: next page", 16, (91, 91)),
    Case("wide jump", "128 ch: jump anywhere", 33, (91, 91)),
    Case("page 60 s", "24 h: page of 60 s", 33, (54, 54)),
    Case("page 5 min", "24 h: page of 5 min", 33, (227, 227)),
    Case("page 1 h", "24 h: page of 1 h", 33),
    Case("page 24 h", "24 h: the whole day on a page", 33),
    Case("hour montage", "23 rows: another montage", 100),
    Case("hour filter", "23 rows: another filter", 100),
    Case("hour topography", "topography update: values to picture", 2),
    Case("wide montage", "128 rows: another montage", 200),
    Case("wide filter", "128 rows: another filter", 200),
    Case("marks3000 open", "3,000 marks: open, all shown", 500, (3800, 3800)),
    Case("marks3000 page", "3,000 marks: next page", 20, (118, 118)),
    Case("marks100000 open", "100,000 marks: open, all shown", 1000),
    Case("marks100000 page", "100,000 marks: next page", 50),
    Case("busy page", "page turn while a model runs", 50, (100, 1152), judged_by="p95"),
    Case("memory", "24 h, after 200 jumps: memory of the window", 400, (500, 8600), unit="MB", judged_by="most"),
)
ENGINE_CASES = (
    Case("engine start", "engine: start to first answer", None),
    Case("engine call", "engine: call and answer", None),
    Case("engine array", "engine: 9 MB there and back", None),
    Case("engine cancel", "engine: cancel, heard by the model", 1000, judged_by="most"),
    Case("engine kill", "engine: cancel, not heard, so killed", 1000, judged_by="most"),
    Case("engine restart", "engine: next answer after that", None),
)


@dataclass(frozen=True)
class Measured:
    """Samples of one case in its unit, and the processor time of this process they took (ms, median)."""

    samples: tuple[float, ...]
    cpu: float | None = None


def value(case: Case, measured: Measured) -> float:
    """The figure a case is judged by."""
    if case.judged_by == "most":
        return max(measured.samples)
    return float(np.percentile(measured.samples, 95 if case.judged_by == "p95" else 50))


def verdict(case: Case, measured: Measured) -> str:
    """Whether the target is met."""
    if case.target is None:
        return ""
    return "pass" if value(case, measured) < case.target else "over"


def document(case: Case, measured: Measured) -> dict[str, object]:
    """One case for JSON."""
    return {
        "case": case.name,
        "what": case.text,
        "unit": case.unit,
        "target": case.target,
        "judged_by": case.judged_by,
        "value": value(case, measured),
        "median": float(np.percentile(measured.samples, 50)),
        "p95": float(np.percentile(measured.samples, 95)),
        "most": max(measured.samples),
        "n": len(measured.samples),
        "cpu_median": measured.cpu,
        "peer": list(case.peer) if case.peer else None,
        "result": verdict(case, measured) or None,
    }


def table(rows: Sequence[tuple[Case, Measured | str]], detail: bool = False) -> str:
    """The rows as aligned text; a sentence in place of a measurement says why there is none."""
    head = ["case", "target", "median", "p95", "", "peer", "faster by"]
    head += ["cpu", "n"] if detail else []
    lines = [head]
    for case, measured in rows:
        target = "" if case.target is None else f"< {_number(case.target)}{_of(case)} {case.unit}"
        if isinstance(measured, str):
            lines.append([case.text, target, measured])
            continue
        median, p95 = (float(np.percentile(measured.samples, q)) for q in (50, 95))
        peer, ratio = "", ""
        if case.peer:
            low, high = case.peer
            peer = _number(low) if low == high else f"{_number(low)}-{_number(high)}"
            own = value(case, measured)
            ratio = f"{low / own:.1f} x" if low == high else f"{low / own:.1f}-{high / own:.1f} x"
        line = [case.text, target, _number(median), _number(p95), verdict(case, measured), peer, ratio]
        if detail:
            line += ["" if measured.cpu is None else _number(measured.cpu), str(len(measured.samples))]
        lines.append(line)
    widths = [
        max(len(line[i]) for line in lines if len(line) > i and (i != 2 or len(line) > 3)) for i in range(len(head))
    ]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=False)).rstrip() for line in lines
    )


def _of(case: Case) -> str:
    return {"median": "", "p95": " (p95)", "most": " (most)"}[case.judged_by]


def _number(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.1f}" if number >= 10 else f"{number:.2f}"

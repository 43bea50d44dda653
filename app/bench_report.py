"""The page that one run of the benches writes: the machine, every row, and what missed its target with the reason."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from app.bench_cases import value, verdict
from app.bench_machine import YARDSTICK_MS, describe_machine
from app.bench_table import LEGEND, markdown, number, target_text
from app.benches import BENCHES, Part, Plan
from models.whole_files import whole_file

_NO_REASON = "no reason is known"
_SIZES = {
    "quick": "short recordings and few repetitions: figures are rough",
    "middle": "shorter recordings and fewer repetitions than the full run",
    "full": "all recordings and repetitions",
}


def write_report(path: Path, facts: dict[str, Any], plan: Plan, parts: Sequence[Part]) -> None:
    """Write the page; the one that was there goes when the new one is whole."""
    with whole_file(path) as file:
        file.write(report_text(facts, plan, parts).encode())


def report_text(facts: dict[str, Any], plan: Plan, parts: Sequence[Part]) -> str:
    """The page as Markdown."""
    seconds = sum(part.seconds for part in parts)
    lines = [
        "# Benchmarks",
        "",
        f"One run of `main.py bench --size {plan.size}{' --busy' if plan.busy else ''}{' --peer' if plan.peer else ''} "
        f"--report`, of {time.strftime('%d %B %Y')}, in {seconds / 60:.0f} minutes; {_SIZES[plan.size]}. Nothing was "
        "left out or run again.",
        "",
        "Machine:",
        "",
        *(f"- {line}" for line in describe_machine(facts)),
        "",
        f"In the tables, {LEGEND}. Targets are those of the project's specifications.",
        "",
    ]
    for part in parts:
        lines += [f"## {part.name}", "", f"{_sentence(BENCHES[part.name][1])}", "", markdown(part.found.rows), ""]
        for remark in part.found.remarks:
            lines += [*_listed(remark), ""]
    lines += ["## Missed targets", "", *(list(_missed(parts, facts)) or ["None."]), ""]
    lines += ["## Not measured", "", *(list(_not_measured(parts)) or ["Nothing."]), ""]
    return "\n".join(lines)


def _missed(parts: Sequence[Part], facts: dict[str, Any]) -> Iterator[str]:
    slower = facts["yardstick_ms"] / YARDSTICK_MS
    for part in parts:
        for case, measured in part.found.rows:
            if isinstance(measured, str) or verdict(case, measured) != "over":
                continue
            own = value(case, measured)
            there = ""
            if case.unit == "ms" and case.target is not None and slower > 1.2:
                there = f"; by the yardstick about {number(own / slower)} ms on the machine of the targets"
            reason = case.missed or _NO_REASON
            figure = f"{number(own)} {case.unit}".rstrip()
            yield f"- {case.text}: {figure}, wanted {target_text(case)}{there}. Reason: {reason}."


def _not_measured(parts: Sequence[Part]) -> Iterator[str]:
    for part in parts:
        for case, measured in part.found.rows:
            if isinstance(measured, str):
                yield f"- {case.text}: {measured.removeprefix('not measured: ')}"


def _listed(remark: str) -> list[str]:
    """The lines of a remark as items of a list."""
    return [f"- {line}" for line in remark.splitlines() if line.strip()]


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."

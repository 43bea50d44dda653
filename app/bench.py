"""`main.py bench`: measures the program against its targets and its rivals, and prints or writes what it found."""

from __future__ import annotations

import json
import textwrap
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from analysis.errors import AnalysisError
from app.bench_cases import Case, Measured, document, verdict
from app.bench_machine import describe_machine, machine
from app.bench_report import write_report
from app.bench_table import LEGEND, table
from app.benches import BENCHES, Found, Part, Plan
from app.errors import describe_error, is_expected, log_error


def run_benches(
    names: Sequence[str], plan: Plan, detail: bool = False, as_json: bool = False, report: str | None = None
) -> int:
    """Run the named benches (all where none is named) and print what they measured; AnalysisError for other names.

    `report` is the Markdown file that is written as well.
    """
    for name in names:
        if name not in BENCHES:
            raise AnalysisError(f"no bench is called {name!r}: there are {', '.join(BENCHES)}")
    if report is not None and not Path(report).absolute().parent.is_dir():
        raise AnalysisError(f"there is no such folder ({Path(report).parent}): make it, or write the report elsewhere")
    facts = machine()  # before the machine is warm with our own work
    parts = []
    if not as_json:
        lines = [*describe_machine(facts), *_size_line(plan), LEGEND]
        print("\n".join(textwrap.fill(line, 120) for line in lines) + "\n", flush=True)
    for name in names or BENCHES:
        part = measure(name, plan)
        parts.append(part)
        if report is not None:  # after each, since the whole takes long and may be ended
            write_report(Path(report), facts, plan, parts)
        if not as_json:
            print(f"{name}: {BENCHES[name][1]} ({part.seconds:.0f} s)\n\n{_text(part, detail)}", flush=True)
    if as_json:
        print(json.dumps({"machine": facts, "size": plan.size, "cases": _documents(parts)}, indent=2))
    else:
        print(summary([row for part in parts for row in part.found.rows]))
    return 0


def measure(name: str, plan: Plan) -> Part:
    """Run one bench; what it cannot say itself stands in a row in place of its figures, so that the others go on."""
    began = time.perf_counter()
    module, _, function = BENCHES[name][0].partition(":")
    try:
        found: Found = plan.say(f"measuring {name}", lambda: getattr(import_module(module), function)(plan))
    except Exception as error:
        if not is_expected(error):
            log_error(error)
        found = Found([(Case(name, name, None), f"failed: {describe_error(error)[0]}")])
    return Part(name, found, time.perf_counter() - began)


def summary(rows: Sequence[tuple[Case, Measured | str]]) -> str:
    """How many rows reach their targets."""
    verdicts = [verdict(case, found) for case, found in rows if isinstance(found, Measured)]
    missing = sum(isinstance(found, str) for _, found in rows)
    text = f"{verdicts.count('pass')} within target, {verdicts.count('over')} over"
    return text + (f", {missing} not measured" if missing else "")


def _size_line(plan: Plan) -> list[str]:
    return [f"{plan.size}: shorter recordings, fewer repetitions; figures are rough"] if plan.size != "full" else []


def _text(part: Part, detail: bool) -> str:
    remarks = "".join(f"\n{remark}\n" for remark in part.found.remarks)
    return f"{table(part.found.rows, detail)}\n{remarks}"


def _documents(parts: Sequence[Part]) -> list[dict[str, object]]:
    return [{"bench": part.name, **document(case, found)} for part in parts for case, found in part.found.rows]

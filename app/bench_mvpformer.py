"""MVPFormer's speed on a CPU: a window from signal to logits, beside the eager textbook form of the same weights.

The measuring is done by `analysis.engine.mvpformer_speed` in processes of its own: one for the times of both forms in
turn, and one for the memory of each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from app.bench_apart import measure_apart
from app.bench_cases import Case, Measured, Rows
from app.benches import Found, Plan

_RIVAL = "eager textbook form"


@dataclass(frozen=True)
class Size:
    """A window, what we should gain on it, and what the published eager code took for it on a 2-core server CPU."""

    segments: int
    channels: int
    gain: float
    memory_gain: float | None
    published_ms: float
    published_mb: float

    @property
    def name(self) -> str:
        """Segments x channels."""
        return f"{self.segments} x {self.channels}"


SMALL = Size(25, 19, 2.0, None, 3_600, 900)
LARGE = Size(100, 50, 8.0, 4.0, 60_000, 5_800)


def bench(plan: Plan) -> Found:
    """Measure with all cores; the larger window, which takes the textbook form minutes, in the full size only."""
    from app.engine_process import core_count

    threads = core_count()
    rows: Rows = []
    remarks = []
    for size, rounds in ((SMALL, plan.pick(3, 7, 15)), (LARGE, plan.pick(0, 0, 2))):
        if not rounds:
            what = f"{size.name}: window to logits"
            rows.append((Case(f"mvpformer {size.name}", what, None), "not measured: in the full size only"))
            continue
        found = measure_mvpformer(size, rounds, threads)
        if isinstance(found, str):
            rows.append((Case(f"mvpformer {size.name}", f"{size.name}: window to logits", None), found))
        else:
            rows += mvpformer_rows(size, found)
            remarks.append(explain(size, found, threads))
    return Found(rows, remarks)


def measure_mvpformer(size: Size, rounds: int, threads: int) -> dict[str, Any] | str:
    """The samples of three processes, or what one of them complained of; of times and memory of both forms."""
    found: dict[str, Any] = {}
    for which, name in enumerate(("times", "ours memory", "textbook memory")):
        numbers = (size.segments, size.channels, rounds, threads, which)
        made = measure_apart("analysis.engine.mvpformer_speed", *numbers, threads=threads)
        if isinstance(made, str):
            return made
        found |= made if which == 0 else {name: made["memory"]}
    return found


def mvpformer_rows(size: Size, found: Mapping[str, Any]) -> Rows:
    """The rows of one window: its time, that of a recording's next window, and the memory of a process."""
    name, text = f"mvpformer {size.name}", f"{size.name} (segments x channels)"
    rival = tuple(found["textbook"])
    floor = 1e3 * found["gflop"] / found["gflops"]
    floor_of = f"{found['gflop']:.0f} GFLOP of matrix products at the {found['gflops']:.0f} GFLOP/s of a large one here"
    times = (size.published_ms, size.published_ms)
    memory = (size.published_mb, size.published_mb)
    return [
        (
            Case(
                name,
                f"{text}: window to logits",
                None,
                times,
                rival=_RIVAL,
                gain=size.gain,
                missed=_what_is_left(found, "ours"),
            ),
            Measured(tuple(found["ours"]), None, rival, floor, floor_of),
        ),
        (
            Case(
                f"{name} next",
                f"{text}: next window of a recording",
                None,
                rival=_RIVAL,
                gain=size.gain,
                missed=_what_is_left(found, "next"),
            ),
            Measured(tuple(found["next"]), None, rival),
        ),
        (
            Case(
                f"{name} memory",
                f"{text}: highest memory of the process",
                None,
                memory,
                unit="MB",
                rival=_RIVAL,
                gain=size.memory_gain,
            ),
            Measured((found["ours memory"],), None, (found["textbook memory"],)),
        ),
    ]


def _what_is_left(found: Mapping[str, Any], form: str) -> str:
    """How much of a form's time goes to products that the textbook form has as well, and what is gained at most."""
    products, own, rival = (float(np.median(found[name])) for name in ("products", form, "textbook"))
    return (
        f"products of tokens with weights, which the textbook form has too, take {products:.0f} of the {own:.0f} ms, "
        f"attention and all else {own - products:.0f}; with nothing else the gain would be {rival / products:.1f} x"
    )


def explain(size: Size, found: Mapping[str, Any], threads: int) -> str:
    """What both forms share, how far they are apart, and what the rival is."""
    floor = 1e3 * found["gflop"] / found["gflops"]
    return (
        f"MVPFormer-S, {size.name}, random weights, float32, batch 1, {threads} threads: logits of both forms agree "
        f"within {found['difference']:.0e} of the largest; {found['gflop']:.0f} GFLOP of matrix products cannot be "
        f"avoided, {floor:.0f} ms at {found['gflops']:.0f} GFLOP/s. Rival: all tokens of all layers, each term of the "
        "score as a matrix of all tokens by all tokens, wavelets as convolutions. In a recording the embeddings of all "
        f"but the newest segment are there already. Published eager code on a 2-core server CPU: "
        f"{size.published_ms / 1e3:g} s and {size.published_mb / 1e3:g} GB."
    )

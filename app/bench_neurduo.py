"""NeurDuo's speed: a streaming step beside a straightforward one, whole recordings, and an hour of history.

The measuring is done in a process of its own, `analysis.engine.neurduo_speed`, which loads torch with as many threads
as are to be measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from app.bench_apart import measure_apart
from app.bench_cases import Case, Measured, Rows
from app.benches import Found, Plan

# Milliseconds of one step of the published code's plain path on a 2-core server CPU (FACTS, section 14), by channels
# and threads: the median and the quarter to either side of it.
PUBLISHED = {(2, 2): (4.9, 4.6, 5.6), (15, 2): (15.2, 14.4, 16.3), (2, 1): (5.5, 5.2, 6.1), (15, 1): (21.0, 19.9, 22.6)}
STEP_TARGETS = {2: 1 / 1.5, 15: 1 / 2.0}  # share of the straightforward step
SCAN_TARGET = 1 / 5.0
FLAT_TARGET = 5.0  # per cent


def bench(plan: Plan) -> Found:
    """Measure with all cores and everything, then with one thread the steps alone."""
    from app.engine_process import core_count

    rows: Rows = []
    remarks = []
    for threads, seconds in ((max(2, core_count()), plan.pick(600, 1200, 3600)), (1, 0)):
        found = measure_neurduo(plan.pick(20, 50, 100), threads, seconds)
        if isinstance(found, str):
            rows.append((Case(f"neurduo {threads} threads", f"NeurDuo, {threads} threads", None), found))
        else:
            rows += neurduo_rows(found)
            remarks.append(explain(found))
    return Found(rows, remarks)


def measure_neurduo(rounds: int, threads: int, seconds: int) -> dict[str, Any] | str:
    """The samples of one process, or the last line of what it complained of; `seconds` is the longest history."""
    return measure_apart("analysis.engine.neurduo_speed", rounds, threads, seconds, threads=threads)


def neurduo_rows(found: Mapping[str, Any]) -> list[tuple[Case, Measured]]:
    """The rows of the table from the samples of one process."""
    threads = int(found["threads"])
    rows: list[tuple[Case, Measured]] = []
    for n in (2, 15):
        if f"stream {n}" not in found:
            continue
        rows += _step_rows(found, n, threads)
        if f"scan {n}" in found:
            rows += _scan_rows(found, n, threads)
            rows += _history_rows(found, n, threads)
    return rows


def _step_rows(found: Mapping[str, Any], n: int, threads: int) -> list[tuple[Case, Measured]]:
    name, text = f"neurduo {n} ch {threads} threads", f"{n} ch, {_threads(threads)}"
    median, low, high = PUBLISHED.get((n, threads), (0.0, 0.0, 0.0))
    peer = (low, high) if median else None
    own, plain = (np.array(found[f"{which} {n}"]).reshape(-1, 4).mean(1) for which in ("stream", "reference"))
    return [
        (Case(f"{name} straightforward", f"{text}: straightforward step", None, peer), _measured(plain)),
        (Case(f"{name} step", f"{text}: our step", None, peer), _measured(own)),
        (Case(f"{name} encoder", f"{text}: of that the signal encoder", None), _measured(found[f"encoder {n}"])),
        (
            Case(f"{name} share", f"{text}: our step, share of the straightforward", STEP_TARGETS[n], unit=""),
            _measured(own / plain),
        ),
    ]


def _scan_rows(found: Mapping[str, Any], n: int, threads: int) -> list[tuple[Case, Measured]]:
    name, text = f"neurduo {n} ch {threads} threads", f"{n} ch, {_threads(threads)}"
    scan, alone = np.array(found[f"scan {n}"]), np.array(found[f"scan recurrent {n}"])
    plain, own = np.median(found[f"reference {n}"]), np.median(found[f"stream {n}"])
    plain_rest = plain - np.median(found[f"reference encoder {n}"])
    own_rest = own - np.median(found[f"encoder {n}"])
    return [
        (Case(f"{name} scan", f"{text}: whole recording, a step", None), _measured(scan)),
        (
            Case(f"{name} scan share", f"{text}: that, share of the straightforward step", SCAN_TARGET, unit=""),
            _measured(scan / plain),
        ),
        (Case(f"{name} scan own share", f"{text}: that, share of our step", None, unit=""), _measured(scan / own)),
        (
            Case(f"{name} rest", f"{text}: all but the encoder, share of the straightforward", SCAN_TARGET, unit=""),
            _measured(alone / plain_rest),
        ),
        (Case(f"{name} own rest", f"{text}: that, share of our step's", None, unit=""), _measured(alone / own_rest)),
    ]


def _history_rows(found: Mapping[str, Any], n: int, threads: int) -> list[tuple[Case, Measured]]:
    name, text = f"neurduo {n} ch {threads} threads", f"{n} ch, {_threads(threads)}"
    # Each round measures every history once, so what else the machine does hits all alike.
    times = np.array(found[f"history {n}"])  # (histories, rounds)
    apart = 100 * np.abs(np.median(times / np.median(times, axis=0), axis=1) - 1)
    sizes = found[f"state bytes {n}"]
    longest = found["histories"][-1]
    flat = Case(
        f"{name} flat", f"{text}: step after 30 to {longest} s, most apart", FLAT_TARGET, unit="%", judged_by="most"
    )
    grown = Case(
        f"{name} state", f"{text}: growth of {sizes[0] / 2**20:.2f} MB of state", 1, unit="B", judged_by="most"
    )
    return [(flat, _measured(apart)), (grown, _measured([size - sizes[0] for size in sizes]))]


def explain(found: Mapping[str, Any]) -> str:
    """What limits the figures, from the same samples."""
    lines = []
    for n in (2, 15):
        if f"stream {n}" not in found:
            continue
        own, encoder = np.median(found[f"stream {n}"]), np.median(found[f"encoder {n}"])
        floor = 1e3 * n * found["encoder_gflop"] / found["gflops"]
        lines.append(
            f"{n} ch, {_threads(found['threads'])}: {encoder:.1f} of {own:.1f} ms are the signal encoder, whose "
            f"{n * found['encoder_gflop']:.2f} billion operations take at least {floor:.1f} ms at the "
            f"{found['gflops']:.0f} GFLOP/s of a large matrix product here; both steps agree within "
            f"{found[f'difference {n}']:.0e}"
        )
    lines.append(
        "limits: the encoder by arithmetic, which scanning a whole recording needs as well, so what scanning gains is "
        "in the rest; with few channels a step reads 17 MB of weights and makes some 250 calls for little work each"
    )
    lines.append(
        "peer of these rows: the published code's plain path on a 2-core server CPU, a quarter to either side of it"
    )
    return "\n".join(lines)


def _measured(samples: Any) -> Measured:
    return Measured(tuple(float(sample) for sample in samples))


def _threads(count: int) -> str:
    return f"{count} thread{'s' if count > 1 else ''}"

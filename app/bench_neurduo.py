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
# So many times faster than the straightforward step.
STEP_GAINS = {2: 1.5, 15: 1 / 0.5}
ROUNDED_GAINS = {2: None, 15: 1 / 0.35}
SCAN_GAIN = 5.0
FLAT_TARGET = 5.0  # per cent
RIVAL = "straightforward step"
FLOOR = "products at the rate of a large one"


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


def neurduo_rows(found: Mapping[str, Any]) -> Rows:
    """The rows of the table from the samples of one process."""
    threads = int(found["threads"])
    rows: Rows = []
    for n in (2, 15):
        if f"stream {n}" not in found:
            continue
        rows += _step_rows(found, n, threads)
        if f"z moved {n}" in found:
            rows += _effect_rows(found, n, threads)
        if f"scan {n}" in found:
            rows += _scan_rows(found, n, threads)
            rows += _history_rows(found, n, threads)
    return rows


def _step_rows(found: Mapping[str, Any], n: int, threads: int) -> Rows:
    """The straightforward step, and ours beside it in both number formats."""
    name, text = f"neurduo {n} ch {threads} threads", f"{n} ch, {_threads(threads)}"
    median, low, high = PUBLISHED.get((n, threads), (0.0, 0.0, 0.0))
    plain = _cycles(found, "reference", n)
    plainly = Case(f"{name} straightforward", f"{text}: straightforward step", None, (low, high) if median else None)
    rows: Rows = [(plainly, _measured(plain))]
    for form, gain in (("", STEP_GAINS[n]), (" bfloat16", ROUNDED_GAINS[n])):
        said = f"{text}, encoder in bfloat16" if form else text
        is_there = f"stream{form} {n}" in found
        missed = _reason(found, n, form) if is_there else ""
        step = Case(f"{name} step{form}", f"{said}: our step", None, rival=RIVAL, gain=gain, missed=missed)
        encoder = Case(f"{name} encoder{form}", f"{said}: of that the signal encoder", None, rival="its encoder")
        if not is_there:
            rows.append((step, "not measured: this processor is not made for products in bfloat16"))
            continue
        own, encoders = _cycles(found, f"stream{form}", n), found[f"encoder{form} {n}"]
        arithmetic = _arithmetic(found, n, form)
        rest = 1e3 * n * found["rest_gflop"] / found["gflops"]
        rows.append((step, _measured(own, plain, arithmetic + rest)))
        rows.append((encoder, _measured(encoders, found[f"reference encoder {n}"], arithmetic)))
    return rows


def _reason(found: Mapping[str, Any], n: int, form: str) -> str:
    """Why a step may miss its target: where its time goes, and what would have to go."""
    plain = float(np.median(found[f"reference {n}"]))
    encoder, rest = _parts(found, n, form)
    gain = (ROUNDED_GAINS if form else STEP_GAINS)[n]
    said = (
        f"{encoder:.1f} ms are the encoder, whose products alone take {_arithmetic(found, n, form):.1f} at the rate of "
        f"a large one, and {rest:.1f} ms the rest"
    )
    if gain is not None:
        said += f", where the target leaves {plain / gain - encoder:.1f}"
    if n > 2 and f"stream{form} 2" in found:
        said += (
            f"; with 2 channels that rest, mostly calls and the reading of all weights, takes "
            f"{_parts(found, 2, form)[1]:.1f}, and each further channel adds its products and passes over its state"
        )
    return said


def _parts(found: Mapping[str, Any], n: int, form: str) -> tuple[float, float]:
    """Milliseconds of the encoder and of the rest of our step."""
    encoder = float(np.median(found[f"encoder{form} {n}"]))
    return encoder, float(np.median(_cycles(found, f"stream{form}", n))) - encoder


def _arithmetic(found: Mapping[str, Any], n: int, form: str = "") -> float:
    """Milliseconds of the encoder's products at the rate of a large one."""
    return float(1e3 * n * found["encoder_gflop"] / found[f"{form} gflops".strip()])


def _effect_rows(found: Mapping[str, Any], n: int, threads: int) -> Rows:
    """How far the encoder in bfloat16 moves what the model gives, typically and at most."""
    rows: Rows = []
    things = (("z", "z, share of its length"), ("p", "a random head's probability"))
    for key, thing in things:
        for judged_by, how in (("median", "typical"), ("most", "largest")):
            name = f"neurduo {n} ch {threads} threads bfloat16 {key} {how}"
            text = f"{n} ch, encoder in bfloat16: {how} change of {thing}"
            # As the table shows three digits: in thousandths.
            case = Case(name, text, None, unit="/1000", judged_by=judged_by)
            rows.append((case, _measured(1e3 * np.array(found[f"{key} moved {n}"]))))
    return rows


def _scan_rows(found: Mapping[str, Any], n: int, threads: int) -> Rows:
    """A step of a whole recording, with and without the encoder, beside the straightforward step."""
    name, text = f"neurduo {n} ch {threads} threads", f"{n} ch, {_threads(threads)}"
    scan, alone = found[f"scan {n}"], found[f"scan recurrent {n}"]
    plain, plain_rest = found[f"scan reference {n}"], found[f"scan reference rest {n}"]
    arithmetic, rest = (1e3 * n * found[f"{part}_gflop"] / found["gflops"] for part in ("encoder", "rest"))
    scanned = (
        f"the encoder's products alone take {arithmetic:.1f} ms a step at the rate of a large one, "
        f"where the target leaves {np.median(plain) / SCAN_GAIN:.1f} for everything"
    )
    passes = (
        f"its products take {rest:.1f} ms at the rate of a large one; most of the others are passes over the state of "
        "every channel and step, one of them exponentials"
    )
    whole = Case(f"{name} scan", f"{text}: whole recording, a step", None, rival=RIVAL, gain=SCAN_GAIN, missed=scanned)
    without = Case(
        f"{name} scan rest",
        f"{text}: that without the encoder",
        None,
        rival=f"{RIVAL}, without",
        gain=SCAN_GAIN,
        missed=passes,
    )
    return [
        (whole, _measured(scan, plain, arithmetic + rest)),
        (without, _measured(alone, plain_rest, rest)),
    ]


def _history_rows(found: Mapping[str, Any], n: int, threads: int) -> Rows:
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
        lines.append(
            f"{n} ch, {_threads(found['threads'])}: {encoder:.1f} of {own:.1f} ms are the signal encoder's "
            f"{n * found['encoder_gflop']:.2f} billion operations; a large matrix product runs at "
            f"{found['gflops']:.0f} GFLOP/s here{_rounded_rate(found)}; both steps agree within "
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


def _rounded_rate(found: Mapping[str, Any]) -> str:
    return f", at {found['bfloat16 gflops']:.0f} in bfloat16" if "bfloat16 gflops" in found else ""


def _cycles(found: Mapping[str, Any], which: str, n: int) -> np.ndarray:
    """Milliseconds a step, by write cycle."""
    means: np.ndarray = np.array(found[f"{which} {n}"]).reshape(-1, 4).mean(1)
    return means


def _measured(samples: Any, rival: Any = (), floor: float | None = None) -> Measured:
    own, other = (tuple(float(sample) for sample in values) for values in (samples, rival))
    return Measured(own, rival=other, floor=floor, floor_of=FLOOR if floor is not None else "")


def _threads(count: int) -> str:
    return f"{count} thread{'s' if count > 1 else ''}"

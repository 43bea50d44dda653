"""What is measured, what it should be, what a rival needs for it, and what cannot be avoided."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Case:
    """One row: what is measured (its median, 95th percentile or most) should stay below `target`.

    `rival` names what is measured beside it in the same run; `gain` is how many times better than that it should be.
    `peer` is what another program needed on the same kind of machine, least and most, where it was measured before.
    `missed` is the reason why a target is missed, as far as it is known.
    """

    name: str
    text: str
    target: float | None
    peer: tuple[float, float] | None = None
    unit: str = "ms"
    judged_by: str = "median"
    rival: str = ""
    gain: float | None = None
    missed: str = ""


_IMPORTS = (
    "loading modules is more than half of it, Qt, numpy and pyqtgraph as long as our own, of which making 138 "
    "dataclasses is half; 800 widgets and their style are a quarter, the file and its first page the rest"
)
_SPECTRA = (
    "half of the time of each block of signal is its FFT there and back, the other half reading, deriving, turning and "
    "reducing it to columns; painting takes 5 ms, and a jump may wait for a neighbour's block that is half made"
)
_LINES = (
    "painting the canvas takes more than half of it, of which rastering all lines is a third; places and gains of "
    "rows, notes and the toolbar take the rest"
)
_MARKS = (
    "half of it is making 100,000 objects of Python and sorting them, a quarter the pass over the signal, the rest the "
    "threads of page, marks and quality taking turns"
)
_SCALP = "half of it is a colour for each pixel of the head, a third the drawing of the widget with its scale"
VIEWER_CASES = (
    Case("start", "process start to first painted page", 800, (1300, 2000), missed=_IMPORTS),
    Case("day open cold", "24 h, 23 ch, 1 GB: open to first page, cold", 500, (1600, 7000)),
    Case("day open warm", "24 h: open to first page, warm", 150),
    Case("day page", "24 h: next page", 16, (72, 72)),
    Case("day jump", "24 h: jump anywhere", 25, (75, 75), missed=_SPECTRA),
    Case("day zoom", "24 h: another page length", 25, (122, 122)),
    Case("day sensitivity", "24 h: sensitivity", 12, (60, 60), missed=_LINES),
    Case("hour page", "1 h, 23 ch: next page", 16, (18, 18)),
    Case("hour scroll", "1 h, 23 ch: scroll, a frame", 16, (27, 27), missed=_LINES),
    Case("hour64 page", "1 h, 64 ch, 512 Hz: next page", 16, (19, 19)),
    Case("hour64 scroll", "1 h, 64 ch: scroll, a frame", 16, (29, 29), missed=_LINES),
    Case("wide page", "128 ch, 1024 Hz: next page", 16, (91, 91)),
    Case("wide jump", "128 ch: jump anywhere", 33, (91, 91), missed=_SPECTRA),
    Case("page 60 s", "24 h: page of 60 s", 33, (54, 54), missed=_SPECTRA),
    Case("page 5 min", "24 h: page of 5 min", 33, (227, 227), missed=_SPECTRA),
    Case("page 1 h", "24 h: page of 1 h", 33),
    Case("page 24 h", "24 h: the whole day on a page", 33),
    Case("hour montage", "23 rows: another montage", 100),
    Case("hour filter", "23 rows: another filter", 100),
    Case("hour topography", "topography update: values to picture", 2, missed=_SCALP),
    Case("wide montage", "128 rows: another montage", 200, missed=_SPECTRA),
    Case("wide filter", "128 rows: another filter", 200, missed=_SPECTRA),
    Case("marks3000 open", "3,000 marks: open, all shown", 500, (3800, 3800)),
    Case("marks3000 page", "3,000 marks: next page", 20, (118, 118), missed=_LINES),
    Case("marks100000 open", "100,000 marks: open, all shown", 1000, missed=_MARKS),
    Case("marks100000 page", "100,000 marks: next page", 50),
    Case("busy page", "page turn while a model runs", 50, (100, 1152), judged_by="p95"),
    Case("memory", "24 h, after 200 jumps: memory of the window", 400, (500, 8600), unit="MB", judged_by="most"),
)


@dataclass(frozen=True)
class Measured:
    """Samples of one case in its unit, and the processor time of this process they took (ms, median).

    `rival` holds its rival's samples: as many, taken in turn with ours, or any number from the same run. `floor` is
    what bytes or operations that cannot be avoided take, `floor_of` says which and at which rate.
    """

    samples: tuple[float, ...]
    cpu: float | None = None
    rival: tuple[float, ...] = ()
    floor: float | None = None
    floor_of: str = ""


Rows = list[tuple[Case, "Measured | str"]]


def value(case: Case, measured: Measured) -> float:
    """The figure a case is judged by."""
    return _judged(case, measured.samples)


def _judged(case: Case, samples: tuple[float, ...]) -> float:
    if case.judged_by == "most":
        return max(samples)
    return float(np.percentile(samples, 95 if case.judged_by == "p95" else 50))


def gains(case: Case, measured: Measured) -> tuple[float, float, float] | None:
    """How many times better than the rival (or the peer): the quarter below, the middle and the quarter above.

    Samples taken in turn are compared pair by pair, so that a busy moment meets both. None beside a figure of 0, such
    as of misses, which is better than any by no number of times.
    """
    if not any(measured.samples):
        return None
    if measured.rival and len(measured.rival) == len(measured.samples) and case.judged_by == "median":
        ratios = np.divide(measured.rival, np.maximum(measured.samples, 1e-12))
        low, middle, high = np.percentile(ratios, (25, 50, 75))
        return float(low), float(middle), float(high)
    own = max(value(case, measured), 1e-12)
    if measured.rival:
        ratio = _judged(case, measured.rival) / own
        return ratio, ratio, ratio
    if case.peer is not None:
        low, high = (float(figure) / own for figure in case.peer)
        return low, (low * high) ** 0.5, high
    return None


def verdict(case: Case, measured: Measured) -> str:
    """Whether the targets are met; empty where there is none."""
    met = []
    if case.target is not None:
        met.append(value(case, measured) < case.target)
    if case.gain is not None and measured.rival and (found := gains(case, measured)) is not None:
        met.append(found[1] >= case.gain)
    return "" if not met else "pass" if all(met) else "over"


def document(case: Case, measured: Measured | str) -> dict[str, object]:
    """One case for JSON."""
    facts: dict[str, object] = {
        "case": case.name,
        "what": case.text,
        "unit": case.unit,
        "target": case.target,
        "judged_by": case.judged_by,
        "rival": case.rival or None,
        "target_ratio": case.gain,
        "peer": list(case.peer) if case.peer else None,
    }
    if isinstance(measured, str):
        return facts | {"not_measured": measured}
    ratio = gains(case, measured)
    return facts | {
        "value": value(case, measured),
        **spread(measured.samples),
        "p95": float(np.percentile(measured.samples, 95)),
        "most": max(measured.samples),
        "n": len(measured.samples),
        "cpu_median": measured.cpu,
        "rival_measured": spread(measured.rival) if measured.rival else None,
        "ratio": ratio[1] if ratio else None,
        "ratio_quartiles": [ratio[0], ratio[2]] if ratio else None,
        "floor": measured.floor,
        "floor_of": measured.floor_of or None,
        "times_floor": value(case, measured) / measured.floor if measured.floor else None,
        "result": verdict(case, measured) or None,
        "missed": case.missed if verdict(case, measured) == "over" else None,
    }


def spread(samples: tuple[float, ...]) -> dict[str, object]:
    """The median of samples and the quarters to either side of it."""
    low, middle, high = (float(figure) for figure in np.percentile(samples, (25, 50, 75)))
    return {"median": middle, "quartiles": [low, high]}

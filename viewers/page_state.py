"""What a page says about itself: where signal is missing, and which rows must not be trusted on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np

from analysis.channel_quality import NOT_CALIBRATED, OK, ChannelQuality
from analysis.signal_blocks import ColumnPage
from viewers.rows import Rows, electrodes

FLAT, OFF_SCALE, CUT_OFF, BAD = "flat", "off scale", "cut off", "bad"
_FLAT_UV = 0.05
_OFF_SCALE_SHARE = 0.5


@dataclass(frozen=True)
class Hole:
    """A span of a page without signal: in all rows (row None) or in one."""

    start: float
    stop: float
    text: str
    row: int | None = None


def duration_text(seconds: float) -> str:
    """A length of time in the unit that reads best."""
    if seconds < 120:
        return f"{seconds:.3g} s"
    if seconds < 7200:
        return f"{seconds / 60:.3g} min"
    return f"{seconds / 3600:.3g} h"


def find_holes(page: ColumnPage, gaps: Sequence[tuple[float, float]], duration: float) -> list[Hole]:
    """Gaps of the file that touch the page, its end, and spans where rows have no samples though the file goes on."""
    window = page.window
    holes = [
        Hole(a, z, f"gap {duration_text(z - a)}") for a, z in gaps if a < window.stop and z > window.start and z > a
    ]
    if window.stop > duration:
        holes.append(Hole(duration, window.stop, "end of recording"))
    if not page.complete or not page.lo.size:
        return holes
    missing = np.isnan(page.lo)
    if not missing.any():
        return holes
    known = np.zeros(missing.shape[0], bool)
    times = (page.first_column + np.arange(missing.shape[0] + 1)) * page.column_seconds
    for hole in holes:
        known |= (times[1:] > hole.start - page.column_seconds) & (times[:-1] < hole.stop + page.column_seconds)
    everywhere = missing.all(axis=1)
    holes += [Hole(times[a], times[z], "no signal") for a, z in _runs(everywhere & ~known)]
    partly = missing & ~(known | everywhere)[:, None]
    for row in np.flatnonzero(partly.any(axis=0)):
        holes += [Hole(times[a], times[z], "", int(row)) for a, z in _runs(partly[:, row])]
    return holes


def _runs(mask: np.ndarray) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(np.int8), [0]])))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def row_faults(rows: Rows, quality: Mapping[str, ChannelQuality], bad: Set[str] = frozenset()) -> tuple[str, ...]:
    """For each row "" or the fault of its electrodes, which holds on every page; `bad` are those a reader marked."""
    return tuple(_fault(rows, i, quality, bad) for i in range(len(rows)))


def _fault(rows: Rows, i: int, quality: Mapping[str, ChannelQuality], bad: Set[str]) -> str:
    row = rows.montage.derivations[i]
    names = electrodes(row)
    marked = [name for name in names if name in bad]
    if marked:
        return BAD if len(names) == 1 else f"{', '.join(marked)} {BAD}"
    for name in names:
        state = quality[name].state if name in quality else OK
        if state != OK:
            return state if name == row.anode else f"{name} {state}"
    channel = rows.channel(i)
    return NOT_CALIBRATED if channel is not None and not channel.calibrated else ""


def row_states(page: ColumnPage, rows: Rows, faults: Sequence[str]) -> tuple[str, ...]:
    """For each row its fault, or what is wrong with it on this page: flat, outside the view, or cut off at its band."""
    states = list(faults)
    if page.lo.shape[1] != len(rows) or not page.lo.size:
        return tuple(states)
    low, high = np.fmin.reduce(page.lo, axis=0), np.fmax.reduce(page.hi, axis=0)
    if page.complete:
        for i in np.flatnonzero((high - low < _FLAT_UV) & ~rows.own_scale):
            states[i] = states[i] or FLAT
    # Only rows that leave the view at all are looked at column by column.
    edges = np.sort(rows.origin + rows.gain * np.stack([low, high]), axis=0)
    for i in np.flatnonzero((edges[0] < 0) | (edges[1] > rows.height)):
        if not states[i] and _off_scale_share(page, rows, int(i)) > _OFF_SCALE_SHARE:
            states[i] = OFF_SCALE
    cut = rows.cut(page.lo, page.hi)
    if cut is not None:
        for i in np.flatnonzero((cut[0] | cut[1]).any(axis=0)):
            states[i] = states[i] or CUT_OFF
    return tuple(states)


def _off_scale_share(page: ColumnPage, rows: Rows, i: int) -> float:
    reach = np.stack([page.lo[:, i], page.hi[:, i]]) * rows.gain[i] + rows.origin[i]
    return float(np.mean((reach.min(axis=0) > rows.height) | (reach.max(axis=0) < 0)))

"""What a montage is: a named list of rows, each a difference of channels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Derivation:
    """One row: channel `anode` minus the mean of the channels `cathode` (none: as it was recorded), times `sign`.

    Names are channel names of the recording. `side` is "left", "right", "midline" or "other"; rows of one `block`
    stand together. `sign` is -1 where a channel was recorded in the opposite sense, and 1 otherwise.
    """

    name: str
    anode: str
    cathode: tuple[str, ...] = ()
    side: str = "other"
    block: int = 0
    sign: int = 1


@dataclass(frozen=True)
class Montage:
    """A named list of derivations; `note` says what the reader must know, such as rows that are missing.

    `unshown` tells of channels of no known kind that have no row, which is usual and no reason to be careful.
    """

    name: str
    derivations: tuple[Derivation, ...]
    note: str = ""
    unshown: str = ""

    @property
    def ch_names(self) -> tuple[str, ...]:
        """Row names in order."""
        return tuple(row.name for row in self.derivations)

    def picks(self, ch_names: Sequence[str]) -> list[int]:
        """Indices into `ch_names` of every channel the montage needs, in ascending order."""
        needed = {name for row in self.derivations for name in (row.anode, *row.cathode)}
        return [i for i, name in enumerate(ch_names) if name in needed]

    def apply(self, data: np.ndarray, ch_names: Sequence[str]) -> np.ndarray:
        """Derive the rows from `data` (channels, samples) named by `ch_names`; float32 (rows, samples)."""
        index = {name: i for i, name in enumerate(ch_names)}
        out = data[[index[row.anode] for row in self.derivations]].astype(np.float32, copy=True)
        shared: dict[tuple[str, ...], np.ndarray] = {}
        for i, row in enumerate(self.derivations):
            if row.cathode:
                if row.cathode not in shared:
                    shared[row.cathode] = channel_mean(data[[index[name] for name in row.cathode]])
                out[i] -= shared[row.cathode]
            if row.sign < 0:
                np.negative(out[i], out=out[i])
        return out


def channel_mean(data: np.ndarray) -> np.ndarray:
    """Mean over channels of `data` (channels, samples), float32; where some are missing, of those that are there."""
    mean = data.mean(axis=0, dtype=np.float32)
    holes = np.flatnonzero(np.isnan(mean))
    if holes.size:
        there = ~np.isnan(data[:, holes])
        count = there.sum(axis=0)
        total = np.where(there, data[:, holes], 0).sum(axis=0, dtype=np.float32)
        mean[holes] = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return mean

"""Signals that begin and end, laid into a recording that is made block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Piece:
    """A signal from `onset` on, in seconds: made when its time comes, (channels, samples) in microvolts."""

    onset: float
    make: Callable[[], np.ndarray] = field(compare=False)


class Mixer:
    """Adds pieces to consecutive blocks; only those that reach into the present block are held in memory."""

    def __init__(self, pieces: Iterable[Piece], fs: int) -> None:
        self._waiting = sorted(pieces, key=lambda piece: piece.onset, reverse=True)
        self._fs = fs
        self._open: list[tuple[int, np.ndarray]] = []

    def add_to(self, out: np.ndarray, first: int) -> None:
        """Add all that falls into samples [first, first + n) of the recording to `out` (channels, n)."""
        last = first + out.shape[1]
        while self._waiting and round(self._waiting[-1].onset * self._fs) < last:
            piece = self._waiting.pop()
            self._open.append((round(piece.onset * self._fs), piece.make()))
        still_open = []
        for start, signal in self._open:
            begin, end = max(first, start), min(last, start + signal.shape[1])
            if end > begin:
                out[:, begin - first : end - first] += signal[:, begin - start : end - start]
            if start + signal.shape[1] > last:
                still_open.append((start, signal))
        self._open = still_open

"""Windows of a recording in any order, from blocks that neighbours share: each read needs margins for the filters."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

import numpy as np

from analysis.engine.model_windows import WindowPlan

BLOCK_SECONDS = 120.0
_KEPT_BLOCKS = 4  # two at either frontier of what is read outwards from a page


class WindowReader:
    """Reads windows of a plan; `wanted` are all that will be asked for, as (span, onset in seconds).

    Nothing beyond them is read, but for the filters' margins, and four blocks are held.
    """

    def __init__(self, plan: WindowPlan, wanted: Iterable[tuple[int, float]]) -> None:
        self._plan = plan
        self._ends: dict[int, tuple[int, int]] = {}
        for span, onset in wanted:
            first, stop = plan.samples_at(span, onset)
            low, high = self._ends.get(span, (first, stop))
            self._ends[span] = (min(low, first), max(high, stop))
        self._size = round(max(BLOCK_SECONDS, plan.seconds) * plan.settings.sfreq)
        self._held: OrderedDict[tuple[int, int], np.ndarray] = OrderedDict()

    def read(self, span: int, onset: float) -> np.ndarray:
        """The signal (channels, samples) float32 microvolts of the window that begins at `onset` seconds."""
        first, stop = self._plan.samples_at(span, onset)
        low = self._ends[span][0]
        parts = []
        for number in range((first - low) // self._size, (stop - 1 - low) // self._size + 1):
            start = low + number * self._size
            parts.append(self._block(span, number)[:, max(first - start, 0) : stop - start])
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)

    def _block(self, span: int, number: int) -> np.ndarray:
        key = (span, number)
        if key not in self._held:
            low, high = self._ends[span]
            start = low + number * self._size
            self._held[key] = self._plan.signals[span].read(start, min(start + self._size, high))
            if len(self._held) > _KEPT_BLOCKS:
                self._held.popitem(last=False)
        self._held.move_to_end(key)
        return self._held[key]

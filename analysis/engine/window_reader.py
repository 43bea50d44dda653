"""Windows of a recording in any order, from blocks that neighbours share: each read needs margins for the filters."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np

from analysis.engine.model_windows import WindowPlan

BLOCK_SECONDS = 120.0
_KEPT_BLOCKS = 4  # two at either frontier of what is read outwards from a page


class WindowReader:
    """Reads windows of a plan from blocks on a grid of the span, so that a window does not depend on what is asked for.

    Four blocks are held.
    """

    def __init__(self, plan: WindowPlan) -> None:
        self._plan = plan
        self._size = round(max(BLOCK_SECONDS, plan.seconds) * plan.settings.sfreq)
        self._held: OrderedDict[tuple[int, int], np.ndarray] = OrderedDict()

    def read(self, span: int, onset: float) -> np.ndarray:
        """The signal (channels, samples) float32 microvolts of the window that begins at `onset` seconds."""
        first, stop = self._plan.samples_at(span, onset)
        origin = self._plan.signals[span].first
        parts = []
        for number in range((first - origin) // self._size, (stop - 1 - origin) // self._size + 1):
            start = origin + number * self._size
            parts.append(self._block(span, number)[:, max(first - start, 0) : stop - start])
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)

    def _block(self, span: int, number: int) -> np.ndarray:
        key = (span, number)
        if key not in self._held:
            signal = self._plan.signals[span]
            start = signal.first + number * self._size
            self._held[key] = signal.read(start, min(start + self._size, signal.stop))
            if len(self._held) > _KEPT_BLOCKS:
                self._held.popitem(last=False)
        self._held.move_to_end(key)
        return self._held[key]

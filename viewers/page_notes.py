"""What stands at the foot of a page: its settings, what of them can mislead, and what it waits for."""

from __future__ import annotations

import numpy as np

from analysis.signal_blocks import ColumnPage
from viewers.page_decor import Furniture
from viewers.time_axis import TimeAxis

_UNFILTERED = "overview, unfiltered: first electrode of each row as recorded"


class PageNotes:
    """Writes the texts of the furniture; its owner paints."""

    def __init__(self, furniture: Furniture, axis: TimeAxis) -> None:
        self._furniture = furniture
        self._axis = axis
        self._note = self._hint = self._unfiltered_note = ""
        self._filtered_share = 0.0

    def set_texts(self, text: str, hint: str, unfiltered: str) -> bool:
        """Take the settings, what of them can mislead, and what of them holds for a page from the overview.

        Whether that is anything new.
        """
        known = self._note, self._hint, self._unfiltered_note
        self._note, self._hint, self._unfiltered_note = text, hint, unfiltered
        return known != (text, hint, unfiltered)

    def set_filtered_share(self, share: float) -> None:
        """Take how much of a page that comes from the overview has been filtered in the background."""
        self._filtered_share = share

    def clear(self) -> None:
        """Say nothing of a page that is gone."""
        self._furniture.warning = self._furniture.message = ""

    def write(self, page: ColumnPage | None) -> None:
        """Write what holds for a page, or for the one that is to come."""
        furniture = self._furniture
        filtered = page is None or page.filtered
        # Montage and filters of the note do not hold for a page that comes from the overview.
        note, furniture.warning = self._note, self._hint
        if not filtered:
            progress = f" · filtering, {self._filtered_share:.0%}" if self._filtered_share else ""
            note, furniture.warning = self._unfiltered_note, _UNFILTERED + progress
        furniture.note = _joined(self._axis.moment if page is not None else "", note)
        # Room for either, lest the rows move whenever a page comes from the overview first.
        dated = [_joined(self._axis.moment, text) for text in (self._note, self._unfiltered_note)]
        furniture.reserve = tuple(zip(dated, (self._hint, f"{_UNFILTERED} · filtering, 100%"), strict=True))
        empty = page is not None and not page.complete and bool(np.isnan(page.lo).all())
        furniture.message = "" if not empty else "reading…" if filtered else "surveying the recording…"


def _joined(*texts: str) -> str:
    return " · ".join(filter(None, texts))

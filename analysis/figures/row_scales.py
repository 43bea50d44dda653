"""How many units a millimetre of a printed page is, row by row, and the words that say so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.channel_kinds import FIXED, KIND_TITLES, kind_of
from analysis.figures.layers import RowLook
from analysis.montage import Montage
from analysis.recording import Channel, Recording

# Microvolts per millimetre of other voltages, whatever the EEG has: as on the screen.
_KINDS = {"ecg": 70.0, "emg": 20.0}
_OWN_SHARE = 0.8
_FULL = (1.0, 99.0)
_UNITS = {"uV": "µV"}
_NAMED = 4


@dataclass(frozen=True)
class RowScale:
    """One row: values lie (values - zero) / per_mm millimetres above its middle, so a negative `per_mm` is negative up.

    `is_own` says that it differs from the page's, `kind` for which kind of channel; without a kind the scale is made
    from the values on the page. A flat row has no `per_mm`.
    """

    row: str
    per_mm: float | None
    unit: str
    zero: float = 0.0
    is_own: bool = False
    kind: str = ""

    def heights(self, values: np.ndarray) -> np.ndarray:
        """Millimetres upwards."""
        return np.asarray((values - self.zero) / (self.per_mm or np.inf))

    def words(self) -> str:
        """Such as `70 µV/mm`."""
        return "flat" if self.per_mm is None else f"{abs(self.per_mm):.3g} {_UNITS.get(self.unit, self.unit)}/mm"


def row_scales(
    montage: Montage,
    recording: Recording,
    data: np.ndarray,
    uv_per_mm: float,
    pitch: float,
    looks: Mapping[str, RowLook] | None = None,
) -> list[RowScale]:
    """The scales of all rows; `data` (samples, rows) is what the page shows, `pitch` millimetres from row to row.

    Rows that have a look, by their names, keep the scale that a window gave them.
    """
    channels = {channel.name: channel for channel in recording.channels}
    made = []
    for i, row in enumerate(montage.derivations):
        channel, look = channels[row.anode], (looks or {}).get(row.name)
        made.append(
            _as_shown(look, channel, pitch)
            if look is not None
            else _scale(row.name, channel, data[:, i], uv_per_mm, pitch)
        )
    return made


def _as_shown(look: RowLook, channel: Channel, pitch: float) -> RowScale:
    if look.per_mm is None:
        per_mm = look.span / (_OWN_SHARE * pitch) if look.span > 0 else None
        return RowScale(look.row, per_mm, look.unit, look.zero, True)
    kind = kind_of(channel)
    return RowScale(look.row, look.per_mm, look.unit, look.zero, bool(look.note), "" if kind == FIXED else kind)


def _scale(row: str, channel: Channel, values: np.ndarray, uv_per_mm: float, pitch: float) -> RowScale:
    """Voltages of the body have negative up; anything else has a scale of its own, positive up."""
    kind = kind_of(channel)
    if channel.unit == "uV" and kind != FIXED:
        own = _KINDS.get(kind)
        differs = own is not None and own != uv_per_mm
        return RowScale(row, -(own or uv_per_mm), "uV", is_own=differs, kind=kind)
    finite = values[np.isfinite(values)]
    low, high = np.percentile(finite, _FULL) if finite.size else (0.0, 0.0)
    if high <= low:
        return RowScale(row, None, channel.unit, float(low), True)
    return RowScale(row, float(high - low) / (_OWN_SHARE * pitch), channel.unit, float(low + high) / 2, True)


def foot_words(scales: Sequence[RowScale], uv_per_mm: float) -> str:
    """The page's sensitivity and which rows have another, for the foot of a page."""
    parts = []
    for kind in dict.fromkeys(scale.kind for scale in scales if scale.is_own and scale.kind):
        rows = [scale for scale in scales if scale.kind == kind]
        for words in dict.fromkeys(scale.words() for scale in rows if scale.is_own):
            alike = [scale.row for scale in rows if scale.is_own and scale.words() == words]
            named = KIND_TITLES.get(kind, kind) if len(alike) == len(rows) else _listed(alike)
            parts.append(f"{named} {words}")
    own = [scale.row for scale in scales if scale.is_own and not scale.kind]
    if own:
        parts.append(f"{_listed(own)} on own scales, positive up")
    return f"{uv_per_mm:g} µV/mm" + (f" ({'; '.join(parts)})" if parts else "")


def _listed(rows: Sequence[str]) -> str:
    return ", ".join(rows[:_NAMED]) + (f" and {len(rows) - _NAMED} more" if len(rows) > _NAMED else "")


def described(scales: Sequence[RowScale]) -> Mapping[str, Any]:
    """The rows that have another scale than the page, ready for JSON."""
    return {
        scale.row: {
            "units_per_mm": None if scale.per_mm is None else abs(scale.per_mm),
            "unit": scale.unit,
            "up": "negative" if scale.per_mm is not None and scale.per_mm < 0 else "positive",
        }
        for scale in scales
        if scale.is_own
    }

"""Where each row of a montage stands and how large it is drawn; every trace, overlay and reading takes it from here."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from analysis.channel_kinds import BODY_KINDS, EEG, FIXED, kind_of
from analysis.channel_quality import ChannelQuality
from analysis.montage import Derivation, Montage
from analysis.recording import Channel
from viewers.trace_colours import BAD_INK, SIDES, inks

_BLOCK_GAP = 1.0
_CROWDED_BLOCK_GAP = 0.5
_CROWDED_ROWS = 40
_OWN_SCALE_SHARE = 0.8
_LEAST_SPAN_UV = 10.0


@dataclass(frozen=True)
class RowLooks:
    """How rows are drawn that are not drawn as the page is.

    `kinds` holds microvolts per millimetre by kind of channel (0: fitted to the recording's range), `rows` units per
    millimetre by row name. The channels of the kinds in `centred` were freed of their offset by a filter. `clipped`
    cuts each row off where the room of its neighbours begins; `colours` is one of trace_colours.PRESETS. Rows of the
    `bad` channels are grey, and always cut off: they must not hide those that are read.
    """

    kinds: Mapping[str, float] = field(default_factory=dict)
    rows: Mapping[str, float] = field(default_factory=dict)
    centred: frozenset[str] = BODY_KINDS
    positive_up: bool = False
    clipped: bool = False
    colours: str = SIDES
    bad: frozenset[str] = frozenset()


class Rows:
    """Vertical places and gains in a view of `height` logical pixels, y downwards.

    A value v of row i lies at y = centre[i] + gain[i] * (v - offset[i]). Voltages of the body are drawn negative up
    (unless `looks` say otherwise) at `uv_per_mm`, or at the sensitivity of their kind or row; all else (SpO2,
    respiration, DC, triggers) is drawn positive up on a scale that its `quality` fixes for the recording.
    """

    def __init__(
        self,
        montage: Montage,
        height: float,
        uv_per_mm: float,
        px_per_mm: float,
        channels: Sequence[Channel] = (),
        quality: Mapping[str, ChannelQuality] | None = None,
        top: float = 0.0,
        bottom: float = 0.0,
        looks: RowLooks | None = None,
    ) -> None:
        self.looks = looks = looks or RowLooks()
        self.montage = montage
        self.height = height
        self.bottom = bottom  # the room that was left under the last row
        self.uv_per_mm = uv_per_mm
        self.px_per_mm = px_per_mm
        self.names = montage.ch_names
        self.sides = tuple(row.side for row in montage.derivations)
        by_name = {channel.name: channel for channel in channels}
        self._channels = tuple(by_name.get(row.anode) for row in montage.derivations)
        self.units = tuple(channel.unit if channel is not None else "uV" for channel in self._channels)
        self.pitch, self.centre = _places(montage, height, top, bottom)
        self._index = {name: i for i, name in enumerate(self.names)}
        colours = inks(looks.colours, montage.derivations, self._channels)
        is_bad = [bool(looks.bad.intersection(electrodes(row))) for row in montage.derivations]
        self.inks = tuple(BAD_INK if bad else ink for bad, ink in zip(is_bad, colours, strict=True))
        self._is_cut = np.array(is_bad, bool) | looks.clipped
        self._kinds = tuple(kind_of(channel) if channel is not None else EEG for channel in self._channels)
        self.own_scale = np.array([kind not in BODY_KINDS for kind in self._kinds], bool)
        self.overridden = tuple(name in looks.rows for name in self.names)
        self.gain = np.empty(len(self.names), np.float32)
        self.offset = np.zeros(len(self.names), np.float32)
        self.notes: tuple[str, ...] = tuple(
            self._scale(i, (quality or {}).get(row.anode)) for i, row in enumerate(montage.derivations)
        )

    def _scale(self, i: int, quality: ChannelQuality | None) -> str:
        """Set gain and offset of a row, and return what the gutter says of a scale that is not the page's."""
        kind, unit = self._kinds[i], self.units[i]
        centred = kind in self.looks.centred
        if self.own_scale[i] and quality is not None and not centred:
            self.offset[i] = quality.centre
        upwards = -1.0 if self.own_scale[i] or self.looks.positive_up else 1.0
        chosen = self.looks.rows.get(self.names[i]) or self._of_kind(kind, unit)
        if chosen:
            self.gain[i] = upwards * self.px_per_mm / chosen
            is_page = chosen == self.uv_per_mm and unit == "uV" and not self.own_scale[i]
            return "" if is_page else f"{chosen:g} {unit_text(unit)}/mm"
        centre, spread = (float(self.offset[i]), quality.spread) if quality is not None else (0.0, 0.0)
        least = _LEAST_SPAN_UV if unit == "uV" else max(abs(centre) * 0.01, 1e-9)
        extent = nice_ceiling(max(spread, least)) if quality is not None else 1.0
        self.gain[i] = -_OWN_SCALE_SHARE * self.pitch / extent
        if unit == "uV":
            return _span_text(extent)
        return _range_text(centre - extent / 2, centre + extent / 2, unit)

    def is_fitted(self, row: int) -> bool:
        """Whether a row's scale follows from its range, and not from a sensitivity."""
        return not (self.looks.rows.get(self.names[row]) or self._of_kind(self._kinds[row], self.units[row]))

    def _of_kind(self, kind: str, unit: str) -> float:
        """Microvolts per millimetre of a kind of channel; 0 where it is fitted to the recording's range."""
        if kind in BODY_KINDS:
            return self.looks.kinds.get(kind, self.uv_per_mm)
        return self.looks.kinds.get(kind, 0.0) if kind != FIXED and unit == "uV" else 0.0

    def scale_of(self, row: int) -> float:
        """Units (microvolts, for a voltage) a millimetre of screen stands for in a row."""
        return float(self.px_per_mm / abs(self.gain[row]))

    def __len__(self) -> int:
        return len(self.names)

    @property
    def origin(self) -> np.ndarray:
        """y of the value 0 in each row (rows,), float32."""
        return np.asarray(self.centre - self.gain * self.offset, np.float32)

    def index(self, name: str) -> int:
        """Number of a row; KeyError for a name that is not in the montage."""
        return self._index[name]

    def y(self, row: int, value: float) -> float:
        """Where a value of a row is drawn."""
        return float(self.centre[row] + self.gain[row] * (value - self.offset[row]))

    def band(self, row: int) -> tuple[float, float]:
        """Top and bottom of the room that belongs to a row."""
        return float(self.centre[row] - self.pitch / 2), float(self.centre[row] + self.pitch / 2)

    def bands(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Top and bottom (rows,) that traces are cut off at; None where all may overlap."""
        if not self._is_cut.any():
            return None
        top = np.where(self._is_cut, self.centre - self.pitch / 2, 0.0)
        return top, np.where(self._is_cut, self.centre + self.pitch / 2, self.height)

    def cut(self, lo: np.ndarray, hi: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """Where columns `lo`, `hi` (columns, rows) are cut off above and below, bool of that shape; None: nowhere.

        A trace may stand half a pixel, half the width of its line, over the edge.
        """
        bands = self.bands()
        if bands is None:
            return None
        ends = np.stack([lo, hi]) * self.gain + self.origin
        with np.errstate(invalid="ignore"):
            above, below = ends.min(axis=0) < bands[0] - 0.5, ends.max(axis=0) > bands[1] + 0.5
        return above & self._is_cut, below & self._is_cut

    def row_at(self, y: float) -> int | None:
        """The row whose room holds y; None in the gaps between blocks."""
        if not len(self):
            return None
        row = int(np.abs(self.centre - y).argmin())
        return row if abs(self.centre[row] - y) <= self.pitch / 2 + 0.5 else None

    def nearest(self, y: float) -> int | None:
        """The row nearest to y; None without rows."""
        return int(np.abs(self.centre - y).argmin()) if len(self) else None

    def of_channels(self, ch_names: Iterable[str]) -> list[int]:
        """Rows that are derived from, or named as, one of the channels (an average counts for its first electrode)."""
        wanted = set(ch_names)
        return [
            i
            for i, row in enumerate(self.montage.derivations)
            if row.name in wanted or row.anode in wanted or (len(row.cathode) == 1 and row.cathode[0] in wanted)
        ]

    def looks_like(self, other: Rows) -> bool:
        """Whether names, colours, places and notes are those of other rows, so that labels need not be drawn again."""
        return (
            self.height == other.height
            and (self.names, self.inks, self.notes) == (other.names, other.inks, other.notes)
            and self.overridden == other.overridden
            and np.array_equal(self.centre, other.centre)
        )

    def channel(self, row: int) -> Channel | None:
        """The channel of a row's first electrode; None where it is not known."""
        return self._channels[row]


def electrodes(row: Derivation) -> tuple[str, ...]:
    """The channels that a row stands for: those of a difference, or the first electrode before an average."""
    return (row.anode, *row.cathode) if len(row.cathode) <= 1 else (row.anode,)


def _places(montage: Montage, height: float, top: float, bottom: float) -> tuple[float, np.ndarray]:
    """Distance of neighbouring rows and the middle of each (rows,), with a gap between blocks."""
    count = len(montage.derivations)
    if count == 0:
        return 1.0, np.empty(0, np.float32)
    gap = _BLOCK_GAP if count <= _CROWDED_ROWS else _CROWDED_BLOCK_GAP
    places, at = [], 0.5
    for i, row in enumerate(montage.derivations):
        if i and row.block != montage.derivations[i - 1].block:
            at += gap
        places.append(at)
        at += 1.0
    pitch = max(0.5, (height - top - bottom) / (at - 0.5))
    return pitch, np.asarray(top + pitch * np.array(places), np.float32)


def nice_ceiling(value: float) -> float:
    """The least of 1, 2, 5 times a power of ten that is not below a positive value."""
    power = 10.0 ** math.floor(math.log10(value))
    for step in (1.0, 2.0, 5.0):
        if step * power >= value * (1 - 1e-9):
            return step * power
    return 10.0 * power


def nice_floor(value: float) -> float:
    """The greatest of 1, 2, 5 times a power of ten that is not above a positive value."""
    power = 10.0 ** math.floor(math.log10(value) + 1e-9)
    for step in (5.0, 2.0):
        if step * power <= value * (1 + 1e-9):
            return step * power
    return power


def unit_text(unit: str) -> str:
    """A unit as it is printed."""
    return "µV" if unit == "uV" else unit


def _span_text(microvolts: float) -> str:
    """How much a row that is not filtered shows from bottom to top."""
    return f"span {microvolts:g} µV" if microvolts < 1000 else f"span {microvolts / 1000:g} mV"


def _range_text(low: float, high: float, unit: str) -> str:
    """The values at bottom and top of a row in its own unit."""
    decimals = max(0, 1 - math.floor(math.log10(high - low)))
    texts = [f"{value:.{decimals}f}".rstrip("0").rstrip(".") if decimals else f"{value:.0f}" for value in (low, high)]
    return f"{'–'.join(texts) if low >= 0 else ' to '.join(texts)} {unit_text(unit)}".rstrip()

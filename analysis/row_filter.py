"""From raw samples to montaged and filtered rows, for one span of a recording at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.channel_kinds import BODY_KINDS, kind_of
from analysis.filtering import DisplayFilter, Filters, as_bank, filter_filled, filter_span
from analysis.montages.derivation import Montage, channel_mean
from analysis.recording import Channel, Recording

_CHUNK_ROWS = 32


def is_filtered(channel: Channel) -> bool:
    """Whether the page's filter acts on a channel: voltages of brain, heart, eyes and muscle, never DC or triggers."""
    return kind_of(channel) in BODY_KINDS


@dataclass(frozen=True)
class _Row:
    """Places of a row's electrodes among the channels that are read; `group` is that of an average, -1 for none."""

    anode: int
    cathode: int = -1
    group: int = -1
    sign: int = 1


@dataclass(frozen=True)
class _Part:
    """Rows that are computed together: where they go, what they are made of, and their filter (None: as recorded)."""

    place: slice | np.ndarray
    rows: tuple[_Row, ...]
    filter: DisplayFilter | None


class RowFilter:
    """Reads, derives and filters the rows of a montage; holds no samples, so threads may share it.

    Rows are worked on in chunks that fit a processor's cache, and derived straight into the transform's input.
    """

    def __init__(self, recording: Recording, montage: Montage, filters: Filters) -> None:
        self._recording = recording
        self._n_rows = len(montage.derivations)
        self._picks = montage.picks(recording.ch_names)
        self._groups: list[list[int]] = []
        chosen = self._filters_of(montage, filters)
        # The rows share one rate, which must suit each of them; what only the eye needs thinned does not count.
        body = [f for f, of_body in chosen if of_body or not f.is_off] or [as_bank(filters).page]
        self.step = min(f.decimation(recording.sfreq) for f in body)
        self._parts = self._plan(montage, [None if f.is_off else f for f, _ in chosen])
        pads = [part.filter.pad_samples(recording.sfreq, self.step) for part in self._parts if part.filter is not None]
        self._pad = max(pads, default=0)

    def _filters_of(self, montage: Montage, filters: Filters) -> list[tuple[DisplayFilter, bool]]:
        """The filter of each row, and whether it is a voltage of the body."""
        bank = as_bank(filters)
        kinds = {channel.name: kind_of(channel) for channel in self._recording.channels}
        return [(bank.of_kind(kinds[row.anode]), kinds[row.anode] in BODY_KINDS) for row in montage.derivations]

    def compute(self, start: int, stop: int) -> np.ndarray:
        """Samples start, start + step, … below `stop`, float32 (samples, rows), NaN in gaps."""
        first, end = max(0, start - self._pad), min(self._recording.n_times, stop + self._pad)
        raw = self._recording.read(first, end, self._picks)
        means = [channel_mean(raw[group]) for group in self._groups]
        sfreq = self._recording.sfreq
        holed = any(a * sfreq < end and z * sfreq > first for a, z in self._recording.gaps)
        out = np.empty((-(-(stop - start) // self.step), self._n_rows), np.float32)
        for part in self._parts:
            rows = None
            if part.filter is not None and not holed:
                rows = self._filter_whole(part.filter, part.rows, raw, means, first, start, stop)
                # One missing sample makes a whole transform NaN, so that one sample of each row tells.
                holed = not np.isfinite(rows[:, :1]).all()
            if rows is None or (part.filter is not None and holed):
                derived = np.empty((len(part.rows), end - first), np.float32)
                _derive(derived, part.rows, raw, means, slice(None))
                if part.filter is not None:
                    rows = self._filter_between_gaps(part.filter, derived, first, start, stop)
                else:
                    rows = _thinned(derived[:, start - first : stop - first], self.step)
            out[:, part.place] = rows.T
        return out

    def _filter_whole(
        self,
        chosen: DisplayFilter,
        rows: tuple[_Row, ...],
        raw: np.ndarray,
        means: list[np.ndarray],
        first: int,
        start: int,
        stop: int,
    ) -> np.ndarray:
        def fill(target: np.ndarray, begin: int, end: int) -> None:
            _derive(target, rows, raw, means, slice(begin - first, end - first))

        available = (first, first + raw.shape[1])
        return filter_filled(fill, len(rows), available, self._recording.sfreq, chosen, start, stop, self.step)

    def _filter_between_gaps(
        self, chosen: DisplayFilter, derived: np.ndarray, first: int, start: int, stop: int
    ) -> np.ndarray:
        """Each run without NaN by itself, and NaN between them; rows with equal gaps together."""
        out = np.full((derived.shape[0], -(-(stop - start) // self.step)), np.nan, np.float32)
        finite = np.isfinite(derived)
        patterns: dict[bytes, list[int]] = {}
        for row, mask in enumerate(np.packbits(finite, axis=1)):
            patterns.setdefault(mask.tobytes(), []).append(row)
        sfreq = self._recording.sfreq
        for rows in patterns.values():
            for begin, end in _runs(finite[rows[0]]):
                a = max(start, -(-(first + begin) // self.step) * self.step)
                z = min(stop, first + end)
                if z > a:
                    run = derived[rows, begin:end]
                    piece = filter_span(run, first + begin, sfreq, chosen, a, z, self.step)
                    offset = (a - start) // self.step
                    out[rows, offset : offset + piece.shape[1]] = piece
        return out

    def _plan(self, montage: Montage, chosen: list[DisplayFilter | None]) -> list[_Part]:
        """Rows in chunks, those of one filter together."""
        rows = self._rows_of(montage)
        parts = []
        for own in dict.fromkeys(chosen):
            places = [i for i, one in enumerate(chosen) if one == own]
            for at in range(0, len(places), _CHUNK_ROWS):
                chunk = places[at : at + _CHUNK_ROWS]
                joined = chunk[-1] - chunk[0] == len(chunk) - 1
                place = slice(chunk[0], chunk[-1] + 1) if joined else np.array(chunk)
                parts.append(_Part(place, tuple(rows[i] for i in chunk), own))
        return parts

    def _rows_of(self, montage: Montage) -> list[_Row]:
        """Each row by the places of its electrodes; averages that several rows share are made once."""
        index = {self._recording.ch_names[pick]: i for i, pick in enumerate(self._picks)}
        groups: dict[tuple[str, ...], int] = {}
        rows: list[_Row] = []
        for row in montage.derivations:
            if len(row.cathode) > 1:
                group = groups.setdefault(row.cathode, len(groups))
                rows.append(_Row(index[row.anode], group=group, sign=row.sign))
            else:
                rows.append(_Row(index[row.anode], index[row.cathode[0]] if row.cathode else -1, sign=row.sign))
        self._groups = [[index[name] for name in names] for names in groups]
        return rows


def _derive(out: np.ndarray, rows: tuple[_Row, ...], raw: np.ndarray, means: list[np.ndarray], span: slice) -> None:
    """Write each row's difference of electrodes, as Montage.apply defines it, into `out` (rows, samples)."""
    for target, row in zip(out, rows, strict=True):
        if row.group >= 0:
            np.subtract(raw[row.anode, span], means[row.group][span], out=target)
        elif row.cathode >= 0:
            np.subtract(raw[row.anode, span], raw[row.cathode, span], out=target)
        else:
            target[:] = raw[row.anode, span]
        if row.sign < 0:
            np.negative(target, out=target)


def _thinned(data: np.ndarray, step: int) -> np.ndarray:
    """Every `step` samples the one of largest size, so that no trigger is lost."""
    if step == 1:
        return data
    count = -(-data.shape[1] // step)
    padded = np.pad(data, ((0, 0), (0, count * step - data.shape[1])), mode="edge")
    groups = padded.reshape(data.shape[0], count, step)
    lo, hi = np.fmin.reduce(groups, axis=2), np.fmax.reduce(groups, axis=2)
    return np.asarray(np.where(np.abs(hi) >= np.abs(lo), hi, lo))


def _runs(mask: np.ndarray) -> list[tuple[int, int]]:
    """Half-open spans where a mask (n,) is true."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    return [(int(a), int(z)) for a, z in zip(edges[::2], edges[1::2], strict=True)]

"""From raw samples to montaged and filtered rows, for one span of a recording at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.filtering import DisplayFilter, filter_filled, filter_span
from analysis.montage import Montage
from analysis.recording import Channel, Recording

FILTERED_TYPES = frozenset({"eeg", "ecog", "seeg", "ecg", "eog", "emg"})
_CHUNK_ROWS = 32


def is_filtered(channel: Channel) -> bool:
    """Whether the display filter acts on a channel: voltages of brain, heart, eyes and muscle, never DC or triggers."""
    return channel.unit == "uV" and channel.type in FILTERED_TYPES and channel.calibrated


@dataclass(frozen=True)
class _Row:
    """Places of a row's electrodes among the channels that are read; `group` is that of an average, -1 for none."""

    anode: int
    cathode: int = -1
    group: int = -1


@dataclass(frozen=True)
class _Part:
    """Rows that are computed together: where they go, what they are made of, and whether they are filtered."""

    place: slice | np.ndarray
    rows: tuple[_Row, ...]
    filtered: bool


class RowFilter:
    """Reads, derives and filters the rows of a montage; holds no samples, so threads may share it.

    Rows are worked on in chunks that fit a processor's cache, and derived straight into the transform's input.
    """

    def __init__(self, recording: Recording, montage: Montage, display_filter: DisplayFilter) -> None:
        self._recording = recording
        self._filter = display_filter
        self._n_rows = len(montage.derivations)
        self._picks = montage.picks(recording.ch_names)
        self._groups: list[list[int]] = []
        self._parts = self._plan(montage, display_filter)
        self.step = display_filter.decimation(recording.sfreq)

    def compute(self, start: int, stop: int) -> np.ndarray:
        """Samples start, start + step, … below `stop`, float32 (samples, rows), NaN in gaps."""
        pad = self._filter.pad_samples(self._recording.sfreq, self.step)
        first, end = max(0, start - pad), min(self._recording.n_times, stop + pad)
        raw = self._recording.read(first, end, self._picks)
        means = [raw[group].mean(axis=0, dtype=np.float32) for group in self._groups]
        sfreq = self._recording.sfreq
        holed = any(a * sfreq < end and z * sfreq > first for a, z in self._recording.gaps)
        out = np.empty((-(-(stop - start) // self.step), self._n_rows), np.float32)
        for part in self._parts:
            rows = None
            if part.filtered and not holed:
                rows = self._filter_whole(part, raw, means, first, start, stop)
                # One missing sample makes a whole transform NaN, so that one sample of each row tells.
                holed = not np.isfinite(rows[:, :1]).all()
            if rows is None or (part.filtered and holed):
                derived = np.empty((len(part.rows), end - first), np.float32)
                _derive(derived, part.rows, raw, means, slice(None))
                if part.filtered:
                    rows = self._filter_between_gaps(derived, first, start, stop)
                else:
                    rows = _thinned(derived[:, start - first : stop - first], self.step)
            out[:, part.place] = rows.T
        return out

    def _filter_whole(
        self, part: _Part, raw: np.ndarray, means: list[np.ndarray], first: int, start: int, stop: int
    ) -> np.ndarray:
        def fill(target: np.ndarray, begin: int, end: int) -> None:
            _derive(target, part.rows, raw, means, slice(begin - first, end - first))

        available = (first, first + raw.shape[1])
        sfreq = self._recording.sfreq
        return filter_filled(fill, len(part.rows), available, sfreq, self._filter, start, stop, self.step)

    def _filter_between_gaps(self, derived: np.ndarray, first: int, start: int, stop: int) -> np.ndarray:
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
                    piece = filter_span(run, first + begin, sfreq, self._filter, a, z, self.step)
                    offset = (a - start) // self.step
                    out[rows, offset : offset + piece.shape[1]] = piece
        return out

    def _plan(self, montage: Montage, display_filter: DisplayFilter) -> list[_Part]:
        """Rows in chunks, filtered and unfiltered ones apart."""
        index = {self._recording.ch_names[pick]: i for i, pick in enumerate(self._picks)}
        by_name = {channel.name: channel for channel in self._recording.channels}
        groups: dict[tuple[str, ...], int] = {}
        rows: list[_Row] = []
        for row in montage.derivations:
            if len(row.cathode) > 1:
                group = groups.setdefault(row.cathode, len(groups))
                rows.append(_Row(index[row.anode], group=group))
            else:
                rows.append(_Row(index[row.anode], index[row.cathode[0]] if row.cathode else -1))
        self._groups = [[index[name] for name in names] for names in groups]
        parts = []
        for filtered in (True, False):
            places = [
                i
                for i, row in enumerate(montage.derivations)
                if (is_filtered(by_name[row.anode]) and not display_filter.is_off) == filtered
            ]
            for at in range(0, len(places), _CHUNK_ROWS):
                chunk = places[at : at + _CHUNK_ROWS]
                joined = chunk[-1] - chunk[0] == len(chunk) - 1
                place = slice(chunk[0], chunk[-1] + 1) if joined else np.array(chunk)
                parts.append(_Part(place, tuple(rows[i] for i in chunk), filtered))
        return parts


def _derive(out: np.ndarray, rows: tuple[_Row, ...], raw: np.ndarray, means: list[np.ndarray], span: slice) -> None:
    """Write each row's difference of electrodes, as Montage.apply defines it, into `out` (rows, samples)."""
    for target, row in zip(out, rows, strict=True):
        if row.group >= 0:
            np.subtract(raw[row.anode, span], means[row.group][span], out=target)
        elif row.cathode >= 0:
            np.subtract(raw[row.anode, span], raw[row.cathode, span], out=target)
        else:
            target[:] = raw[row.anode, span]


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

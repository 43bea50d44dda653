"""The data records of an EDF or BDF file: positioned reads of whole records, and one vectorised scaling."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.readers.edf_annotations import record_onset
from analysis.readers.edf_header import EdfHeader
from analysis.readers.record_file import RecordFile

_BLOCK_BYTES = 1 << 22
# In front of a block: one byte for the first sample of three bytes, the rest so that samples of two are aligned.
_SPARE = 8
# Values that are scaled at a time: their float64 copy stays in the processor's cache, and calls are few.
_SCALED_VALUES = 1 << 16
SCAN_BYTES = 1 << 22
# Reading each record's annotation bytes alone pays off where they are so small a part of so large a record.
_SPARSE_SHARE, _SPARSE_RECORD = 64, 1 << 16


@dataclass(frozen=True)
class Run:
    """Signals of one rate that lie side by side in each record; `rows` are their rows in the output.

    `gain` and `offset` are (channels, 1, 1) float64; `bits` masks digital values where only some of them count.
    """

    rows: slice
    column: int
    n_channels: int
    n_samples: int
    gain: np.ndarray
    offset: np.ndarray
    bits: int | None


@dataclass(frozen=True)
class Block:
    """Consecutive raw records in a buffer, which begins with _SPARE bytes."""

    buffer: np.ndarray
    first: int
    count: int


class EdfRecords:
    """Reads records of one file; several threads may read at once, each into a buffer of its own."""

    def __init__(self, header: EdfHeader) -> None:
        self._header = header
        self._file = RecordFile(header.path)
        self._local = threading.local()
        self._columns = np.cumsum([0, *(signal.n_samples for signal in header.signals)]).tolist()
        self._texts = [
            (self._columns[i] * header.sample_bytes, self._columns[i + 1] * header.sample_bytes)
            for i, signal in enumerate(header.signals)
            if signal.is_annotation
        ]

    def close(self) -> None:
        """Release the file."""
        self._file.close()

    def run(self, signals: Sequence[int], row: int, bits: int | None) -> Run:
        """Neighbouring signals of equal rate as one run whose output begins at `row`."""
        described = [self._header.signals[i] for i in signals]
        scale = [(1.0, 0.0) if bits is not None else signal.delivered[1:] for signal in described]
        gain, offset = np.array(scale).T
        return Run(
            rows=slice(row, row + len(signals)),
            column=self._columns[signals[0]],
            n_channels=len(signals),
            n_samples=described[0].n_samples,
            gain=gain[:, None, None],
            offset=offset[:, None, None],
            bits=bits,
        )

    def fill(self, out: np.ndarray, runs: Sequence[Run], first_record: int, start: int, stop: int) -> None:
        """Write physical samples [start, stop) of the runs, counted from `first_record`, into `out` (rows, samples).

        All runs have the same rate. Values equal float64 scaling, rounded once to float32.
        """
        if not runs or stop <= start:
            return
        n_samples = runs[0].n_samples
        step = max(1, _BLOCK_BYTES // self._header.record_bytes)
        end = -(-stop // n_samples)
        for record in range(start // n_samples, end, step):
            buffer = self._own("buffer", np.uint8, _SPARE + step * self._header.record_bytes)
            block = self._read(first_record + record, min(step, end - record), buffer)
            begin = record * n_samples
            first, last = max(start, begin), min(stop, begin + block.count * n_samples)
            for run in runs:
                self._fill_run(block, run, out[run.rows, first - start : last - start], first - begin)

    def _fill_run(self, block: Block, run: Run, out: np.ndarray, skipped: int) -> None:
        """Physical values of a block but its first `skipped` samples into `out` (channels, samples)."""
        digital = self._digital(block, run)
        per_channel = block.count * run.n_samples
        wanted = slice(skipped, skipped + out.shape[1])
        step = max(1, _SCALED_VALUES // per_channel)
        for at in range(0, run.n_channels, step):
            part = digital[at : at + step] if run.bits is None else digital[at : at + step] & run.bits
            values = self._own("values", np.float64, part.size).reshape(part.shape)
            np.multiply(part, run.gain[at : at + step], out=values)
            flat = values.reshape(part.shape[0], per_channel)[:, wanted]
            # Added in float64 and rounded on the way out, which saves a pass over the copy.
            np.add(flat, run.offset[at : at + step, :, 0], out=out[at : at + step], casting="same_kind")

    def scale(self, block: Block, run: Run, out: np.ndarray) -> None:
        """Physical values of a run into `out` (channels, records, samples), in the precision of `out`."""
        digital = self._digital(block, run)
        if run.bits is not None:
            digital = digital & run.bits
        np.multiply(digital, run.gain.astype(out.dtype), out=out, casting="same_kind")
        np.add(out, run.offset.astype(out.dtype), out=out)

    def digital(self, block: Block, signal: int) -> np.ndarray:
        """Digital values of one signal (records, samples), as the file holds them."""
        return self._digital(block, self.run([signal], 0, None))[0]

    def _digital(self, block: Block, run: Run) -> np.ndarray:
        width = self._header.sample_bytes
        shape = (run.n_channels, block.count, run.n_samples)
        strides = (run.n_samples * width, self._header.record_bytes, width)
        place = _SPARE + run.column * width
        if width == 2:
            return np.ndarray(shape, "<i2", block.buffer.data, place, strides)
        # Four bytes from one early: the sample fills the upper three, and an arithmetic shift brings it down.
        return np.ndarray(shape, "<i4", block.buffer.data, place - 1, strides) >> 8

    def blocks(self, first: int, count: int, step: int | None = None) -> Iterator[Block]:
        """Records [first, first + count) in order, through a buffer that each block uses again."""
        step = step or max(1, SCAN_BYTES // self._header.record_bytes)
        buffer = np.zeros(_SPARE + step * self._header.record_bytes, np.uint8)
        for record in range(first, first + count, step):
            yield self._read(record, min(step, first + count - record), buffer)

    def _read(self, first: int, count: int, buffer: np.ndarray) -> Block:
        self._file.read_into(buffer[_SPARE : _SPARE + count * self._header.record_bytes], self._place(first))
        return Block(buffer, first, count)

    def _place(self, record: int) -> int:
        return self._header.n_bytes + record * self._header.record_bytes

    def _own(self, name: str, dtype: type, size: int) -> np.ndarray:
        """Scratch memory of the thread that asks; fresh pages at each read would cost as much as the scaling."""
        held: np.ndarray | None = getattr(self._local, name, None)
        if held is None or len(held) < size:
            held = np.zeros(size, dtype)
            setattr(self._local, name, held)
        return held[:size]

    def record_onset(self, record: int) -> float | None:
        """When a record begins, in seconds from the header's start; None where it does not say."""
        start, stop = self._texts[0]
        return record_onset(self._file.read_bytes(self._place(record) + start, stop - start))

    def raw(self, block: Block) -> np.ndarray:
        """The bytes of a block (records, record bytes), a view."""
        length = block.count * self._header.record_bytes
        return block.buffer[_SPARE : _SPARE + length].reshape(block.count, -1)

    def annotation_bytes(self, block: Block) -> bytes:
        """Annotation bytes of a block, each record's closed by a zero so that a full one does not run into the next."""
        raw = self.raw(block)
        parts: list[bytes] = []
        for start, stop in self._texts:
            closed = np.zeros((block.count, stop - start + 1), np.uint8)
            closed[:, :-1] = raw[:, start:stop]
            parts.append(closed.tobytes())
        return b"".join(parts)

    def all_annotation_bytes(self) -> bytes:
        """Annotation bytes of the whole file; reads all of it unless its records are very large."""
        if not self._texts:
            return b""
        header = self._header
        width = sum(stop - start for start, stop in self._texts)
        if header.record_bytes < max(_SPARSE_RECORD, width * _SPARSE_SHARE):
            return b"".join(self.annotation_bytes(block) for block in self.blocks(0, header.n_records))
        return b"".join(
            self._file.read_bytes(self._place(record) + start, stop - start) + b"\0"
            for record in range(header.n_records)
            for start, stop in self._texts
        )

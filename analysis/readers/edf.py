"""EDF, EDF+, BDF and BDF+ recordings: header at open, samples of what is asked for, annotations on first use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import numpy as np

from analysis.annotation import Annotation
from analysis.channel_labels import parse_label
from analysis.channels import MICROVOLTS, RawChannel, build_channels
from analysis.electrodes import site_of
from analysis.errors import RecordingError
from analysis.readers.edf_annotations import Segment, find_segments, parse_annotations
from analysis.readers.edf_header import EdfHeader, EdfSignal, read_header
from analysis.readers.edf_records import SCAN_BYTES, EdfRecords, Run
from analysis.readers.notes import split_by_time
from analysis.readers.rates import first_at_or_after, resample, source_range
from analysis.readers.record_file import fingerprint
from analysis.recording import BRAIN_TYPES, Channel, Recording

_NAMED_AT_MOST = 6


@dataclass(frozen=True)
class _Span:
    """A segment on the time axis, which begins at sample `start` of the recording's rate and ends before `stop`."""

    first_record: int
    n_records: int
    start: int
    stop: int


class EdfRecording(Recording):
    """An EDF or BDF file of any kind, read lazily and safely from several threads.

    `annotations_outside` holds those that begin after the last sample or end before the first, once `annotations` was
    used.
    """

    annotations_outside: tuple[Annotation, ...] = ()

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.header: EdfHeader = read_header(path)
        self.warnings += self.header.warnings
        self.format = self.header.format
        self.id = fingerprint([path])
        self.signal_indices = self._shown_signals()
        self.channels = self._build_channels()
        self.sfreq = max([c.sfreq for c in self.channels if c.is_brain] or [c.sfreq for c in self.channels])
        self.records = EdfRecords(self.header)
        self.segments = self._find_segments()
        self._spans = self._place_segments()
        self.n_times = self._spans[-1].stop
        self.gaps = tuple((a.stop / self.sfreq, b.start / self.sfreq) for a, b in pairwise(self._spans))
        origin = timedelta(seconds=self.segments[0].onset)
        self.start_datetime = self.header.start + origin if self.header.start else None

    def _shown_signals(self) -> tuple[int, ...]:
        """Indices of the signals that are channels, in the file's order."""
        signals = [(i, s) for i, s in enumerate(self.header.signals) if not s.is_annotation]
        separators = sum(s.is_separator for _, s in signals)
        if separators:
            self.warnings.append(f"{separators} separators without data ('-') are left out")
        empty = [s.label for _, s in signals if s.n_samples == 0 and not s.is_separator]
        if empty:
            self.warnings.append(f"{_listed(empty)}: no samples in the file, left out")
        shown = tuple(i for i, s in signals if s.n_samples and not s.is_separator)
        if not shown:
            raise RecordingError(f"none of the signals holds samples ({self.path}): choose another file")
        return shown

    def _build_channels(self) -> tuple[Channel, ...]:
        signals = [self.header.signals[i] for i in self.signal_indices]
        raw = [
            RawChannel(
                label=signal.label,
                unit=MICROVOLTS if _has_no_unit(signal) else signal.delivered[0],
                sfreq=signal.n_samples / self.header.record_duration,
                prefilter=signal.prefilter,
                acquisition=(signal.prefilter,),
                calibrated=signal.calibrated,
            )
            for signal in signals
        ]
        channels = [
            replace(channel, limits=_limits(signal), unit=_unit(channel, signal))
            for channel, signal in zip(build_channels(raw), signals, strict=True)
        ]
        self.warnings += _channel_warnings(list(zip(channels, signals, strict=True)))
        return tuple(channels)

    def _find_segments(self) -> tuple[Segment, ...]:
        header, records = self.header, self.records
        if not header.has_annotations:
            return (Segment(0, header.n_records, 0.0),)
        if not header.is_discontinuous:
            return (Segment(0, header.n_records, records.record_onset(0) or 0.0),)
        tolerance = max(1 / self.sfreq, 1e-3)
        return tuple(find_segments(records.record_onset, header.n_records, header.record_duration, tolerance))

    def _place_segments(self) -> tuple[_Span, ...]:
        spans: list[_Span] = []
        for segment in self.segments:
            start = round((segment.onset - self.segments[0].onset) * self.sfreq)
            if spans and start < spans[-1].stop:
                self.warnings.append(
                    f"record {segment.first_record + 1} begins before the one in front of it ends: shown right after it"
                )
                start = spans[-1].stop
            length = segment.n_records * self._samples_per_record()
            spans.append(_Span(segment.first_record, segment.n_records, start, start + length))
        return tuple(spans)

    def _samples_per_record(self) -> int:
        return round(self.sfreq * self.header.record_duration)

    def record_onsets(self) -> list[float]:
        """Time of every record as the file counts it, in seconds from the header's start."""
        duration = self.header.record_duration
        return [s.onset + i * duration for s in self.segments for i in range(s.n_records)]

    def read(self, start: int, stop: int, picks: Sequence[int] | None = None) -> np.ndarray:
        """See Recording.read."""
        picks = range(len(self.channels)) if picks is None else picks
        out = np.empty((len(picks), max(0, stop - start)), np.float32)
        if not any(span.start <= start and stop <= span.stop for span in self._spans):
            out.fill(np.nan)
        same, others = self._runs(picks)
        for span in self._spans:
            first, last = max(start, span.start), min(stop, span.stop)
            if first >= last:
                continue
            part = out[:, first - start : last - start]
            self.records.fill(part, same, span.first_record, first - span.start, last - span.start)
            for run in others:
                part[run.rows] = self._resampled(run, span, first - span.start, last - span.start)
        return out

    def read_native(self, pick: int, start: float, stop: float) -> np.ndarray:
        """See Recording.read_native."""
        rate = self.channels[pick].sfreq
        first, last = first_at_or_after(start * rate), first_at_or_after(stop * rate)
        out = np.full((1, max(0, last - first)), np.nan, np.float32)
        run = self._run([pick], 0)
        for span in self._spans:
            origin = round(span.start / self.sfreq * rate)
            a, b = max(first, origin), min(last, origin + span.n_records * run.n_samples)
            if a < b:
                self.records.fill(out[:, a - first : b - first], [run], span.first_record, a - origin, b - origin)
        return out[0]

    def _resampled(self, run: Run, span: _Span, start: int, stop: int) -> np.ndarray:
        """Samples [start, stop) of a span at the recording's rate, from channels of another rate."""
        ratio = run.n_samples / self.header.record_duration / self.sfreq
        first, last = source_range(start, stop, ratio, span.n_records * run.n_samples)
        source = np.empty((run.n_channels, last - first), np.float32)
        self.records.fill(source, [replace(run, rows=slice(None))], span.first_record, first, last)
        return resample(source, first, start, stop, ratio)

    def _runs(self, picks: Sequence[int]) -> tuple[list[Run], list[Run]]:
        """Neighbours among the picks as runs: those of the recording's rate, and all others."""
        groups: list[list[int]] = []
        for pick in picks:
            if groups and self._follows(groups[-1][-1], pick):
                groups[-1].append(pick)
            else:
                groups.append([pick])
        runs: list[Run] = []
        for group in groups:
            runs.append(self._run(group, runs[-1].rows.stop if runs else 0))
        main = self._samples_per_record()
        return [r for r in runs if r.n_samples == main], [r for r in runs if r.n_samples != main]

    def _follows(self, before: int, pick: int) -> bool:
        i, j = self.signal_indices[before], self.signal_indices[pick]
        signals = self.header.signals
        return j == i + 1 and signals[i].n_samples == signals[j].n_samples and self._bits(before) == self._bits(pick)

    def _run(self, picks: Sequence[int], row: int) -> Run:
        return self.records.run([self.signal_indices[pick] for pick in picks], row, self._bits(picks[0]))

    def _bits(self, pick: int) -> int | None:
        return self.header.signals[self.signal_indices[pick]].trigger_bits

    def _load_annotations(self) -> tuple[Annotation, ...]:
        return self._parse(self.records.all_annotation_bytes())

    def _parse(self, texts: bytes) -> tuple[Annotation, ...]:
        names = {channel.name: channel.name for channel in self.channels}
        names |= {channel.original_name: channel.name for channel in reversed(self.channels)}
        found = parse_annotations(texts, self.segments[0].onset, names)
        inside, self.annotations_outside = split_by_time(found, self.duration, self.warnings)
        return inside

    def scan_blocks(self, records_per_chunk: int | None = None) -> Iterator[tuple[int, np.ndarray]]:
        """Read the whole file once, in order: (first sample, float32 (channels, samples) at `sfreq`) of each chunk.

        Units as in `read`, values within two float32 roundings of it. The array is used again for the next chunk, so
        keep copies. After the last one `annotations` is ready without another read. Gaps yield nothing.
        """
        step = records_per_chunk or max(1, SCAN_BYTES // self.header.record_bytes)
        n_samples = self._samples_per_record()
        out = np.empty((len(self.channels), step * n_samples), np.float32)
        same, others = self._runs(range(len(self.channels)))
        texts: list[bytes] = []
        for span in self._spans:
            for block in self.records.blocks(span.first_record, span.n_records, step):
                texts.append(self.records.annotation_bytes(block))
                start = (block.first - span.first_record) * n_samples
                part = out[:, : block.count * n_samples]
                for run in same:
                    cube = out[run.rows].reshape(run.n_channels, step, n_samples)[:, : block.count]
                    self.records.scale(block, run, cube)
                for run in others:
                    part[run.rows] = self._resampled(run, span, start, start + part.shape[1])
                yield span.start + start, part
        if "annotations" not in self.__dict__:
            self.__dict__["annotations"] = self._parse(b"".join(texts))

    def close(self) -> None:
        """Release the file."""
        self.records.close()


def read_edf_annotations(path: Path) -> tuple[Annotation, ...]:
    """Annotations of an EDF+ or BDF+ file, also of one that holds nothing else (a hypnogram beside its recording)."""
    header = read_header(path, signals_needed=False)
    records = EdfRecords(header)
    try:
        onset = records.record_onset(0) if header.has_annotations else None
        return parse_annotations(records.all_annotation_bytes(), onset or 0.0, {})
    finally:
        records.close()


def _channel_warnings(pairs: Sequence[tuple[Channel, EdfSignal]]) -> list[str]:
    """What a reader must know about single channels."""
    told = [
        (
            [c.name for c, s in pairs if not s.calibrated],
            "not calibrated, the header gives no physical range: shown in counts, kept out of averages and scores",
        ),
        (
            [c.name for c, s in pairs if s.calibrated and s.digital_min > s.digital_max],
            "digital minimum above maximum; read as the header says, minimum to minimum",
        ),
        (
            [c.name for c, s in pairs if _has_no_unit(s) and c.type in BRAIN_TYPES],
            "the header gives no unit, microvolts are assumed",
        ),
        (
            [f"{c.name} ({s.unit})" for c, s in pairs if c.type == "misc" and _has_strange_unit(c, s)],
            "the unit is no voltage that is known; shown in that unit and not as EEG",
        ),
    ]
    return [f"{_listed(names)}: {what}" for names, what in told if names]


def _unit(channel: Channel, signal: EdfSignal) -> str:
    """What is no EEG and tells no unit has none; EEG without one is taken for microvolts."""
    return "" if _has_no_unit(signal) and channel.type not in BRAIN_TYPES else channel.unit


def _limits(signal: EdfSignal) -> tuple[float, float]:
    """What the least and the greatest digital value stand for, in the unit that is delivered."""
    _, gain, offset = signal.delivered
    ends = sorted(gain * digital + offset for digital in (signal.digital_min, signal.digital_max))
    return ends[0], ends[1]


def _has_no_unit(signal: EdfSignal) -> bool:
    return signal.calibrated and not signal.unit


def _has_strange_unit(channel: Channel, signal: EdfSignal) -> bool:
    strange = signal.calibrated and bool(signal.unit) and channel.unit != MICROVOLTS
    return strange and site_of(parse_label(signal.label).head) is not None


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_NAMED_AT_MOST])
    return shown if len(names) <= _NAMED_AT_MOST else f"{shown} and {len(names) - _NAMED_AT_MOST} more"

"""Copying the data records of an EDF or BDF file as they are, under a header of EDF+ or BDF+."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np

from analysis.annotation import Annotation
from analysis.edf_writing import (
    DIGITAL_RANGE,
    UNKNOWN_PATIENT,
    UNKNOWN_TIME,
    EdfWriter,
    FileLayout,
    SignalFields,
    Target,
    ascii_bytes,
    eight,
    exact_range,
    file_annotations,
    recording_field,
    stored,
)
from analysis.errors import RecordingError
from analysis.progress import Progress
from analysis.readers.edf import EdfRecording
from analysis.readers.edf_header import EdfSignal
from analysis.readers.edf_records import Block
from analysis.readers.units import ascii_unit, microvolts_per


def copy_records(
    recording: EdfRecording,
    file: BinaryIO,
    target: Target,
    progress: Progress,
    annotations: Sequence[Annotation] | None = None,
) -> None:
    """Copy the data records as they are, under a header of EDF+ and with annotations written anew.

    `annotations` take the place of the recording's own.
    """
    header = recording.header
    indices = [i for i, signal in enumerate(header.signals) if signal.n_samples and not signal.is_annotation]
    narrowings = _narrowings(target, recording, indices)
    shifts = {i: narrowing.shift for i, narrowing in narrowings.items()}
    signals = [_copied_signal(header.signals[i], narrowings.get(i), target.sample_bytes) for i in indices]
    own = recording.annotations  # first, since reading them finds those outside
    notes = (*(own if annotations is None else annotations), *recording.annotations_outside)
    layout = FileLayout(
        sample_bytes=target.sample_bytes,
        patient=UNKNOWN_PATIENT if target.anonymize else _patient(recording),
        recording=recording_field(None) if target.anonymize else _recording(recording),
        start=None if target.anonymize else header.start,
        record_duration=_same_or_eight(header.raw[244:252], header.record_duration),
        onsets=recording.record_onsets(),
        discontinuous=header.is_discontinuous,
        clock=UNKNOWN_TIME if target.anonymize else _clock(recording),
    )
    writer = EdfWriter(file, layout, signals, file_annotations(notes, recording.segments[0].onset, _labels(recording)))
    for block in recording.records.blocks(0, header.n_records):
        values = [_values(recording, block, i, bool(shifts)) - shifts.get(i, 0) for i in indices]
        parts = [stored(array, target.sample_bytes) for array in values]
        writer.write(np.concatenate(parts, axis=1))
        progress.report(block.first + block.count, header.n_records, "copying")


def _labels(recording: EdfRecording) -> dict[str, str]:
    """What texts of one channel call it: its label, or its name where another channel has that label before it."""
    labels: dict[str, str] = {}
    for channel, index in zip(recording.channels, recording.signal_indices, strict=True):
        label = recording.header.signals[index].label
        labels[channel.name] = channel.name if label in labels.values() else label
    return labels


def _same_or_eight(field: bytes, value: float) -> bytes:
    """A header field kept as it is where it reads as `value`, else the value written anew."""
    try:
        return field.strip() if float(field) == value else eight(value).encode()
    except ValueError:
        return eight(value).encode()


@dataclass(frozen=True)
class _Narrowing:
    """How a 24-bit signal is written in 16 bits: lowered by `shift`, then within `used`."""

    shift: int
    used: tuple[int, int]


def _narrowings(target: Target, recording: EdfRecording, indices: list[int]) -> dict[int, _Narrowing]:
    """Narrowings of all signals of a 24-bit file to 16 bits; empty where the file need not become narrower."""
    if target.sample_bytes >= recording.header.sample_bytes:
        return {}
    bounds = {i: (np.iinfo(np.int32).max, np.iinfo(np.int32).min) for i in indices}
    for block in recording.records.blocks(0, recording.header.n_records):
        for i in indices:
            values = _values(recording, block, i, narrower=True)
            bounds[i] = (min(bounds[i][0], int(values.min())), max(bounds[i][1], int(values.max())))
    return {i: _narrowing(low, high, recording.header.signals[i].label, target) for i, (low, high) in bounds.items()}


def _narrowing(low: int, high: int, label: str, target: Target) -> _Narrowing:
    first, last = DIGITAL_RANGE[target.sample_bytes]
    if high - low >= last - first:
        raise RecordingError(
            f"16 bits cannot hold the {high - low + 1} steps that {label} spans ({target.path}): "
            "give the output a name that ends in .bdf"
        )
    shift = 0 if first < low and high <= last else (low + high) // 2
    return _Narrowing(shift, (low - shift, high - shift))


def _values(recording: EdfRecording, block: Block, index: int, narrower: bool) -> np.ndarray:
    """Digital values to write: all of them, of a Status channel in a narrower file only the trigger code."""
    values = recording.records.digital(block, index)
    bits = recording.header.signals[index].trigger_bits
    return values & bits if narrower and bits is not None else values


def _copied_signal(signal: EdfSignal, narrowing: _Narrowing | None, sample_bytes: int) -> SignalFields:
    """A signal's header fields unchanged, but for a unit that is not US-ASCII and for ranges of a narrower file."""
    fields = [field.strip(b" \0") for field in signal.fields]
    fields[2] = b"uV" if microvolts_per(signal.unit) == 1 else ascii_bytes(ascii_unit(signal.unit))
    if narrowing is not None and signal.calibrated:
        gain, offset = (1.0, 0.0) if signal.trigger_bits else (signal.gain, signal.offset)
        allowed = DIGITAL_RANGE[sample_bytes]
        digital, physical = exact_range(narrowing.used, allowed, gain, offset + narrowing.shift * gain)
        fields[3:7] = [ascii_bytes(text) for text in (*map(eight, physical), *map(str, digital))]
    return SignalFields(tuple(fields), signal.n_samples)


def _patient(recording: EdfRecording) -> bytes:
    """The patient field; that of a plain file becomes the name of EDF+'s four subfields."""
    field = recording.header.raw[8:88].strip(b" \0")
    if recording.header.has_annotations and field:
        return field
    return b"X X X " + (field.replace(b" ", b"_") or b"X")


def _recording(recording: EdfRecording) -> bytes:
    field = recording.header.raw[88:168].strip(b" \0")
    if field.startswith(b"Startdate ") and recording.header.start:
        return field
    if field.startswith(b"Startdate "):
        return b"Startdate X " + b" ".join(field.split(b" ")[2:])
    return recording_field(recording.header.start, "X X ") + (field.replace(b" ", b"_") or b"X")


def _clock(recording: EdfRecording) -> bytes:
    """The time field where it reads as a time of day, which a file may tell without the day."""
    field = recording.header.raw[176:184]
    return field if re.fullmatch(rb"([01]\d|2[0-3])\.[0-5]\d\.[0-5]\d", field) else UNKNOWN_TIME

"""Copying a recording of any format as EDF+ or BDF+: samples become integers, and what that costs is said."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import timedelta
from fractions import Fraction
from typing import BinaryIO

import numpy as np

from analysis.annotation import Annotation
from analysis.channels import RawChannel, build_channels
from analysis.edf_writing import (
    UNKNOWN_PATIENT,
    EdfWriter,
    FileLayout,
    Target,
    ascii_bytes,
    eight,
    file_annotations,
    recording_field,
    signal_fields,
    stored,
)
from analysis.progress import Progress
from analysis.quantisation import Scaling, choose_scaling, refuse_loss, survey
from analysis.readers.units import ascii_unit
from analysis.recording import Recording

_MISSING = "missing data"
_MAX_RECORD_SECONDS, _MAX_RECORD_BYTES = 60.0, 1 << 24
_LABEL_WIDTH = 16


def write_samples(
    recording: Recording,
    file: BinaryIO,
    target: Target,
    progress: Progress,
    annotations: Sequence[Annotation] | None = None,
) -> list[str]:
    """Write a recording as integers in the finest scaling the format allows; returns what the reader must know.

    `annotations` take the place of the recording's own.
    """
    found = survey(recording, progress)
    scalings = [choose_scaling(f, c.unit, target.sample_bytes) for f, c in zip(found, recording.channels, strict=True)]
    if target.sample_bytes == 2:
        refuse_loss(scalings, recording, target.path)
    n_samples, n_records = _record_shape(recording, target.sample_bytes)
    labels = _labels(recording)
    signals = [
        signal_fields(label, s.prefix + ascii_unit(c.unit), s.physical, s.digital, c.prefilter, n_samples)
        for label, s, c in zip(labels, scalings, recording.channels, strict=True)
    ]
    start = None if target.anonymize else recording.start_datetime
    fraction = start.microsecond / 1e6 if start else 0.0
    duration = n_samples / recording.sfreq
    layout = FileLayout(
        sample_bytes=target.sample_bytes,
        patient=UNKNOWN_PATIENT,
        recording=recording_field(start),
        start=start - timedelta(microseconds=start.microsecond) if start else None,
        record_duration=eight(duration).encode(),
        onsets=[fraction + i * duration for i in range(n_records)],
    )
    missing = _missing_annotations(recording, [f.missing or [] for f in found])
    notes = (*(recording.annotations if annotations is None else annotations), *missing)
    names = dict(zip(recording.ch_names, labels, strict=True))
    writer = EdfWriter(file, layout, signals, file_annotations(notes, fraction, names))
    _write_records(recording, writer, scalings, (n_samples, n_records), target.sample_bytes, progress)
    return _losses(recording, scalings, bool(missing), n_samples * n_records, target.sample_bytes)


def _write_records(
    recording: Recording,
    writer: EdfWriter,
    scalings: list[Scaling],
    shape: tuple[int, int],
    sample_bytes: int,
    progress: Progress,
) -> None:
    n_samples, n_records = shape
    step = max(1, (1 << 20) // (n_samples * len(scalings)))
    for record in range(0, n_records, step):
        count = min(step, n_records - record)
        first, last = record * n_samples, (record + count) * n_samples
        data = recording.read(first, min(last, recording.n_times))
        if last > recording.n_times:
            data = np.pad(data, ((0, 0), (0, last - recording.n_times)), mode="edge")
        parts = [
            stored(scaling.digital_values(samples).reshape(count, n_samples), sample_bytes)
            for scaling, samples in zip(scalings, data, strict=True)
        ]
        writer.write(np.concatenate(parts, axis=1))
        progress.report(recording.n_times + min(last, recording.n_times), 2 * recording.n_times, "writing")


def _record_shape(recording: Recording, sample_bytes: int) -> tuple[int, int]:
    """Samples of a record and number of records: about a second each, so that nothing is left over where possible."""
    n_times, rate = recording.n_times, recording.sfreq
    limit = min(_MAX_RECORD_SECONDS * rate, _MAX_RECORD_BYTES / sample_bytes / len(recording.channels))
    fitting = [n for n in _divisors(n_times) if n <= limit and _is_exact(n / rate)]
    if fitting and max(fitting) >= rate / 10:
        n_samples = min(fitting, key=lambda n: abs(math.log(n / rate)))
    else:
        whole = rate * Fraction(rate).limit_denominator(1000).denominator
        n_samples = max(1, round(whole if whole <= limit else rate))
    return n_samples, -(-n_times // n_samples)


def _divisors(n: int) -> list[int]:
    small = [d for d in range(1, math.isqrt(n) + 1) if n % d == 0]
    return sorted({*small, *(n // d for d in small)})


def _is_exact(seconds: float) -> bool:
    """Whether eight characters hold a record's duration."""
    return abs(float(eight(seconds)) - seconds) <= 1e-9 * seconds


def _labels(recording: Recording) -> list[str]:
    """Labels for the copy: the file's own where they fit, unique, and with a type word where they would not tell."""
    labels: list[str] = []
    for channel in recording.channels:
        own = ascii_bytes(channel.original_name).decode()
        label = own if own == channel.original_name and len(own) <= _LABEL_WIDTH and own not in labels else channel.name
        labels.append(label[:_LABEL_WIDTH])
    read_back = build_channels(
        [RawChannel(n, c.unit, c.sfreq) for n, c in zip(labels, recording.channels, strict=True)]
    )
    for i, (channel, again) in enumerate(zip(recording.channels, read_back, strict=True)):
        worded = f"{channel.type.upper()} {labels[i]}"
        if channel.type != again.type and len(worded) <= _LABEL_WIDTH:
            labels[i] = worded
    return labels


def _missing_annotations(recording: Recording, spans: list[list[tuple[int, int]]]) -> tuple[Annotation, ...]:
    """Annotations of the spans without samples, which EDF cannot mark otherwise."""
    channels: dict[tuple[int, int], list[str]] = {}
    for name, missing in zip(recording.ch_names, spans, strict=True):
        for span in missing:
            channels.setdefault(span, []).append(name)
    return tuple(
        Annotation(
            start / recording.sfreq,
            (stop - start) / recording.sfreq,
            _MISSING,
            () if len(names) == len(recording.channels) else tuple(names),
        )
        for (start, stop), names in channels.items()
    )


def _losses(recording: Recording, scalings: list[Scaling], missing: bool, written: int, sample_bytes: int) -> list[str]:
    notes: list[str] = []
    rounded = [(s.error, c) for s, c in zip(scalings, recording.channels, strict=True) if s.error > 0]
    if rounded:
        error, channel = max(rounded, key=lambda pair: pair[0])
        bits = 8 * sample_bytes
        notes.append(
            f"samples are rounded to {bits} bits, by at most {error:.2g} {channel.unit or 'units'} ({channel.name})"
        )
    if missing:
        notes.append(f"spans without samples are written as zero and marked by the annotation {_MISSING!r}")
    if written > recording.n_times:
        extra = (written - recording.n_times) / recording.sfreq
        notes.append(f"the last value is held for {extra:.3g} s at the end to fill the last record")
    return notes

"""Headers of EDF, EDF+, BDF and BDF+ files, read tolerantly; what is odd is said in words."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path

from analysis.errors import RecordingError
from analysis.readers.units import decode_text, standard_unit

FIXED_BYTES = 256
# Widths of the fields that are stored signal by signal: all labels first, then all transducers, and so on.
_SIGNAL_FIELDS = (16, 80, 8, 8, 8, 8, 8, 80, 8, 32)
_BIOSEMI_RANGE, _BIOSEMI_TRIGGERS = (-8388608.0, 8388607.0), 0xFFFF
_MONTHS = {
    name: i + 1
    for i, name in enumerate(("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"))
}


@dataclass(frozen=True)
class EdfSignal:
    """One signal as the header describes it; ranges are NaN where the header holds no number."""

    label: str
    transducer: str
    unit: str
    physical_min: float
    physical_max: float
    digital_min: float
    digital_max: float
    prefilter: str
    n_samples: int
    fields: tuple[bytes, ...]

    @cached_property
    def is_annotation(self) -> bool:
        """Whether the signal holds texts instead of samples."""
        return self.label.upper() in ("EDF ANNOTATIONS", "BDF ANNOTATIONS")

    @property
    def trigger_bits(self) -> int | None:
        """Bits that hold the trigger code in BioSemi's Status channel, whose other bits tell of the amplifier."""
        is_status = self.label.lower() == "status" and (self.digital_min, self.digital_max) == _BIOSEMI_RANGE
        return _BIOSEMI_TRIGGERS if is_status else None

    @property
    def is_separator(self) -> bool:
        """Whether the signal is a line drawn between others, as CHB-MIT files have them: a dash without a range."""
        return bool(self.label) and not self.label.strip("-. ")

    @cached_property
    def calibrated(self) -> bool:
        """Whether the header tells how digital values become physical ones."""
        ranges = (self.physical_min, self.physical_max, self.digital_min, self.digital_max)
        if not all(math.isfinite(value) for value in ranges):
            return False
        return self.physical_min != self.physical_max and self.digital_min != self.digital_max

    @property
    def gain(self) -> float:
        """Physical units per digital step; negative where one of the two ranges is upside down."""
        return (self.physical_max - self.physical_min) / (self.digital_max - self.digital_min)

    @property
    def offset(self) -> float:
        """Physical value of the digital value 0."""
        return self.physical_min - self.digital_min * self.gain

    @cached_property
    def delivered(self) -> tuple[str, float, float]:
        """Unit, gain and offset of the values that are delivered: microvolts, the file's own unit, or plain counts."""
        if not self.calibrated:
            return "counts", 1.0, 0.0
        unit, factor = standard_unit(self.unit)
        return unit, self.gain * factor, self.offset * factor


@dataclass(frozen=True)
class EdfHeader:
    """Everything a header says, with the number of records that the file really holds."""

    path: Path
    raw: bytes
    sample_bytes: int
    patient: str
    recording: str
    start: datetime | None
    reserved: str
    n_records: int
    record_duration: float
    signals: tuple[EdfSignal, ...]
    warnings: tuple[str, ...]

    @property
    def n_bytes(self) -> int:
        """Length of the header, and place of the first record."""
        return FIXED_BYTES * (len(self.signals) + 1)

    @cached_property
    def record_samples(self) -> int:
        """Samples of all signals in one record."""
        return sum(signal.n_samples for signal in self.signals)

    @property
    def record_bytes(self) -> int:
        """Length of one record."""
        return self.record_samples * self.sample_bytes

    @cached_property
    def has_annotations(self) -> bool:
        """Whether there is at least one annotation signal."""
        return any(signal.is_annotation for signal in self.signals)

    @property
    def is_discontinuous(self) -> bool:
        """Whether the header says that records do not follow each other without gaps."""
        return self.has_annotations and self.reserved[3:5].upper() == "+D"

    @property
    def format(self) -> str:
        """EDF, EDF+C, EDF+D or the same of BDF."""
        family = "BDF" if self.sample_bytes == 3 else "EDF"
        if not self.has_annotations:
            return family
        return family + ("+D" if self.is_discontinuous else "+C")


def read_header(path: Path, signals_needed: bool = True) -> EdfHeader:
    """Read the header of an EDF or BDF file; RecordingError says in a sentence why it cannot be used.

    A file that holds only annotations is refused where signals are needed.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        fixed = file.read(FIXED_BYTES)
        n_signals = _count_signals(fixed, path)
        raw = fixed + file.read(FIXED_BYTES * n_signals)
    if len(raw) < FIXED_BYTES * (n_signals + 1):
        raise RecordingError(
            f"the header is cut short: {len(raw)} of {FIXED_BYTES * (n_signals + 1)} bytes are there ({path}): "
            "copy or download the file again"
        )
    header = _parse(path, raw, n_signals, size)
    if signals_needed and all(signal.is_annotation for signal in header.signals):
        raise RecordingError(
            f"the file holds only annotations and no signal ({path}): open the recording that it belongs to and "
            "load this file as its annotations"
        )
    return header


def _count_signals(fixed: bytes, path: Path) -> int:
    text = fixed[252:256].strip(b" \0")
    if len(fixed) < FIXED_BYTES:
        raise RecordingError(f"the header is cut short after {len(fixed)} bytes ({path}): copy or download it again")
    if not text.isdigit() or int(text) == 0:
        raise RecordingError(
            f"not an EDF or BDF file, the number of signals reads {decode_text(text)!r} ({path}): choose another file"
        )
    return int(text)


def _parse(path: Path, raw: bytes, n_signals: int, size: int) -> EdfHeader:
    warnings: list[str] = []
    true_length = FIXED_BYTES * (n_signals + 1)
    if _number(raw[184:192]) != true_length:
        warnings.append(
            f"the header gives its own length as {decode_text(raw[184:192]) or 'nothing'}; {true_length} bytes were "
            f"worked out from the {n_signals} signals"
        )
    sample_bytes = 3 if raw[:1] == b"\xff" else 2
    signals = _signals(raw, n_signals, path)
    duration = _record_duration(raw[244:252], signals, warnings)
    record_bytes = sample_bytes * sum(signal.n_samples for signal in signals)
    if record_bytes == 0:
        raise RecordingError(f"the signals hold no samples ({path}): nothing can be shown; choose another file")
    n_records = _count_records(raw[236:244], size - true_length, record_bytes, path, warnings)
    recording = decode_text(raw[88:168])
    start = _start(raw[168:176], raw[176:184], recording, warnings)
    reserved = decode_text(raw[192:236])
    if reserved[3:5].upper() in ("+C", "+D") and not any(signal.is_annotation for signal in signals):
        warnings.append(f"the header says {reserved[:5]} but there is no annotation signal: read as a plain file")
    return EdfHeader(
        path=path,
        raw=raw,
        sample_bytes=sample_bytes,
        patient=decode_text(raw[8:88]),
        recording=recording,
        start=start,
        reserved=reserved,
        n_records=n_records,
        record_duration=duration,
        signals=signals,
        warnings=tuple(warnings),
    )


def _signals(raw: bytes, n_signals: int, path: Path) -> tuple[EdfSignal, ...]:
    columns: list[list[bytes]] = []
    at = FIXED_BYTES
    for width in _SIGNAL_FIELDS:
        columns.append([raw[at + i * width : at + (i + 1) * width] for i in range(n_signals)])
        at += n_signals * width
    return tuple(_signal(fields, path) for fields in zip(*columns, strict=True))


def _signal(fields: tuple[bytes, ...], path: Path) -> EdfSignal:
    n_samples = _number(fields[8])
    if not n_samples >= 0 or n_samples != int(n_samples):
        raise RecordingError(
            f"the number of samples of signal {decode_text(fields[0])!r} reads {decode_text(fields[8])!r} ({path}): "
            "the header is damaged; export the recording again"
        )
    return EdfSignal(
        label=decode_text(fields[0]),
        transducer=decode_text(fields[1]),
        unit=decode_text(fields[2]),
        physical_min=_number(fields[3]),
        physical_max=_number(fields[4]),
        digital_min=_number(fields[5]),
        digital_max=_number(fields[6]),
        prefilter=decode_text(fields[7]),
        n_samples=int(n_samples),
        fields=fields,
    )


def _number(field: bytes) -> float:
    """The number in a field, NaN where there is none; a decimal comma is understood."""
    try:
        return float(field.strip(b" \0").replace(b",", b"."))
    except ValueError:
        return math.nan


def _record_duration(field: bytes, signals: tuple[EdfSignal, ...], warnings: list[str]) -> float:
    duration = _number(field)
    if all(signal.is_annotation for signal in signals):
        return max(duration, 0.0)
    if not duration > 0 or not math.isfinite(duration):
        warnings.append(f"the duration of a data record reads {decode_text(field)!r}; it is taken as 1 s")
        return 1.0
    return duration


def _count_records(field: bytes, data_bytes: int, record_bytes: int, path: Path, warnings: list[str]) -> int:
    """Whole records that the file holds; says where the header tells otherwise."""
    stated, (held, rest) = _number(field), divmod(max(0, data_bytes), record_bytes)
    if held == 0:
        kept = f"only {rest} bytes of the first record" if rest else "no data"
        raise RecordingError(f"there is {kept} in the file ({path}): copy or export the recording again")
    if stated == -1:
        warnings.append(
            f"the header leaves the number of records open (-1): {held} records were worked out from the file size"
        )
    elif not stated >= 0:
        warnings.append(
            f"the number of records reads {decode_text(field)!r}: {held} were worked out from the file size"
        )
    elif held < stated:
        cut = "the last record is cut short: " if rest else "the file ends early: "
        warnings.append(f"{cut}{held} of {stated:.0f} records are complete and are shown")
    elif held > stated:
        warnings.append(f"the header says {stated:.0f} records, the file holds {held}: all {held} are shown")
    return held


def _start(date: bytes, time: bytes, recording: str, warnings: list[str]) -> datetime | None:
    """Start of the first second; None where it is unknown, with a warning where the fields are no valid time."""
    day = re.findall(r"\d+", decode_text(date))
    clock = re.findall(r"\d+", decode_text(time))
    if not any(int(part) for part in day) or _is_withheld(day, recording):
        return None
    try:
        d, m, y = (int(part) for part in day)
        hour, minute, second = (int(part) for part in clock)
        year = y if y > 99 else _full_year(d, m, y, recording)
        return datetime(year, m, d, hour, minute, second)
    except ValueError:
        warnings.append(f"the start is no valid time ({decode_text(date)} {decode_text(time)}) and is taken as unknown")
        return None


def _is_withheld(day: list[str], recording: str) -> bool:
    """Whether EDF+ says that the day is not known, as anonymised copies do; a time without a day is no start."""
    return recording.split()[:2] == ["Startdate", "X"] and [int(part) for part in day] == [1, 1, 85]


def _full_year(day: int, month: int, year: int, recording: str) -> int:
    """The year with its century, from the recording field of EDF+ where it names the same day."""
    match = re.match(r"Startdate (\d{1,2})-([A-Z]{3})-(\d{4})\b", recording, re.IGNORECASE)
    if match and (int(match[1]), _MONTHS.get(match[2].upper()), int(match[3]) % 100) == (day, month, year):
        return int(match[3])
    return year + (1900 if year >= 85 else 2000)

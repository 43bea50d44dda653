"""What text headers of BrainVision and Persyst say and MNE does not pass on: labels, units, names of files, pauses."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from pathlib import Path

from analysis.errors import RecordingError
from analysis.readers.completeness import DataFile
from analysis.readers.units import decode_text

_BRAINVISION_BYTES = {"int_16": 2, "uint_16": 2, "int_32": 4, "ieee_float_32": 4}
_PERSYST_BYTES = {"0": 2, "7": 4}
_COMMA = "\\1"


@dataclass(frozen=True)
class BrainVisionChannel:
    """One line of [Channel Infos]; an empty unit means microvolts."""

    label: str
    reference: str
    unit: str


@dataclass(frozen=True)
class Cut:
    """A place where a recording was paused: the sample after it, and for how long, where that is known."""

    sample: int
    pause: float | None


def read_sections(path: Path) -> dict[str, list[str]]:
    """Lines of an INI-like file by section, comments and blank lines left out; section names in lower case."""
    sections: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in decode_text(path.read_bytes()).splitlines():
        text = line.strip()
        if text.startswith("[") and text.endswith("]"):
            lines = sections.setdefault(text[1:-1].lower(), [])
        elif text and not text.startswith(";"):
            lines.append(text)
    return sections


def _values(lines: list[str]) -> dict[str, str]:
    pairs = (line.partition("=") for line in lines)
    return {key.strip().lower(): value.strip() for key, found, value in pairs if found}


def brainvision_channels(path: Path) -> list[BrainVisionChannel]:
    """The channels of a .vhdr file in order."""
    channels: list[BrainVisionChannel] = []
    for key, value in _values(read_sections(path).get("channel infos", [])).items():
        if re.fullmatch(r"ch\d+", key):
            label, reference, _, unit = (part.replace(_COMMA, ",") for part in (value + ",,,").split(",")[:4])
            channels.append(BrainVisionChannel(label, reference, unit.strip()))
    return channels


def require_brainvision_files(path: Path) -> None:
    """Refuse a .vhdr whose data or marker file is not there under the name that the header gives it."""
    common = _values(read_sections(path).get("common infos", []))
    for key, suffix in (("datafile", ".eeg"), ("markerfile", ".vmrk")):
        named = common.get(key, "")
        if not named or (path.parent / named).is_file():
            continue
        beside = path.with_suffix(suffix)
        remedy = (
            f"rename {beside.name} to that, or correct the header" if beside.is_file() else "put it beside the header"
        )
        raise RecordingError(f"the header names {named!r}, which is not there ({path}): {remedy}")


def brainvision_data(path: Path) -> DataFile | None:
    """The data file of a .vhdr; None for text, or where the header does not describe it."""
    sections = read_sections(path)
    common, binary = _values(sections.get("common infos", [])), _values(sections.get("binary infos", []))
    size = _BRAINVISION_BYTES.get(binary.get("binaryformat", "").lower(), 0) * _whole(common.get("numberofchannels"))
    name = common.get("datafile", "")
    if not size or not name or common.get("dataformat", "").lower() != "binary":
        return None
    promised = _whole(common.get("datapoints")) or None
    vectorized = common.get("dataorientation", "").lower() == "vectorized"
    return DataFile(path.parent / name, size, promised, vectorized)


def brainvision_cuts(path: Path, sfreq: float) -> list[Cut]:
    """Places where a new segment does not simply go on: its date says so, or no date says otherwise."""
    marker_file = _values(read_sections(path).get("common infos", [])).get("markerfile", "")
    markers = path.parent / marker_file
    if not marker_file or not markers.is_file():
        return []
    segments = [
        (int(fields[2]), _date(fields[5]) if len(fields) > 5 else None)
        for fields in (value.split(",") for value in _values(read_sections(markers).get("marker infos", [])).values())
        if fields[0] == "New Segment" and len(fields) > 2 and fields[2].isdigit()
    ]
    cuts: list[Cut] = []
    for (before, began), (position, date) in pairwise(segments):
        pause = None
        if began and date:
            pause = (date - began).total_seconds() - (position - before) / sfreq
        if pause is None or abs(pause) > 1 / sfreq:
            cuts.append(Cut(position - 1, pause))
    return cuts


def _whole(text: str | None) -> int:
    """A whole number, 0 where there is none."""
    return int(text) if text is not None and text.isascii() and text.isdigit() else 0


def _date(digits: str) -> datetime | None:
    try:
        return datetime.strptime(digits.strip()[:20], "%Y%m%d%H%M%S%f")
    except ValueError:
        return None


def require_persyst_file(path: Path) -> None:
    """Refuse a .lay file whose data file is not beside it."""
    name = _persyst_name(_values(read_sections(path).get("fileinfo", [])))
    if name and not (path.parent / name).is_file():
        raise RecordingError(f"the header names {name!r}, which is not there ({path}): put it beside the header")


def persyst_data(path: Path) -> DataFile | None:
    """The data file of a .lay; None where the header does not describe it."""
    told = _values(read_sections(path).get("fileinfo", []))
    size = _PERSYST_BYTES.get(told.get("datatype", ""), 0) * _whole(told.get("waveformcount"))
    name = _persyst_name(told)
    return DataFile(path.parent / name, size) if size and name else None


def _persyst_name(told: dict[str, str]) -> str:
    return told.get("file", "").replace("\\", "/").rsplit("/", 1)[-1]


def persyst_labels(path: Path) -> list[str]:
    """Channel labels of a .lay file as it spells them, in the order of the data."""
    order: list[tuple[int, str]] = []
    for line in read_sections(path).get("channelmap", []):
        label, found, number = line.rpartition("=")
        if found and number.strip().isdigit():
            order.append((int(number), label.strip()))
    return [label for _, label in sorted(order)]

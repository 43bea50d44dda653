"""Time-stamped annotation lists (TALs) of EDF+ and BDF+, and the times of records that they hold."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from operator import attrgetter

from analysis.annotation import Annotation, plain_annotations
from analysis.readers.units import decode_text

# An onset, perhaps a duration, and texts. A list without text only tells when its record begins and is passed over.
_WITH_TEXT = re.compile(rb"([+-]\d+(?:\.\d*)?)(?:\x15(\d+(?:\.\d*)?)?[^\x14\x00]*)?\x14\x14?([^\x00\x14][^\x00]*)")
_RECORD_ONSET = re.compile(rb"[\s\x00]*([+-]\d+(?:\.\d*)?)(?:\x15[^\x14\x00]*)?\x14")
_CHANNEL_MARK = b"@@"
_MODEL_MARK = b"[model:"
_BY_MODEL = re.compile(r"(?:(.*) )?\[(model:.+)\]", re.DOTALL)
_PIECE_BYTES = 1 << 14
_KNOWN_TEXTS = 4096


@dataclass(frozen=True)
class Segment:
    """Records that follow each other without a gap: where they begin in the file and in time."""

    first_record: int
    n_records: int
    onset: float


def parse_annotations(data: bytes, origin: float, names: Mapping[str, str]) -> tuple[Annotation, ...]:
    """Annotations of concatenated annotation records, sorted by onset.

    `origin` is the file's time of the first sample, from which onsets are counted. `names` maps channel labels to
    names, for texts of the form "text@@label" that speak of one channel; the same text of several channels in one list
    is one annotation. "text [model:name]" is what a model said.
    """
    found: list[Annotation] = []
    known = _Texts()
    for piece in _pieces(data):
        lists = _WITH_TEXT.findall(piece)
        if not lists:
            continue
        onsets, durations, texts = zip(*lists, strict=True)
        begins = [float(onset) - origin for onset in onsets]
        lengths = [float(duration) if duration else 0.0 for duration in durations]
        plain = [text for text in map(known.__getitem__, texts) if text is not None]
        if len(plain) == len(texts):
            found += plain_annotations(begins, lengths, plain)
        else:
            for begin, length, text in zip(begins, lengths, texts, strict=True):
                found += _of_list(begin, length, text, names)
    found.sort(key=attrgetter("onset"))
    return tuple(found)


class _Texts(dict[bytes, "str | None"]):
    """What a list says if that is one text of all channels, as nearly always; else None. Few texts are many lists'."""

    def __missing__(self, texts: bytes) -> str | None:
        if len(self) >= _KNOWN_TEXTS:
            self.clear()
        raw = texts.rstrip(b"\x14")
        is_plain = b"\x14" not in raw and _CHANNEL_MARK not in raw and _MODEL_MARK not in raw
        self[texts] = text = decode_text(raw) if is_plain else None
        return text


def _of_list(onset: float, duration: float, texts: bytes, names: Mapping[str, str]) -> list[Annotation]:
    """The annotations of any list."""
    listed = texts.rstrip(b"\x14").split(b"\x14")
    if _CHANNEL_MARK in texts:
        return _of_channels(onset, duration, listed, names)
    found = [Annotation(onset, duration, decode_text(text)) for text in listed if text]
    return list(map(_of_model, found)) if _MODEL_MARK in texts else found


def _pieces(data: bytes) -> Iterator[bytes]:
    """Cuts between lists; after each piece the thread that draws gets its turn, which a long loop would deny it."""
    start = 0
    while start < len(data):
        stop = data.find(b"\0", start + _PIECE_BYTES) + 1 or len(data)
        yield data[start:stop]
        start = stop
        time.sleep(0)


def _of_channels(onset: float, duration: float, texts: list[bytes], names: Mapping[str, str]) -> list[Annotation]:
    """The annotations of one list of which some texts speak of channels."""
    found: dict[tuple[str, bool], list[str]] = {}
    for raw in filter(None, texts):
        text = decode_text(raw)
        said, mark, label = text.rpartition(_CHANNEL_MARK.decode())
        name = names.get(label.strip())
        if mark and not label and said.rpartition(mark)[2].strip() in names:
            found.setdefault((said, False), [])  # it only looks like a text of one channel
        elif mark and name:
            found.setdefault((said, True), []).append(name)
        else:
            found.setdefault((text, False), [])
    return [_of_model(Annotation(onset, duration, said, tuple(on))) for (said, _), on in found.items()]


def _of_model(annotation: Annotation) -> Annotation:
    match = _BY_MODEL.fullmatch(annotation.description)
    return replace(annotation, description=match[1] or "", author=match[2]) if match else annotation


def record_onset(data: bytes) -> float | None:
    """When a record begins, from the bytes of its first annotation signal; None where it does not say."""
    match = _RECORD_ONSET.match(data)
    return float(match[1]) if match else None


def find_segments(
    onset_of: Callable[[int], float | None], n_records: int, duration: float, tolerance: float
) -> list[Segment]:
    """Split records into segments without gaps, looking at few of them.

    `onset_of` gives the time of a record. A span of records whose first and last are as far apart as their number
    says has no gap inside, since time runs forward; so the search halves only spans that hold one.
    """
    known: dict[int, float] = {}

    def onset(record: int) -> float:
        if record not in known:
            silent = 0
            while (told := onset_of(record - silent)) is None and silent < record:
                silent += 1
            known[record] = (told or 0.0) + silent * duration
        return known[record]

    segments: list[Segment] = []
    pending = [(0, n_records - 1)]
    while pending:
        first, last = pending.pop()
        if abs(onset(last) - onset(first) - (last - first) * duration) <= tolerance:
            _append(segments, Segment(first, last - first + 1, onset(first)), duration, tolerance)
        else:
            middle = (first + last) // 2
            pending += [(middle + 1, last), (first, middle)]
    return segments


def _append(segments: list[Segment], segment: Segment, duration: float, tolerance: float) -> None:
    if segments:
        before = segments[-1]
        if abs(before.onset + before.n_records * duration - segment.onset) <= tolerance:
            segments[-1] = Segment(before.first_record, before.n_records + segment.n_records, before.onset)
            return
    segments.append(segment)

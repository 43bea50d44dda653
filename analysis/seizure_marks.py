"""Which annotations say that there was a seizure, in the words and codes people use."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import inf
from operator import attrgetter

from analysis.annotation import Annotation

# SzCORE: sz, sz_foc_ia, sz_gen_m_tonicClonic …; TUH: nesz is left out on purpose, it is a non-epileptic attack.
_SZCORE = re.compile(r"sz(?:[_-][a-z0-9_-]+)?")
SEIZURE_CODES = frozenset(
    {"sz", "seiz", "fnsz", "gnsz", "spsz", "cpsz", "absz", "tnsz", "cnsz", "tcsz", "atsz", "mysz"}
)
_SZCORE_WORDS = frozenset({"focal", "generalized"})

_WORD = re.compile(r"(?<![a-z])(?:seizures?|seiz|sz|ictal)(?![a-z])")
_START = re.compile(r"(?<![a-z])(?:starts?|started|onset|begins?|began|beginning)(?![a-z])")
_END = re.compile(r"(?<![a-z])(?:ends?|ended|stops?|stopped|offset|over|termination)(?![a-z])")
_BARE_START = re.compile(r"(?:(?:eeg|electrographic|clinical) )?onset")
_BARE_END = re.compile(r"(?:(?:eeg|electrographic|clinical) )?offset")
# "Focal-onset-epileptic-seizure" (HED-SCORE) is a kind of seizure, not the beginning of one.
_KIND = re.compile(r"(?:focal|generali[sz]ed|unknown)[ _-]onset")
_DETECTION = re.compile(r"detect|persyst|^@")
_NOT_ONE = re.compile(
    r"(?:inter|pre|post|peri)[ _-]?ictal|(?<![a-z])(?:no|not|not an?|without)[ _-](?:[a-z]+[ _-])?(?:seizure|sz|ictal)"
    r"|non[ _-]?epileptic|pnes|psychogenic|seizure[ _-]?free|\?\s*$|possible|protocol|precaution|medication"
)
_LIKE_ONE = re.compile(r"(?:seizures?|sz|ictal)[ _-]?like(?![a-z])")  # not "likely"
RESTART = 600.0  # a start this many seconds after one that has no end begins another seizure


@dataclass(frozen=True)
class SeizureMarks:
    """Seizures as (onset, stop) in seconds, sorted and disjoint, and the onsets of those whose end nothing tells."""

    spans: tuple[tuple[float, float], ...]
    unended: tuple[float, ...] = ()


def seizures(annotations: Iterable[Annotation], detections: bool = False) -> list[tuple[float, float]]:
    """Seizure spans (onset, stop) in seconds that the annotations tell of; see `find_seizures`."""
    return list(find_seizures(annotations, detections).spans)


def find_seizures(annotations: Iterable[Annotation], detections: bool = False) -> SeizureMarks:
    """Seizures that the annotations tell of: a code or word with a length, or a pair of start and end marks.

    Understood are SzCORE and TUH codes, `seizure` and `ictal` in free text, and pairs such as `SEIZURE#8 STARTS` …
    `seizure ends` or `onset` … `offset`. Marks of another program (`@SeizureDetected`, `Persyst …`) count only when
    `detections` is asked for; interictal, pre-ictal and negated texts and what is only like a seizure never do. Spans
    that overlap are joined. A mark without a length is `unended`, unless it lies in a seizure that has one.
    """
    ordered = sorted(annotations, key=attrgetter("onset", "stop"))
    spans: list[tuple[float, float]] = []
    unended: list[float] = []
    points: list[float] = []
    began: Annotation | None = None
    for mark in ordered:
        role = _role(mark.description, detections)
        if role == "start" and (began is None or mark.onset - began.onset > RESTART):
            _leave_open(began, spans, unended)
            began = mark
        elif role == "end" and began is not None and mark.onset > began.onset:
            spans.append((began.onset, mark.onset))
            began = None
        elif role == "span" and mark.duration > 0:
            spans.append((mark.onset, mark.stop))
        elif role == "span":
            points.append(mark.onset)
    _leave_open(began, spans, unended)
    joined = join_spans(spans)
    unended += [at for at in points if not _holds(joined, at)]
    return SeizureMarks(tuple(joined), tuple(sorted(set(unended))))


def tells_of_seizure(annotation: Annotation, detections: bool = False) -> bool:
    """Whether `find_seizures` would look at an annotation."""
    return says_seizure(annotation.description, detections)


def says_seizure(description: str, detections: bool = False) -> bool:
    """The same of the text of one."""
    return bool(_role(description, detections))


def join_spans(spans: Iterable[Sequence[float]]) -> list[tuple[float, float]]:
    """Sort spans and join those that overlap or touch."""
    joined: list[tuple[float, float]] = []
    for onset, stop in sorted((float(a), float(b)) for a, b in spans):
        if joined and onset <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], stop))
        else:
            joined.append((onset, stop))
    return joined


def _holds(joined: Sequence[tuple[float, float]], at: float) -> bool:
    """Whether a moment lies in one of the spans, ends included."""
    i = bisect_right(joined, (at, inf)) - 1
    return i >= 0 and at <= joined[i][1]


def _leave_open(began: Annotation | None, spans: list[tuple[float, float]], unended: list[float]) -> None:
    """A start whose end is not marked counts with its own length, where it has one."""
    if began is not None and began.duration > 0:
        spans.append((began.onset, began.stop))
    elif began is not None:
        unended.append(began.onset)


@lru_cache(maxsize=4096)  # recordings with many marks have few different texts
def _role(description: str, detections: bool) -> str:
    """What a text makes of a mark: "span", "start", "end", or "" when it says nothing of a seizure."""
    text = description.strip().lower()
    if _LIKE_ONE.search(text):
        return ""
    if _SZCORE.fullmatch(text) or text in SEIZURE_CODES or text in _SZCORE_WORDS:
        return "span"
    if _DETECTION.search(text):
        return "span" if detections and "seizure" in text else ""
    if _BARE_START.fullmatch(text):
        return "start"
    if _BARE_END.fullmatch(text):
        return "end"
    plain = _KIND.sub("", text)
    if not _WORD.search(plain) or _NOT_ONE.search(plain):
        return ""
    if _START.search(plain):
        return "start"
    return "end" if _END.search(plain) else "span"

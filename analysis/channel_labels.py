"""One channel label taken apart: type word, electrode or pair of electrodes, and what it was recorded against."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from analysis.electrodes import site_of, spelling

# Words that recorders put before the electrode; those in _ALWAYS say nothing that the channel's type does not say.
_ALWAYS = frozenset({"EEG", "POL", "SEEG", "IEEG", "ECOG", "DIG", "PHOTIC", "BIP"})
_TYPE_WORD = re.compile(
    r"^(EEG|POL|SEEG|IEEG|ECOG|DIG|PHOTIC|BIP|ECG|EKG|EOG|EMG)(?:[\s:_]+|-)(?=\S)(.+)$", re.IGNORECASE
)
_GLUED_EEG = re.compile(r"^EEG(\S+)$", re.IGNORECASE)

_REFERENCE = re.compile(
    r"^(ref(erence)?|ler?|ar|av[eg]?|average|car|a1\+?a2|a12|\(a1\+a2\)/2|m1\+?m2|\(m1\+m2\)/2|org|g2)$", re.IGNORECASE
)
_READER_SUFFIX = re.compile(r"^(.*\S)-\d$")
_CONTACT = re.compile(r"^([A-Za-z]{1,6}'?)[ _]?0*([1-9]\d{0,2})$")
# Letters before a number that name an input of the recorder or another sense, never a shaft.
_NOT_A_SHAFT = re.compile(
    r"^(x|dc|ch|chan|aux|in|input|eeg|e[ck]g|eog|emg|exg|ref|bp|nr|bn|pg|stim?|trig|dig|misc|resp|sine|ph)$",
    re.IGNORECASE,
)

_WORDS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern, re.IGNORECASE))
    for kind, pattern in (
        ("stim", r"^(status|d?trig\w*|sti ?\d+|stim\d*|stimulus|mark|markers?|mk|events?( marker)?)$"),
        ("ecg", r"^\W*(ecg|ekg)"),
        ("eog", r"eog|^(loc|roc)\d?$|^[lr](uc|lc)$|^e[12]$|eye"),
        ("emg", r"emg|^chin|^tib"),
        ("resp", r"^resp|^thor|^abd|^chest|airflow|^nasal|^(oral |nasal )?flow|effort|^pneumo"),
        (
            "misc",
            r"^[$*]|^x\d+$|^dc ?\d*$|^s[ap]o2|^o2 ?sat|^osat|pleth|^hr$|^pr$|pulse|^temp|co2|^snor|^pos(ition)?$|^ph$"
            r"|photic|^ref|_ref$|^gnd|^ground|^exg\d*|^aux|^gsr|^e$|^(pg|bp|bn|nr)\d+$|^pat$|^tech$|^empty|^\d+$|^accel"
            r"|^burst|^ibi$|^suppr",
        ),
    )
)


@dataclass(frozen=True)
class Label:
    """A label without its type word and padding.

    `prefix` is the type word in capitals, `body` what follows it. `head` and `tail` are the two names of a label such
    as "Fp1-F7"; `reference` is the tail where that names a reference rather than a second electrode.
    """

    prefix: str
    body: str
    head: str
    tail: str = ""
    reference: str | None = None


@cache
def parse_label(text: str) -> Label:
    """Take a channel's label apart; never fails, an unknown word is a body of its own."""
    plain = re.sub(r"\s+", " ", text.strip()).strip(".").strip()
    prefix, body = _split_type_word(plain)
    body = _without_reader_suffix(body)
    head, tail, reference = _split_pair(body)
    return Label(prefix, body, head, tail, reference)


def _split_type_word(text: str) -> tuple[str, str]:
    match = _TYPE_WORD.match(text)
    if match and not is_reference(match[2]):
        word, rest = match[1].upper(), match[2].strip()
        tells = word in _ALWAYS or kind_of_word(rest.split("-")[0]) == kind_of_word(word)
        if tells and not rest.isdigit():
            return word, rest
        return word, text
    glued = _GLUED_EEG.match(text)
    if glued and spelling(glued[1].split("-")[0]):
        return "EEG", glued[1]
    return "", text


def _without_reader_suffix(body: str) -> str:
    match = _READER_SUFFIX.match(body)
    if match and all(spelling(part) for part in match[1].split("-")):
        return match[1]
    return body


def _split_pair(body: str) -> tuple[str, str, str | None]:
    for mark in ("-", "–", "_"):
        head, found, tail = (part.strip() for part in body.partition(mark))
        if not found or not head or not tail:
            continue
        same_shaft = (contact(head) or ("", 0))[0].upper() == "G"
        if is_reference(tail) and not (tail.upper() == "G2" and same_shaft):
            return head, "", tail
        if mark != "_" and is_electrode(head) and is_electrode(tail):
            return head, tail, None
    return body, "", None


def is_reference(word: str) -> bool:
    """Whether a word behind a hyphen names a reference."""
    return _REFERENCE.match(word.replace(" ", "")) is not None


def is_electrode(word: str) -> bool:
    """Whether a word names a scalp electrode or has the form of an intracranial contact."""
    return spelling(word) is not None or contact(word) is not None


@cache
def contact(word: str) -> tuple[str, int] | None:
    """Shaft letters and number of a word of the form of an intracranial contact ("LA'3" -> "LA'", 3)."""
    match = _CONTACT.match(word)
    if match is None or _NOT_A_SHAFT.match(match[1]):
        return None
    return match[1], int(match[2])


@cache
def kind_of_word(word: str) -> str | None:
    """Channel type that a word tells of (ecg, eog, emg, resp, stim, misc); None where it tells nothing."""
    if site_of(word):
        return None
    return next((kind for kind, pattern in _WORDS if pattern.search(word)), None)

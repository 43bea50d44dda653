"""Montages that subtract one reference from every channel: a mean of good channels, or one that the reader chose."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.electrodes import EARS
from analysis.errors import AnalysisError
from analysis.montages.derivation import Derivation, Montage
from analysis.montages.lists import SZCORE_SITES
from analysis.montages.placing import intracranial_blocks, scalp_blocks
from analysis.montages.sources import (
    INTRACRANIAL_TYPES,
    Sources,
    lacking_sentence,
    listed,
    refuse_if_bipolar,
    side_of,
)
from analysis.recording import BRAIN_TYPES, SCALP_TYPES, Channel

AVERAGE, AVERAGE_WITHOUT_FP = "common average", "common average without Fp1 Fp2"
SZCORE = "SzCORE"
REFERENCE = "reference"
MIN_AVERAGE_CHANNELS = 8
_FRONTOPOLAR = ("Fp1", "Fp2")


def common_average(sources: Sources, right_first: bool = False, without: Sequence[str] = ()) -> Montage:
    """Every referential brain channel minus the mean of the good ones of its kind; ears and pairs never take part.

    Electrodes `without` keep their rows but stay out of the mean. The note names what is left out, but for the ears,
    which nobody expects there.
    """
    name = AVERAGE_WITHOUT_FP if without else AVERAGE
    refuse_if_bipolar(sources, name, BRAIN_TYPES)
    rows: list[Derivation] = []
    notes: list[str] = []
    for blocks, kind in ((scalp_blocks(sources, right_first), "eeg"), (intracranial_blocks(sources), "iEEG")):
        channels = [channel for block in blocks for channel in block]
        members = sources.good_names(channel for channel in channels if channel.site not in without)
        if not members:
            continue
        rows += _minus(blocks, members, first_block=rows[-1].block + 1 if rows else 0)
        if len(members) < MIN_AVERAGE_CHANNELS:
            notes.append(f"average of only {len(members)} {kind} channel{'s' if len(members) > 1 else ''}")
        notes += sources.notes_on(channels)
    if not rows:
        raise AnalysisError(_none_is_good(name, sources.referential(BRAIN_TYPES), sources))
    if without:
        notes.append(f"shown but not in the average, since blinks spread: {listed(without)}")
    notes += _not_averaged(sources) + sources.reference_note(rows)
    return Montage(name, tuple(rows) + sources.polygraphy(rows[-1].block + 1), "; ".join(notes))


def average_without_frontopolar(sources: Sources, right_first: bool = False) -> Montage:
    """The common average with Fp1 and Fp2 left out of the mean."""
    refuse_if_bipolar(sources, AVERAGE_WITHOUT_FP, BRAIN_TYPES)
    if not any(sources.site(site) for site in _FRONTOPOLAR):
        raise AnalysisError(f"{AVERAGE_WITHOUT_FP} needs Fp1 or Fp2, and this recording has neither")
    return common_average(sources, right_first, _FRONTOPOLAR)


def _minus(blocks: Sequence[Sequence[Channel]], members: tuple[str, ...], first_block: int) -> list[Derivation]:
    return [
        Derivation(f"{channel.name}-avg", channel.name, members, side_of(channel), number)
        for number, block in enumerate(blocks, first_block)
        for channel in block
    ]


def _not_averaged(sources: Sources) -> list[str]:
    """Which signals of the brain a common average cannot show, in words."""
    brain = [c for c in sources.recording.channels if c.type in BRAIN_TYPES and c.site not in EARS]
    reasons = {
        "not calibrated": [c.name for c in brain if not c.calibrated],
        "recorded bipolar": [c.name for c in brain if c.calibrated and c.pair is not None],
    }
    return [f"left out, {reason}: {listed(names)}" for reason, names in reasons.items() if names]


def _none_is_good(name: str, channels: Sequence[Channel], sources: Sources) -> str:
    """Why there is no mean: every one of these channels is left out, or there are none."""
    faults = sources.faults_of(channels)
    if not faults:
        return f"{name} needs good referential EEG or iEEG channels, and this recording has none"
    return f"{name} subtracts the mean of the good electrodes, and none is left ({'; '.join(faults)})"


def szcore(sources: Sources) -> Montage:
    """The 19 electrodes of the 10-20 system minus their mean, in the order in which SzCORE's programs read them."""
    refuse_if_bipolar(sources, SZCORE, SCALP_TYPES)
    found = {site: sources.site(site) for site in SZCORE_SITES}
    channels = [channel for channel in found.values() if channel is not None]
    missing = [site for site, channel in found.items() if channel is None]
    members = sources.good_names(channels)
    if len(channels) < MIN_AVERAGE_CHANNELS:
        absences = sources.absences(missing)
        raise AnalysisError(lacking_sentence(SZCORE, absences, len(missing), len(SZCORE_SITES)))
    if not members:
        raise AnalysisError(_none_is_good(SZCORE, channels, sources))
    rows = _minus([channels], members, 0)
    notes = sources.notes_on(channels) + sources.absences(missing)
    if len(members) < MIN_AVERAGE_CHANNELS:
        notes.append(f"average of only {len(members)} eeg channels")
    notes += sources.reference_note(rows)
    return Montage(SZCORE, tuple(rows) + sources.polygraphy(1), "; ".join(notes))


def reference_name(channel: str) -> str:
    """What the montage is called that subtracts a channel from all of its kind."""
    return f"{REFERENCE} {channel}"


def reference_choices(sources: Sources) -> list[str]:
    """Channels that can serve as a reference: those that hold the potential of one place, ears included."""
    ordered = [c for block in intracranial_blocks(sources) + scalp_blocks(sources) for c in block]
    ears = [c for c in sources.brain if c.pair is None and c.site in EARS]
    return [channel.name for channel in (*ordered, *ears)]


def reference_refusal(sources: Sources) -> str:
    """Why no channel can be chosen as a reference; empty where one can."""
    if reference_choices(sources):
        return ""
    try:
        refuse_if_bipolar(sources, "another reference", BRAIN_TYPES)
    except AnalysisError as error:
        return str(error)
    return "another reference needs a channel that holds the potential of one place of the brain"


def chosen_reference(sources: Sources, channel: str, right_first: bool = False) -> Montage:
    """Every channel of the reference's kind minus the reference; the other kind as it was recorded."""
    name = reference_name(channel)
    reference = sources.channel(channel)
    if reference is None or not reference.is_brain or reference.pair is not None:
        raise AnalysisError(f"{name} needs a channel {channel} that holds the potential of one place of the brain")
    kinds = (
        (intracranial_blocks(sources), reference.type in INTRACRANIAL_TYPES),
        (scalp_blocks(sources, right_first), reference.type in SCALP_TYPES),
    )
    rows: list[Derivation] = []
    for blocks, is_kind in kinds:
        for number, block in enumerate(blocks, rows[-1].block + 1 if rows else 0):
            rows += [_against(c, channel if is_kind else None, number) for c in block if c is not reference]
    if not any(row.cathode for row in rows):
        raise AnalysisError(f"{name} needs another channel of the same kind, and this recording has none")
    notes = sources.notes_on([reference]) + sources.reference_note(rows)
    return Montage(name, tuple(rows) + sources.polygraphy(rows[-1].block + 1), "; ".join(notes))


def _against(channel: Channel, reference: str | None, block: int) -> Derivation:
    if reference is None:
        return Derivation(channel.name, channel.name, (), side_of(channel), block)
    return Derivation(f"{channel.name}-{reference}", channel.name, (reference,), side_of(channel), block)

"""Montages by name: which there are for a recording, how each is built, and why one cannot be."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from analysis.errors import AnalysisError
from analysis.montages.averages import (
    AVERAGE,
    AVERAGE_WITHOUT_FP,
    REFERENCE,
    SZCORE,
    average_without_frontopolar,
    chosen_reference,
    common_average,
    reference_choices,
    reference_name,
    reference_refusal,
    szcore,
)
from analysis.montages.chains import chain_montage
from analysis.montages.custom import CustomMontage, custom_montage
from analysis.montages.derivation import Derivation, Montage
from analysis.montages.laplacian import LAPLACIAN, laplacian
from analysis.montages.lists import (
    CHB_MIT,
    CONTRALATERAL_EAR,
    CZ,
    EAR,
    HAT_BAND,
    HAT_BAND_MIDLINE,
    LB_18_1,
    LB_18_2,
    LB_18_3,
    LINKED_EARS,
    LISTS,
    PARASAGITTAL_FIRST,
    R_18_3,
    TB_18_1,
    TB_18_2,
    TUH_TCP,
)
from analysis.montages.shafts import NEIGHBOURS, SHAFT_AVERAGE, neighbour_bipolar, shaft_average
from analysis.montages.sources import INTRACRANIAL_TYPES, MARKED_BAD, Sources, side_of, unshown_note
from analysis.recording import SCALP_TYPES, Recording

__all__ = [
    "AS_RECORDED",
    "AVERAGE",
    "CHB_MIT",
    "LB_18_1",
    "MARKED_BAD",
    "MONTAGES",
    "REFERENCE",
    "Derivation",
    "Montage",
    "MontageOptions",
    "build_montage",
    "default_montage",
    "montages_for",
    "reference_choices",
    "reference_name",
    "reference_refusal",
    "refusal",
    "side_of",
]

AS_RECORDED = "as recorded"

# In the order of the menus; the first nine have the number keys.
SCALP_MONTAGES = (
    *(AS_RECORDED, LB_18_1, LB_18_3, TB_18_1, EAR, AVERAGE, HAT_BAND, LAPLACIAN, CZ),
    *(LB_18_2, PARASAGITTAL_FIRST, TB_18_2, HAT_BAND_MIDLINE),
    *(LINKED_EARS, CONTRALATERAL_EAR, R_18_3, AVERAGE_WITHOUT_FP, REFERENCE),
    *(TUH_TCP, CHB_MIT, SZCORE),
)
_LB_ROWS = 18
INTRACRANIAL_MONTAGES = (AS_RECORDED, NEIGHBOURS, SHAFT_AVERAGE, AVERAGE, REFERENCE)


@dataclass(frozen=True)
class MontageOptions:
    """Choices that hold for every montage: which side stands above, and the montages that the reader wrote.

    With `bad_hidden` the channels that were marked as bad have no rows.
    """

    right_first: bool = False
    own: tuple[CustomMontage, ...] = ()
    bad_hidden: bool = False


def as_recorded(sources: Sources) -> Montage:
    """Every channel as the file holds it: brain first in file order, then the others."""
    channels = sources.recording.channels
    rows = [Derivation(c.name, c.name, (), side_of(c), 0) for c in channels if c.is_brain]
    rows += [Derivation(c.name, c.name, (), "other", 1) for c in channels if not c.is_brain]
    return Montage(AS_RECORDED, tuple(rows))


def _in_one_order(build: Callable[[Sources], Montage]) -> Callable[[Sources, bool], Montage]:
    """A builder for which no side comes first."""
    return lambda sources, _right_first: build(sources)


MONTAGES: dict[str, Callable[[Sources, bool], Montage]] = {
    AS_RECORDED: _in_one_order(as_recorded),
    **{name: partial(chain_montage, name) for name in LISTS},
    AVERAGE: common_average,
    AVERAGE_WITHOUT_FP: average_without_frontopolar,
    LAPLACIAN: laplacian,
    SZCORE: _in_one_order(szcore),
    NEIGHBOURS: _in_one_order(neighbour_bipolar),
    SHAFT_AVERAGE: _in_one_order(shaft_average),
}


def build_montage(
    name: str,
    recording: Recording,
    bad: Mapping[str, str] | Iterable[str] = frozenset(),
    options: MontageOptions | None = None,
) -> Montage:
    """Build a named montage for a recording; AnalysisError says why it cannot be derived.

    `bad` names channels that stay out of averages and of the neighbours of a Laplacian; as a mapping it gives the
    reason for each. "reference X" subtracts channel X; other names are those of MONTAGES and of `options.own`.
    """
    options = options or MontageOptions()
    reasons = dict(bad) if isinstance(bad, Mapping) else dict.fromkeys(bad, MARKED_BAD)
    sources = Sources(recording, reasons)
    montage = _build(name, sources, options)
    montage = replace(montage, unshown=unshown_note(sources, montage.derivations))
    return _without(montage, {name for name, why in reasons.items() if why == MARKED_BAD and options.bad_hidden})


def _without(montage: Montage, hidden: Collection[str]) -> Montage:
    """The montage without the rows of channels, unless those are all it has; an average is a row of its first one."""
    kept = tuple(
        row
        for row in montage.derivations
        if row.anode not in hidden and not (len(row.cathode) == 1 and row.cathode[0] in hidden)
    )
    return replace(montage, derivations=kept) if kept else montage


def _build(name: str, sources: Sources, options: MontageOptions) -> Montage:
    if name in MONTAGES:
        return MONTAGES[name](sources, options.right_first)
    own = next((custom for custom in options.own if custom.name == name), None)
    if own is not None:
        return custom_montage(own, sources)
    if name == REFERENCE:
        none = f"no reference has been chosen: name a channel, as in {reference_name('Cz')!r}"
        raise AnalysisError(reference_refusal(sources) or none)
    if name.startswith(reference_name("")):
        return chosen_reference(sources, name.removeprefix(reference_name("")), options.right_first)
    names = (*MONTAGES, reference_name("CHANNEL"), *(custom.name for custom in options.own))
    raise AnalysisError(f"no montage is called {name!r}; there are: {', '.join(names)}")


def refusal(
    name: str,
    recording: Recording,
    bad: Mapping[str, str] | Iterable[str] = frozenset(),
    options: MontageOptions | None = None,
) -> str:
    """Why a montage cannot be derived for a recording; empty when it can."""
    try:
        build_montage(name, recording, bad, options)
    except AnalysisError as error:
        return str(error)
    return ""


def montages_for(recording: Recording) -> tuple[str, ...]:
    """Montages of the program that could ever suit a recording, in the order of keys and menus; some may be refused.

    REFERENCE among them stands for a montage that the reader makes by choosing a channel.
    """
    types = {channel.type for channel in recording.channels if channel.is_brain}
    names: tuple[str, ...] = (AS_RECORDED,)
    if types & INTRACRANIAL_TYPES:
        names += INTRACRANIAL_MONTAGES
    if types & SCALP_TYPES:
        names += SCALP_MONTAGES
    return tuple(dict.fromkeys(names))


def default_montage(recording: Recording) -> str:
    """Longitudinal bipolar for scalp EEG whose electrodes are all there, as recorded otherwise.

    EEG that was recorded bipolar is shown whole: in the order of CHB-MIT where its rows are all there.
    """
    scalp = [channel for channel in recording.channels if channel.is_brain and channel.type in SCALP_TYPES]
    if not scalp or any(channel.pair is None for channel in scalp):
        return LB_18_1 if _shown(LB_18_1, recording) == _LB_ROWS else AS_RECORDED
    return next((name for name in (CHB_MIT, LB_18_1) if _shown(name, recording) == len(scalp)), AS_RECORDED)


def _shown(name: str, recording: Recording) -> int:
    """How many rows of scalp EEG a montage of a list has; 0 where it cannot be derived."""
    try:
        montage = build_montage(name, recording)
    except AnalysisError:
        return 0
    return sum(row.side != "other" for row in montage.derivations)

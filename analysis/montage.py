"""Montages: which difference of electrodes each row shows (ACNS guideline 3; lists from the clinical sheet)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.electrodes import EARS
from analysis.errors import AnalysisError
from analysis.recording import BRAIN_TYPES, Channel, Recording

AS_RECORDED = "as recorded"
AVERAGE = "common average"
LB_18_1 = "LB-18.1"

_LB_18_1_CHAINS = (
    "Fp1-F7 F7-T7 T7-P7 P7-O1",
    "Fp1-F3 F3-C3 C3-P3 P3-O1",
    "Fz-Cz Cz-Pz",
    "Fp2-F4 F4-C4 C4-P4 P4-O2",
    "Fp2-F8 F8-T8 T8-P8 P8-O2",
)
MIN_AVERAGE_CHANNELS = 8
_NAMED = 8  # names in a note; more would not be read


@dataclass(frozen=True)
class Derivation:
    """One row: channel `anode` minus the mean of the channels `cathode` (none: as it was recorded).

    Names are channel names of the recording. `side` is "left", "right", "midline" or "other"; rows of one `block`
    stand together.
    """

    name: str
    anode: str
    cathode: tuple[str, ...] = ()
    side: str = "other"
    block: int = 0


@dataclass(frozen=True)
class Montage:
    """A named list of derivations; `note` says what the reader must know, such as rows that are missing."""

    name: str
    derivations: tuple[Derivation, ...]
    note: str = ""

    @property
    def ch_names(self) -> tuple[str, ...]:
        """Row names in order."""
        return tuple(row.name for row in self.derivations)

    def picks(self, ch_names: Sequence[str]) -> list[int]:
        """Indices into `ch_names` of every channel the montage needs, in ascending order."""
        needed = {name for row in self.derivations for name in (row.anode, *row.cathode)}
        return [i for i, name in enumerate(ch_names) if name in needed]

    def apply(self, data: np.ndarray, ch_names: Sequence[str]) -> np.ndarray:
        """Derive the rows from `data` (channels, samples) named by `ch_names`; float32 (rows, samples)."""
        index = {name: i for i, name in enumerate(ch_names)}
        out = data[[index[row.anode] for row in self.derivations]].astype(np.float32, copy=True)
        shared: dict[tuple[str, ...], np.ndarray] = {}
        for i, row in enumerate(self.derivations):
            if not row.cathode:
                continue
            if row.cathode not in shared:
                shared[row.cathode] = _mean(data[[index[name] for name in row.cathode]])
            out[i] -= shared[row.cathode]
        return out


def _mean(data: np.ndarray) -> np.ndarray:
    """Mean over channels; where some are missing, of those that are there."""
    mean = data.mean(axis=0, dtype=np.float32)
    holes = np.flatnonzero(np.isnan(mean))
    if holes.size:
        there = ~np.isnan(data[:, holes])
        count = there.sum(axis=0)
        total = np.where(there, data[:, holes], 0).sum(axis=0, dtype=np.float32)
        mean[holes] = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return mean


def side_of(channel: Channel) -> str:
    """The side of a scalp channel: odd sites are left, even ones right, z midline; "other" for everything else."""
    site = channel.pair[0] if channel.pair else channel.site
    if channel.type == "eeg" and site:
        if channel.pair and {_parity(s) for s in channel.pair} >= {"left", "right"}:
            return "midline"
        return _parity(site)
    return "other"


def _parity(site: str) -> str:
    if site[-1] in "zZ":
        return "midline"
    digits = "".join(c for c in site if c.isdigit())
    if not digits:
        return "other"
    return "left" if int(digits) % 2 else "right"


def as_recorded(recording: Recording) -> Montage:
    """Every channel as the file holds it: brain first in file order, then the polygraphic block."""
    brain = [c for c in recording.channels if c.is_brain]
    others = [c for c in recording.channels if not c.is_brain]
    rows = [Derivation(c.name, c.name, (), side_of(c), 0) for c in brain]
    rows += [Derivation(c.name, c.name, (), "other", 1) for c in others]
    return Montage(AS_RECORDED, tuple(rows))


def common_average(recording: Recording) -> Montage:
    """Every referential brain channel minus the mean of its kind; ears and bipolar channels never take part.

    The note names the channels that are left out, but for the ears, which nobody expects there.
    """
    groups: dict[str, list[Channel]] = {}
    for channel in recording.channels:
        if channel.is_brain and channel.pair is None and channel.site not in EARS:
            groups.setdefault(channel.type, []).append(channel)
    _refuse_if_bipolar(recording, AVERAGE)
    if not groups:
        raise AnalysisError("a common average needs referential EEG or iEEG channels, and this recording has none")
    rows: list[Derivation] = []
    notes: list[str] = []
    for block, (kind, members) in enumerate(groups.items()):
        names = tuple(c.name for c in members)
        rows += [Derivation(f"{c.name}-avg", c.name, names, side_of(c), block) for c in members]
        if len(members) < MIN_AVERAGE_CHANNELS:
            notes.append(f"average of only {len(members)} {kind} channels")
    notes += _left_out(recording)
    return Montage(AVERAGE, tuple(rows) + _polygraphy(recording, len(groups)), "; ".join(notes))


def _left_out(recording: Recording) -> list[str]:
    """Which signals of the brain a common average cannot show, in words."""
    brain = [c for c in recording.channels if c.type in BRAIN_TYPES and c.site not in EARS]
    reasons = {
        "not calibrated": [c.name for c in brain if not c.calibrated],
        "recorded bipolar": [c.name for c in brain if c.calibrated and c.pair is not None],
    }
    return [f"left out, {reason}: {_listed(names)}" for reason, names in reasons.items() if names]


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def longitudinal_bipolar(recording: Recording) -> Montage:
    """LB-18.1, the chains from front to back, left to right; from referential sites, or reordered where recorded so."""
    by_site = {c.site: c for c in recording.channels if c.is_brain and c.site and c.pair is None}
    by_pair: dict[tuple[str, str], Channel] = {}
    for channel in recording.channels:
        if channel.is_brain and channel.pair is not None:
            by_pair.setdefault(channel.pair, channel)
    rows: list[Derivation] = []
    missing: list[str] = []
    for block, chain in enumerate(_LB_18_1_CHAINS):
        for name in chain.split():
            anode, cathode = name.split("-")
            side = ("left", "left", "midline", "right", "right")[block]
            if anode in by_site and cathode in by_site:
                label = f"{by_site[anode].name}-{by_site[cathode].name}"
                rows.append(Derivation(label, by_site[anode].name, (by_site[cathode].name,), side, block))
            elif (anode, cathode) in by_pair:
                recorded = by_pair[anode, cathode].name
                rows.append(Derivation(recorded, recorded, (), side, block))
            else:
                missing.append(name)
    if len(rows) < 8:
        raise AnalysisError(
            f"{LB_18_1} needs the electrodes of the 10-20 system; {len(missing)} of 18 rows are missing"
        )
    note = f"not in the recording: {', '.join(missing)}" if missing else ""
    return Montage(LB_18_1, tuple(rows) + _polygraphy(recording, len(_LB_18_1_CHAINS)), note)


def _polygraphy(recording: Recording, block: int) -> tuple[Derivation, ...]:
    kinds = {"ecg", "eog", "emg", "resp"}
    return tuple(Derivation(c.name, c.name, (), "other", block) for c in recording.channels if c.type in kinds)


def _refuse_if_bipolar(recording: Recording, name: str) -> None:
    bipolar = [c.name for c in recording.channels if c.is_brain and c.pair is not None]
    referential = [c for c in recording.channels if c.is_brain and c.pair is None]
    if bipolar and not referential:
        raise AnalysisError(
            f"{name} cannot be derived: the channels were recorded bipolar ({bipolar[0]}, …), "
            "so the potential at a single electrode is not known"
        )


MONTAGES: dict[str, Callable[[Recording], Montage]] = {
    AS_RECORDED: as_recorded,
    LB_18_1: longitudinal_bipolar,
    AVERAGE: common_average,
}


def build_montage(name: str, recording: Recording) -> Montage:
    """Build a named montage for a recording; AnalysisError says why it cannot be derived."""
    if name not in MONTAGES:
        raise AnalysisError(f"no montage is called {name!r}; there are: {', '.join(MONTAGES)}")
    return MONTAGES[name](recording)


def refusal(name: str, recording: Recording) -> str:
    """Why a montage cannot be derived for a recording; empty when it can."""
    try:
        build_montage(name, recording)
    except AnalysisError as error:
        return str(error)
    return ""


def default_montage(recording: Recording) -> str:
    """Longitudinal bipolar for scalp EEG whose electrodes are all there, as recorded otherwise."""
    scalp = any(c.type == "eeg" and c.is_brain for c in recording.channels)
    if not scalp or refusal(LB_18_1, recording):
        return AS_RECORDED
    complete = not longitudinal_bipolar(recording).note
    return LB_18_1 if complete else AS_RECORDED

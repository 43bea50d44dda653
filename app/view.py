"""How a recording is looked at: the page's scale and filters, those of each kind of channel, and what can be chosen."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property

from analysis.channel_kinds import BODY_KINDS, EEG, INTRACRANIAL, KINDS
from analysis.filtering import OFF, DisplayFilter, FilterBank
from viewers.rows import RowLooks

SENSITIVITIES = (
    *(1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000),
    *(2000, 5000, 10_000, 20_000, 50_000, 100_000),  # for files whose unit is wrong
)
USUAL_SENSITIVITIES = tuple(s for s in SENSITIVITIES if s <= 500)
PAGE_SECONDS = (1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 1800, 3600, 4 * 3600, 12 * 3600, 86400)
LEAST_PAGE_SECONDS = 0.1
PAGE_SPEEDS = (15.0, 30.0, 60.0)
HIGHPASSES = (0.0, 0.1, 0.3, 0.5, 1.0, 1.6, 2.0, 5.0, 10.0)
LOWPASSES = (0.0, 15.0, 20.0, 30.0, 35.0, 40.0, 50.0, 70.0, 100.0, 250.0, 500.0)
NOTCHES = ((0.0, False), (50.0, False), (60.0, False), (50.0, True), (60.0, True))
INTRACRANIAL_SENSITIVITY = 50.0
FITTED = 0.0  # in place of a sensitivity: as the recording's own range asks


@dataclass(frozen=True)
class KindSettings:
    """Scale (microvolts per millimetre) and filters (hertz, 0 is off) of a kind of channel; None: as the page has it.

    A sensitivity of FITTED gives respiration and other voltages a scale of their own, fixed for the recording.
    """

    uv_per_mm: float | None = None
    highpass: float | None = None
    lowpass: float | None = None
    notch: float | None = None
    harmonics: bool | None = None

    @classmethod
    def read(cls, values: Mapping[str, float | None]) -> KindSettings:
        """From numbers by name, as they are kept in a file; what makes no sense there is left out."""
        good = {
            name: None if value is None else bool(value) if name == "harmonics" else float(value)
            for name, value in values.items()
            if name in _KIND_FIELDS and (value is None or 0 <= value < math.inf)
        }
        return cls(**good)  # type: ignore[arg-type]

    def written(self) -> dict[str, float | None]:
        """As numbers by name."""
        return {name: None if value is None else float(value) for name, value in asdict(self).items()}


_KIND_FIELDS = frozenset(field.name for field in fields(KindSettings))
_AS_RECORDED = KindSettings(FITTED, 0.0, 0.0, 0.0, False)
USUAL_KINDS = {
    INTRACRANIAL: KindSettings(uv_per_mm=INTRACRANIAL_SENSITIVITY),
    "ecg": KindSettings(uv_per_mm=70.0),
    "emg": KindSettings(uv_per_mm=20.0, highpass=10.0, lowpass=100.0),
    "resp": _AS_RECORDED,
    "other": _AS_RECORDED,
}


@dataclass(frozen=True)
class View:
    """How the recording is looked at; frequencies are in hertz and 0 means off.

    The page's scale and filters are those of its `page_kind`: EEG, or intracranial EEG where there is no other.
    `kinds` holds the settings of other kinds that are not the usual ones, `gains` the rows that the reader has given a
    scale of their own, in units (microvolts, for a voltage) per millimetre. With `mm_per_second` the length of a page
    follows from the width of the traces; 0: it was chosen in seconds.
    """

    montage: str = "as recorded"
    highpass: float = 0.5
    lowpass: float = 70.0
    notch: float = 0.0
    uv_per_mm: float = 7.0
    page_seconds: float = 10.0
    harmonics: bool = False
    mm_per_second: float = 0.0
    page_kind: str = EEG
    kinds: tuple[tuple[str, KindSettings], ...] = ()
    gains: tuple[tuple[str, float], ...] = ()
    positive_up: bool = False
    clipped: bool = False
    colours: str = "sides"

    @property
    def page_settings(self) -> KindSettings:
        """Scale and filters of the page."""
        return KindSettings(self.uv_per_mm, self.highpass, self.lowpass, self.notch, self.harmonics)

    @property
    def display_filter(self) -> DisplayFilter:
        """The filter that the channels of the page's kind are drawn through."""
        return _filter_of(self.page_settings)

    def settings_of(self, kind: str) -> KindSettings:
        """What is set for a kind, None where it follows the page."""
        if kind == self.page_kind:
            return KindSettings()
        return dict(self.kinds).get(kind, USUAL_KINDS.get(kind, KindSettings()))

    def resolved(self, kind: str) -> KindSettings:
        """What a kind is drawn with, the page's values filled in."""
        return filled(self.settings_of(kind), self.page_settings)

    @cached_property
    def filters(self) -> FilterBank:
        """The filters of the page and of the kinds that have their own."""
        page = self.display_filter
        own = ((kind, _filter_of(self.resolved(kind))) for kind in KINDS)
        return FilterBank(page, tuple((k, f) for k, f in own if f != (page if k in BODY_KINDS else OFF)))

    @cached_property
    def row_looks(self) -> RowLooks:
        """How rows are drawn that are not drawn as the page is."""
        resolved = {kind: self.resolved(kind) for kind in KINDS}
        return RowLooks(
            kinds={kind: float(s.uv_per_mm or FITTED) for kind, s in resolved.items() if kind != self.page_kind},
            rows=dict(self.gains),
            centred=frozenset(kind for kind, s in resolved.items() if s.highpass),
            positive_up=self.positive_up,
            clipped=self.clipped,
            colours=self.colours,
        )

    def with_kind(self, kind: str, settings: KindSettings) -> tuple[tuple[str, KindSettings], ...]:
        """The value of `kinds` with the settings of one of them replaced."""
        return kept_kinds({**dict(self.kinds), kind: settings})

    def with_gain(self, name: str, units_per_mm: float | None) -> tuple[tuple[str, float], ...]:
        """The value of `gains` with a row's own scale set, or (None) taken away."""
        gains = {row: gain for row, gain in self.gains if row != name}
        if units_per_mm is not None:
            gains[name] = units_per_mm
        return tuple(sorted(gains.items()))


def filled(settings: KindSettings, page: KindSettings) -> KindSettings:
    """Settings with those of a page where they have none."""
    own = {name: value for name, value in vars(settings).items() if value is not None}
    if settings.notch is not None and settings.harmonics is None:
        own["harmonics"] = False
    return replace(page, **own)


def kept_kinds(kinds: Mapping[str, KindSettings]) -> tuple[tuple[str, KindSettings], ...]:
    """Settings of kinds in the form a View holds them: only those that are not the usual ones, in one order."""
    return tuple((k, kinds[k]) for k in KINDS if k in kinds and kinds[k] != USUAL_KINDS.get(k, KindSettings()))


def _filter_of(settings: KindSettings) -> DisplayFilter:
    notch = settings.notch or None
    return DisplayFilter(
        settings.highpass or None,
        settings.lowpass or None,
        notch,
        harmonics=bool(settings.harmonics) and notch is not None,
    )


def step(choices: Iterable[float], value: float, steps: int) -> float:
    """The choice that lies some steps from the one nearest to a value."""
    ordered = list(choices)
    nearest = min(range(len(ordered)), key=lambda i: abs(ordered[i] - value))
    return ordered[min(max(nearest + steps, 0), len(ordered) - 1)]

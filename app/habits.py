"""What the reader likes to look at each kind of channel with, kept apart from what an odd recording needs."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from analysis.channel_kinds import EEG, KINDS
from app.settings import Settings
from app.view import USUAL_KINDS, KindSettings, View, filled, kept_kinds

# Pages that people read by. Shorter ones look at one thing, longer ones at a whole night: both belong to a recording.
_LEAST_READ, _MOST_READ = 5.0, 60.0


class Habits:
    """Scale and filters by kind of channel, those of "eeg" the page's where it shows EEG, and the length of a page."""

    def __init__(self, view: View) -> None:
        self.by_kind: dict[str, KindSettings] = {**USUAL_KINDS, **dict(view.kinds), EEG: view.page_settings}
        self.page_seconds, self.mm_per_second = View.page_seconds, View.mm_per_second
        self._learn_page(view)

    @property
    def page(self) -> KindSettings:
        """What the reader likes for scalp EEG; every value is set."""
        return self.by_kind[EEG]

    @property
    def others(self) -> tuple[tuple[str, KindSettings], ...]:
        """What the reader likes for other kinds, where that is not usual."""
        return kept_kinds({kind: settings for kind, settings in self.by_kind.items() if kind != EEG})

    def fields(self, page_kind: str) -> dict[str, Any]:
        """The fields of a View that follow, where the page shows channels of a kind."""
        page = self.page if page_kind == EEG else filled(self.by_kind.get(page_kind, KindSettings()), self.page)
        kinds = tuple((kind, settings) for kind, settings in self.others if kind != page_kind)
        return {**asdict(page), "page_kind": page_kind, "kinds": kinds}

    def learn(self, view: View, is_odd: bool = False) -> None:
        """Take over what a view shows, but no sensitivity from that of an odd recording."""
        seen = {kind: view.settings_of(kind) for kind in KINDS if kind != EEG} | {view.page_kind: view.page_settings}
        for kind, settings in seen.items():
            scale = self.by_kind.get(kind, KindSettings()).uv_per_mm if is_odd else settings.uv_per_mm
            self.by_kind[kind] = replace(settings, uv_per_mm=scale)
        self._learn_page(view)

    def _learn_page(self, view: View) -> None:
        if view.mm_per_second or _LEAST_READ <= view.page_seconds <= _MOST_READ:
            self.page_seconds, self.mm_per_second = view.page_seconds, view.mm_per_second


def view_from(settings: Settings) -> View:
    """How a recording is looked at that is opened for the first time."""
    return View(
        highpass=settings.highpass,
        lowpass=settings.lowpass,
        notch=settings.notch,
        harmonics=settings.harmonics,
        uv_per_mm=settings.uv_per_mm,
        page_seconds=settings.page_seconds,
        mm_per_second=settings.mm_per_second,
        kinds=kept_kinds({kind: KindSettings.read(values) for kind, values in settings.kinds.items()}),
        positive_up=settings.positive_up,
        clipped=settings.clipped,
        colours=settings.trace_colours,
    )


def keep_view(settings: Settings, view: View, habits: Habits) -> None:
    """Remember how recordings are looked at."""
    page = habits.page
    settings.uv_per_mm, settings.harmonics = float(page.uv_per_mm or settings.uv_per_mm), bool(page.harmonics)
    settings.highpass, settings.lowpass = float(page.highpass or 0.0), float(page.lowpass or 0.0)
    settings.notch = float(page.notch or 0.0)
    settings.page_seconds, settings.mm_per_second = habits.page_seconds, habits.mm_per_second
    settings.kinds = {kind: chosen.written() for kind, chosen in habits.others}
    settings.positive_up, settings.clipped, settings.trace_colours = view.positive_up, view.clipped, view.colours

"""Gathers what a report says: rows of events, the pages around those that matter, and topographies over them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

import numpy as np

from analysis.annotation import Annotation
from analysis.errors import AnalysisError
from analysis.figures.page import Lane, PageFigure
from analysis.filtering import DisplayFilter
from analysis.montage import Montage
from analysis.progress import Progress
from analysis.recording import Recording, Window
from analysis.reports.content import EventPage, Pairs
from analysis.scalp_maps import (
    AS_RECORDED,
    REFERENCE,
    Electrodes,
    Topography,
    electrode_montage,
    electrodes_of,
    map_band_power,
    map_voltage,
    maps_of,
)
from analysis.seizure_marks import find_seizures
from analysis.signal_blocks import BlockSource
from analysis.spectra import Band
from analysis.time_words import duration_words, elapsed

PAGE_MM = (190.0, 165.0)
LEAST_SECONDS, MOST_SECONDS, _BEFORE = 10.0, 20.0, 3.0
# A shorter event is a waveform, whose field at its peak says where it is; a longer one is told by its power.
MOMENT_SECONDS = 2.0
SLOW_BAND = Band("1-30 Hz", 1.0, 30.0)
_AROUND_MOMENT = 0.1
_AUTHORS = {"file": "recording", "sidecar": "event file", "reader": "reader"}
_LONGEST_COMMENT = 120


@dataclass(frozen=True)
class Look:
    """How pages are shown."""

    montage: Montage
    filters: DisplayFilter
    uv_per_mm: float
    left_out: tuple[str, ...] = ()


def event_rows(events: Iterable[Annotation], recording: Recording) -> tuple[tuple[str, ...], ...]:
    """The rows of the table of events, as text."""
    return tuple(_row(event, recording) for event in events)


def _row(event: Annotation, recording: Recording) -> tuple[str, ...]:
    began, review = recording.start_datetime, event.review
    return (
        elapsed(event.onset, 1),
        f"{began + timedelta(seconds=event.onset):%H:%M:%S}" if began else "",
        duration_words(event.duration) if event.duration else "",
        event.title,
        ", ".join(event.ch_names),
        source_of(event),
        "" if event.confidence is None else f"{event.confidence:.2f}",
        "to review" if event.state == "new" and event.is_model else "" if event.state == "new" else event.state,
        " ".join(part for part in (review.by, review.at.replace("T", " ")[:16]) if part),
        review.comment[:_LONGEST_COMMENT],
    )


def source_of(event: Annotation) -> str:
    """Who says it, in a word; a model by its name."""
    return event.author.removeprefix("model:") if event.is_model else _AUTHORS.get(event.author, event.author)


def events_with_pages(events: Sequence[Annotation]) -> list[Annotation]:
    """The events that get a page, by onset: seizures that people marked, other marks of readers, what models say.

    What was rejected has none; of a recording's and an event file's other annotations there are often hundreds.
    """
    kept = [event for event in events if event.state != "rejected"]
    people = [event for event in kept if not event.is_model]
    seizures = [
        Annotation(start, stop - start, "Seizure", author=_author_over(people, start, stop))
        for start, stop in find_seizures(people).spans
    ]
    spans = {(seizure.onset, seizure.stop) for seizure in seizures}
    others = [event for event in kept if event.is_model or event.author == "reader"]
    others = [event for event in others if event.is_model or (event.onset, event.stop) not in spans]
    return sorted([*seizures, *others], key=lambda event: (event.onset, event.stop))


def _author_over(events: Iterable[Annotation], start: float, stop: float) -> str:
    """Who marked a span, or its beginning where two marks make it."""
    by_start = [event for event in events if event.onset == start]
    whole = [event for event in by_start if event.stop == stop]
    return (whole or by_start or [Annotation(start, 0.0, "")])[0].author


class Pages:
    """Makes the pages of events of one recording; keeps the electrodes' interpolation from one to the next."""

    def __init__(
        self, recording: Recording, look: Look, marks: Sequence[Annotation], lane: Lane | None, foot: Sequence[str] = ()
    ) -> None:
        self._recording, self._look, self._marks = recording, look, marks
        self._lanes = [lane] if lane is not None else []
        self._foot = foot
        self._electrodes: Electrodes | None = None
        self._why = ""
        try:
            left_out = dict.fromkeys(look.left_out, "marked bad")
            self._electrodes = electrodes_of(recording, maps_of(recording)[0], left_out)
        except AnalysisError as error:
            self._why = str(error)

    def make(self, event: Annotation, progress: Progress | None = None) -> EventPage:
        """The page of one event."""
        look, window = self._look, page_window(event, self._recording.duration)
        page = PageFigure(
            self._recording, look.montage, window, look.filters, look.uv_per_mm, PAGE_MM,
            self._marks, None, self._lanes, self._foot,
        )  # fmt: skip
        scalp, moment, words = self._scalp(event, progress)
        return EventPage(event, self._facts(event), page, scalp, moment, words)

    def _facts(self, event: Annotation) -> Pairs:
        row = dict(zip(("onset", "clock", "length"), _row(event, self._recording)[:3], strict=True))
        facts = [(name, text) for name, text in row.items() if text]
        facts += [("from", source_of(event))]
        facts += [("p", f"{event.confidence:.2f}")] if event.confidence is not None else []
        facts += [("channels", ", ".join(event.ch_names))] if event.ch_names else []
        facts += [("state", event.state)] if event.state != "new" else []
        facts += [("comment", event.review.comment)] if event.review.comment else []
        return tuple(facts)

    def _scalp(self, event: Annotation, progress: Progress | None) -> tuple[Topography | None, float | None, str]:
        if self._electrodes is None:
            return None, None, self._why
        try:
            if event.duration > MOMENT_SECONDS:
                power = map_band_power(
                    self._recording, self._electrodes, Window(event.onset, event.stop), SLOW_BAND, progress
                )  # fmt: skip
                return replace(power, values=power.values), None, f"Power {SLOW_BAND.name} over the event, unfiltered"
            around = Window(max(0.0, event.onset - _AROUND_MOMENT), event.stop + _AROUND_MOMENT)
            source = BlockSource(self._recording, electrode_montage(self._electrodes), self._look.filters)
            field = map_voltage(source, self._electrodes, around)
        except AnalysisError as error:
            return None, None, str(error)
        moment = greatest_field(field)
        if moment is None:
            return None, None, "There is no signal at this event."
        reference = "average reference" if field.request.options["reference"] == REFERENCE else AS_RECORDED
        return field, moment, f"Voltage at {elapsed(moment, 3)}, where the field is greatest, {reference}"


def greatest_field(field: Topography) -> float | None:
    """The time in seconds at which the electrodes differ most (global field power); None where all is gap."""
    assert field.samples is not None  # a map of voltage
    power = field.samples.data.std(axis=1)
    if not np.isfinite(power).any():
        return None
    return field.samples.first_time + int(np.nanargmax(power)) / field.samples.sfreq


def page_window(event: Annotation, duration: float) -> Window:
    """The page around an event: 3 s before it and as much after it, 10 to 20 s, within the recording."""
    length = min(max(event.duration + 2 * _BEFORE, LEAST_SECONDS), MOST_SECONDS, duration)
    before = _BEFORE if event.duration > MOMENT_SECONDS else length / 2
    start = min(max(0.0, event.onset - before), max(0.0, duration - length))
    return Window(start, start + length)

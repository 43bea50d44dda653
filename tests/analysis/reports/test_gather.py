"""Which events get a page, what the page shows, and what the rows say."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from analysis.annotation import Annotation, Review
from analysis.filtering import DisplayFilter
from analysis.montage import build_montage
from analysis.recording import Channel
from analysis.reports.content import HEADERS, Report, used_columns
from analysis.reports.gather import Look, Pages, event_rows, events_with_pages, page_window
from analysis.reports.html import write_html
from analysis.reports.sheets import write_pdf

SFREQ, SECONDS = 100.0, 60
SITES = (
    "Fp1",
    "Fp2",
    "F7",
    "F3",
    "Fz",
    "F4",
    "F8",
    "T7",
    "C3",
    "Cz",
    "C4",
    "T8",
    "P7",
    "P3",
    "Pz",
    "P4",
    "P8",
    "O1",
    "O2",
)


@pytest.fixture
def recording(array_recording):
    """A sine of 10 Hz at O1 for 20 s from 30 s on, a bump at C3 at 12.3 s, little noise elsewhere."""
    from analysis.electrodes import position_of

    rng = np.random.default_rng(0)
    times = np.arange(int(SFREQ * SECONDS)) / SFREQ
    data = rng.normal(0, 0.5, (len(SITES), len(times)))
    ictal = (times >= 30) & (times < 50)
    data[SITES.index("O1"), ictal] += 100 * np.sin(2 * np.pi * 10 * times[ictal])
    data[SITES.index("C3")] += 200 * np.exp(-(((times - 12.3) / 0.03) ** 2))
    channels = [Channel(name, name, "eeg", "uV", SFREQ, position_of(name)) for name in SITES]
    made = array_recording(channels, data, SFREQ)
    made.start_datetime = datetime(2020, 2, 3, 23, 59, 30, tzinfo=UTC)
    return made


@pytest.fixture
def pages(recording) -> Pages:
    look = Look(build_montage("as recorded", recording), DisplayFilter(0.5, 40.0, None), 7.0)
    return Pages(recording, look, (), None)


def test_seizures_of_people_marks_of_readers_and_events_of_models_get_a_page() -> None:
    events = [
        Annotation(5.0, 0.0, "eyes open"),
        Annotation(8.0, 0.0, "Spike", author="reader"),
        Annotation(10.0, 20.0, "sz", author="sidecar"),
        Annotation(11.0, 5.0, "Seizure", author="model:M", confidence=0.7),
        Annotation(40.0, 5.0, "Seizure", author="model:M", review=Review("rejected")),
    ]
    chosen = [(event.onset, event.title, event.author) for event in events_with_pages(events)]
    assert chosen == [(8.0, "Spike", "reader"), (10.0, "Seizure", "sidecar"), (11.0, "Seizure", "model:M")]


def test_a_seizure_of_two_marks_gets_one_page() -> None:
    (event,) = events_with_pages([Annotation(3.0, 0.0, "onset"), Annotation(9.5, 0.0, "offset")])
    assert (event.onset, event.stop, event.title) == (3.0, 9.5, "Seizure")


@pytest.mark.parametrize(
    ("onset", "length", "start", "stop"),
    [
        (30.0, 4.0, 27.0, 37.0),
        (30.0, 90.0, 27.0, 47.0),
        (1.0, 0.0, 0.0, 10.0),
        (99.0, 0.0, 90.0, 100.0),
        (30.0, 0.1, 25.0, 35.0),
    ],
)
def test_a_page_holds_the_event_and_lies_within_the_recording(onset, length, start, stop) -> None:
    window = page_window(Annotation(onset, length, "x"), 100.0)
    assert (window.start, window.stop) == (pytest.approx(start), pytest.approx(stop))


def test_a_page_of_a_short_recording_is_the_recording() -> None:
    window = page_window(Annotation(1.0, 2.5, "x"), 4.0)
    assert (window.start, window.stop) == (0.0, 4.0)


def test_a_moment_is_shown_where_the_field_is_greatest(pages: Pages) -> None:
    page = pages.make(Annotation(12.25, 0.1, "Spike", author="reader"))
    assert page.scalp is not None
    assert page.scalp_time == pytest.approx(12.3, abs=0.5 / SFREQ)
    values = page.scalp.at(page.scalp_time)
    assert page.scalp.head.layout.ch_names[int(np.argmax(values))] == "C3"
    assert "00:12.300" in page.scalp_words


def test_a_seizure_is_shown_by_its_power(pages: Pages) -> None:
    page = pages.make(Annotation(30.0, 20.0, "Seizure", author="model:M", confidence=0.9))
    assert page.scalp is not None
    values = page.scalp.at(None)
    names = page.scalp.head.layout.ch_names
    assert names[int(np.argmax(values))] == "O1"
    # Half the square of the amplitude, of which the average reference takes a nineteenth.
    assert values[names.index("O1")] == pytest.approx(5000 * (18 / 19) ** 2, rel=0.02)
    assert dict(page.facts)["p"] == "0.90"
    assert page.heading == "Seizure, said by the model M"


def test_without_electrodes_the_page_says_why(array_recording) -> None:
    recording = array_recording([Channel("A", "A", "eeg", "uV", SFREQ)], np.zeros((1, 6000)), SFREQ)
    look = Look(build_montage("as recorded", recording), DisplayFilter(), 7.0)
    page = Pages(recording, look, (), None).make(Annotation(3.0, 0.0, "Spike"))
    assert page.scalp is None
    assert page.scalp_words


def test_rows_say_when_who_and_what_became_of_it(recording) -> None:
    review = Review("accepted", "Ada", "2021-01-02T03:04:05+00:00", "clear")
    events = [
        Annotation(45.25, 65.0, "sz", ("C3", "C4"), 0.875, "model:M", review=review),
        Annotation(1.0, 0.0, "eyes open"),
        Annotation(2.0, 0.0, "Seizure", author="model:M"),
    ]
    rows = event_rows(events, recording)
    said = (
        "00:45.2",
        "00:00:15",
        "1 min 05 s",
        "Seizure",
        "C3, C4",
        "M",
        "0.88",
        "accepted",
        "Ada 2021-01-02 03:04",
        "clear",
    )
    assert rows[0] == said
    assert rows[1] == ("00:01.0", "23:59:31", "", "eyes open", "", "recording", "", "", "", "")
    assert rows[2][HEADERS.index("State")] == "to review"
    assert [HEADERS[i] for i in used_columns(rows[1:])] == ["Onset", "Clock", "What", "From", "State"]


def test_a_comment_is_told_on_the_page(pages: Pages) -> None:
    mark = replace(Annotation(12.3, 0.0, "Spike", ("C3",), author="reader"), review=Review(comment="sharp"))
    facts = dict(pages.make(mark).facts)
    assert (facts["comment"], facts["channels"], facts["from"]) == ("sharp", "C3", "reader")


def test_an_intracranial_recording_has_a_map_by_contact_on_paper_and_in_the_browser(array_recording):
    names = [f"{letters}{n}" for letters in ("LA", "RA") for n in range(1, 9)]
    times = np.arange(int(SFREQ * SECONDS)) / SFREQ
    data = np.random.default_rng(0).normal(0, 0.5, (len(names), len(times)))
    data[names.index("RA3")] += 100 * np.sin(2 * np.pi * 10 * times)
    made = array_recording([Channel(name, name, "seeg", "uV", SFREQ) for name in names], data, SFREQ)
    pages = Pages(made, Look(build_montage("as recorded", made), DisplayFilter(), 20.0, ("LA2",)), [], None)
    page = pages.make(Annotation(20.0, 10.0, "Seizure", author="reader"))
    assert page.scalp_heading == "By contact"
    assert page.scalp.contacts.ch_names[int(np.argmax(page.scalp.values))] == "RA3"
    assert dict(page.scalp.contacts.left_out) == {"LA2": "marked bad"}
    report = Report("A recording", (), (), (), (page,), (), (), ())
    assert 'alt="By contact"' in write_html(report)
    assert write_pdf(report).startswith(b"%PDF")

"""The session: where the page lies, what changes announce, what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.annotation import Annotation
from analysis.marks import Marks
from analysis.montage import MontageOptions
from analysis.recording import Channel, Window
from analysis.results import AnalysisRequest, SeizurePrediction
from app.session import INTRACRANIAL_SENSITIVITY, Session, View

SITES = "Fp1 Fp2 F7 F3 Fz F4 F8 T7 C3 Cz C4 T8 P7 P3 Pz P4 P8 O1 O2".split()


@pytest.fixture
def recording(array_recording):
    channels = [Channel(n, n, "eeg", "uV", 10.0, site=n) for n in SITES]
    return array_recording(channels, np.zeros((19, 1000)), 10.0)


@pytest.fixture
def session(qtbot, recording) -> Session:
    session = Session()
    session.open(recording)
    return session


def test_opening_chooses_the_clinical_montage_and_the_first_page(session):
    assert session.view.montage == "LB-18.1"
    assert session.window == Window(0.0, 10.0)


def test_opening_shows_a_page_that_fits_at_the_start_asked_for(qtbot, recording):
    session = Session()
    session.open(recording, start=97.0)
    assert session.window == Window(90.0, 100.0)


def test_intracranial_recordings_open_flatter(qtbot, array_recording):
    channels = [Channel(f"A{i}", f"A{i}", "seeg", "uV", 10.0) for i in range(1, 5)]
    session = Session()
    session.open(array_recording(channels, np.zeros((4, 1000)), 10.0))
    assert session.view.uv_per_mm == INTRACRANIAL_SENSITIVITY
    assert session.view.montage == "as recorded"


def test_what_another_kind_of_recording_needs_does_not_stick(qtbot, recording, array_recording):
    session = Session()
    session.open(recording)
    session.change_view(uv_per_mm=10.0)
    contacts = [Channel(f"A{i}", f"A{i}", "seeg", "uV", 10.0) for i in range(1, 5)]
    session.open(array_recording(contacts, np.zeros((4, 1000)), 10.0))
    session.change_view(uv_per_mm=100.0)
    session.open(recording)
    assert session.view.uv_per_mm == 10.0
    assert session.make_readable(580_000.0)
    session.open(recording)
    assert session.view.uv_per_mm == session.habits.page.uv_per_mm == 10.0


@pytest.mark.parametrize(
    ("spread", "value"), [(20_000.0, 7.0), (float("nan"), 7.0), (580_000.0, 100_000.0), (6e9, 100_000.0)]
)
def test_only_amplitudes_beyond_belief_change_the_sensitivity(session, spread, value):
    assert session.make_readable(spread) == (value != 7.0)
    assert session.view.uv_per_mm == value


def test_pages_stop_at_both_ends(session):
    session.page(-1)
    assert session.window == Window(0.0, 10.0)
    session.page(4)
    assert session.window == Window(40.0, 50.0)
    session.page(100)
    assert session.window == Window(90.0, 100.0)


def test_a_page_longer_than_the_recording_starts_at_zero(session):
    session.go_to(50)
    session.change_view(page_seconds=600.0)
    assert session.window == Window(0.0, 600.0)


def test_one_announcement_per_move(session, qtbot):
    seen: list[Window] = []
    session.window_changed.connect(seen.append)
    session.go_to(20)
    session.go_to(20)
    assert seen == [Window(20.0, 30.0)]


def test_listeners_find_window_and_montage_settled(session):
    found: list[tuple[Window, str]] = []
    session.view_changed.connect(lambda view, _before: found.append((session.window, session.montage.name)))
    session.change_view(page_seconds=20.0, montage="common average", start=30.0)
    assert found == [(Window(30.0, 50.0), "common average")]


def test_switching_montage_keeps_page_marks_and_sensitivity(session):
    session.add_annotations([Annotation(3.0, 1.0, "x")])
    session.go_to(30)
    session.change_view(uv_per_mm=20.0)
    session.change_view(montage="as recorded")
    assert session.window == Window(30.0, 40.0)
    assert session.view.uv_per_mm == 20.0
    assert len(session.marks) == 1


def test_a_refused_montage_changes_nothing_and_says_why(session, qtbot, array_recording):
    pair = Channel("Fp1-F7", "Fp1-F7", "eeg", "uV", 10.0, pair=("Fp1", "F7"))
    session.open(array_recording([pair], np.zeros((1, 1000)), 10.0))
    with qtbot.waitSignal(session.refused) as refused:
        session.change_view(montage="common average")
    assert "recorded bipolar" in refused.args[0]
    assert session.view.montage == "as recorded"


@pytest.mark.parametrize(("steps", "value"), [(1, 5.0), (-1, 10.0), (99, 1.0), (-99, 100_000.0)])
def test_sensitivity_steps_along_the_clinical_scale(session, steps, value):
    session.step_sensitivity(steps)
    assert session.view.uv_per_mm == value


def test_centre_on_leaves_a_page_alone_that_shows_the_moment_well(session):
    session.go_to(20)
    session.centre_on(25)
    assert session.window.start == 20
    session.centre_on(50)
    assert session.window.start == 47.5


def test_a_result_of_another_recording_is_not_shown(session):
    def of(recording_id: str) -> SeizurePrediction:
        return SeizurePrediction(AnalysisRequest("seizure", recording_id, ()), "", "")

    session.set_prediction(of("another"))
    assert session.prediction is None
    session.set_prediction(of(session.recording.id))
    assert session.prediction is not None


def test_marks_of_file_and_sidecar_are_merged_in_order(session):
    session.set_file_marks(Marks.of([Annotation(5.0, 1.0, "sz")]))
    session.add_annotations([Annotation(2.0, 1.0, "a", author="sidecar")])
    assert [a.description for a in session.marks.items] == ["a", "sz"]
    assert session.marks.seizures == ((5.0, 6.0),)


def test_many_marks_are_sorted_in_the_background(qtbot, recording):
    waiting = []
    session = Session(background=lambda work, then: waiting.append((work, then)))
    session.open(recording)
    session.add_annotations([Annotation(float(i % 90), 0.0, "x") for i in range(6000)])
    assert len(session.marks) == 0
    work, then = waiting.pop()
    with qtbot.waitSignal(session.marks_changed):
        then(work())
    assert len(session.marks) == 6000
    onsets = [a.onset for a in session.marks.items]
    assert onsets == sorted(onsets)


def test_filters_of_zero_are_off():
    view = View(highpass=0.0, lowpass=70.0, notch=0.0)
    assert view.display_filter.highpass is None
    assert view.display_filter.notch is None


def test_a_remembered_montage_that_cannot_be_derived_gives_way_to_the_usual_one(qtbot, array_recording):
    pair = Channel("Fp1-F7", "Fp1-F7", "eeg", "uV", 10.0, pair=("Fp1", "F7"))
    session = Session()
    session.open(array_recording([pair], np.zeros((1, 1000)), 10.0), 20.0, "common average", 30.0)
    assert session.view.montage == "as recorded"
    assert session.window == Window(20.0, 50.0)


def test_marking_a_channel_as_bad_rebuilds_what_it_takes_part_in_and_nothing_else(session, qtbot):
    rebuilt: list[object] = []
    session.montage_changed.connect(rebuilt.append)
    with qtbot.waitSignal(session.bad_channels_changed) as changed:
        session.set_bad_channels(["T7", "no such channel"])
    assert changed.args == [frozenset({"T7"})]
    assert rebuilt == []  # no row of the longitudinal montage holds an average
    session.change_view(montage="common average")
    assert "T7" not in session.montage.derivations[0].cathode
    session.set_bad_channels([])
    assert rebuilt == [session.montage]
    assert "T7" in session.montage.derivations[0].cathode
    session.set_bad_channels([])
    assert len(rebuilt) == 1


def test_a_montage_that_bad_channels_make_impossible_gives_way_in_words(session):
    refused: list[str] = []
    session.refused.connect(refused.append)
    session.change_view(montage="common average")
    session.set_bad_channels(SITES)
    assert session.view.montage == "LB-18.1"
    assert "good electrodes, and none is left (marked bad: " in refused[0]


def test_bad_channels_belong_to_the_recording(session, recording, array_recording):
    session.set_bad_channels(["T7"])
    session.open(array_recording([Channel("T7", "T7", "eeg", "uV", 10.0, site="T7")], np.zeros((1, 100)), 10.0))
    assert session.bad_channels == frozenset()
    session.open(recording, montage="common average", bad_channels=["T7", "gone"])
    assert session.bad_channels == {"T7"}
    assert "T7" not in session.montage.derivations[0].cathode


def test_flat_channels_stay_out_of_averages_until_another_recording_is_open(session, recording):
    session.open(recording, montage="common average")
    session.set_channel_states({"Cz": "flat", "Pz": "no signal", "Oz": "clipped", "O1": "ok"})
    assert {"Cz", "Pz"}.isdisjoint(session.montage.derivations[0].cathode)
    assert "left out, flat: Cz; left out, no signal: Pz" in session.montage.note
    session.open(recording, montage="common average")
    assert "Cz" in session.montage.derivations[0].cathode


def test_the_side_that_stands_above_can_be_changed_at_any_time(session):
    session.set_montage_options(MontageOptions(right_first=True))
    assert session.montage.ch_names[0] == "Fp2-F8"
    assert session.view.montage == "LB-18.1"


def test_a_refusal_is_over_with_the_next_change_of_the_view(session, qtbot):
    said, over = [], []
    session.refused.connect(said.append)
    session.refusal_over.connect(over.append)
    session.change_view(montage="R-18.3")
    session.go_to(20.0)
    assert len(said) == 1
    assert over == []
    session.change_view(montage="hat band")
    assert over == said
    session.change_view(montage="LB-18.1")
    assert over == said
    # One that the fall-back itself brought stays to be read.
    session.change_view(montage="SzCORE")
    session.set_bad_channels(SITES)
    assert len(said) == 2
    assert over == said[:1]

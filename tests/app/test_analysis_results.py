"""Answers are found again by all that decides them, and no more are kept than fit."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from analysis.analyses import Analysis, NamedArray
from analysis.annotation import Annotation
from analysis.errors import AnalysisError
from analysis.marks import Marks
from analysis.recording import Channel, Window
from analysis.results import AnalysisRequest
from analysis.seizure_marks import SeizureMarks
from app.analysis_choices import AnalysisChoices
from app.analysis_results import ResultShelf, make_wish
from app.model_stamp import stamp
from app.session import ModelChoice

AXON, PRISE = (
    ModelChoice("A", "random:axon:tiny", family="axon"),
    ModelChoice("P", "random:prise-eeg", family="prise-eeg"),
)


@pytest.fixture
def session():
    recording = SimpleNamespace(id="abc", channels=[Channel(name, name, "eeg", "uV", 200.0) for name in ("C3", "C4")])
    return SimpleNamespace(
        recording=recording, model=AXON, window=Window(10.0, 20.0), duration=45.0, bad_channels=frozenset()
    )


def wish(session, choices=None, kind="cka", selection=None, device="cpu", models=(AXON, PRISE)):
    return make_wish(kind, session, choices or AnalysisChoices(), models, selection, device)


def test_equal_wishes_have_equal_keys_and_others_have_not(session):
    first = wish(session)
    assert wish(session).key == first.key
    keys = {first.key, wish(session, kind="gates").key, wish(session, device="cuda").key}
    choices = AnalysisChoices()
    choices.set_option("cka", "window", 2.0)
    keys.add(wish(session, choices).key)
    choices = AnalysisChoices()
    choices.set_partner("cka", PRISE.checkpoint)
    keys.add(wish(session, choices).key)
    session.window = Window(11.0, 21.0)
    keys.add(wish(session).key)
    session.recording.id = "abd"
    keys.add(wish(session).key)
    session.bad_channels = frozenset({"C4", "ECG"})
    keys.add(wish(session).key)
    assert len(keys) == 8
    assert wish(session).arguments("x.edf")["bad_channels"] == ("C4",)


def test_the_span_is_that_of_page_selection_or_recording(session):
    choices = AnalysisChoices()
    assert wish(session, choices).window == Window(10.0, 20.0)
    choices.set_span("cka", "selection")
    assert wish(session, choices, selection=Window(3.0, 4.0)).window == Window(3.0, 4.0)
    with pytest.raises(AnalysisError, match="nothing is selected"):
        wish(session, choices)
    choices.set_span("cka", "recording")
    assert wish(session, choices).window == Window(0.0, 45.0)
    session.duration, session.window = 15.0, Window(10.0, 20.0)  # a page may reach beyond the end
    choices.set_span("cka", "page")
    assert wish(session, choices).window == Window(10.0, 15.0)


@pytest.mark.parametrize(
    ("page", "span"),
    [((10.0, 20.0), (7.5, 22.5)), ((0.0, 10.0), (0.0, 15.0)), ((40.0, 50.0), (30.0, 45.0)), ((5.0, 30.0), (5.0, 30.0))],
)
def test_a_page_too_short_for_a_kind_is_widened_about_its_middle(session, page, span):
    session.window = Window(*page)
    assert wish(session, kind="channel-map").window == Window(*span)
    assert wish(session).window == Window(page[0], min(page[1], 45.0))
    choices = AnalysisChoices()
    choices.set_span("channel-map", "selection")  # what was chosen by hand is taken at its word
    assert wish(session, choices, "channel-map", Window(3.0, 4.0)).window == Window(3.0, 4.0)


def test_the_second_model_comes_second_and_only_where_it_is_listed(session):
    choices = AnalysisChoices()
    choices.set_partner("cka", PRISE.checkpoint)
    assert [m.title for m in wish(session, choices).models] == ["A", "P"]
    assert [m.title for m in wish(session, choices, models=(AXON,)).models] == ["A"]
    arguments = wish(session, choices).arguments("night.edf")
    assert [c["checkpoint"] for c in arguments["checkpoints"]] == [AXON.checkpoint, PRISE.checkpoint]
    assert (arguments["start"], arguments["duration"]) == (10.0, 10.0)


def test_marked_seizures_count_for_kinds_that_mind_them_and_for_no_others(session):
    keys = {}
    for marks in (
        [],
        [Annotation(20.0, 5.0, "seizure")],
        [Annotation(20.0, 5.0, "seizure"), Annotation(30.0, 0.0, "sz")],
    ):
        session.marks = Marks.of(marks)
        for kind in ("gates", "integrated-gradients"):
            keys.setdefault(kind, set()).add(wish(session, kind=kind).key)
    assert {kind: len(found) for kind, found in keys.items()} == {"gates": 1, "integrated-gradients": 3}
    told = wish(session, kind="integrated-gradients").arguments("x.edf")["seizures"]
    assert told == SeizureMarks(((20.0, 25.0),), (30.0,))
    assert "seizures" not in wish(session, kind="gates").arguments("x.edf")


@pytest.mark.parametrize(
    ("kind", "options", "lasts"),
    [
        ("gates", {}, True),
        ("cka", {}, True),
        ("cka", {"groups": "seizure"}, False),
        ("gate-interventions", {}, True),
        ("gate-interventions", {"labels": "T1,T2"}, False),
    ],
)
def test_what_depends_on_texts_of_marks_is_not_kept_for_another_start(session, kind, options, lasts):
    choices = AnalysisChoices()
    for name, value in options.items():
        choices.set_option(kind, name, value)
    assert wish(session, choices, kind).is_lasting == lasts


def test_another_content_of_a_named_file_is_another_wish(session, tmp_path):
    path, choices, keys = tmp_path / "other.edf", AnalysisChoices(), set()
    choices.set_option("cka", "other", f"{path}, elsewhere.edf")
    for content in (b"one", b"other"):
        path.write_bytes(content)
        keys.add(wish(session, choices).key)
    assert len(keys) == 2


def test_another_model_and_page_can_be_asked_for(session):
    asked = make_wish("gates", session, AnalysisChoices(), (), None, "cpu", PRISE, Window(1.0, 11.0))
    assert (asked.models, asked.window) == ((PRISE,), Window(1.0, 11.0))


def test_nothing_is_asked_without_a_recording_or_a_model(session):
    assert wish(SimpleNamespace(**{**vars(session), "recording": None})) is None
    assert wish(SimpleNamespace(**{**vars(session), "model": None})) is None


def test_a_file_that_changes_is_another_model(tmp_path):
    path = tmp_path / "model.safetensors"
    path.write_bytes(b"one")
    model = ModelChoice("m", str(path))
    before = stamp(model)
    assert stamp(model) == before
    path.write_bytes(b"other")
    assert stamp(model) != before
    assert stamp(replace(model, head=str(path))) != stamp(model)


def analysis(size: int = 10) -> Analysis:
    arrays = {"a": NamedArray(np.zeros(size), ("x",), "1", "")}
    return Analysis(AnalysisRequest("k", "r", ()), "now", "1", arrays=arrays)


def test_what_was_used_longest_ago_goes_first():
    shelf, results = ResultShelf(most=2), [analysis() for _ in range(3)]
    shelf.put("a", results[0])
    shelf.put("b", results[1])
    assert shelf.get("a") is results[0]
    shelf.put("c", results[2])
    assert shelf.get("b") is None
    assert shelf.get("a") is results[0]
    assert shelf.get("c") is results[2]


def test_large_answers_make_room_for_each_other_but_one_is_always_kept():
    shelf = ResultShelf(most=10, most_bytes=1000)
    shelf.put("a", analysis(200))  # 800 bytes
    shelf.put("b", analysis(100))
    assert shelf.get("a") is None
    assert shelf.get("b") is not None
    shelf.put("c", analysis(10_000))
    assert shelf.get("c") is not None
    assert shelf.get("b") is None

"""What the panels say: of recordings, of predictions, of models, of agreement."""

from __future__ import annotations

import numpy as np
import pytest
from PyQt6.QtWidgets import QComboBox, QLabel, QPushButton, QSlider, QSpinBox, QWidget

from analysis.recording import Channel
from analysis.results import AnalysisRequest, SeizurePrediction
from analysis.scoring import score_events
from app.inspector import AgreementPanel, PredictionPanel
from app.model_panel import ModelPanel, listed_model, title_for
from app.overlay_panel import OverlayPanel
from app.recording_panel import RecordingPanel, channel_summary
from app.sensitivity_panel import SensitivityPanel
from app.session import ModelChoice


def texts(widget: QWidget) -> str:
    return "\n".join(w.text() for w in widget.findChildren(QLabel) if w.isVisibleTo(widget))


@pytest.fixture
def recording(array_recording):
    kinds = ["eeg"] * 3 + ["ecg", "misc"]
    channels = [Channel(f"C{i}", f"EEG C{i}", kind, "uV", 200.0) for i, kind in enumerate(kinds)]
    return array_recording(channels, np.zeros((5, 9000)), 200.0)


def test_recording_panel_counts_brain_channels_and_shows_every_warning(qtbot, recording):
    recording.warnings.extend(["first thing", "second thing", "third thing"])
    recording.gaps = ((5.0, 65.0),)
    panel = RecordingPanel()
    qtbot.addWidget(panel)
    panel.show_recording(recording)
    shown = texts(panel)
    assert "3 EEG of 5 channels" in shown
    assert "200 Hz" in shown
    assert "45.0 s" in shown
    assert "start not known" in shown
    assert "1 gap, 1 min 00 s not recorded" in shown
    assert "and 2 more" in shown
    tips = [w.toolTip() for w in panel.findChildren(QLabel)]
    assert any("third thing" in tip for tip in tips)


def test_a_recording_without_brain_signals_says_so(array_recording):
    channels = [Channel("ECG", "ECG", "ecg", "uV", 10.0)]
    assert channel_summary(array_recording(channels, np.zeros((1, 10)), 10.0)) == "1 channel, no EEG"


def prediction(**changes) -> SeizurePrediction:
    values = {
        "times": np.arange(4.0) * 5,
        "durations": np.full(4, 5.0),
        "probability": np.array([0.1, 0.2, 0.875, 0.3], np.float32),
        "model_title": "tiny",
        "not_scored": ((20.0, 45.0, "gap"),),
        "left_out": (("C2", "marked bad"), ("C3", "not a brain signal (ecg)"), ("C4", "not a brain signal (misc)")),
        "provenance": {"device": "cpu", "wall_time": 1.25, "scored_channels": ["C0", "C1"]},
    }
    return SeizurePrediction(AnalysisRequest("seizure", "x", ()), "", "", **(values | changes))


def test_prediction_panel_names_what_was_scored_and_what_not(qtbot, recording):
    panel = PredictionPanel()
    qtbot.addWidget(panel)
    panel.show_prediction(prediction(), recording)
    shown = texts(panel)
    assert "20.0 s of 45.0 s" in shown
    assert "25.0 s" in shown
    assert "0.875" in shown
    assert "Random weights" not in shown


def test_prediction_panel_counts_and_names_the_channels_of_the_brain(qtbot, recording):
    panel = PredictionPanel()
    qtbot.addWidget(panel)
    panel.show_prediction(prediction(), recording)
    shown = texts(panel)
    assert "2 of 3 brain channels" in shown
    assert "Left out: C2, marked bad" in shown
    whole = prediction(left_out=(), provenance={"scored_channels": ["C0", "C1", "C2"]})
    panel.show_prediction(whole, recording)
    assert "3 of 3 brain channels" in texts(panel)
    assert "Left out" not in texts(panel)


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (["C2"], ""),  # as it was run
        (["C2", "C3"], ""),  # of the heart no model is given anything
        (["C1", "C2"], "C1 marked bad since this ran. Press R"),
        ([], "C2 no longer marked bad. Press R"),
        (["C0"], "C0 marked bad since this ran, C2 no longer marked bad. Press R"),
    ],
)
def test_a_prediction_by_other_channels_is_not_up_to_date(qtbot, recording, bad, words):
    panel = PredictionPanel()
    qtbot.addWidget(panel)
    panel.show_prediction(prediction(), recording)
    panel.show_bad_channels(bad)
    shown = texts(panel)
    assert words in shown
    assert ("Not up to date" in shown) == bool(words)
    panel.show_prediction(None, recording)
    assert "Not up to date" not in texts(panel)


def test_random_weights_are_said_to_mean_nothing(qtbot, recording):
    panel = PredictionPanel()
    qtbot.addWidget(panel)
    panel.show_prediction(prediction(random_weights=True), recording)
    assert "Random weights" in texts(panel)


def test_no_stale_numbers_are_left_standing(qtbot, recording):
    panel = PredictionPanel()
    qtbot.addWidget(panel)
    panel.show_prediction(prediction(), recording)
    panel.show_prediction(None, recording)
    assert "0.875" not in texts(panel)
    assert "No prediction yet" in texts(panel)


def test_agreement_panel_says_undefined_where_a_figure_is(qtbot):
    panel = AgreementPanel()
    qtbot.addWidget(panel)
    event = {"sensitivity": 1.0, "precision": None, "f1": None, "fp_per_24h": 0.0, "tp": 1, "fp": 0, "n_reference": 1}
    kappa = {"all": 0.7, "draws_mean": 0.8123, "word": "almost perfect"}
    panel.show_scores({"event": event, "kappa": kappa, "fp_per_hour": 0.0, "rule": "SzCORE", "duration": 45.0})
    shown = texts(panel)
    assert "0.81  almost perfect" in shown
    assert "1 of 1  /  0" in shown
    assert "undefined" in shown


@pytest.mark.parametrize(
    ("duration", "name", "tip"),
    [
        (45.0, "κ over 9 segments of 5 s", "whole segments of 5 s: a segment"),
        (7.0, "κ over 1 segment of 5 s", "whole segments of 5 s: a segment"),
        (3600.0, "κ over 300 segments of 5 s", "mean of 250 draws of 300 of the 720 segments"),
    ],
)
def test_agreement_says_what_kappa_is_counted_over(qtbot, duration, name, tip):
    panel = AgreementPanel()
    qtbot.addWidget(panel)
    panel.show_scores(score_events([(15.0, 44.0)], [(0.0, 10.0)], duration))
    row = panel._rows["Cohen κ"]
    assert row.left.text() == name
    assert tip in row.toolTip()
    assert "Two raters (Ctrl+R) are compared over seconds" in row.toolTip()
    shown = row.right.text()
    assert "-" not in shown
    assert shown == shown.lower()  # the words of the two raters' panel, and its minus sign
    assert shown.startswith("−") == (duration != 7.0)


def test_the_packaged_detector_states_its_limits(qtbot):
    panel = ModelPanel()
    qtbot.addWidget(panel)
    assert panel.current() == ModelChoice("brainmaze A", "brainmaze")
    for limit in ("intracranial", "300 s", "a minute", "muscle"):
        assert limit in texts(panel)


FACTS = {
    "title": "MVPFormer",
    "size": "tiny",
    "n_params": 1234567,
    "labels": ["background", "seizure"],
    "preprocessing": {"n_segments": 14, "segment_seconds": 5.0},
    "config": {"n_positions": 32},
    "random_weights": True,
}


def test_a_base_without_a_head_asks_for_one(qtbot):
    panel = ModelPanel()
    qtbot.addWidget(panel)
    panel.add(ModelChoice("base", "base.pt"), FACTS | {"labels": []})
    asks = next(b for b in panel.findChildren(QPushButton) if "head" in b.text())
    assert asks.isVisibleTo(panel)
    assert "No seizure head" in texts(panel)
    with qtbot.waitSignal(panel.head_requested) as requested:
        asks.click()
    assert requested.args[0].checkpoint == "base.pt"
    panel.choose("brainmaze")
    assert not asks.isVisibleTo(panel)


def test_a_loaded_model_is_chosen_and_its_window_is_visible(qtbot):
    panel = ModelPanel()
    qtbot.addWidget(panel)
    model = ModelChoice("tiny", "tiny.pt")
    panel.add(model, FACTS)
    assert panel.current() == model
    assert "1,234,567 parameters" in texts(panel)
    assert "Random weights" in texts(panel)
    with qtbot.waitSignal(panel.chosen) as chosen:
        panel.findChild(QSpinBox).setValue(25)
    assert chosen.args[0].segments == 25
    assert "Trained with T = 14" in texts(panel)
    panel.findChild(QSpinBox).setValue(14)
    assert panel.current().segments is None
    assert "Random weights" in texts(panel)


@pytest.mark.parametrize(
    ("asked", "title"),
    [("brainmaze", "brainmaze A"), ("Brainmaze-A", "brainmaze A"), ("brainmaze-b", "brainmaze B")],
)
def test_packaged_models_are_chosen_by_any_of_their_names(qtbot, asked, title):
    panel = ModelPanel()
    qtbot.addWidget(panel)
    panel.choose(asked)
    assert panel.current().title == title


@pytest.mark.parametrize("asked", ["brainmaze-c", "nothing.pt"])
def test_a_model_that_is_not_listed_is_never_another_one(qtbot, asked):
    panel = ModelPanel()
    qtbot.addWidget(panel)
    with pytest.raises(KeyError, match=asked):
        panel.choose(asked)


def test_a_model_is_chosen_as_the_list_of_the_toolbar_names_it(qtbot):
    panel = ModelPanel()
    qtbot.addWidget(panel)
    panel.choose(panel.choices()[1])
    assert panel.current().checkpoint == "brainmaze-b"


def test_models_with_random_weights_are_offered_by_family_and_size(qtbot):
    panel = ModelPanel()
    qtbot.addWidget(panel)
    panel._list_random()
    menus = {menu.title(): menu for menu in (a.menu() for a in panel._random.menu().actions())}
    assert {"AXON", "MVPFormer", "PRiSE-EEG"} <= set(menus)
    with qtbot.waitSignal(panel.random_requested) as requested:
        next(a for a in menus["AXON"].actions() if a.text() == "tiny").trigger()
    assert requested.args == ["random:axon:tiny"]
    before = len(panel._random.menu().actions())
    panel._list_random()
    assert len(panel._random.menu().actions()) == before


def test_a_model_is_listed_with_its_family_and_random_weights_by_name():
    facts = {"title": "AXON", "size": "tiny", "family": "axon", "random_weights": True, "card": {"seed": 7}}
    listed = listed_model(ModelChoice("x", "random:axon:tiny:7"), facts)
    assert (listed.title, listed.family, listed.random_weights) == ("AXON-tiny, random weights 7", "axon", True)
    listed = listed_model(ModelChoice("base + head", "base.pt", "head.pt"), FACTS | {"family": "mvpformer"})
    assert (listed.title, listed.family) == ("base + head", "mvpformer")


@pytest.mark.parametrize(
    ("family", "words"),
    [("mvpformer", "No seizure head: it predicts the next state, not seizures."), ("prise-eeg", "No seizure head.")],
)
def test_what_a_base_does_is_said_of_its_family(qtbot, family, words):
    panel = ModelPanel()
    qtbot.addWidget(panel)
    panel.add(ModelChoice("base", "base.pt"), FACTS | {"labels": [], "family": family})
    assert words in texts(panel)


def test_the_window_is_bounded_by_the_rows_of_the_checkpoint(qtbot):
    panel = ModelPanel()
    qtbot.addWidget(panel)
    panel.add(ModelChoice("tiny", "tiny.pt"), FACTS)
    assert panel.findChild(QSpinBox).maximum() == 32


def test_threshold_slider_announces_and_follows(qtbot):
    panel = SensitivityPanel()
    qtbot.addWidget(panel)
    slider = panel.findChild(QSlider)
    with qtbot.waitSignal(panel.threshold_changed) as moved:
        slider.setValue(70)
    assert moved.args == [0.7]
    with qtbot.assertNotEmitted(panel.threshold_changed):
        panel.show_threshold(0.3)
    panel.show_events(0.3, 2, "E.2: 3 positive s in 10 s", decided=3)
    assert "p ≥ 0.30   2 to review, 3 decided" in texts(panel)
    panel.show_events(0.3, 0, "E.2: 3 positive s in 10 s", decided=1)
    assert "p ≥ 0.30   nothing to review, 1 decided" in texts(panel)
    panel.show_events(0.3, 1, "E.2: 3 positive s in 10 s", decided=4, lost=1)
    assert "p ≥ 0.30   1 to review, 4 decided, 1 decision does not stand any more" in texts(panel)
    panel.show_events(0.3, None, "E.2: 3 positive s in 10 s")
    assert "p ≥ 0.30   no prediction yet" in texts(panel)


def test_agreement_panel_offers_raw_and_reviewed_events(qtbot):
    panel = AgreementPanel()
    qtbot.addWidget(panel)
    box = panel.findChild(QComboBox)
    assert [box.itemText(i) for i in range(2)] == ["The model's events as found", "Reviewed: accepted and undecided"]
    with qtbot.waitSignal(panel.compared_changed) as changed:
        box.setCurrentIndex(1)
        box.activated.emit(1)
    assert changed.args == ["reviewed"]
    panel.show_compared("raw")
    assert box.currentIndex() == 0


def test_titles_name_base_and_head():
    assert title_for("a/base.pt", "b/head.pt") == "base + head"


def test_overlays_that_begin_off_are_told_when_the_reader_asks_for_them(qtbot):
    panel = OverlayPanel([("seizure", "Seizure", "lane"), ("gates", "Gates", "behind")], off=["gates"])
    qtbot.addWidget(panel)
    assert panel.states() == {"seizure": True, "gates": False}
    asked = []
    panel.asked.connect(asked.append)
    panel.set_visible("gates", True)
    panel.reset()
    assert panel.states() == {"seizure": True, "gates": False}
    assert asked == []
    panel.rows["gates"].box.click()
    panel.rows["gates"].box.click()
    assert asked == ["gates"]

"""Attribution in the real window: heat and sums on the traces, the scalp where one points, one range of colours."""

from __future__ import annotations

import numpy as np
import pytest
from PyQt6.QtCore import QPointF

from analysis.annotation import Annotation
from analysis.attribution_maps import attribution_map
from analysis.recording import Window
from app.settings import Settings
from app.testing import open_window
from viewers.overlays.base import OverlayState
from viewers.panels.attribution import AT_CURSOR, EVENT, Attribution, TokenEvidence

SEIZURE = "scalp-seizure-46ch/demo_edf.edf"
MODELS = ("random:axon:tiny", "random:mvpformer:tiny")


@pytest.fixture(scope="module")
def window(shared, qapp):
    """The seizure recording in a window that the tests share."""
    made = open_window(shared / "recordings" / SEIZURE, (1500, 900), Settings(theme="light"))
    made.wait()
    for model in MODELS:
        made.load_model(model)
        made.wait(120)
    yield made
    made.close()


def run(window, model: str, kind: str):
    window.main.model_panel.choose(model)
    window.wait(60)
    analysing = window.main.analysing
    analysing.open(kind)
    analysing.run()
    window.wait(120)
    assert analysing.answer is not None, analysing.tab._error.text()
    return analysing.answer, analysing.tab.shown


def pick(panel, place: str) -> None:
    panel.place.choose(place)
    panel.place.chosen.emit(place)


def test_the_traces_the_gutter_and_the_scalp_tell_the_same(window) -> None:
    window.show(16.0, 10.0)
    window.set_montage("as recorded")
    window.wait()
    answer, panel = run(window, MODELS[0], "integrated-gradients")
    assert isinstance(panel, Attribution)
    found = attribution_map(answer)
    sums = dict(zip(found.ch_names, found.over(16.0, 26.0), strict=True))
    canvas = window.main.view.trace_view.canvas
    strip = canvas.strips["Attribution"]
    shown = dict(zip(canvas.rows.names, strip.values.tolist(), strict=True))
    assert [shown[name] for name in found.ch_names] == pytest.approx([sums[name] for name in found.ch_names], rel=1e-4)
    assert np.isnan(shown["ECG"])
    head = panel.map.head
    np.testing.assert_allclose(head.values, [sums[name] for name in head._head.layout.ch_names], rtol=1e-6)
    place = head._place(head._head.layout.points[0], head._circle())
    assert head.describe(QPointF(place)).startswith(f"{head._head.layout.ch_names[0]}  ")
    assert head.describe(QPointF(place)).endswith(" score")
    assert canvas.furniture.keys["Attribution"].ends()[1].endswith("score/s for")


def test_cursor_event_and_selection_are_followed(window) -> None:
    window.show(16.0, 10.0)
    answer, panel = run(window, MODELS[0], "integrated-gradients")
    found, view = attribution_map(answer), window.main.view
    pick(panel, AT_CURSOR)
    view.hovered.emit(20.51, "Fp1", 0.0, "uV")
    np.testing.assert_allclose(sorted(panel.bars.values), sorted(found.at(20.51)), rtol=1e-5)
    pick(panel, EVENT)  # the seizure, whose ends two marks of the file tell
    assert panel.when.text() == "Seizure, 00:16.0 to 00:26.0, the part that was explained: sum by channel"
    view.span_selected.emit(Window(18.0, 19.0))
    assert panel.when.text() == "Selection, 00:18.0 to 00:19.0: sum by channel"
    np.testing.assert_allclose(sorted(panel.bars.values), sorted(found.over(18.0, 19.0)), rtol=1e-5, atol=1e-7)
    view.span_selected.emit(None)


def test_the_range_stays_when_the_page_is_turned_and_hiding_takes_all_away(window) -> None:
    window.show(16.0, 10.0)
    run(window, MODELS[0], "integrated-gradients")
    overlay = window.main.analysing.drawing.overlay("integrated-gradients")
    scale = overlay.heat.scale
    window.show(30.0, 10.0)
    window.wait(60)
    window.main.analysing.run()
    window.wait(120)
    assert overlay.heat.times[0] == pytest.approx(30.0)
    assert overlay.heat.scale == scale
    window.main.analysing.set_overlay("integrated-gradients", OverlayState(False))
    canvas = window.main.view.trace_view.canvas
    assert "Attribution" not in canvas.strips
    assert "Attribution" not in canvas.furniture.keys
    window.main.analysing.set_overlay("integrated-gradients", OverlayState(True))
    assert "Attribution" in canvas.strips


@pytest.mark.parametrize("kind", ["integrated-gradients", "grad-cam", "occlusion"])
def test_every_kind_is_drawn_of_mvpformer_too(window, kind: str) -> None:
    window.show(20.0, 10.0)
    window.set_montage("LB-18.1")
    window.wait()
    answer, panel = run(window, MODELS[1], kind)
    assert isinstance(panel, TokenEvidence if kind == "grad-cam" else Attribution)
    assert ("recorded" in answer.arrays) == (kind == "integrated-gradients")
    overlay = window.main.analysing.drawing.overlay(kind)
    rows = overlay.row_values()
    place = overlay.rows.index("Fp1-F7")
    names = answer.labels["channel"]
    mean = overlay.heat.values[[names.index("Fp1"), names.index("F7")]].mean(0)
    np.testing.assert_allclose(rows[place], mean, rtol=1e-4, atol=1e-6)
    assert "mean of Fp1 and F7" in overlay.describe(27.3, "Fp1-F7")


def test_the_scalp_takes_the_colours_that_were_chosen_on_the_traces(window) -> None:
    main = window.main
    window.show(20.0, 10.0)
    window.wait()
    _answer, panel = run(window, MODELS[0], "integrated-gradients")
    assert "teal speaks for the class, brown against it" in panel.map_heading.text()
    for colours, words in (("blue to orange", "orange speaks for the class, blue"), ("", "teal speaks")):
        main.overlay_panel.set_look("integrated-gradients", 0.5, "", colours)
        main.overlay_panel.look_changed.emit("integrated-gradients")
        assert panel.theme.balances == panel.map.head.theme.balances == colours
        assert words in panel.map_heading.text()
    main.set_theme("dark")
    assert panel.theme.name == "dark"
    main.set_theme("light")


def test_a_seizure_marked_in_the_window_is_no_baseline(window) -> None:
    main = window.main
    window.show(20.0, 10.0)
    window.wait()
    answer, _panel = run(window, MODELS[0], "integrated-gradients")
    before = answer.facts["windows"][0]["baseline"]
    onset = float(before.split(" s from ")[1].split()[0])
    main.session.add_annotations([Annotation(onset + 1.0, 5.0, "seizure")])
    window.wait()
    assert "with other marks of seizures than is chosen now" in main.analysing.tab._state.text().lower()
    main.analysing.run()
    window.wait(120)
    assert main.analysing.answer is None  # the recording is too short for another one
    assert "without a marked seizure are left" in main.analysing.tab._error.text()

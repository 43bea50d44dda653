"""Scales of rows by wheel and key, polarity, clipping, colours and page length, in the real window."""

from __future__ import annotations

import numpy as np
import pytest

from app import scaling
from app.main_window import MainWindow
from app.scaling import _next_scale
from app.settings import Settings
from app.testing import Window, open_window

SEIZURE = "recordings/scalp-seizure-46ch/demo_edf.edf"


@pytest.fixture
def window(shared, qtbot):
    handle = open_window(shared / SEIZURE, (1200, 800), Settings())
    handle.wait()
    yield handle
    handle.close()


@pytest.mark.parametrize(
    ("scale", "unit", "steps", "expected"),
    [
        (7.0, "uV", 1, 5.0),
        (7.0, "uV", -2, 15.0),
        (8.3, "uV", 1, 7.0),
        (8.3, "uV", -1, 10.0),
        (9.2, "uV", 1, 7.0),
        (9.2, "uV", -1, 10.0),
        (1.0, "uV", 5, 1.0),
        (0.5, "%", 1, 0.2),
        (0.06, "%", -1, 0.1),
    ],
)
def test_scales_next_to_one(scale, unit, steps, expected):
    assert _next_scale(scale, unit, steps) == pytest.approx(expected)


def test_a_row_by_wheel_and_its_montage_switch(window: Window):
    main = window.main
    rows = main.view.trace_view.rows
    row = rows.index("F8-T4")
    main.view.trace_view.gutter.row_stepped.emit(row, -2)
    window.wait()
    rows = main.view.trace_view.rows
    assert rows.scale_of(row) == pytest.approx(15.0)
    assert rows.notes[row] == "15 µV/mm"
    assert sum(rows.overridden) == 1
    for montage in ("common average", "LB-18.1"):
        window.set_montage(montage)
        window.wait()
    rows = main.view.trace_view.rows
    assert rows.scale_of(rows.index("F8-T4")) == pytest.approx(15.0)
    main.view.trace_view.gutter.row_reset.emit(row)
    window.wait()
    assert not any(main.view.trace_view.rows.overridden)


def test_a_row_by_keys(window: Window):
    actions, traces = window.main.actions_by_id, window.main.view.trace_view
    actions["row_taller"].trigger()
    assert "choose a row" in window.main.status._message.text()
    actions["next_row"].trigger()
    actions["next_row"].trigger()
    actions["previous_row"].trigger()
    name = traces.rows.names[0]
    assert name in window.main.status._message.text()
    actions["row_taller"].trigger()
    assert window.main.session.view.gains == ((name, 5.0),)
    actions["row_flatter"].trigger()
    actions["row_flatter"].trigger()
    assert window.main.session.view.gains == ((name, 10.0),)
    actions["row_usual"].trigger()
    assert window.main.session.view.gains == ()
    traces.gutter.set_chosen(None)
    traces.gutter.set_hovered(3)
    actions["row_taller"].trigger()
    assert window.main.session.view.gains == ((traces.rows.names[3], 5.0),)
    actions["rows_usual"].trigger()
    assert window.main.session.view.gains == ()


def test_rows_keep_their_scale_from_one_day_to_the_next(shared, qtbot, tmp_path):
    for expected in ((), (("Fz-Cz", 20.0),)):
        main = MainWindow(Settings(), data_folder=tmp_path)
        window = Window(main)
        main.show()
        main.open_recording(str(shared / SEIZURE))
        window.wait()
        assert main.session.view.gains == expected
        main.session.change_view(gains=(("Fz-Cz", 20.0),))
        window.wait()
        window.close()


def test_polarity_is_said_and_the_traces_are_turned_over(window: Window):
    main = window.main
    before = main.view.trace_view.rows.gain.copy()
    main.actions_by_id["positive_up"].trigger()
    window.wait()
    body = ~main.view.trace_view.rows.own_scale
    np.testing.assert_array_equal(main.view.trace_view.rows.gain[body], -before[body])
    assert "positive up" in main.view.trace_view.canvas.furniture.note
    assert main.actions_by_id["positive_up"].isChecked()
    main.session.reset_view()
    assert not main.actions_by_id["positive_up"].isChecked()


def test_rows_that_are_clipped_say_so(window: Window):
    main = window.main
    window.set_sensitivity(1)
    main.actions_by_id["clip_rows"].trigger()
    window.wait()
    assert "cut off" in main.view.trace_view.gutter.states
    main.actions_by_id["clip_rows"].trigger()
    window.wait()
    assert "cut off" not in main.view.trace_view.gutter.states


def test_colours_are_chosen_one_at_a_time(window: Window):
    main = window.main
    for name in ("black", "regions", "sides_swapped", "sides"):
        main.actions_by_id[f"colours_{name}"].trigger()
        window.wait()
        checked = [i for i, action in main.actions_by_id.items() if i.startswith("colours_") and action.isChecked()]
        assert checked == [f"colours_{name}"]
        assert main.session.view.colours == name.replace("_", "-")
    main.actions_by_id["colours_sides"].trigger()
    assert main.actions_by_id["colours_sides"].isChecked()


@pytest.mark.parametrize(
    ("text", "seconds"), [("0.1", 0.1), ("2 min", 120.0), ("all", 45.0), ("never", 10.0), ("0.01", 10.0)]
)
def test_a_typed_length(window: Window, monkeypatch, text, seconds):
    monkeypatch.setattr(scaling, "ask_text", lambda *_args: text)
    window.main.actions_by_id["page_length"].trigger()
    window.wait()
    assert window.main.session.view.page_seconds == seconds
    if seconds == 10.0:
        assert text in window.main.status._message.text()


def test_whole_recording_and_speeds(window: Window):
    main = window.main
    main.session.go_to(20.0)
    main.actions_by_id["whole_recording"].trigger()
    assert (main.session.window.start, main.session.window.stop) == (0.0, 45.0)
    main.actions_by_id["speed_30"].trigger()
    width = main.view.trace_view.canvas.width() / main.view.px_per_mm()
    assert main.session.view.page_seconds == pytest.approx(width / 30, abs=1e-3)
    assert "30 mm/s (not calibrated)" in main.view.trace_view.canvas.furniture.note
    assert main.toolbar.page.value() == "30 mm/s"

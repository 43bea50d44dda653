"""Export of the page on the screen: what is shown is what is drawn, and the command that is told draws it again."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analysis.annotation import Annotation
from app.cli import main
from app.dialogs.export_figure import FigureChoice
from app.figure_files import read_page
from app.settings import Settings
from app.shown_page import lane_of, row_looks, shown_page
from app.testing import Window, open_window
from viewers.analysis_lane import LaneCurve
from viewers.heat_scales import DIVERGING, SEQUENTIAL, HeatScale

SCALP = "scalp-seizure-46ch/demo_edf.edf"


@pytest.fixture
def window(shared: Path, qtbot) -> Window:
    window = open_window(shared / "recordings" / SCALP, (1400, 860), Settings(theme="light"), 10.0)
    window.wait()
    yield window
    window.close()


def export(window: Window, choice: FigureChoice, qtbot) -> None:
    job = window.main.exporting.export(choice)
    with qtbot.waitSignal(job.finished, timeout=60_000):
        pass
    window.wait()


def test_what_is_exported_is_what_is_shown_and_its_command_draws_it_again(window: Window, tmp_path: Path, qtbot):
    main_window, session = window.main, window.main.session
    session.change_view(montage="common average", uv_per_mm=15.0, highpass=1.0)
    session.add_annotations([Annotation(12.5, 1.0, "Spike of mine", author="reader")])
    session.set_bad_channels(["Fpz"])
    window.wait()
    out = tmp_path / "page.svg"
    export(window, FigureChoice(out, (180.0, 160.0), 300), qtbot)
    text = out.read_text("utf-8")
    for words in ("Spike of mine", "common average", "15 µV/mm", "1–70 Hz", "negative up", "Research use only", "Fpz"):
        assert words in text
    assert "patient" not in text.lower()
    facts = json.loads(out.with_suffix(".json").read_text("utf-8"))
    words = shlex.split(facts["command"])
    assert words[:3] == ["python", "main.py", "figure"]
    assert str(out) in main_window.status._message.text()
    main_window.exporting.box.close()
    before = out.read_bytes()
    out.unlink()
    assert main(words[2:]) == 0
    assert out.read_bytes() == before


def test_a_pulse_is_as_high_and_as_far_up_as_on_the_screen(window: Window):
    """Units a millimetre, their sense, and the order of the rows are those of the rows on the screen."""
    rows = window.main.view.trace_view.rows
    looks = row_looks(rows)
    assert [look.row for look in looks] == list(rows.names)
    for i, look in enumerate(looks):
        if look.per_mm is None:
            continue
        # 50 units, in millimetres upwards, on the screen.
        screen = -(rows.y(i, look.zero + 50.0) - rows.y(i, look.zero)) / rows.px_per_mm
        assert 50.0 / look.per_mm == pytest.approx(screen, rel=1e-5)
    shown = shown_page(window.main)
    assert shown.montage.ch_names == tuple(rows.names)
    assert {look.note for look in shown.looks if look.row == "ECG"} == {"70 µV/mm"}


def test_overlays_come_with_their_part_their_strength_and_their_colours(window: Window, tmp_path: Path, qtbot):
    main_window = window.main
    window.load_model("random:axon:tiny")
    window.wait()
    main_window.analysing.run("gates")
    window.wait()
    main_window.analysing.open("gates")
    main_window.analysing.choose_part("1")
    window.wait()
    ((_, overlay, _),) = main_window.analysing.drawing.drawn()
    (heat,) = shown_page(main_window).heats
    assert (heat.low, heat.high, heat.centre) == (overlay.heat.scale.low, overlay.heat.scale.high, 0.5)
    assert heat.opacity == overlay.key().strength
    assert heat.colours[0] != heat.colours[-1]
    middle = heat.colours[len(heat.colours) // 2]
    assert min(int(middle[i : i + 2], 16) for i in (1, 3, 5)) >= 0xFD  # white, where it says nothing
    row = main_window.overlay_panel.rows["gates"]
    row.controls().diverging.choose("purple to green")
    row.controls().changed.emit()
    (heat,) = shown_page(main_window).heats
    assert (heat.colours[0], heat.colours[-1]) == DIVERGING["purple to green"][0]
    out = tmp_path / "heat.svg"
    export(window, FigureChoice(out, (180.0, 120.0), 150, panels=("gates",)), qtbot)
    main_window.exporting.box.close()
    page = read_page(out.with_suffix(".json"))
    np.testing.assert_array_equal(page.heats[0].values, overlay.heat.values)
    assert [panel.kind for panel in page.panels] == ["gates"]
    text = out.read_text("utf-8")
    assert "layer 1" in text
    assert "AXON-tiny" in text
    assert "Random weights" in text
    main_window.actions_by_id["hide_overlays"].trigger()
    assert not shown_page(main_window).heats


def test_arcs_and_lanes_come_in_the_colours_that_the_reader_chose(window: Window):
    main_window = window.main
    window.load_model("random:prise-eeg:tiny")
    window.wait()
    main_window.analysing.run("dynamic-groups")
    window.wait()
    main_window.analysing.open("dynamic-groups")
    row = main_window.overlay_panel.rows["dynamic-groups"]
    row.controls().diverging.choose("blue to orange")
    row.controls().changed.emit()
    (arcs,) = shown_page(main_window).arcs
    below, above = DIVERGING["blue to orange"][0]
    assert len(arcs.values) > 0
    assert arcs.colours == tuple(above if value >= 0 else below for value in arcs.values)
    scale = HeatScale(0, 1, 0.5, colours="blue to orange")
    curve = LaneCurve(np.arange(3.0), np.ones(3), np.array([0.2, 0.8, 0.5]), scale, "", "share")
    assert lane_of("share", curve).colours == (below, above)
    curve = replace(curve, scale=HeatScale(0, 1, colours="blue"))
    assert set(lane_of("share", curve).colours) == {SEQUENTIAL["blue"][0][0]}


def test_the_dialog_remembers_and_asks_before_it_overwrites(window: Window, tmp_path: Path, qtbot):
    exporting = window.main.exporting
    dialog = exporting.dialog()
    qtbot.addWidget(dialog)
    assert not dialog.patient.isChecked()
    dialog.width_mm.setValue(85)
    assert dialog.columns.currentText().startswith("One column")
    dialog.path.setText(str(tmp_path / "a.pdf"))
    assert dialog.choice().form == dialog.form.currentData() == "pdf"
    dialog.path.setText(str(tmp_path / "a.gif"))
    assert not dialog._ok().isEnabled()
    dialog.path.setText(str(tmp_path / "a.png"))
    (tmp_path / "a.json").write_text("{}")
    asked = []
    dialog.overwrites = lambda there: asked.append(there) or False
    dialog._ok().click()
    assert asked == [[tmp_path / "a.json"]]
    assert not dialog.result()
    dialog.overwrites = lambda _there: True
    dialog._ok().click()
    assert dialog.result()
    export(window, dialog.choice(), qtbot)
    exporting.box.close()
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    again = exporting.dialog()
    qtbot.addWidget(again)
    assert again.choice().size_mm == (85.0, 120.0)
    assert again.choice().form == "png"
    assert again.choice().out.parent == tmp_path


def test_paper_that_is_too_low_is_refused_in_a_sentence_and_nothing_is_written(window: Window, tmp_path: Path, qtbot):
    failed: list[BaseException] = []
    exporting = window.main.exporting
    exporting.failed.disconnect()
    exporting.failed.connect(failed.append)
    window.main.session.set_bad_channels(["Fpz"])
    window.wait()
    export(window, FigureChoice(tmp_path / "a.svg", (60.0, 35.0), 150), qtbot)
    assert "too low for a page" in str(failed[0])
    assert not list(tmp_path.iterdir())

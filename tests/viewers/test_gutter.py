"""The gutter names rows, says what is wrong with them, and is not drawn anew at each page."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PyQt6.QtCore import QEvent, QPoint, QPointF, Qt
from PyQt6.QtGui import QFontMetricsF, QHelpEvent, QWheelEvent
from PyQt6.QtWidgets import QApplication, QToolTip

from analysis.filtering import DisplayFilter, FilterBank
from viewers.gutter import MAX_WIDTH, MIN_WIDTH, STRIP_ROOM, Gutter, GutterStrip, gutter_width
from viewers.heat_scales import HeatScale, tint
from viewers.rows import RowLooks, Rows
from viewers.theme import LIGHT, font


@pytest.fixture
def rows(eeg_channels, single_montage) -> Rows:
    channel = replace(eeg_channels("Fp1")[0], original_name="EEG Fp1-Ref", prefilter="HP:0.1Hz")
    return Rows(single_montage("Fp1", "Fp2", sides="lr"), 200, 7, 4, (channel, *eeg_channels("Fp2")))


def pixels(gutter: Gutter) -> np.ndarray:
    image = gutter.grab().toImage()
    raw = image.constBits().asarray(image.sizeInBytes())
    return np.frombuffer(raw, np.uint8).copy()


def test_fault_changes_what_is_shown(qtbot, rows: Rows) -> None:
    gutter = Gutter()
    qtbot.addWidget(gutter)
    gutter.resize(120, 200)
    gutter.set_rows(rows)
    before = pixels(gutter)
    gutter.set_states(("", "flat"))
    assert (pixels(gutter) != before).any()
    assert gutter.states == ("", "flat")


def test_resting_the_mouse_on_a_name_shows_its_tip(qtbot, rows: Rows, monkeypatch) -> None:
    gutter = Gutter()
    qtbot.addWidget(gutter)
    gutter.resize(120, 200)
    gutter.set_rows(rows)
    shown: list[str] = []
    monkeypatch.setattr(QToolTip, "showText", lambda _place, text, _widget: shown.append(text))
    place = QPoint(20, round(float(rows.centre[1])))
    QApplication.sendEvent(gutter, QHelpEvent(QEvent.Type.ToolTip, place, gutter.mapToGlobal(place)))
    assert shown == [gutter.tool_tip(1)]


def test_same_rows_cost_no_new_picture(qtbot, rows: Rows, eeg_channels, single_montage) -> None:
    gutter = Gutter()
    qtbot.addWidget(gutter)
    gutter.resize(120, 200)
    gutter.set_rows(rows)
    gutter.grab()
    picture = gutter._pixmap
    same = Rows(single_montage("Fp1", "Fp2", sides="lr"), 200, 10, 4, eeg_channels("Fp1", "Fp2"))
    gutter.set_rows(same)
    assert gutter._pixmap is picture
    gutter.set_rows(same, ("Fp1", "other"))
    assert gutter._pixmap is None


def test_tool_tip_tells_the_files_own_label(qtbot, rows: Rows) -> None:
    gutter = Gutter()
    qtbot.addWidget(gutter)
    gutter.set_rows(rows)
    gutter.set_states(("clipped", ""))
    gutter.set_filters(FilterBank(DisplayFilter(1.0, 70.0, 50.0)))
    tip = gutter.tool_tip(0)
    for text in ("drawn through: 1–70 Hz, notch 50 Hz", "Fp1", "EEG Fp1-Ref", "200 Hz", "µV", "HP:0.1Hz", "clipped"):
        assert text in tip


def wheel(gutter: Gutter, y: float, notches: float, modifiers=Qt.KeyboardModifier.NoModifier) -> None:
    at = QPointF(20, y)
    event = QWheelEvent(
        at,
        gutter.mapToGlobal(at),
        QPoint(),
        QPoint(0, round(120 * notches)),
        Qt.MouseButton.NoButton,
        modifiers,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(gutter, event)


def test_wheel_over_a_name_asks_for_another_scale_of_that_row(qtbot, rows: Rows) -> None:
    gutter = Gutter()
    qtbot.addWidget(gutter)
    gutter.resize(120, 200)
    gutter.set_rows(rows)
    stepped, reset = [], []
    gutter.row_stepped.connect(lambda *values: stepped.append(values))
    gutter.row_reset.connect(reset.append)
    y = float(rows.centre[1])
    wheel(gutter, y, 1)
    wheel(gutter, y, -2)
    wheel(gutter, y, 0.5)
    wheel(gutter, y, 0.5)
    assert stepped == [(1, 1), (1, -2), (1, 1)]
    wheel(gutter, y, 1, Qt.KeyboardModifier.ControlModifier)
    qtbot.mouseDClick(gutter, Qt.MouseButton.LeftButton, pos=QPoint(20, round(float(rows.centre[0]))))
    assert reset == [1, 0]


def test_click_chooses_a_row_and_lets_it_go(qtbot, rows: Rows) -> None:
    gutter = Gutter()
    qtbot.addWidget(gutter)
    gutter.resize(120, 200)
    gutter.set_rows(rows)
    chosen = []
    gutter.row_chosen.connect(chosen.append)
    gutter.row_chosen.connect(gutter.set_chosen)
    before = pixels(gutter)
    place = QPoint(20, round(float(rows.centre[1])))
    qtbot.mouseClick(gutter, Qt.MouseButton.LeftButton, pos=place)
    assert (pixels(gutter) != before).any()
    qtbot.mouseClick(gutter, Qt.MouseButton.LeftButton, pos=place)
    assert chosen == [1, None]
    assert (pixels(gutter) == before).all()


def test_scale_given_to_a_row_is_written_although_it_is_cut_off(qtbot, eeg_channels, single_montage) -> None:
    gutter = Gutter()
    qtbot.addWidget(gutter)
    gutter.setFixedSize(110, 300)
    looks = RowLooks(rows={"F8-T4": 20.0})
    gutter.set_rows(Rows(single_montage("F8-T4", "T4-T6"), 44, 7, 4, eeg_channels("F8-T4", "T4-T6"), looks=looks))
    gutter.set_states(("cut off", "cut off"))
    assert "20 µV/mm" in gutter.layout_of(0).note
    assert gutter.layout_of(1).note == "cut off"
    assert "given to this row" in gutter.tool_tip(0)


def test_width_follows_the_longest_name(qapp) -> None:
    assert gutter_width(["Fz"]) == MIN_WIDTH
    assert MIN_WIDTH < gutter_width(["LAH12-LAH13 long"]) <= MAX_WIDTH
    assert gutter_width(["x" * 200]) == MAX_WIDTH


@pytest.mark.parametrize("count", [1, 64, 300])
def test_any_number_of_rows_is_drawn(qtbot, eeg_channels, single_montage, count: int) -> None:
    names = [f"E{i}" for i in range(count)]
    gutter = Gutter()
    qtbot.addWidget(gutter)
    gutter.resize(120, 300)
    gutter.set_rows(Rows(single_montage(*names), 300, 7, 4, eeg_channels(*names)))
    gutter.set_states(tuple("flat" if i % 50 == 7 else "" for i in range(count)))
    assert np.unique(pixels(gutter)).size > 2


@pytest.mark.parametrize("pitch", [60.0, 22.0, 21.5, 18.0, 13.0, 10.0])
@pytest.mark.parametrize(("name", "uv_per_mm"), [("ECG1", 7), ("ECG", 30), ("ECG right arm", 7), ("X2", 200)])
def test_a_scale_of_its_own_is_always_written_whole(
    qtbot, eeg_channels, single_montage, pitch: float, name: str, uv_per_mm: float
) -> None:
    """Whatever the height of the row: the microvolts per millimetre of an ECG stand at it, inside its room."""
    gutter = Gutter()
    qtbot.addWidget(gutter)
    gutter.setFixedSize(gutter_width(["Fp1-F7", name]), 300)
    channels = (*eeg_channels("Fp1-F7"), *eeg_channels(name, type="ecg"))
    looks = RowLooks(kinds={"ecg": 10.0 * uv_per_mm})
    gutter.set_rows(Rows(single_montage("Fp1-F7", name), 2 * pitch, uv_per_mm, 4, channels, looks=looks))
    text = gutter.layout_of(1)
    assert text.note == f"{10 * uv_per_mm} µV/mm"
    width = QFontMetricsF(font(text.note_size)).horizontalAdvance(text.note)
    assert text.note_rect.left() + width <= gutter.width() - STRIP_ROOM + 0.5
    assert text.name
    assert gutter.layout_of(0).note == ""
    assert text.note in gutter.tool_tip(1)
    assert "scale of its own" not in gutter.tool_tip(0)


def test_fault_and_scale_are_both_told_where_there_is_room(qtbot, eeg_channels, single_montage) -> None:
    gutter = Gutter()
    qtbot.addWidget(gutter)
    gutter.setFixedSize(160, 300)
    looks = RowLooks(kinds={"ecg": 70.0})
    gutter.set_rows(Rows(single_montage("E"), 60, 7, 4, eeg_channels("E", type="ecg"), looks=looks))
    gutter.set_states(("flat",))
    assert gutter.layout_of(0).note == "flat, 70 µV/mm"
    gutter.setFixedSize(60, 300)
    assert gutter.layout_of(0).note.startswith("fl")


def test_scale_without_room_is_pointed_out(qtbot, eeg_channels, single_montage) -> None:
    """300 rows of 1 px: names are left out, but the strip of a row with a scale of its own is darker."""
    names = [f"E{i}" for i in range(300)]
    gutter = Gutter()
    qtbot.addWidget(gutter)
    gutter.setFixedSize(120, 300)
    images = []
    for kind in ("eeg", "ecg"):
        channels = [*eeg_channels(*names[:150]), *eeg_channels(*names[150:160], type=kind), *eeg_channels(*names[160:])]
        gutter.set_rows(Rows(single_montage(*names), 300, 7, 4, channels, looks=RowLooks(kinds={"ecg": 70.0})))
        images.append(gutter.grab().toImage())
    x = 120 - STRIP_ROOM + 8
    darker = [images[1].pixelColor(x, y).lightness() < images[0].pixelColor(x, y).lightness() for y in range(300)]
    assert sum(darker[150:160]) >= 8
    assert not any(darker[:149] + darker[161:])


def test_the_value_of_an_overlay_has_its_colour_beside_each_row_and_a_fault_goes_first(qtbot, rows: Rows) -> None:
    gutter = Gutter()
    qtbot.addWidget(gutter)
    gutter.resize(120, 200)
    gutter.set_rows(rows)
    bare = pixels(gutter)
    scale = HeatScale(-2.0, 2.0, 0.0, "logit")
    gutter.set_strips({"map": GutterStrip(np.array([2.0, np.nan]), scale, "sum over the page")})
    assert "sum over the page: 2.00 logit" in gutter.tool_tip(0)
    assert "sum over the page" not in gutter.tool_tip(1)
    place = gutter.width() - 9, round(float(rows.centre[0]))
    colour = tint(LIGHT, scale, 2.0).name()
    assert gutter.grab().toImage().pixelColor(*place).name() == colour
    gutter.set_states(("flat", ""))
    assert gutter.grab().toImage().pixelColor(*place).name() != colour
    gutter.set_states(("", ""))
    gutter.set_strips({})
    assert (pixels(gutter) == bare).all()

"""Measuring in the real window: what the panels speak of, and that nothing stale stays."""

from __future__ import annotations

import time

import numpy as np
import pytest
from PyQt6.QtGui import QGuiApplication
from PyQt6.QtWidgets import QApplication

from analysis.recording import Window as Span
from app.main_window import MainWindow
from app.settings import Settings
from app.testing import Window, open_window
from viewers.panels.topography import AT_CURSOR, PINNED

SEIZURE = "scalp-seizure-46ch/demo_edf.edf"


@pytest.fixture(scope="module")
def one_window(shared, qapp):
    """The seizure recording in a window that the tests share, since opening one takes most of their time."""
    window = open_window(shared / "recordings" / SEIZURE, (1500, 900), Settings(theme="light"))
    window.wait()
    yield window
    window.close()


@pytest.fixture
def window(one_window):
    """The window as it was opened, with the topography in view."""
    main = one_window.main
    main.measuring.escape()
    main.measuring.escape()
    main.view.trace_view.canvas.leaveEvent(None)
    main.view.span_selected.emit(None)
    main.session.set_bad_channels([])
    main.session.change_view(montage="LB-18.1", highpass=0.5, lowpass=70.0, notch=0.0)
    one_window.show(0.0, 10.0)
    main.measuring.dock.open("topography")
    rest(one_window)
    return one_window


@pytest.fixture
def opened(shared, qtbot):
    """Opens another recording in a window of its own."""
    windows: list[Window] = []

    def open_it(name: str) -> Window:
        made = open_window(shared / "recordings" / name, (1500, 900), Settings(theme="light"))
        windows.append(made)
        made.wait()
        rest(made)
        return made

    yield open_it
    for made in windows:
        made.close()


def rest(window: Window, seconds: float = 30.0) -> None:
    """Serve the window until its page is shown and the panel in view is up to date."""
    deadline = time.monotonic() + seconds
    while not window.settled() or window.main.measuring.busy:
        assert time.monotonic() < deadline, "the inspector did not come to rest"
        QApplication.processEvents()
        time.sleep(0.002)


def hover(window: Window, at: float, row: int = 2) -> None:
    canvas = window.main.view.trace_view.canvas
    canvas.point_at(at, float(canvas.rows.centre[row]))


def test_the_pinned_cursor_has_its_time_and_holds_the_map(window):
    main, panel = window.main, window.main.measuring.topography
    axis = main.view.trace_view.axis
    places = {panel.place.itemData(i): i for i in range(panel.place.count())}
    offered = panel.place.model().item(places[PINNED])
    assert not offered.isEnabled()
    hover(window, 3.25)
    plain = axis.grab().toImage()
    main.actions_by_id["pin_cursor"].trigger()
    hover(window, 8.0)
    x = round(axis._left + axis._scale.x(3.25))
    image, caution = axis.grab().toImage(), axis._theme.colour("caution")
    assert any(image.pixelColor(x + dx, 6) == caution for dx in range(-20, 21))
    assert image != plain
    assert "00:08.000" in panel._caption.text()
    assert offered.isEnabled()
    panel.place.choose(PINNED)
    panel.place.chosen.emit(PINNED)
    rest(window)
    hover(window, 6.0)
    assert "00:03.250" in panel._caption.text()
    main.actions_by_id["cancel"].trigger()
    assert panel.place.value() == AT_CURSOR
    assert not offered.isEnabled()
    hover(window, 6.0)
    rest(window)
    assert "00:06.000" in panel._caption.text()


def test_escape_takes_the_caliper_away_and_ends_the_mode_that_makes_it(window):
    main, action = window.main, window.main.actions_by_id["caliper"]
    action.trigger()
    main.measuring.caliper.place(main.view.trace_view.rows.names[2], 3.0, 4.0)
    assert main.measuring.caliper.armed
    main.actions_by_id["cancel"].trigger()
    assert not main.measuring.caliper.armed
    assert not action.isChecked()
    assert main.measuring.caliper.reading is None
    assert main.status._message.text() == "a drag selects again"
    assert not main.measuring.escape()


def test_the_map_stands_in_the_middle_of_the_page_and_follows_the_cursor(window):
    window.show(10.0, 10.0)
    rest(window)
    panel = window.main.measuring.topography
    assert "00:15.000" in panel._caption.text()
    there = panel.head.values.copy()
    hover(window, 12.5)
    assert "00:12.5" in panel._caption.text()
    assert not np.allclose(panel.head.values, there)
    assert panel.head.values.mean() == pytest.approx(0.0, abs=1e-3)
    assert not window.main.measuring.busy
    window.main.view.trace_view.canvas.leaveEvent(None)
    np.testing.assert_allclose(panel.head.values, there)


def test_the_map_is_of_the_filtered_electrodes_whatever_the_montage(window):
    window.show(10.0, 10.0)
    rest(window)
    values = window.main.measuring.topography.head.values.copy()
    names = window.main.measuring.topography.head._head.layout.ch_names
    window.set_montage("as recorded")
    rest(window)
    page = window.main.view.trace_view.page
    i = round((15.0 - page.first_time) * page.sfreq)
    columns = [page.ch_names.index(name) for name in names]
    expected = page.data[i, columns] - page.data[i, columns].mean()
    np.testing.assert_allclose(values, expected, atol=0.2)
    window.set_filter(5.0, 30.0, 0.0)
    rest(window)
    assert not np.allclose(window.main.measuring.topography.head.values, values, atol=1.0)
    assert "5–30 Hz" in window.main.measuring.topography._foot.text()


def test_a_page_turn_fades_the_panel_until_it_is_renewed(window):
    window.main.measuring.dock.open("spectrum")
    rest(window)
    panel = window.main.measuring.spectrum
    assert "00:00.0 to 00:10.0" in panel._caption.text()
    window.main.session.page(1)
    assert panel.plot.stale
    rest(window)
    assert not panel.plot.stale
    assert "00:10.0 to 00:20.0" in panel._caption.text()


def test_a_page_turned_forth_and_back_is_not_left_faded(window):
    window.main.measuring.dock.open("spectrum")
    rest(window)
    window.main.session.page(1)
    window.main.session.page(-1)
    assert not window.main.measuring.spectrum.plot.stale
    assert not window.main.measuring.busy


def test_a_selection_takes_the_place_of_the_page_and_gives_it_back(window):
    main = window.main
    main.measuring.dock.open("spectrum")
    main.view.span_selected.emit(Span(2.0, 8.0))
    rest(window)
    assert "00:02.0 to 00:08.0" in main.measuring.spectrum._caption.text()
    main.view.span_selected.emit(Span(2.0, 2.4))
    rest(window)
    assert "at least 1 s" in main.measuring.spectrum.plot.message
    main.view.span_selected.emit(None)
    rest(window)
    assert "00:00.0 to 00:10.0" in main.measuring.spectrum._caption.text()
    assert main.measuring.spectrum.plot.message == ""


def test_only_the_panel_in_view_computes(window):
    main = window.main
    before = main.measuring.spectrum._caption.text()
    main.session.page(1)
    rest(window)
    assert main.measuring.spectrum._caption.text() == before
    main.docks["inspector"].hide()
    main.session.page(-1)
    assert not main.measuring.busy
    main.docks["inspector"].show()
    rest(window)
    assert "00:05.000" in main.measuring.topography._caption.text()


def test_a_channel_marked_bad_leaves_the_map(window):
    main = window.main
    before = len(main.measuring.topography.head.values)
    main.session.set_bad_channels(["Cz"])
    rest(window)
    assert len(main.measuring.topography.head.values) == before - 1
    assert "Cz (marked bad)" in main.measuring.topography._left_out.text()


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("chbmit-headers/chb05_06.edf", "recorded bipolar"),
        ("bdf/openbci_8ch.bdf", "at least 8 electrodes with a position: there are 0"),
    ],
)
def test_recordings_without_a_map_are_told_why(opened, name, sentence):
    window = opened(name)
    assert sentence in window.main.measuring.topography.head._message


def test_contacts_of_an_intracranial_recording_are_drawn_by_shaft(opened):
    window = opened("ecog-seizure-mat/pt01_ecog_onset.h5")
    panel = window.main.measuring.topography
    assert panel.contacts.isVisibleTo(panel)
    assert not panel.head.isVisibleTo(panel)
    assert len(panel.contacts.values) == 84
    assert panel._caption.text().startswith("Voltage at ")
    assert panel._foot.text().startswith("84 contacts, by the names of contacts; G in rows of 8")
    panel.quantity.choose("alpha")
    panel._on_quantity("alpha")
    rest(window)
    assert panel.scale.unit == "µV²"
    assert panel.table().splitlines()[1].split("\t")[2:] == ["shaft", "number"]
    window.main.session.set_bad_channels(["AD2"])
    rest(window)
    place = panel.contacts.places().of("AD2")
    assert panel.contacts.describe(place.rect.center()) == "AD2  marked bad"


def test_another_recording_leaves_nothing_of_the_last(opened, shared):
    window = opened(SEIZURE)
    window.main.open_recording(str(shared / "recordings/chbmit-headers/chb05_06.edf"))
    rest(window)
    window.wait()
    rest(window)
    panel = window.main.measuring.topography
    assert panel.head.values is None
    assert "recorded bipolar" in panel.head._message
    assert panel._foot.text() == ""


def test_caliper_pinned_cursor_and_escape(window):
    main = window.main
    measuring, canvas = main.measuring, main.view.trace_view.canvas
    hover(window, 3.0)
    main.actions_by_id["caliper_end"].trigger()
    hover(window, 3.5)
    main.actions_by_id["caliper_end"].trigger()
    assert measuring.caliper.reading.duration == pytest.approx(0.5, abs=0.02)
    assert canvas.rows.names[2] in main.status._measure.text()
    assert "as filtered on screen" in main.status._measure.text()
    main.actions_by_id["pin_cursor"].trigger()
    assert measuring.pinned.time == pytest.approx(3.5, abs=0.02)
    main.actions_by_id["cancel"].trigger()
    assert measuring.caliper.reading is None
    assert main.status._measure.text() == ""
    assert measuring.pinned.time is not None
    main.actions_by_id["cancel"].trigger()
    assert measuring.pinned.time is None


def test_caliper_reads_the_new_filter_again(window):
    canvas = window.main.view.trace_view.canvas
    caliper = window.main.measuring.caliper
    caliper.place(canvas.rows.names[2], 2.0, 4.0)
    before = caliper.reading.peak_to_peak
    window.set_filter(0.5, 15.0, 0.0)
    assert caliper.reading is None
    rest(window)
    assert 0 < caliper.reading.peak_to_peak < before


def test_values_are_copied_with_what_they_were_made_from(window):
    window.main.actions_by_id["copy_values"].trigger()
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines[0] == "# Research use only: not for diagnosis."
    assert window.main.session.recording.id in lines[1]
    assert "span 0.000 to 10.000 s" in lines[1]
    assert len(lines) == 3 + len(window.main.measuring.topography.head.values)


def test_the_open_tab_is_remembered(qtbot):
    settings = Settings(theme="light", inspector_tab="spectrogram")
    kept = []
    window = MainWindow(settings, kept.append)
    try:
        assert window.measuring.inspector.chosen() == "spectrogram"
        window.measuring.inspector.open("spectrum")
    finally:
        window.close()
    assert kept[-1].inspector_tab == "spectrum"

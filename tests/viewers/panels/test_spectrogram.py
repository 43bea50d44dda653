"""The spectrogram panel: time and frequency where they belong, and a reading under the mouse."""

from __future__ import annotations

import numpy as np
import pytest
from PyQt6.QtCore import QPointF

from analysis.montage import Derivation, Montage
from analysis.recording import Channel, Window
from analysis.span_spectra import measure_spectrogram
from viewers.panels.spectrogram import SpectrogramPanel
from viewers.panels.spectrum import ALL, ROW_UNDER_CURSOR

SFREQ = 200.0


@pytest.fixture
def result(array_recording):
    """A tone of 6 Hz for 10 s, then one of 25 Hz for 10 s; `gap` seconds of nothing from 12 s on."""

    def make(gap: float = 0.0):
        time = np.arange(4000) / SFREQ
        tone = 30 * np.sin(2 * np.pi * np.where(time < 10, 6, 25) * time)
        tone[(time >= 12) & (time < 12 + gap)] = np.nan
        recording = array_recording([Channel("C3", "C3", "eeg", "uV", SFREQ)], tone[None], SFREQ)
        return measure_spectrogram(recording, Montage("made", (Derivation("C3", "C3"),)), Window(0.0, 20.0), "C3")

    return make


@pytest.fixture
def panel(qtbot) -> SpectrogramPanel:
    made = SpectrogramPanel()
    qtbot.addWidget(made)
    made.resize(300, 480)
    made.show()
    return made


def lightness(panel: SpectrogramPanel, time: float, frequency: float) -> int:
    picture = panel.plot.grab().toImage()
    return picture.pixelColor(round(panel.plot.x(time)), round(panel.plot.y(frequency))).lightness()


def test_power_is_drawn_at_its_time_and_frequency(panel, result):
    panel.set_result(result())
    assert panel.plot.x_range == (0.0, 20.0)
    assert panel.plot.y_range == (0.0, 40.0)
    # In the light theme much is dark.
    assert lightness(panel, 5.0, 6.0) < 100 < lightness(panel, 5.0, 25.0)
    assert lightness(panel, 15.0, 25.0) < 100 < lightness(panel, 15.0, 6.0)


def test_a_gap_is_neither_much_nor_little(panel, result):
    panel.set_result(result(gap=4.0))
    picture = panel.plot.grab().toImage()
    columns = range(round(panel.plot.x(13.5)), round(panel.plot.x(14.5)))
    rows = range(round(panel.plot.y(36.0)), round(panel.plot.y(33.0)))
    shades = {picture.pixelColor(x, y).lightness() for x in columns for y in rows}
    assert max(shades) - min(shades) > 30  # hatched
    at = QPointF(panel.plot.x(14.0), panel.plot.y(6.0))
    assert panel.plot.describe(at).endswith("no signal")


def test_tells_time_frequency_and_decibels_under_the_mouse(panel, result):
    panel.set_result(result())
    text = panel.plot.describe(QPointF(panel.plot.x(5.0), panel.plot.y(6.0)))
    level = 10 * np.log10(30**2 / 2 / 1.5 * panel._result.seconds)  # a sine in Hann windows, at its own bin
    assert text.startswith("00:05.00   6.00 Hz")
    assert float(text.split()[-4].replace("−", "-")) == pytest.approx(level, abs=0.2)
    assert text.endswith("dB re µV²/Hz")


def test_asks_for_another_row_when_it_follows_the_cursor(panel, result):
    asked = []
    panel.wanted.connect(lambda: asked.append(True))
    panel.offer_rows(["C3", "C4"])
    panel.set_row("C4")
    assert not asked
    panel.rows.choose(ROW_UNDER_CURSOR)
    panel.set_row("C3")
    assert asked
    assert panel.chosen_rows(["C3", "C4"]) == "C3"
    assert panel.chosen_rows(["Fz"]) == "Fz"
    panel.rows.choose(ALL)
    assert panel.chosen_rows(["C3"]) == "all"


def test_a_refusal_stands_in_the_plot(panel, result):
    panel.set_result(result())
    panel.refuse("choose a row")
    assert panel.plot.message == "Choose a row."
    assert panel.table() == ""
    panel.set_result(result())
    assert panel.plot.message == ""
    assert panel.table().count("\n") > 50

"""The spectrum panel: which rows, which numbers, and what it says where there are none."""

from __future__ import annotations

import numpy as np
import pytest
from PyQt6.QtCore import QPointF

from analysis.montage import Derivation, Montage
from analysis.recording import Channel, Window
from analysis.span_spectra import measure_spectrum
from viewers.panels.spectrum import ALL, LEFT_RIGHT, ROW_UNDER_CURSOR, SpectrumPanel
from viewers.theme import DARK

SFREQ = 200.0
MONTAGE = Montage(
    "made",
    (Derivation("C3", "C3", (), "left"), Derivation("C4", "C4", (), "right"), Derivation("ECG", "ECG", (), "other", 1)),
)


@pytest.fixture
def result(array_recording):
    """10 Hz of 20 µV in C3 and 2 µV of noise everywhere, 20 s."""

    def make(montage=MONTAGE):
        kinds = (("C3", "eeg"), ("C4", "eeg"), ("ECG", "ecg"))
        channels = [Channel(name, name, kind, "uV", SFREQ) for name, kind in kinds]
        data = 2 * np.random.default_rng(0).standard_normal((3, 4000))
        data[0] += 20 * np.sin(2 * np.pi * 10 * np.arange(4000) / SFREQ)
        return measure_spectrum(array_recording(channels, data, SFREQ), montage, Window(0.0, 20.0))

    return make


@pytest.fixture
def panel(qtbot) -> SpectrumPanel:
    made = SpectrumPanel()
    qtbot.addWidget(made)
    made.resize(300, 480)
    return made


def choose(panel: SpectrumPanel, rows: str) -> None:
    panel.rows.choose(rows)
    panel.rows.chosen.emit(rows)


def test_offers_the_rows_on_screen_and_shows_the_mean_of_the_brain_first(panel, result):
    panel.set_result(result())
    offered = [panel.rows.itemData(i) for i in range(panel.rows.count())]
    assert offered == [ROW_UNDER_CURSOR, ALL, LEFT_RIGHT, "C3", "C4", "ECG"]
    assert panel.plot.curves[0].ch_names == ("C3", "C4")
    assert panel.plot.x_range == (0.0, 40.0)


def test_bands_and_peak_are_those_of_the_curve(panel, result):
    panel.set_result(result())
    choose(panel, "C3")
    lines = {line[0].split()[-2] if line[0][0] in "δθαβγ" else line[0]: line[1] for line in panel.bands.lines}
    assert lines["alpha"].startswith("20")  # 200 µV² of the sine and 5 Hz of noise
    assert "µV²" in lines["alpha"]
    assert lines["peak alpha"] == lines["dominant, 1–30 Hz"] == "10.00 Hz"
    assert "9 Hann windows averaged, 4.00 s each" in panel._foot.text()
    assert "resolution 0.25 Hz · unfiltered" in panel._foot.text()


def test_left_and_right_stand_beside_each_other(panel, result):
    panel.set_result(result())
    choose(panel, LEFT_RIGHT)
    assert [curve.rows for curve in panel.plot.curves] == ["left", "right"]
    assert panel.bands.lines[0] == ["", "left", "right"]
    assert panel.bands.lines[-1][1:] == ["10.00 Hz", "none"] or panel.bands.lines[-1][1] == "10.00 Hz"


def test_sides_are_not_offered_where_one_is_missing(panel, result):
    panel.set_result(result(Montage("left", MONTAGE.derivations[:1])))
    assert panel.rows.findData(LEFT_RIGHT) == -1


def test_follows_the_row_under_the_cursor_without_asking(panel, result):
    panel.set_result(result())
    choose(panel, ROW_UNDER_CURSOR)
    asked = []
    panel.wanted.connect(lambda: asked.append(True))
    panel.set_row("C4")
    assert panel.plot.curves[0].ch_names == ("C4",)
    panel.set_row("")
    assert panel.plot.curves[0].ch_names == ("C4",)
    assert not asked
    panel.filtered.click()
    assert asked


def test_tells_the_density_under_the_mouse_in_both_units(panel, result):
    panel.set_result(result())
    choose(panel, "C3")
    panel.grab()
    at = QPointF(panel.plot.x(10.0), panel.plot.area.center().y())
    power = panel.plot.curves[0].power[40]
    assert panel.plot.describe(at).startswith("10.00 Hz")
    assert panel.plot.describe(at).endswith("µV²/Hz")
    panel.unit.choose("dB")
    panel.unit.chosen.emit("dB")
    assert panel.plot.describe(at) == f"10.00 Hz   +{10 * np.log10(power):.1f} dB"


def test_a_refusal_stands_in_the_plot_and_no_number_stays(panel, result):
    panel.set_result(result())
    panel.refuse("a spectrum needs at least 1 s: take more")
    assert panel.plot.message == "A spectrum needs at least 1 s: take more."
    assert panel.plot.curves == []
    assert panel.bands.lines == []
    assert panel.table() == ""
    panel.set_result(result())
    assert panel.plot.message == ""


def test_what_is_renewed_is_faded(panel, result):
    panel.set_result(result())
    fresh = panel.plot.grab().toImage()
    panel.set_busy()
    faded = panel.plot.grab().toImage()
    assert fresh != faded
    panel.set_result(result())
    assert panel.plot.grab().toImage() == fresh


def test_is_drawn_in_the_colours_of_the_theme(panel, result):
    panel.set_theme(DARK)
    panel.set_result(result())
    picture = panel.plot.grab().toImage()
    middle = panel.plot.area.center().toPoint()
    assert picture.pixelColor(middle).lightness() < 128


def test_table_has_every_bin(panel, result):
    panel.set_result(result())
    assert panel.table().count("\n") > 400
    assert "peak alpha" in panel.table()
    assert "dominant 1-30 Hz" in panel.table()

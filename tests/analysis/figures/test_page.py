"""A page for print: millimetres are true, negative is up, gaps stay open, and what is drawn is what is named."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.collections import LineCollection

from analysis.annotation import Annotation
from analysis.figures.page import Heat, Lane, PageFigure, draw_page
from analysis.filtering import DisplayFilter
from analysis.montage import AS_RECORDED, build_montage
from analysis.recording import Channel, Window

RATE = 100.0


@pytest.fixture
def page(array_recording) -> PageFigure:
    """Two channels: one steps from 0 to -50 microvolts after 5 s, the other misses the samples of 3 to 4 s."""
    data = np.zeros((2, 2000), np.float32)
    data[0, 500:] = -50.0
    data[1, 300:400] = np.nan
    channels = [Channel("C3", "C3", "eeg", "uV", RATE, site="C3"), Channel("C4", "C4", "eeg", "uV", RATE, site="C4")]
    recording = array_recording(channels, data, RATE)
    montage = build_montage(AS_RECORDED, recording)
    return PageFigure(recording, montage, Window(0.0, 10.0), DisplayFilter(None, None), 7.0)


def _traces(figure) -> list[LineCollection]:
    return [item for item in figure.axes[0].collections if isinstance(item, LineCollection)]


def test_a_step_is_as_many_millimetres_as_the_sensitivity_says_and_negative_goes_up(page) -> None:
    for sensitivity, millimetres in ((7.0, 50 / 7), (10.0, 5.0)):
        figure = draw_page(replace(page, uv_per_mm=sensitivity))
        ax = figure.axes[0]
        line = _traces(figure)[0].get_segments()[0]
        # From data to millimetres of the paper.
        heights = ax.transData.transform(line)[:, 1] / figure.dpi * 25.4
        assert heights[-1] - heights[0] == pytest.approx(millimetres, abs=0.01)


def test_missing_samples_are_left_open(page) -> None:
    segments = _traces(draw_page(page))[1].get_segments()
    assert len(segments) == 2
    assert segments[0][-1, 0] == pytest.approx(2.99, abs=1e-6)
    assert segments[1][0, 0] == pytest.approx(4.0, abs=1e-6)


def test_many_samples_are_drawn_by_their_extremes(array_recording) -> None:
    rng = np.random.default_rng(0)
    data = rng.normal(0, 20, (1, 200_000)).astype(np.float32)
    data[0, 123_456] = 900.0
    recording = array_recording([Channel("C3", "C3", "eeg", "uV", 1000.0, site="C3")], data, 1000.0)
    page = PageFigure(
        recording, build_montage(AS_RECORDED, recording), Window(100.0, 150.0), DisplayFilter(None, None), 10.0
    )
    line = _traces(draw_page(page))[0].get_segments()[0]
    assert len(line) < 6000
    assert np.ptp(line[:, 1]) == pytest.approx(np.ptp(data[0, 100_000:150_000]) / 10, rel=1e-3)


def test_text_says_what_is_drawn_and_stays_text(page, tmp_path) -> None:
    heat = Heat(
        ("C3", "C4"), np.arange(10.0), 1.0, np.random.default_rng(0).normal(size=(2, 10)), "Test heat", "score", 0.0
    )
    full = replace(
        page,
        heat=heat,
        lanes=[Lane("p(test)", np.arange(11.0), np.linspace(0, 1, 11), threshold=0.5)],
        marks=[
            Annotation(2.0, 3.0, "spindle"),
            Annotation(4.0, 1.0, "sz", author="model:X"),
            Annotation(50.0, 1.0, "later"),
        ],
        foot=("something to know",),
    )
    path = tmp_path / "page.svg"
    from analysis.figures.style import styled

    with styled():
        draw_page(full).savefig(path, metadata={"Date": None})
    text = path.read_text()
    for words in ("spindle", "Seizure", "C3", "Test heat (score)", "p(test)", "something to know", "Research use only",
                  "7 µV/mm", "no low-pass", "negative up", "memory.edf", "70 µV", "1 s"):  # fmt: skip
        assert f"{words}" in text, words
    assert "later" not in text


def test_heat_is_the_mean_of_a_rows_electrodes(array_recording) -> None:
    sites = "Fp1 F7 T7 P7 O1 F3 C3 P3 Fz Cz Pz Fp2 F4 C4 P4 O2 F8 T8 P8".split()
    channels = [Channel(name, name, "eeg", "uV", RATE, site=name) for name in sites]
    recording = array_recording(channels, np.zeros((19, 2000)), RATE)
    values = np.arange(19.0)[:, None] * np.ones((1, 5))
    page = PageFigure(
        recording,
        build_montage("LB-18.1", recording),
        Window(0.0, 10.0),
        DisplayFilter(None, None),
        heat=Heat(tuple(c.name for c in channels), np.arange(5) * 2.0, 2.0, values, "h"),
    )
    meshes = [item for item in draw_page(page).axes[0].collections if not isinstance(item, LineCollection)]
    np.testing.assert_allclose(meshes[0].get_array().ravel(), (values[0] + values[1]) / 2)  # Fp1-F7
    assert len(meshes) == 18

"""A page for print: millimetres are true, negative is up, gaps stay open, and what is drawn is what is named."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgba

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


def test_heat_of_a_row_against_an_average_is_that_of_its_own_electrode(array_recording) -> None:
    sites = "Fp1 F7 T7 P7 O1 F3 C3 P3 Fz Cz Pz Fp2 F4 C4 P4 O2 F8 T8 P8".split()
    channels = [Channel(name, name, "eeg", "uV", RATE, site=name) for name in sites]
    recording = array_recording(channels, np.zeros((19, 2000)), RATE)
    values = {name: float(i) for i, name in enumerate(sites)}
    for montage in ("common average", "Laplacian"):
        built = build_montage(montage, recording)
        heat = Heat(tuple(sites), np.arange(5) * 2.0, 2.0, np.arange(19.0)[:, None] * np.ones((1, 5)), "h")
        page = PageFigure(recording, built, Window(0.0, 10.0), DisplayFilter(None, None), heat=heat)
        meshes = [item for item in draw_page(page).axes[0].collections if not isinstance(item, LineCollection)]
        drawn = [float(mesh.get_array().ravel()[0]) for mesh in meshes]
        assert drawn == [values[row.anode] for row in built.derivations]


def test_traces_stand_out_from_the_darkest_heat(array_recording) -> None:
    """The darkest colour of heat and the lightest of traces: a contrast of at least 3, as text of graphs needs."""
    channels = [Channel("C3", "C3", "eeg", "uV", RATE, site="C3")]
    recording = array_recording(channels, np.zeros((1, 2000)), RATE)
    for centre in (0.0, None):
        heat = Heat(("C3",), np.arange(5) * 2.0, 2.0, np.linspace(0, 1, 5)[None], "h", centre=centre)
        page = PageFigure(
            recording, build_montage(AS_RECORDED, recording), Window(0, 10), DisplayFilter(None, None), heat=heat
        )
        figure = draw_page(page)
        (mesh,) = [item for item in figure.axes[0].collections if not isinstance(item, LineCollection)]
        darkest = min(_luminance(rgba) for rgba in mesh.to_rgba(mesh.get_array().ravel(), alpha=mesh.get_alpha()))
        lightest = max(_luminance(to_rgba(colour)) for colour in ("#12427f", "#a8261f", "#4a5563"))
        assert (darkest + 0.05) / (lightest + 0.05) >= 3
        bar = figure.axes[1].collections or figure.axes[1].images
        assert any(item.get_alpha() == mesh.get_alpha() for item in bar)  # the key shows the colours that are drawn


def _luminance(rgba) -> float:
    """Relative luminance of a colour on white."""
    on_white = np.array(rgba[:3]) * rgba[3] + 1 - rgba[3]
    linear = np.where(on_white <= 0.03928, on_white / 12.92, ((on_white + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_names_of_marks_stay_on_the_paper_and_above_the_traces(page) -> None:
    marks = [Annotation(9.0, 0.0, "Persyst SeizureDetection"), Annotation(9.2, 0.0, "another long name of a mark")]
    figure = draw_page(replace(page, marks=marks))
    figure.canvas.draw()
    ax = figure.axes[0]
    edge, top = ax.bbox.x1, ax.transData.transform((0, max(_traces(figure)[0].get_segments()[0][:, 1])))[1]
    names = [text for text in ax.texts if text.get_text() in {mark.description for mark in marks}]
    boxes = [text.get_window_extent() for text in names]
    assert len(boxes) == 2
    assert all(box.x1 <= edge and box.y0 > top for box in boxes)
    assert not boxes[0].overlaps(boxes[1])


def test_a_row_of_another_scale_says_so_and_the_bar_stands_at_one_of_the_pages(array_recording) -> None:
    channels = [Channel("C3", "C3", "eeg", "uV", RATE, site="C3"), Channel("ECG", "ECG", "ecg", "uV", RATE)]
    recording = array_recording(channels, np.zeros((2, 2000)), RATE)
    page = PageFigure(recording, build_montage(AS_RECORDED, recording), Window(0, 10), DisplayFilter(None, None), 7.0)
    figure = draw_page(page)
    ax = figure.axes[0]
    (name,) = [text for text in ax.texts if text.get_text().startswith("ECG")]
    assert name.get_text() == "ECG (70 µV/mm)"
    assert any("7 µV/mm (ECG 70 µV/mm)" in text.get_text() for text in figure.texts)
    (bar,) = [text for text in ax.texts if text.get_text() == "70 µV"]
    rows = {text.get_text(): text.xy[1] for text in ax.texts if text.get_text() in ("C3", "ECG (70 µV/mm)")}
    assert abs(bar.xy[1] - rows["C3"]) < abs(bar.xy[1] - rows["ECG (70 µV/mm)"])


def test_the_speed_is_that_of_the_axes_beside_heat(page) -> None:
    heat = Heat(("C3", "C4"), np.arange(10.0), 1.0, np.ones((2, 10)), "h")
    figure = draw_page(replace(page, heat=heat))
    millimetres = figure.axes[0].get_position().width * 180.0
    assert any(f"{millimetres / 10:.3g} mm/s" in text.get_text() for text in figure.texts)

"""What comes out on paper: heights in the SVG itself, nothing over the time labels, letters that come along."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.text import Text

from analysis.analyses import Analysis, NamedArray
from analysis.figures.layers import Arcs, Heat, Lane, RowLook, Shares
from analysis.figures.page import PageFigure, draw_page
from analysis.figures.saving import saved
from analysis.figures.sheet import draw_sheet
from analysis.figures.style import BROWN, TEAL, VIOLET
from analysis.filtering import DisplayFilter
from analysis.montage import AS_RECORDED, build_montage
from analysis.recording import Channel, Window
from analysis.results import AnalysisRequest

RATE, PULSE = 200.0, -70.0
_TRACE = re.compile(r'<g id="LineCollection_\d+">\s*<path d="([^"]*)" clip-path="url\(#(\w+)\)"')


@pytest.fixture
def page(array_recording) -> PageFigure:
    """C3 falls by 70 microvolts from 4 to 6 s, C4 is silent; both swing far beyond the paper in the last second."""
    data = np.zeros((2, 2000), np.float32)
    data[0, 800:1200] = PULSE
    data[:, 1800:] = 5000.0 * np.sign(np.sin(np.arange(200)))
    channels = [Channel(name, name, "eeg", "uV", RATE, site=name) for name in ("C3", "C4")]
    recording = array_recording(channels, data, RATE)
    return PageFigure(recording, build_montage(AS_RECORDED, recording), Window(0.0, 10.0), DisplayFilter(None, None))


@pytest.fixture
def made_analysis() -> Analysis:
    request = AnalysisRequest("effective-rank", "abc", ("d",), window=Window(0, 10))
    arrays = {"effective_rank": NamedArray(np.array([3.0, 5.0]), ("layer",), "1", "number of dimensions", "paper")}
    provenance = {"recording": {"path": "night.edf"}, "span": [0.0, 10.0]}
    return Analysis(
        request, "now", "1.0", provenance, title="Rank", models=("AXON",), arrays=arrays,
        facts={"n_rows": 99, "rows": "tokens"}, labels={"layer": ("0", "1")},
    )  # fmt: skip


def _points(path: str) -> np.ndarray:
    return np.array([[float(v) for v in pair.split()] for pair in re.findall(r"[ML] ([-\d.]+ [-\d.]+)", path)])


def _traces(svg: str) -> list[np.ndarray]:
    return [_points(path) for path, _clip in _TRACE.findall(svg)]


def _pulse(line: np.ndarray) -> float:
    """How far up the first step of a trace goes, millimetres of the paper; y of an SVG runs downwards, in points."""
    return float(line[0, 1] - line[2, 1]) / 72 * 25.4


def test_a_pulse_in_the_svg_is_as_high_as_the_sensitivity_line_says_and_negative_is_up(page) -> None:
    for sensitivity in (7.0, 20.0):
        text = saved(draw_page(replace(page, uv_per_mm=sensitivity)), "svg").decode()
        assert f"{sensitivity:g} µV/mm" in text
        assert "negative up" in text
        assert _pulse(_traces(text)[0]) == pytest.approx(-PULSE / sensitivity, abs=0.01)


def test_a_pulse_below_panels_is_as_high_as_without(page, made_analysis) -> None:
    alone = _traces(saved(draw_page(page), "svg").decode())[0]
    sheet = _traces(saved(draw_sheet(page, [made_analysis]), "svg").decode())[0]
    assert _pulse(sheet) == pytest.approx(_pulse(alone), abs=1e-4)
    np.testing.assert_allclose(sheet[:3, 0], alone[:3, 0], atol=1e-3)


def test_large_traces_end_where_the_paper_of_the_traces_does(page) -> None:
    text = saved(draw_page(page), "svg").decode()
    traces = _TRACE.findall(text)
    assert len(traces) == 2
    for path, clip in traces:
        box = re.search(rf'<clipPath id="{clip}">\s*<rect x="[\d.]+" y="([\d.]+)"', text)
        assert _points(path)[:, 1].min() < 0 < float(box[1])  # beyond the paper, but for what is cut off
        times = [float(y) for y in re.findall(r'y="([\d.]+)"[^>]*>00:0\d</text>', text)]
        assert len(times) == 10
        assert max(times) < float(box[1])


def test_letters_come_along_and_text_stays_text(page) -> None:
    svg = saved(draw_page(page), "svg").decode()
    assert svg.count("@font-face") == 1
    assert "data:font/ttf;base64," in svg
    assert ">C3</text>" in svg
    pdf = saved(draw_page(page), "pdf")
    assert b"/FontFile2" in pdf
    assert b"/Type3" not in pdf


@pytest.mark.parametrize("width", [85.0, 120.0, 180.0])
def test_nothing_is_cut_off_and_no_two_texts_meet(page, width: float) -> None:
    values, title = np.random.default_rng(0).normal(size=(2, 10)), "Some heat, mean over layers [paper]"
    heat = Heat(("C3", "C4"), np.arange(10.0), 1.0, values, title, "logit", 0.0)
    title = "share of tokens by expert, mean over 8 blocks, each one in sum"
    shares = Shares(title, np.arange(10.0), 1.0, np.full((10, 8), 0.125), tuple("12345678"))
    full = replace(
        page, size_mm=(width, 130.0), heat=heat, lanes=[Lane("p(seizure)", np.arange(11.0), np.full(11, 0.3)), shares]
    )
    figure = draw_page(full)
    figure.set_dpi(300)
    figure.draw_without_rendering()
    texts = [text for text in figure.findobj(Text) if text.get_text().strip() and text.get_visible()]
    boxes = [(t.get_text(), t.get_window_extent()) for t in texts]
    paper = figure.bbox
    for words, box in boxes:
        assert box.x0 >= paper.x0 - 1, words
        assert box.x1 <= paper.x1 + 1, words
        assert box.y0 >= paper.y0 - 1, words
        assert box.y1 <= paper.y1 + 1, words
    for i, (words, box) in enumerate(boxes):
        for other, beside in boxes[:i]:
            across = min(box.x1, beside.x1) - max(box.x0, beside.x0)
            along = min(box.y1, beside.y1) - max(box.y0, beside.y0)
            assert min(across, along) <= 3, (words, other)  # a quarter of a millimetre


def test_ten_seconds_of_23_channels_stay_below_five_megabytes(array_recording) -> None:
    data = np.random.default_rng(0).normal(0, 30, (23, 20_480)).astype(np.float32)
    channels = [Channel(f"A{i}", f"A{i}", "eeg", "uV", 2048.0) for i in range(23)]
    recording = array_recording(channels, data, 2048.0)
    page = PageFigure(recording, build_montage(AS_RECORDED, recording), Window(0.0, 10.0), DisplayFilter(None, None))
    for form in ("svg", "pdf", "png"):
        assert len(saved(draw_page(page), form)) < 5_000_000


def test_a_row_keeps_the_scale_the_sense_and_the_edge_that_a_window_gave_it(page) -> None:
    looks = [RowLook("C3", 20.0, colour="#00ff00", note="20 µV/mm"), RowLook("C4", None, 0.0, 400.0, is_cut=True)]
    figure = draw_page(replace(page, looks=looks))
    ax = figure.axes[0]
    first, second = (item for item in ax.collections if item.get_label() in ("C3", "C4"))
    line = first.get_segments()[0]
    heights = ax.transData.transform(line)[:, 1] / figure.dpi * 25.4
    assert heights[len(line) // 2] - heights[len(line) // 5] == pytest.approx(PULSE / 20.0, abs=0.01)  # positive up
    assert second.get_clip_box().height < first.get_clip_box().height
    assert any("C3 (20 µV/mm)" in text.get_text() for text in ax.texts)


def test_arcs_and_lanes_are_drawn_in_colours_that_are_given(page) -> None:
    at = np.array([2.0, 4.0])
    place = np.array([0, 1])
    arcs = Arcs("a", ("C3", "C4"), at, place, place[::-1], np.zeros(2), np.array([0.9, -0.8]), 1.0)
    lane = Lane("l", np.arange(11.0), np.linspace(-1, 1, 11), -1.0, 1.0, base=0.0)
    for colours in ((), ("#1c6fc4", "#c8600a")):
        drawn = replace(page, arcs=[replace(arcs, colours=colours)], lanes=[replace(lane, colours=colours)])
        figure = draw_page(drawn)
        lines = {to_hex(patch.get_edgecolor()) for patch in figure.axes[0].patches}
        assert lines >= set(colours or (TEAL, BROWN))
        (under,) = (ax for ax in figure.axes if ax.get_ylim() == (-1.0, 1.0))
        fills = [to_hex(fill.get_facecolor()[0]) for fill in under.collections]
        assert fills == list(colours or (VIOLET, VIOLET))


def test_holes_between_patches_stay_white() -> None:
    heat = Heat(("C3",), np.array([0.0, 1.0, 5.0]), 1.0, np.array([[1.0, 2.0, 3.0]]), "h", stops=np.array([1.5, 2, 6]))
    edges, values = heat.cells()
    np.testing.assert_allclose(edges, [0, 1, 2, 5, 6])
    np.testing.assert_allclose(values, [[1, 2, np.nan, 3]])

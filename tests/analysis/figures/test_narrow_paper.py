"""Figures of every kind on the paper of journals: no text meets another, none is cut off, and the layout holds."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from analysis.analyses import Analysis, NamedArray
from analysis.engine.analyze import analyze
from analysis.figures.draw import DRAWINGS, make_figure
from analysis.figures.fitting import overlap, text_corners
from analysis.figures.panes import height_mm
from analysis.results import AnalysisRequest

MM = 25.4
TOUCH = 1  # pixels of 100 to the inch, a quarter of a millimetre: boxes of letters have some air in them
WIDTHS = (85.0, 120.0, 180.0)
# By kind: the model, seconds of the recording, and what makes the answer a small one.
ASKED: Mapping[str, tuple[str, float, dict[str, Any]]] = {
    "gates": ("random:axon:tiny", 20, {}),
    "gate-interventions": ("random:axon:tiny", 20, {"windows": 2}),
    "relation-mass": ("random:axon:dense-tiny", 10, {}),
    "streams": ("random:neurduo:tiny", 20, {}),
    "timescales": ("random:neurduo:tiny", 20, {}),
    "memory": ("random:neurduo:tiny", 20, {}),
    "stages": ("random:neurduo:tiny-chbmit", 30, {}),
    "experts": ("random:prise-eeg:tiny", 10, {}),
    "group-attribution": ("random:prise-eeg:tiny", 10, {"windows": 1}),
    "group-interventions": ("random:prise-eeg:tiny", 10, {"windows": 1, "what": "all"}),
    "dynamic-groups": ("random:prise-eeg:tiny", 10, {"windows": 1}),
    "gradient-geometry": ("random:prise-eeg:tiny", 40, {"steps": 9, "batch": 1, "windows": 4}),
    "channel-map": ("random:mvpformer:tiny", 20, {}),
    "attention": ("random:mvpformer:tiny", 20, {}),
    "prediction": ("random:mvpformer:base", 45, {}),
    "integrated-gradients": ("random:axon:tiny", 10, {"baseline": "zero", "windows": 1}),
    "occlusion": ("random:axon:tiny", 10, {"baseline": "zero", "windows": 1, "by": "channel"}),
    "grad-cam": ("random:axon:tiny", 10, {"windows": 1}),
    "sanity-checks": (
        "random:axon:tiny",
        4,
        {"baseline": "zero", "window": 4, "seeds": 1, "orders": 2, "cascade": False},
    ),
    "cka": ("random:axon:tiny", 40, {"groups": "seizure"}),
    "effective-rank": ("random:axon:tiny", 20, {}),
    "embedding": ("random:axon:tiny", 40, {"window": 5}),
}


@pytest.fixture(scope="module")
def find(shared: Path):
    kept: dict[str, Analysis] = {"lesion": lesion()}

    def run(kind: str) -> Analysis:
        if kind not in kept:
            model, seconds, options = ASKED[kind]
            recording = shared / "recordings" / "scalp-seizure-46ch" / "demo_edf.edf"
            kept[kind] = analyze(kind, recording, [model], 0, seconds, options)
        return kept[kind]

    return run


def lesion() -> Analysis:
    """Made up, since its probes take minutes."""
    rng = np.random.default_rng(2)
    arrays = {
        "recall": NamedArray(rng.uniform(size=(4, 3, 2)), ("cover", "seed", "class"), "1", "recall", "paper"),
        "recall_change": NamedArray(rng.normal(0, 0.2, (4, 2)), ("cover", "class"), "1", "change"),
        "deletion": NamedArray(rng.uniform(size=(6, 3)), ("share", "draw"), "1", "accuracy", "paper"),
    }
    labels = {
        "cover": ("none", "left", "right", "chosen"),
        "class": ("no seizure", "seizure"),
        "share": ("0%", "10%", "25%", "50%", "75%", "90%"),
    }
    provenance = {"span": [0.0, 300.0], "recording": {"path": "night.edf"}}
    request = AnalysisRequest("lesion", "id", ("digest",))
    return Analysis(request, "", "1", provenance, models=("AXON",), arrays=arrays, labels=labels)


def shown_texts(figure: Figure) -> list[Text]:
    """Those that are drawn: matplotlib keeps texts of ticks that lie outside or belong to axes without any."""
    gone = set()
    for ax in figure.axes:
        for axis in (ax.xaxis, ax.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]:
                if not ax.axison or not low - 1e-9 <= tick.get_loc() <= high + 1e-9:
                    gone |= {tick.label1, tick.label2}
            if not ax.axison:
                gone |= {axis.label, axis.get_offset_text()}
    texts = figure.findobj(lambda artist: isinstance(artist, Text) and artist.get_visible())
    return [text for text in texts if text.get_text().strip() and text not in gone]


def test_every_kind_with_a_drawing_is_looked_at() -> None:
    assert set(ASKED) | {"lesion"} == set(DRAWINGS)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("kind", DRAWINGS)
def test_no_text_meets_another_or_leaves_the_paper(kind: str, width: float, find) -> None:
    result = find(kind)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # matplotlib warns where a layout has no room
        figure = make_figure(result, (width / MM, height_mm(result, width) / MM))
    texts = shown_texts(figure)
    corners = [text_corners(text) for text in texts]
    for text, box in zip(texts, corners, strict=True):
        assert box.min() >= -1, text.get_text()
        assert (box.max(0) <= np.array([figure.bbox.x1, figure.bbox.y1]) + 1).all(), text.get_text()
    low, high = np.array([c.min(0) for c in corners]), np.array([c.max(0) for c in corners])
    near = (np.minimum(high[:, None], high) - np.maximum(low[:, None], low)).min(-1) > TOUCH
    met = [
        (texts[i].get_text(), texts[j].get_text())
        for i, j in np.argwhere(np.triu(near, 1))
        if overlap(corners[i], corners[j]) > TOUCH
    ]
    assert not met


def test_turned_letters_are_measured_as_they_lie() -> None:
    figure = Figure(figsize=(4, 4), dpi=100)
    texts = [figure.text(0.3 + step, 0.5, "a long name", rotation=60, fontsize=10) for step in (0.0, 0.05, 0.02)]
    first, second, third = (text_corners(text) for text in texts)
    flat = figure.text(0.1, 0.1, "a long name", fontsize=10).get_window_extent()
    sides = np.linalg.norm(np.diff(first, axis=0), axis=1)
    np.testing.assert_allclose(sides, [flat.width, flat.height, flat.width], rtol=0.02)
    assert overlap(first, second) < 0 < overlap(first, third)  # boxes with upright sides would meet in both cases
    assert texts[0].get_window_extent().overlaps(texts[1].get_window_extent())

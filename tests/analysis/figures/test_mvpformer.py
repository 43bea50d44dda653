"""Figures of MVPFormer: what is found stands in the figure, with the marks of who defined it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from analysis.analyses import Analysis
from analysis.engine.analyze import analyze
from analysis.figures.draw import make_figure


@pytest.fixture(scope="module")
def scalp(shared: Path) -> Path:
    return shared / "recordings" / "scalp-seizure-46ch" / "demo_edf.edf"


@pytest.fixture(scope="module")
def depth(shared: Path) -> Path:
    return shared / "parity" / "mvpformer" / "swec_like" / "ID01" / "ID01_total.h5"


def texts(figure: Figure) -> str:
    found = [
        text.get_text().replace("\n", " ")
        for ax in figure.axes
        for text in ax.findobj(lambda o: hasattr(o, "get_text"))
    ]
    return "\n".join([*found, figure.get_suptitle()])


def panel(figure: Figure, title: str) -> object:
    return next(ax for ax in figure.axes if ax.get_title(loc="left").startswith(title))


def test_maps_stand_beside_those_of_random_weights_and_codes_beside_space(scalp: Path) -> None:
    result = analyze("channel-map", scalp, ["random:mvpformer:tiny:1"], 0, 20)
    figure = make_figure(result)
    shown = texts(figure)
    for word in ("n = 1 window of 20 s", "seed 0", "Toeplitz", "[our definition]", "Realised map", "Fp1"):
        assert word in shown
    assert sum(len(ax.images) for ax in figure.axes if not ax.get_label().startswith("<colorbar")) == 9
    flow = result.values("flow").mean((0, 1))
    drawn = panel(figure, "Realised map").images[0].get_array()  # type: ignore[attr-defined]
    np.testing.assert_allclose(drawn, 100 * (flow * len(flow) - 1), atol=1e-4)
    located = result.facts["n_located"]
    assert f"{located * (located - 1) // 2} pairs" in shown


def test_without_positions_the_figure_says_so(depth: Path) -> None:
    assert "no positions" in texts(make_figure(analyze("channel-map", depth, ["random:mvpformer"], 0, 15)))


def test_masses_by_lag_stand_beside_even_ones(depth: Path) -> None:
    result = analyze("attention", depth, ["random:mvpformer"], 0, 65)
    figure = make_figure(result)
    shown = texts(figure)
    for word in (
        "window widened",
        "content window",
        "others' past",
        "mean of 3 layers and 4 heads",
        "[our definition]",
    ):
        assert word in shown
    lines = {line.get_label(): line for line in panel(figure, "Attention by lag").lines}  # type: ignore[attr-defined]
    np.testing.assert_allclose(lines["as it is"].get_ydata(), result.values("by_lag").mean((0, 1)))
    np.testing.assert_allclose(lines["even attention"].get_ydata(), result.facts["even_by_lag"])


@pytest.fixture(scope="module")
def foreseen(scalp: Path) -> Analysis:
    return analyze("prediction", scalp, ["random:mvpformer:base"], 0, 45)


def test_predictions_have_course_distributions_and_seizures(foreseen: Analysis) -> None:
    figure = make_figure(foreseen)
    shown = texts(figure)
    found = foreseen.facts["ictal"]["true"]
    for word in ("[paper]", "[our definition]", f"in seizures, n = {found['n_first']}", f"AUROC {found['auroc']:.2f}"):
        assert word in shown
    spans = panel(figure, "Mean of the channels").patches  # type: ignore[attr-defined]
    assert len(spans) == found["n_first"]


def test_without_a_seizure_nothing_is_compared(scalp: Path) -> None:
    result = analyze("prediction", scalp, ["random:mvpformer:base"], 0, 15)
    assert "no segment in a marked seizure" in texts(make_figure(result))

"""The panel of trust: verdicts with their limits, and every number that they rest on."""

from __future__ import annotations

import numpy as np
import pytest
from PyQt6.QtCore import QPointF

from viewers.panels.attribution import Attribution
from viewers.panels.band_plot import BandPlot, Curve
from viewers.panels.layer_plot import accent
from viewers.panels.sanity_checks import SanityChecks
from viewers.theme import DARK

METHODS = ("IG signed", "IG unsigned", "Grad-CAM", "occlusion", "keep one", "RMS")
MAPS = ("IG signed", "IG unsigned", "Grad-CAM", "RMS")
MEASURES = ("rank", "top3", "auroc", "correlation")
CHECKS = ("completeness", "agreement", "randomisation", "deletion and insertion", "truth")


@pytest.fixture
def checked(make_analysis):
    def make(truth: bool = True, holds: bool | None = True):
        rng = np.random.default_rng(0)
        agreement = np.eye(6)
        agreement[2] = agreement[:, 2] = np.nan
        curve = np.linspace(1, 0, 5)
        arrays = {
            "agreement": (agreement, ("method", "other")),
            "likeness": (rng.uniform(-1, 1, (4, 1, 3, 2)), ("map", "window", "seed", "depth")),
            "likeness_mean": ([[0.4, 0.1], [0.9, 0.8], [np.nan, np.nan], [1, 1]], ("map", "depth")),
            "likeness_sd": ([[0.1, 0.2], [0, 0.05], [np.nan, np.nan], [0, 0]], ("map", "depth")),
        }
        for way in ("deletion", "insertion"):
            arrays |= {
                way: (np.tile(curve if way == "deletion" else curve[::-1], (6, 1)), ("method", "fraction")),
                f"{way}_random": ([curve - 0.1, curve, curve + 0.1], ("band", "fraction")),
                f"{way}_area": ([0.25, 0.5, np.nan, 0.3, 0.3, 0.6], ("method",)),
                f"{way}_area_random": (np.linspace(0.4, 0.6, 21), ("draw",)),
            }
        if truth:
            table = np.tile([2.0, 1.0, 0.9, 0.5], (6, 1))
            table[2] = np.nan
            arrays |= {
                "truth": (table, ("method", "measure")),
                "truth_redrawn": (np.full((6, 3, 4), 9.0), ("method", "seed", "measure")),
            }
        labels = {
            "method": METHODS,
            "map": MAPS,
            "depth": ("head", "input"),
            "fraction": ("0%", "25%", "50%", "75%", "100%"),
            "measure": MEASURES,
        }
        verdicts = [
            {"check": name, "holds": holds, "sentence": f"What {name} says.", "limit": "below 1"} for name in CHECKS
        ]
        return make_analysis("sanity-checks", arrays, labels, {"verdicts": verdicts, "n_windows": 1})

    return make


def test_each_check_has_its_verdict_and_limit(shown, checked):
    panel = shown(SanityChecks, checked())
    for name in CHECKS:
        assert "holds" in panel.headings[name].text()
        assert panel.holding[name].text() == f"What {name} says. Limit: below 1."
        assert panel.holding[name].isVisible()
        assert not panel.failing[name].isVisible()
    panel.set_result(checked(holds=False))
    assert "does not hold" in panel.headings["randomisation"].text()
    assert panel.failing["randomisation"].isVisible()
    assert not panel.holding["randomisation"].isVisible()
    panel.set_result(checked(holds=None))
    assert "not decided" in panel.headings["truth"].text()


def test_the_numbers_are_drawn(shown, checked):
    panel = shown(SanityChecks, checked())
    panel.set_theme(DARK)
    assert panel.matrix.texts[0] == ("1.00", "0.00", "—", "0.00", "0.00", "0.00")
    assert [curve.name for curve in panel.depths.curves] == ["IG signed", "|IG|", "RMS"]  # no Grad-CAM here
    assert panel.depths.places == ("nothing", "head", "input")
    np.testing.assert_allclose(panel.depths.curves[0].values, [1, 0.4, 0.1], atol=1e-6)
    np.testing.assert_allclose(panel.depths.curves[0].band, [[1, 0.3, -0.1], [1, 0.5, 0.3]], atol=1e-6)
    assert panel.depths.describe_place(2).splitlines()[:2] == [
        "re-drawn down to: input",
        "IG signed 0.10 (−0.10 to 0.30)",
    ]
    assert [curve.name for curve in panel.deletion.curves] == ["random orders, 95 %", "by RMS", "by IG signed"]
    assert "0.405 to 0.595" in panel.areas.text()
    assert "9.0 ± 0.0" in panel.truth.text()
    panel.grab()
    panel.set_result(checked(truth=False))
    assert not panel.truth.isVisible()


def test_all_of_it_is_copied(shown, checked):
    lines = shown(SanityChecks, checked()).table().splitlines()
    assert "completeness\tholds\tbelow 1\tWhat completeness says." in lines
    assert "IG signed\t2\t100%\t0.90\t0.50\t9.0 ± 0.0" in lines
    assert "head\t0.40 ± 0.10\t0.90 ± 0.00\t—\t1.00 ± 0.00" in lines


def test_curves_find_their_place_and_range(qtbot):
    plot = BandPlot("a", "depth")
    qtbot.addWidget(plot)
    plot.resize(300, 150)
    values = np.array([0.0, 2.0, np.nan, 4.0])
    plot.set_curves([Curve("x", values, accent, (values - 1, values + 1))], ("a", "b", "c", "d"))
    assert plot.y_range == pytest.approx((-1.36, 5.36))
    assert plot.describe(QPointF(plot.x(2), plot.area.center().y())) == "depth: c\nx not defined"
    assert plot.x_ticks()[-1] == (3.0, "d")
    names = [Curve(f"a long name {i}", values, accent) for i in range(5)]
    top = plot.area.top()
    plot.set_curves(names, ("a", "b", "c", "d"))
    assert plot.area.top() > top  # names stand above the curves in several lines
    plot.grab()


def test_a_map_offers_its_checks(shown):
    panel = shown(Attribution)
    wished = []
    panel.kind_wished.connect(wished.append)
    panel.check.click()
    assert wished == ["sanity-checks"]
    assert not panel.check.isVisible()  # without a map there is nothing to check

"""The page of sanity checks: every plot has its axes named, and a missing truth is said in its place."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.analyses import Analysis, NamedArray
from analysis.figures.draw import make_figure
from analysis.results import AnalysisRequest

METHODS = ("IG signed", "IG unsigned", "Grad-CAM", "occlusion", "keep one", "RMS")
MAPS = ("IG signed", "IG unsigned", "Grad-CAM", "RMS")


def made(truth: bool) -> Analysis:
    rng = np.random.default_rng(1)

    def array(shape: tuple[int, ...], *axes: str) -> NamedArray:
        return NamedArray(rng.uniform(-1, 1, shape), axes, "1", "what it is")

    arrays = {
        "agreement": array((6, 6), "method", "other"),
        "likeness": array((4, 1, 3, 2), "map", "window", "seed", "depth"),
        "likeness_mean": array((4, 2), "map", "depth"),
        "likeness_sd": array((4, 2), "map", "depth"),
        "fraction": NamedArray(np.linspace(0, 1, 5), ("fraction",), "1", "share"),
    }
    for way in ("deletion", "insertion"):
        arrays |= {
            way: array((6, 5), "method", "fraction"),
            f"{way}_random": array((3, 5), "band", "fraction"),
            f"{way}_area": array((6,), "method"),
            f"{way}_area_random": array((20,), "draw"),
        }
    if truth:
        arrays |= {
            "truth": array((6, 4), "method", "measure"),
            "truth_redrawn": array((6, 3, 4), "method", "seed", "measure"),
        }
    labels = {"method": METHODS, "map": MAPS, "depth": ("head", "input"), "measure": ("rank", "top3", "auroc", "rho")}
    why = "Not available: there is no night.truth.json beside the recording."
    facts = {
        "target": "seizure", "n_windows": 1, "window_seconds": 10.0, "completeness_gap": 0.001, "nodes": 32,
        "truth": {"seizures": [{"focus_channel": "T7", "channels": 19}] if truth else []},
        "verdicts": [
            {"check": "completeness", "holds": True, "sentence": "It adds up.", "limit": "gap below 1%"},
            {"check": "truth", "holds": None, "sentence": why, "limit": ""},
        ],
    }  # fmt: skip
    request = AnalysisRequest("sanity-checks", "id", ("digest",), options={"parts": "channels"})
    return Analysis(request, "", "1", {"span": [10, 20]}, models=("AXON",), arrays=arrays, facts=facts, labels=labels)


@pytest.mark.parametrize("truth", [False, True])
def test_the_page_names_its_axes_and_says_what_holds(truth: bool) -> None:
    figure = make_figure(made(truth))
    labels = " | ".join(ax.get_xlabel() for ax in figure.axes)
    assert "share of channels taken out" in labels
    assert "share of channels put in" in labels
    assert ("rank of T7 among 19 channels" in labels) is truth
    said = " ".join(text.get_text().replace("\n", " ") for ax in figure.axes for text in ax.texts)
    assert ("no night.truth.json beside the recording" in said) is not truth
    assert "completeness: holds (gap below 1%)" in figure.get_suptitle()
    curves = next(ax for ax in figure.axes if ax.get_title(loc="left") == "Weights re-drawn")
    assert [tick.get_text() for tick in curves.get_xticklabels()] == ["nothing", "head", "input"]
    assert all(line.get_ydata()[0] == 1 for line in curves.lines[:4])  # nothing re-drawn is the map itself

"""Figures of attribution: named axes, units beside the colours, and what must be known of the map."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.analyses import Analysis, NamedArray
from analysis.figures.draw import make_figure
from analysis.results import AnalysisRequest

SITES = ("Fp1", "Fp2", "F3", "F4", "C3", "C4", "P3", "P4", "O1", "O2")


def made(kind: str, sites: tuple[str, ...] = SITES, checks: bool = False) -> Analysis:
    rng = np.random.default_rng(3)
    each = ("window", "channel")
    arrays = {"window_onset": NamedArray([0.0, 4.0], ("window",), "s", "onset")}  # two windows of 2 s with a hole
    facts = {"target": "seizure", "first_window": 10.0, "window_seconds": 2.0}
    if kind == "grad-cam":
        arrays["evidence"] = NamedArray(rng.uniform(size=(2, 10, 2)), (*each, "patch"), "1", "evidence")
        arrays["patch_onset"] = NamedArray([[0, 1], [4, 5]], ("window", "patch"), "s", "begin")
        facts |= {"method": "Grad-CAM", "layer": "last", "patch_seconds": 1.0}
    elif kind == "occlusion":
        arrays["by_second"] = NamedArray(rng.normal(size=(2, 10, 2)), (*each, "second"), "score", "fall")
        facts |= {"method": "Occlusion"}
    else:
        arrays["attribution"] = NamedArray(rng.normal(size=(2, 10, 200)), (*each, "sample"), "score", "part")
        told = [{"baseline": "300 s", "change": 1.0, "gap": 0.004, "nodes": 64}] * 2
        facts |= {"method": "Integrated Gradients", "sfreq": 100.0, "completeness_gap": 0.004, "windows": told}
    for name in ("deletion_by_map", "deletion_at_random", "insertion_by_map", "insertion_at_random") if checks else ():
        arrays[name] = NamedArray(rng.normal(size=(2, 4)), ("window", "step"), "score", name)
    labels = {"channel": SITES, "site": sites}
    return Analysis(
        AnalysisRequest(kind, "id", ("digest",)), "", "1", {"span": [10, 16]},
        models=("AXON",), arrays=arrays, facts=facts, labels=labels,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "unit", "sums"),
    [
        ("integrated-gradients", "(score/s)", "sum (score)"),
        ("occlusion", "(score/s)", "sum (score)"),
        ("grad-cam", "no unit", "mean"),
    ],
)
def test_every_axis_has_a_name_and_the_colours_a_unit(kind: str, unit: str, sums: str) -> None:
    figure = make_figure(made(kind))
    labels = {text.replace("\n", " ") for ax in figure.axes for text in (ax.get_xlabel(), ax.get_ylabel())}
    assert {"time (s)", "channel", sums, f"{sums}, standard positions"} <= labels
    assert any(text.replace("\n", " ").endswith(unit) for text in labels)
    assert "class seizure · n = 2 windows of 2 s" in figure.get_suptitle()


def test_the_map_leaves_holes_open_and_its_colours_part_at_zero() -> None:
    result = made("integrated-gradients")
    ax = next(ax for ax in make_figure(result).axes if ax.get_xlabel() == "time (s)")
    (mesh,) = ax.collections
    low, high = mesh.get_clim()
    assert low == -high
    values = np.ma.filled(mesh.get_array(), np.nan)
    assert values.shape == (10, 81)
    assert np.isnan(values[:, 40]).all()
    sums = result.values("attribution").reshape(2, 10, 40, 5).sum(-1) / 0.05
    np.testing.assert_allclose(values[:, 41:], sums[1], rtol=1e-4, atol=1e-3)


def test_gap_nodes_baseline_and_checks_are_told() -> None:
    figure = make_figure(made("integrated-gradients", checks=True), (7.2, 6.0))
    assert "Completeness gap up to 0.40% with up to 64 nodes · baseline: 300 s" in figure.get_suptitle()
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    assert {"Deletion", "Insertion"} <= set(titles)


def test_without_places_there_is_no_head() -> None:
    figure = make_figure(made("integrated-gradients", ("",) * 10))
    assert not any("standard positions" in ax.get_xlabel() for ax in figure.axes)
    assert any(ax.get_xlabel() == "sum (score)" for ax in figure.axes)

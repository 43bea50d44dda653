"""The three files of an analysis: the numbers themselves, what they mean, and a figure that says what it is."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest

from analysis.analyses import Analysis, NamedArray
from analysis.analysis_files import analysis_contents
from analysis.figures.draw import DRAWINGS, foot
from analysis.results import AnalysisRequest


@pytest.fixture
def analysis() -> Analysis:
    values = np.arange(6.0).reshape(2, 3)
    values[0, 0] = np.nan
    return Analysis(
        AnalysisRequest("something", "id", ("digest",)),
        "2026-01-01",
        "1.0",
        {"span": [0.0, 10.0], "recording": {"path": "/somewhere/a.edf"}, "limit": float("inf")},
        "Something",
        ("Model-S",),
        {
            "table": NamedArray(values, ("layer", "channel"), "uV", "a table", "paper"),
            "line": NamedArray(np.arange(4), ("time",), "1", "a line"),
            "cube": NamedArray(np.ones((2, 3, 4)), ("window", "layer", "channel"), "1", "a cube"),
        },
        labels={"channel": ("A", "B", "C")},
        random_weights=True,
    )


def test_arrays_come_back_as_they_were(analysis: Analysis) -> None:
    files = analysis_contents(analysis)
    assert list(files) == ["something.npz", "something.json", "something.svg"]
    with np.load(io.BytesIO(files["something.npz"]), allow_pickle=False) as loaded:
        assert loaded["table"].dtype == np.float32
        np.testing.assert_array_equal(loaded["table"], analysis.values("table"))
    described = json.loads(files["something.json"])
    assert set(described["arrays"]) == set(analysis.arrays)
    assert described["arrays"]["table"] == {
        "axes": ["layer", "channel"], "shape": [2, 3], "unit": "uV", "meaning": "a table", "defined_by": "paper",
    }  # fmt: skip
    assert described["provenance"]["limit"] is None
    assert described["labels"]["channel"] == ["A", "B", "C"]


def test_the_figure_names_model_span_and_limits_and_is_the_same_again(analysis: Analysis) -> None:
    svg = analysis_contents(analysis)["something.svg"]
    assert svg == analysis_contents(analysis)["something.svg"]
    text = svg.decode()
    for words in ("Model-S · a.edf, 0 to 10 s", "Random weights", "Research use only", ">table<"):
        assert words in text
    assert "/somewhere" not in foot(analysis)


def test_axes_must_be_named() -> None:
    with pytest.raises(ValueError, match="1 axes are named"):
        NamedArray(np.ones((2, 2)), ("x",), "1", "no")


def test_every_drawing_is_there() -> None:
    import importlib

    for name in DRAWINGS.values():
        module, _, function = name.partition(":")
        assert callable(getattr(importlib.import_module(module), function))

"""Tables of analyses: a spreadsheet gets every number, and what it was made from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from analysis.analyses import Analysis, NamedArray
from analysis.analysis_tables import array_table, column_table, entries_of, options_of, span_of
from analysis.recording import Window
from analysis.results import AnalysisRequest


@pytest.fixture
def result() -> Analysis:
    arrays = {
        "mean": NamedArray(np.array([0.25, np.nan]), ("layer",), "1", "mean weight", "paper"),
        "sd": NamedArray(np.array([0.1, 0.2]), ("layer",), "s", "spread", "our definition"),
        "map": NamedArray(np.arange(8.0).reshape(2, 2, 2), ("layer", "channel", "patch"), "1", "weight"),
    }
    request = AnalysisRequest(
        "gates", "abc", ("d",), window=Window(10, 20.5), options={"window": 10.0, "code": ["1", 1]}
    )
    return Analysis(
        request, "now", "1.0", title="Gates", models=("AXON",), arrays=arrays,
        labels={"channel": ("C3", "C4")}, random_weights=True,
    )  # fmt: skip


def rows(text: str) -> list[list[str]]:
    return [line.split("\t") for line in text.splitlines() if not line.startswith("#")]


def test_columns_stand_side_by_side_and_what_is_not_defined_is_empty(result):
    assert rows(column_table(result, ["mean", "sd"])) == [
        ["layer", "mean", "sd"],
        ["0", "0.25", "0.1"],
        ["1", "", "0.2"],
    ]


def test_the_heading_says_what_the_numbers_are_of(result):
    head = [line for line in column_table(result, ["mean", "sd"]).splitlines() if line.startswith("#")]
    assert head[0] == "# gates: AXON (random weights); span 10.000 to 20.500 s; window 10.0"
    assert head[1].startswith("# recording abc")
    assert head[2:] == ["# mean: mean weight [paper]", "# sd: spread, s [our definition]"]


def test_an_array_of_three_axes_has_a_column_for_the_last_and_a_line_for_the_others(result):
    assert rows(array_table(result, "map")) == [
        ["layer", "channel", "0", "1"],
        ["0", "C3", "0", "1"],
        ["0", "C4", "2", "3"],
        ["1", "C3", "4", "5"],
        ["1", "C4", "6", "7"],
    ]


def test_one_axis(result):
    assert rows(array_table(result, "sd")) == [["layer", "sd"], ["0", "0.1"], ["1", "0.2"]]


def test_labels_count_only_where_there_is_one_for_each_entry(result):
    assert entries_of(result, "channel", 2) == ("C3", "C4")
    assert entries_of(result, "channel", 3) == ("0", "1", "2")
    assert span_of(result) == (10.0, 20.5)
    assert options_of(result) == {"window": 10.0}


def test_channels_that_were_marked_bad_are_told_in_words(result):
    options = {**result.request.options, "bad_channels": ["T4", "Fpz"]}
    without = replace(result, request=replace(result.request, options=options))
    head = column_table(without, ["mean"]).splitlines()[0]
    assert head.endswith("; window 10.0; marked bad and left out: T4, Fpz")
    assert options_of(without) == {"window": 10.0}

"""What every panel of an analysis says: models, recording, span, n, options, marks, random weights, and its age."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from analysis.analyses import NamedArray
from viewers.panels import ANALYSIS_PANELS, ANY_ARRAY
from viewers.panels.effective_rank import EffectiveRank
from viewers.panels.kind_panel import Heading, amount_of, caption_of, meaning_of
from viewers.panels.plot import Plot
from viewers.theme import DARK


@pytest.fixture
def rank(make_analysis):
    def make(n: int = 440, **changes):
        arrays = {"effective_rank": ([3.0, 5.0], ("layer",), "1", "effective number of dimensions", "paper")}
        facts = {"rows": "tokens", "n_rows": n}
        labels = {"layer": ("block 0", "final norm")}
        return make_analysis("effective-rank", arrays, labels, facts, **changes)

    return make


@pytest.mark.parametrize("name", [*ANALYSIS_PANELS.values(), ANY_ARRAY])
def test_every_panel_of_the_table_is_there_and_can_be_empty(qtbot, name):
    module, _, kind = name.partition(":")
    panel = getattr(importlib.import_module(module), kind)()
    qtbot.addWidget(panel)
    panel.set_theme(DARK)
    panel.set_result(None)
    assert panel.table() == ""
    panel.refuse("no window of 10 s without a gap lies there (night.edf): choose a longer span")
    assert panel._sentence.text() == "No window of 10 s without a gap lies there (night.edf): choose a longer span."
    assert not any(plot.isVisibleTo(panel) for plot in panel.findChildren(Plot))


def test_the_caption_names_what_the_numbers_are_of(rank):
    result = rank(models=("AXON", "PRiSE-EEG-S"), options={"window": 10.0, "rows": "tokens", "code": ["1", 1]})
    assert caption_of(result) == (
        "AXON × PRiSE-EEG-S · night.edf · 00:10.0 to 00:20.0\nn = 440 tokens · window 10, rows tokens"
    )


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"n_rows": 12345, "rows": "windows"}, "n = 12,345 windows"),
        ({"n_windows": 1, "window_seconds": 10.0}, "n = 1 window of 10 s"),
        ({"n_windows": 4}, "n = 4 windows"),
        ({}, ""),
    ],
)
def test_how_much_was_looked_at(make_analysis, facts, words):
    assert amount_of(make_analysis("x", {"a": ([1.0], ("layer",))}, facts=facts)) == words


def test_random_weights_are_said_once_and_only_of_such(shown, rank):
    note = "These are random weights, not trained ones: what the model says means nothing."
    panel = shown(EffectiveRank, rank(random_weights=True, notes=(note, "3 of 9 windows.", "3 of 9 windows.")))
    assert panel._random.isVisible()
    assert panel._notes.text() == "3 of 9 windows."
    panel.set_result(rank())
    assert not panel._random.isVisible()
    assert not panel._notes.isVisible()


def test_what_is_old_is_marked_until_it_is_renewed(shown, rank):
    panel = shown(EffectiveRank, rank())
    panel.set_busy()
    assert (panel.plot.stale, panel.plot.stale_text) == (True, "computing…")
    panel.set_stale("of another span")
    assert panel.plot.stale_text == "of another span"
    panel.set_result(rank())
    assert not panel.plot.stale


@pytest.mark.parametrize(
    ("source", "words"),
    [("paper", "as the paper defines it"), ("reference", "own code"), ("our definition", "no formula"), ("", "")],
)
def test_headings_carry_the_mark_and_tell_the_meaning(qtbot, source, words):
    array = NamedArray(np.ones(2), ("layer",), "s", "time it takes", source)
    heading = Heading("Time")
    qtbot.addWidget(heading)
    heading.set_array(array, "n = 2")
    assert heading.mark == (f"[{source}]" if source else "")
    assert heading.mark in heading.text()
    assert "n = 2" in heading.text()
    assert heading.toolTip().startswith("Time it takes, in s")
    assert words in meaning_of(array)


def test_ranks_are_drawn_by_layer_and_copied(shown, rank):
    panel = shown(EffectiveRank, rank())
    assert panel.plot.labels == ("block 0", "final norm")
    assert panel.plot.describe_layer(1) == "layer final norm\neffective rank 5.000"
    assert "n = 440 tokens" in panel.heading.text()
    assert panel.table().splitlines()[-1] == "final norm\t5"

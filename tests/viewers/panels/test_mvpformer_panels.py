"""Panels of MVPFormer: maps beside those of random weights, masses by time, distributions of predictions."""

from __future__ import annotations

import numpy as np
import pytest
from PyQt6.QtCore import QPointF, Qt

from analysis.attention_maps import code_distances, even_flow, even_lags, implied_map, row_entropy
from analysis.attention_parts import Part
from viewers.panels.attention_times import AttentionTimes
from viewers.panels.channel_map import ChannelMap
from viewers.panels.next_state import NextStatePanel, effect_text

NAMES = ("C3", "C4", "Cz", "Pz")
PAIR = ("channel", "other_channel")
HEADS = ("layer", "head", *PAIR)
OURS = ("1", "a map", "our definition")


@pytest.fixture
def maps(make_analysis):
    def make(located: int = 4, **changes):
        rng = np.random.default_rng(1)
        shares = rng.dirichlet(np.ones(4), (2, 3, 4))
        even = np.full((2, 3, 4, 4), 0.25)
        between = code_distances(rng.normal(size=(4, 5)))
        entropy = np.stack([row_entropy(m) for m in (even, shares, shares)])
        physical = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0))) * 30
        physical[located:] = physical[:, located:] = np.nan
        numbers = ("map", "layer", "head")
        arrays = {
            "prior": (np.zeros((2, 3, 4, 4)), HEADS, *OURS),
            "term": (shares, HEADS, *OURS),
            "flow": (shares, HEADS, *OURS),
            "random_prior": (np.zeros((2, 3, 4, 4)), HEADS, *OURS),
            "random_term": (even, HEADS, *OURS),
            "random_flow": (even, HEADS, *OURS),
            "strength_in": (np.ones((2, 3, 4)), ("layer", "head", "channel"), *OURS),
            "strength_out": (np.ones((2, 3, 4)), ("layer", "head", "channel"), *OURS),
            **dict.fromkeys(("entropy", "random_entropy", "asymmetry", "random_asymmetry"), (entropy, numbers, *OURS)),
            "from_random": (entropy, numbers, *OURS),
            "code_distance": (between, ("separation", "other_separation"), *OURS),
            "random_code_distance": (between, ("separation", "other_separation"), *OURS),
            "implied": (implied_map(between), PAIR, *OURS),
            "random_implied": (implied_map(between), PAIR, *OURS),
            "physical": (physical, PAIR, "mm", "distance in space"),
        }
        labels = {"channel": NAMES, "other_channel": NAMES, "map": ("prior", "term", "flow")}
        facts = {"n_located": located, "initial_seed": 0, "n_windows": 1}
        notes = ("The published code uses distances.",)
        return make_analysis("channel-map", arrays, labels, facts, notes=notes, **changes)

    return make


def test_the_map_is_drawn_against_even_attention_or_as_shares(shown, maps):
    result = maps()
    panel = shown(ChannelMap, result)
    mean = result.values("flow").mean((0, 1))
    np.testing.assert_allclose(panel.matrix.values, 100 * (4 * mean - 1), rtol=1e-4, atol=1e-3)
    np.testing.assert_allclose(panel.random.values, 0.0, atol=1e-4)
    np.testing.assert_allclose(panel.difference.values, panel.matrix.values, atol=1e-3)
    assert panel.matrix.limits == panel.random.limits
    assert panel.matrix.limits[0] == -panel.matrix.limits[1]
    assert "% above even attention" in panel.heading.text()
    assert panel.heading.mark == "[our definition]"
    panel.colours.choose("share")
    panel._on_chosen("")
    np.testing.assert_allclose(panel.matrix.values, mean, rtol=1e-5)
    assert "rows sum to 1" in panel.heading.text()
    assert panel.matrix.describe(QPointF(panel.matrix.x(1), panel.matrix.y(2))).startswith("from Cz × to C4\n")


def test_numbers_are_those_of_the_map_on_show(shown, maps):
    result = maps()
    panel = shown(ChannelMap, result)
    panel.set_part(Part(1, 2).name)
    chosen = result.values("flow")[1, 2].astype(float)
    text = panel._numbers.text()
    assert f"Row entropy / log C {row_entropy(chosen):.4f} (initial 1.0000)" in text
    assert f"Distance from the initial map, Frobenius {np.linalg.norm(chosen - 0.25):.3g}" in text
    assert "Receive most" in text
    panel.map.choose("prior")
    panel._on_chosen("")
    assert "The prior map is zero" in panel._numbers.text()
    assert "(initial not defined)" in panel._numbers.text()
    panel.map.choose("implied")
    panel._on_chosen("")
    np.testing.assert_allclose(panel.matrix.values, result.values("implied"))
    assert not panel.layer.isEnabled()
    assert not panel.entropy.isVisible()


def test_toeplitz_is_told_once(shown, maps):
    panel = shown(ChannelMap, maps())
    assert "symmetric Toeplitz" in panel._toeplitz.text()
    assert not panel._notes.isVisible()


def test_a_click_on_a_row_chooses_the_channel_and_another_lets_it_go(shown, maps, qtbot):
    panel = shown(ChannelMap, maps())
    asked = []
    panel.part_chosen.connect(asked.append)
    place = QPointF(panel.matrix.x(3), panel.matrix.y(1)).toPoint()
    qtbot.mouseClick(panel.matrix, Qt.MouseButton.LeftButton, pos=place)
    assert asked == [Part(channel=1).name]
    assert panel.matrix.chosen == panel.random.chosen == (1, 1)
    assert "what C4 attends to most" in panel._hint.text()
    qtbot.mouseClick(panel.matrix, Qt.MouseButton.LeftButton, pos=place)
    assert asked[-1] == "mean"
    panel.head.choose("2")
    panel.head.chosen.emit("2")
    assert asked[-1] == Part(None, 2).name
    panel.entropy.layer_clicked.emit(1)
    assert asked[-1] == Part(1, 2).name
    assert panel.entropy.chosen == 1
    panel.entropy.layer_clicked.emit(1)
    assert asked[-1] == Part(None, 2).name


def test_codes_are_held_against_space_where_places_are_known(shown, maps):
    panel = shown(ChannelMap, maps())
    assert panel.codes.curve.series[0].values[0] == 0.0
    assert len(panel.codes.scatter.points) == 6
    assert "n = 6 pairs of 4 channels" in panel.codes.scatter_heading.text()
    (x, y) = panel.codes.scatter.pixels()[0]
    assert panel.codes.scatter.describe(QPointF(x, y)).startswith("C3 – C4\ndistance in space, mm: 30\n")
    panel.codes.which.choose("map")
    panel.codes.which.chosen.emit("map")
    assert "% above even attention" in panel.codes.scatter_heading.text()
    panel.set_result(maps(located=3))
    assert "n = 3 pairs of 3 channels" in panel.codes.scatter_heading.text()
    panel.set_result(maps(located=2))
    assert not panel.codes.scatter.isVisible()
    assert panel.codes._words.text().startswith("No positions")


def test_the_table_has_map_strengths_and_numbers(shown, maps):
    text = shown(ChannelMap, maps()).table()
    assert text.startswith("# channel-map")
    assert text.count("our definition") >= 8


@pytest.fixture
def times(make_analysis):
    def make(segments: int = 14):
        rng = np.random.default_rng(2)
        lags = rng.dirichlet(np.ones(segments), (2, 3))
        labels = tuple(f"{5 * i} s" for i in range(segments))
        arrays = {
            "by_lag": (lags, ("layer", "head", "lag"), *OURS),
            "by_lag_without_content": (lags[::-1], ("layer", "head", "lag"), *OURS),
            "share": (rng.dirichlet(np.ones(3), (2, 3)), ("layer", "head", "term"), *OURS),
            "relation": (rng.dirichlet(np.ones(4), (2, 3)), ("layer", "head", "relation"), *OURS),
            "between_times": (
                rng.dirichlet(np.ones(segments), (2, 3, segments)), ("layer", "head", "segment", "other_segment"), *OURS
            ),
        }  # fmt: skip
        if segments > 11:
            arrays["by_lag_whole_context"] = arrays["by_lag"]
        facts = {
            "segments": segments,
            "segment_seconds": 5.0,
            "content_window_segments": 10,
            "even_relation": even_flow(segments, 4).tolist(),
            "even_by_lag": even_lags(segments).tolist(),
        }
        names = {"term": ("content", "time", "channel"), "relation": ("itself", "own past", "others now", "past")}
        all_labels = {**names, "lag": labels, "segment": labels, "other_segment": labels}
        return make_analysis("attention", arrays, all_labels, facts)

    return make


def test_masses_by_lag_stand_beside_even_ones_with_the_window_marked(shown, times):
    result = times()
    panel = shown(AttentionTimes, result)
    assert [s.name for s in panel.lags.series] == ["even", "as it is", "no content", "wide window"]
    np.testing.assert_allclose(panel.lags.series[1].values, result.values("by_lag").mean((0, 1)), rtol=1e-6)
    assert panel.lags.window == 10
    assert "outside the window" in panel.lags.describe_layer(11)
    assert "outside the window" not in panel.lags.describe_layer(10)
    assert panel.lags.describe_layer(2).startswith("lag 10 s\n")
    short = shown(AttentionTimes, times(6))
    assert [s.name for s in short.lags.series] == ["even", "as it is", "no content"]
    assert "widening it would change nothing" in short._window.text()
    assert not short.grab().isNull()


def test_a_head_and_a_layer_choose_what_is_shown(shown, times):
    result = times()
    panel = shown(AttentionTimes, result)
    panel.head.choose("1")
    panel.head.chosen.emit("1")
    panel.share.layer_clicked.emit(0)
    np.testing.assert_allclose(panel.lags.series[1].values, result.values("by_lag")[0, 1])
    np.testing.assert_allclose(panel.between.values, result.values("between_times")[0, 1])
    np.testing.assert_allclose(panel.share.series[2].values, result.values("share")[:, 1, 2])
    np.testing.assert_allclose(panel.relation.values, result.values("relation")[0, 1])
    assert panel.relation.names[0] == f"itself ({even_flow(14, 4)[0]:.2f})"
    assert panel.share.chosen == 0
    panel.share.layer_clicked.emit(0)
    assert panel.share.chosen is None
    assert "relation" in panel.table()


@pytest.fixture
def foreseen(make_analysis):
    def make(seizure):
        rng = np.random.default_rng(3)
        axes = ("window", "step", "channel")
        arrays = {
            "true": (rng.uniform(-1, 1, (2, 3, 4)), axes, "1", "next", "paper"),
            "two_step": (rng.uniform(-1, 1, (2, 2, 4)), ("window", "step_but_one", "channel"), "1", "later", "paper"),
            "random": (rng.uniform(-1, 1, (2, 3, 4)), axes, "1", "random", "paper"),
            "time": (np.zeros((2, 3)), ("window", "step"), "s"),
            "seizure": (np.asarray(seizure, float), ("window", "step")),
        }
        means = {name: float(np.mean(arrays[name][0])) for name in ("true", "two_step", "random")}
        n = int(np.sum(seizure))
        found = {"n_first": n, "n_second": 6 - n, "auroc": 0.8, "difference": -0.1, "low": -0.3, "high": 0.1}
        return make_analysis("prediction", arrays, {}, {"means": means, "ictal": dict.fromkeys(means, found)})

    return make


def test_distributions_are_cumulative_with_their_medians_and_counts(shown, foreseen):
    result = foreseen([[0, 1, 1], [0, 0, 0]])
    panel = shown(NextStatePanel, result)
    first = panel.all.groups[0]
    assert (len(first.values), len(panel.all.groups[1].values)) == (24, 16)
    assert panel.all.share_below(first, float(np.sort(result.values("true").ravel())[11])) == pytest.approx(0.5)
    assert panel.all.share_below(first, -2.0) == 0.0
    assert panel.all.share_below(first, 2.0) == 1.0
    middle = QPointF(panel.all.x(2.0), panel.all.area.center().y())
    assert "next segment: 100 %" in panel.all.describe(middle)
    median = f"{np.median(result.values('true')):.3f}".replace("-", "−")
    assert f"next segment: median {median}, n = 24" in panel.all.accessibleDescription()
    assert not panel.all.grab().isNull()


def test_segments_in_seizures_stand_beside_the_others(shown, foreseen):
    panel = shown(NextStatePanel, foreseen([[0, 1, 1], [0, 0, 0]]))
    assert [len(group.values) for group in panel.ictal.groups] == [2, 4]
    asked = []
    panel.part_chosen.connect(asked.append)
    panel.lane.choose("two_step")
    panel.lane.chosen.emit("two_step")
    assert asked == ["two_step"]
    assert [len(group.values) for group in panel.ictal.groups] == [2, 2]
    assert "In seizures −0.100 (95 % interval −0.300 to +0.100, Welch); AUROC 0.80" in panel._effect.text()
    assert "n = 2 in seizures, 4 outside" in panel._effect.text()


@pytest.mark.parametrize(("seizure", "words"), [(0, "No segment lies in a marked seizure"), (1, "Every segment lies")])
def test_without_both_there_is_nothing_to_compare(shown, foreseen, seizure, words):
    panel = shown(NextStatePanel, foreseen(np.full((2, 3), seizure)))
    assert not panel.ictal.isVisible()
    assert panel._effect.text().startswith(words)


def test_a_single_segment_in_a_seizure_has_no_interval():
    found = {"n_first": 1, "n_second": 9, "auroc": 1.0, "difference": 0.2, "low": None, "high": None}
    assert effect_text(found).startswith("In seizures +0.200; AUROC 1.00, 0.5 is no difference; n = 1 in seizures, 9")

"""The panel of CKA: either estimator, what it rests on, a warning where that is little, groups where there are some."""

from __future__ import annotations

import numpy as np
import pytest
from PyQt6.QtCore import Qt

from viewers.panels.layer_similarity import PLAIN, UNBIASED, LayerSimilarity

UNBIASED_VALUES, PLAIN_VALUES = np.array([[1.0, 0.2, 0.1], [0.2, 1.0, 0.4]]), np.full((2, 3), 0.9)


@pytest.fixture
def result(make_analysis):
    def make(n: int = 704, groups: bool = False, **changes):
        axes = ("row_layer", "column_layer")
        arrays = {
            "cka": (PLAIN_VALUES, axes, "1", "linear CKA, plain estimator"),
            "cka_unbiased": (UNBIASED_VALUES, axes, "1", "linear CKA, unbiased estimator"),
        }
        if groups:
            for name, values in (("within", [0.9, 0.8]), ("between", [0.5, 0.8]), ("ratio", [0.6, 1.0])):
                arrays[name] = (values, ("layer",), "1", name, "our definition")
            arrays["shared_ratio"] = ([0.1, 0.5], ("layer",), "1", "rho", "our definition")
            arrays["shared_experts"] = ([1, 4], ("layer",), "1", "shared", "our definition")
        labels = {"row_layer": ("a", "b"), "column_layer": ("x", "y", "z"), "layer": ("a", "b")}
        facts = {"rows": "tokens", "n_rows": n, "estimator": "sums of HSIC"}
        notes = (f"Only {n} rows: trust the unbiased one.",) if n < 50 else ()
        return make_analysis("cka", arrays, labels, facts, notes=notes, **changes)

    return make


def test_the_unbiased_estimator_comes_first_and_the_plain_one_can_be_chosen(shown, result):
    panel = shown(LayerSimilarity, result())
    np.testing.assert_allclose(panel.matrix.values, UNBIASED_VALUES, rtol=1e-6)
    assert "unbiased, n = 704 tokens" in panel.heading.text()
    assert panel._estimator.text() == "Unbiased HSIC (Song et al. 2012); one batch."
    panel.estimator.choose(PLAIN)
    panel.estimator.chosen.emit(PLAIN)
    np.testing.assert_allclose(panel.matrix.values, PLAIN_VALUES, rtol=1e-6)
    assert "plain, n = 704 tokens" in panel.heading.text()
    assert panel.matrix.limits == (0.0, 1.0)
    panel.set_result(result())
    assert panel.estimator.value() == PLAIN


def test_models_name_rows_and_columns(shown, result):
    panel = shown(LayerSimilarity, result(models=("AXON", "PRiSE-EEG")))
    where = panel.matrix
    text = (
        where.describe(where.rect().toRectF().center()) if where.area.contains(where.rect().toRectF().center()) else ""
    )
    assert (where.row_title, where.x_title) == ("AXON", "PRiSE-EEG")
    assert (where.rows, where.columns) == (("a", "b"), ("x", "y", "z"))
    assert text == "" or text.startswith("AXON ")


@pytest.mark.parametrize(("n", "warned"), [(49, True), (50, False)])
def test_few_rows_are_warned_of_once(shown, result, n, warned):
    panel = shown(LayerSimilarity, result(n))
    assert panel._sentence.isVisible() == warned
    assert ("Only 49 rows" in panel._sentence.text()) == warned
    assert not panel._notes.isVisible()


def test_groups_are_shown_where_windows_were_told_apart(shown, result):
    panel = shown(LayerSimilarity, result(groups=True))
    assert [s.name for s in panel.groups.series] == ["within", "between"]
    assert "1 4 [our definition]" in panel._experts.text()
    assert "shared_experts" in panel.table()
    panel.set_result(result())
    assert not panel.groups.isVisible()


def test_the_table_is_that_on_show(shown, result):
    panel = shown(LayerSimilarity, result())
    assert panel.estimator.value() == UNBIASED
    lines = [line.split("\t") for line in panel.table().splitlines() if line and line[0] != "#"]
    assert lines[0] == ["row_layer", "x", "y", "z"]
    assert lines[1] == ["a", "1", "0.2", "0.1"]


def test_a_cell_asks_for_the_maps_of_its_layers_and_gives_way_again(shown, result, make_analysis, qtbot):
    plain = result()
    panel = shown(LayerSimilarity, plain)
    asked = []
    panel.part_chosen.connect(asked.append)
    panel.matrix.cell_clicked.emit(1, 2)
    assert asked == []  # an analysis without maps
    assert panel._hint.isHidden()
    axes = ("row_layer", "column_layer")
    arrays = {name: (plain.values(name), axes) for name in ("cka", "cka_unbiased")}
    arrays["row_map"] = (np.ones((2, 1, 1)), ("row_layer", "row_channel", "row_token"))
    panel.set_result(make_analysis("cka", arrays, plain.labels, plain.facts))
    panel.matrix.cell_clicked.emit(1, 2)
    assert asked == ["1,2"]
    assert panel.matrix.chosen == (1, 2)
    assert "b in the upper, z in the lower half" in panel._hint.text()
    panel.matrix.setFocus()
    qtbot.keyClick(panel.matrix, Qt.Key.Key_Left)
    panel.matrix.cell_clicked.emit(1, 1)
    assert asked == ["1,2", "1,1", ""]
    assert panel.matrix.chosen is None

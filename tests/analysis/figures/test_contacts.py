"""The map of contacts for print: squares in the colours of their values, and what stands on paper beside them."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib import colormaps
from matplotlib.figure import Figure

from analysis.contact_layout import layout_of_names
from analysis.figures.contacts import draw_contacts

LAYOUT = layout_of_names(
    [f"A{n}" for n in range(1, 5)] + ["B1", "B3"] + [f"G{n}" for n in range(1, 33)], {"A2": "flat"}
)


def drawn(values, **more):
    figure = Figure(figsize=(4, 4))
    ax = figure.add_subplot()
    draw_contacts(ax, LAYOUT, values, "µV", **more)
    return figure, ax


@pytest.mark.parametrize(("sign", "colours"), [(-1.0, "RdBu_r"), (0.0, "YlOrRd")])
def test_a_square_for_each_place_in_the_colour_of_its_value(sign, colours):
    values = np.linspace(sign, 1.0, len(LAYOUT.ch_names)) * 50
    _, ax = drawn(values)
    squares = {(round(p.get_x()), round(p.get_y() * 4) / 4): p for p in ax.patches}
    assert len(squares) == 4 + 3 + 32
    slots = [(slot, p) for slot, p in zip((s for b in LAYOUT.blocks for s in b.slots), ax.patches, strict=True)]
    table = colormaps[colours]
    for slot, square in slots:
        if slot.index is None:
            assert square.get_facecolor()[3] == 0.0
        else:
            share = (values[slot.index] / 50 + 1) / 2 if sign else values[slot.index] / 50
            np.testing.assert_allclose(square.get_facecolor(), table(share), atol=0.01)


def test_names_of_lines_ends_of_the_bar_and_a_faulty_contact_stand_on_it():
    figure, ax = drawn(np.linspace(-1, 1, len(LAYOUT.ch_names)), limit=80.0)
    texts = [text.get_text() for text in ax.texts]
    assert {"A", "B", "G", "32"} <= set(texts)
    assert texts.count("2") == 1  # of the grid alone: A2 is faulty and B2 was not recorded
    assert len(ax.lines) == 1  # which crosses out A2
    bar = figure.axes[1]
    assert [label.get_text() for label in bar.get_xticklabels()] == ["-80", "0", "80"]
    assert bar.get_xlabel() == "µV"

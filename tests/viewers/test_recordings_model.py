"""Rows of a table of recordings: filters, orders and words, against what the rows say."""

from __future__ import annotations

import pytest
from PyQt6.QtCore import Qt

from analysis.corpus_table import DONE, FAILED, Row
from viewers.recordings_model import COLUMNS, FILTERS, RecordingsModel, said
from viewers.theme import DARK, LIGHT

ROWS = [
    Row("/a/ten.edf", "ten", DONE, "", 3600.0, 3, 2, 1, 2, 9.0),
    Row("/a/Alpha.edf", "Alpha", DONE, "", 45.0, 0, 0, 0, 0, 1.0),
    Row("/a/broken.edf", "broken", FAILED, "the file is empty (/a/broken.edf): choose another"),
    Row("/a/plain.edf", "plain", DONE, "", 86400.0, 12, seconds=30.0),
    Row("/a/good.edf", "good", DONE, "", 240.0, 1, 1, 1, 0, 2.0),
]
HEADINGS = [column.heading for column in COLUMNS]


@pytest.fixture
def model(qtbot) -> RecordingsModel:
    model = RecordingsModel()
    model.show(ROWS)
    return model


def names(model: RecordingsModel) -> list[str]:
    return [model.index(line, 0).data() for line in range(model.rowCount())]


def cell(model: RecordingsModel, name: str, heading: str, role=Qt.ItemDataRole.DisplayRole):
    return model.index(names(model).index(name), HEADINGS.index(heading)).data(role)


@pytest.mark.parametrize(
    ("wanted", "words", "listed"),
    [
        ("All", "", ["ten", "Alpha", "broken", "plain", "good"]),
        ("Failed", "", ["broken"]),
        ("With false alarms", "", ["ten"]),
        ("With missed seizures", "", ["ten"]),
        ("All", " ALPH", ["Alpha"]),
        ("Failed", "ten", []),
    ],
)
def test_filters(model, wanted, words, listed):
    model.set_filter(wanted, words)
    assert names(model) == listed
    assert wanted in FILTERS


@pytest.mark.parametrize(
    ("heading", "upwards", "last"),
    [
        ("Recording", ["Alpha", "broken", "good", "plain", "ten"], 0),
        ("Events", ["Alpha", "good", "ten", "plain", "broken"], 1),
        ("Found", ["Alpha", "good", "ten", "broken", "plain"], 2),
        ("False", ["Alpha", "good", "ten", "broken", "plain"], 2),
        ("Length", ["Alpha", "good", "ten", "plain", "broken"], 1),
    ],
)
def test_orders_leave_what_has_no_value_at_the_end(model, heading, upwards, last):
    section = HEADINGS.index(heading)
    model.set_order((section, False))
    assert names(model) == upwards
    model.set_order((section, True))
    known, unknown = upwards[: len(upwards) - last], upwards[len(upwards) - last :]
    if heading in ("Found", "False"):  # two are alike, and keep the order of the file
        known = [known[-1], *known[:-1]]
        assert names(model) == [*known, *unknown]
    else:
        assert names(model) == [*known[::-1], *unknown]
    model.set_order(None)
    assert names(model) == [row.folder for row in ROWS]


def test_cells_say_what_was_found_and_colour_what_went_wrong(model):
    assert [cell(model, "ten", heading) for heading in HEADINGS] == ["ten", "done", "3", "1/2", "2", "1 h"]
    assert [cell(model, "broken", heading) for heading in HEADINGS] == ["broken", "failed", "failed", "", "", ""]
    assert [cell(model, name, "Length") for name in ("Alpha", "good", "plain")] == ["45 s", "4 min", "24 h"]
    colour = Qt.ItemDataRole.ForegroundRole
    for theme in (LIGHT, DARK):
        model.set_theme(theme)
        assert cell(model, "ten", "Found", colour) == theme.colour("bad")
        assert cell(model, "ten", "False", colour) == theme.colour("caution")
        assert cell(model, "broken", "Events", colour) == theme.colour("bad")
        assert cell(model, "good", "Found", colour) is None


def test_the_open_one_stands_out_wherever_it_is_listed(model):
    model.set_open(0)
    model.set_order((0, False))
    bold = [line for line in range(model.rowCount()) if model.index(line, 0).data(Qt.ItemDataRole.FontRole) is not None]
    assert bold == [4]
    assert model.line_of(0) == 4
    model.set_filter("Failed", "")
    assert model.line_of(0) is None


def test_a_screen_reader_hears_the_whole_row(model):
    assert cell(model, "ten", "Found", Qt.ItemDataRole.AccessibleTextRole) == said(ROWS[0])
    assert said(ROWS[0]) == (
        "ten, /a/ten.edf, done, 3 events found by the model, 1 of 2 marked seizures found, 2 false alarms, 1 h 00 min"
    )
    assert "the file is empty" in said(ROWS[2])

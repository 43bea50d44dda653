"""The map of contacts: colours against values, hollow places, hovering, choosing by mouse and keys, and its room."""

from __future__ import annotations

import numpy as np
import pytest
from PyQt6.QtCore import QEvent, QPointF, Qt
from PyQt6.QtGui import QColor, QKeyEvent
from PyQt6.QtTest import QTest

from analysis.contact_layout import layout_of_names
from viewers.panels.contact_view import ContactView
from viewers.panels.value_scale import Scale, colours_of
from viewers.theme import DARK, LIGHT

SHAFTS = {"LA": 16, "LB": 12, "LH'": 8, "RA": 4}
NAMES = [f"{letters}{n}" for letters, count in SHAFTS.items() for n in range(1, count + 1) if f"{letters}{n}" != "LB5"]
LAYOUT = layout_of_names(NAMES, {"LA3": "flat"})
SCALE = Scale(-100.0, 100.0, "µV")


@pytest.fixture
def view(qtbot) -> ContactView:
    made = ContactView()
    qtbot.addWidget(made)
    made.resize(340, 380)
    made.set_contacts(LAYOUT)
    made.set_values(np.linspace(-100, 100, len(LAYOUT.ch_names)), SCALE)
    made.show()
    qtbot.waitExposed(made)
    return made


def corner(view: ContactView, name: str) -> QColor:
    """The colour of a contact beside its number."""
    place = view.places().of(name)
    assert place is not None
    return view.grab().toImage().pixelColor((place.rect.topLeft() + QPointF(3, 3)).toPoint())


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_each_contact_has_the_colour_of_its_value(view, theme):
    view.set_theme(theme)
    expected = colours_of(view.values, SCALE, theme)
    for name in ("LA1", "LA16", "LB12", "RA4"):
        assert corner(view, name) == expected[LAYOUT.ch_names.index(name)]


def test_places_without_a_value_are_hollow(view):
    ground = view.grab().toImage().pixelColor(1, 1)
    view.set_values(np.where(np.array(LAYOUT.ch_names) == "RA2", np.nan, 100.0), SCALE)
    for hollow in ("LA3", "LB5", "RA2"):
        assert corner(view, hollow) == ground
    assert corner(view, "RA1") != ground


@pytest.mark.parametrize(
    ("name", "words"),
    [("LA1", "LA1  −100 µV"), ("RA4", "RA4  +100 µV"), ("LA3", "LA3  flat"), ("LB5", "LB5  not recorded")],
)
def test_hovering_tells_name_and_value_or_why_there_is_none(view, name, words):
    assert view.describe(view.places().of(name).rect.center()) == words


def test_nothing_is_told_of_what_is_being_renewed_or_of_empty_room(view):
    assert view.describe(QPointF(view.width() - 2, view.height() - 2)) == ""
    view.set_stale(True)
    assert view.describe(view.places().of("LA1").rect.center()) == ""


@pytest.mark.parametrize(("width", "height"), [(330, 380), (400, 300), (900, 700), (200, 200)])
def test_contacts_stay_apart_in_the_order_of_their_numbers_within_the_room(view, width, height):
    view.resize(width, height)
    places = view.places()
    rects = [place.rect for place in places.contacts]
    assert len(rects) == 40
    assert not any(a.adjusted(0.1, 0.1, -0.1, -0.1).intersects(b) for i, a in enumerate(rects) for b in rects[:i])
    assert max(r.right() for r in rects) <= width
    assert min(r.left() for r in rects) >= 0
    assert places.bottom < height
    for letters, count in SHAFTS.items():
        row = [places.of(f"{letters}{n}").rect for n in range(1, count + 1)]
        assert len({round(r.top()) for r in row}) == 1
        assert [r.left() for r in row] == sorted(r.left() for r in row)


def test_twenty_shafts_of_sixteen_are_readable_in_an_inspector(view):
    view.set_contacts(layout_of_names([f"{letter}{n}" for letter in "ABCDEFGHIJKLMNOPQRST" for n in range(1, 17)]))
    view.resize(340, 420)
    cell = view.places().cell
    assert cell.width() > 15
    assert cell.height() > 14


def test_many_grids_take_several_columns_before_they_become_small(view):
    view.set_contacts(layout_of_names([f"{letter}{n}" for letter in "ABCD" for n in range(1, 65)]))
    view.resize(600, 300)
    lefts = {round(rect.left()) for rect, title in view.places().titles if title}
    assert len(lefts) > 1
    assert view.places().cell.height() > 14


def test_a_click_chooses_a_contact_and_outlines_it(view, qtbot):
    before = view.grab().toImage()
    with qtbot.waitSignal(view.contact_chosen) as told:
        QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=view.places().of("RA2").rect.center().toPoint())
    assert told.args == ["RA2"]
    assert view.chosen == "RA2"
    assert view.accessibleDescription().startswith("chosen: RA2 ")
    edge = view.places().of("RA2").rect.topLeft().toPoint()
    assert view.grab().toImage().pixelColor(edge) != before.pixelColor(edge)


def test_arrow_keys_go_along_shafts_and_between_them_and_are_not_the_windows(view):
    told = []
    view.contact_chosen.connect(told.append)
    keys = Qt.Key
    for key in (keys.Key_Right, keys.Key_Down, keys.Key_Right, keys.Key_Left, keys.Key_Up, keys.Key_Up):
        QTest.keyClick(view, key)
    assert told == ["LA1", "LB1", "LB2", "LB1", "LA1"]
    view.set_chosen("LB4")
    QTest.keyClick(view, keys.Key_Right)  # over the contact that was not recorded
    assert view.chosen == "LB6"
    for key, taken in ((keys.Key_Left, True), (keys.Key_B, False)):
        event = QKeyEvent(QEvent.Type.ShortcutOverride, key, Qt.KeyboardModifier.NoModifier)
        event.ignore()
        view.event(event)
        assert event.isAccepted() is taken


def test_other_contacts_forget_a_choice_that_they_lack(view):
    view.set_chosen("RA2")
    view.set_contacts(layout_of_names(["RA1", "RA2", "RA3"]))
    assert (view.chosen, view.values) == ("RA2", None)
    view.set_contacts(layout_of_names(["LX1", "LX2", "LX3"]))
    assert view.chosen == ""
    view.set_contacts(None)
    assert view.places().contacts == []

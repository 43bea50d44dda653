"""The palette: types found as one types, favourites and recent ones on top, own types kept as data."""

from __future__ import annotations

import pytest
from PyQt6.QtCore import QPoint, Qt
from PyQt6.QtGui import QAction
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QMainWindow

from analysis.vocabulary import score_vocabulary
from app.mark_palette import CLASS_COLOURS, MarkPalette, PalettePopup
from app.mark_types import RECENT, MarkTypes
from app.settings import Settings, load_settings, save_settings
from viewers.theme import DARK

CTRL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def types() -> MarkTypes:
    return MarkTypes(Settings())


@pytest.fixture
def palette(qtbot, types: MarkTypes) -> MarkPalette:
    made = MarkPalette(types)
    qtbot.addWidget(made)
    made.resize(300, 500)
    made.show()
    qtbot.waitExposed(made)
    return made


def headings(palette: MarkPalette) -> list[str]:
    items = (palette.list.item(i) for i in range(palette.list.count()))
    return [item.text() for item in items if not item.flags()]


def test_all_types_are_listed_by_group(palette: MarkPalette) -> None:
    assert palette.terms() == list(score_vocabulary().terms)
    assert headings(palette) == [group.upper() for group in score_vocabulary().groups]


def test_every_class_of_the_vocabulary_has_a_colour() -> None:
    assert {term.colour for term in score_vocabulary().terms} <= set(CLASS_COLOURS)
    assert all(hasattr(DARK, name) for name in CLASS_COLOURS.values())


def test_typing_and_enter_pick_a_type(palette: MarkPalette, qtbot) -> None:
    QTest.keyClicks(palette.search, "sharp")
    assert [term.name for term in palette.terms()] == ["Sharp wave", "Small sharp spike"]
    QTest.keyClick(palette.search, Qt.Key.Key_Down)
    with qtbot.waitSignal(palette.picked) as told:
        QTest.keyClick(palette.search, Qt.Key.Key_Return)
    assert told.args[0].name == "Small sharp spike"
    assert palette.search.text() == ""


def test_a_click_picks_and_a_click_on_the_star_keeps_on_top(palette: MarkPalette, types: MarkTypes, qtbot) -> None:
    picked = []
    palette.picked.connect(picked.append)
    palette.search.setText("spindle")
    rect = palette.list.visualItemRect(palette.list.item(0))
    viewport = palette.list.viewport()
    qtbot.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=QPoint(rect.right() - 6, rect.center().y()))
    assert picked == []
    assert [term.name for term in types.favourites()] == ["Spindle"]
    qtbot.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=QPoint(60, rect.center().y()))
    assert [term.name for term in picked] == ["Spindle"]
    assert headings(palette)[0] == "FAVOURITES"
    QTest.keyClick(palette.search, Qt.Key.Key_D, CTRL)
    assert types.favourites() == []


def test_what_was_used_last_comes_first_with_its_number_of_uses(palette: MarkPalette, types: MarkTypes) -> None:
    names = ["Spike", "LPD", "Spike", "Muscle"]
    for name in names:
        types.count_use(types.vocabulary.named(name))
    assert headings(palette)[0] == "USED LAST"
    assert [term.name for term in palette.terms()[:3]] == ["Muscle", "Spike", "LPD"]
    assert types.uses(types.vocabulary.named("Spike")) == 2
    assert "used 2 times" in palette.list.item(2).toolTip()
    assert types.current.name == "Muscle"
    for term in score_vocabulary().terms[:10]:
        types.count_use(term)
    assert len(types.recent()) == RECENT


@pytest.mark.parametrize(("row", "kind"), [(-2, "span"), (-1, "moment")])
def test_a_type_of_ones_own_is_added_from_what_was_typed(palette: MarkPalette, types: MarkTypes, row, kind) -> None:
    QTest.keyClicks(palette.search, "Delta brush")
    palette.list.setCurrentRow(palette.list.count() + row)
    picked = []
    palette.picked.connect(picked.append)
    QTest.keyClick(palette.search, Qt.Key.Key_Return)
    assert [(term.name, term.kind, term.is_own) for term in picked] == [("Delta brush", kind, True)]
    assert headings(palette)[-1] == "OWN TYPES"
    QTest.keyClicks(palette.search, "delta BRUSH")
    assert palette.list.count() == 1  # it is not offered again
    types.remove_own(picked[0])
    assert types.vocabulary.named("Delta brush") is None


def test_own_types_and_uses_are_kept_with_the_settings(types: MarkTypes, tmp_path) -> None:
    settings = Settings()
    kept = MarkTypes(settings)
    kept.add_own("Brush", "moment", "Extreme-delta-brush")
    kept.count_use(kept.current)
    kept.toggle_favourite(kept.current)
    save_settings(settings, tmp_path)
    again = MarkTypes(load_settings(tmp_path)[0])
    assert again.current == kept.current
    assert again.current.tag == "Extreme-delta-brush"
    assert again.favourites() == [again.current]
    settings.reset()
    assert MarkTypes(settings).vocabulary.named("Brush") is not None
    assert MarkTypes(settings).favourites() == []


def test_windows_share_own_types_through_the_settings() -> None:
    settings = Settings()
    one, two = MarkTypes(settings), MarkTypes(settings)
    one.add_own("Brush")
    assert two.vocabulary.named("brush") is not None
    assert one.add_own(" spike ").name == "Spike"
    assert len(settings.mark_types) == 1


def test_keys_of_the_popup_are_not_taken_by_the_window(types: MarkTypes, qtbot) -> None:
    window = QMainWindow()
    qtbot.addWidget(window)
    taken = []
    for key in ("Up", "Down", "Esc", "Return", "S", "Ctrl+D"):
        action = QAction(key, window)
        action.setShortcut(key)
        action.triggered.connect(lambda _checked=False, key=key: taken.append(key))
        window.addAction(action)
    window.show()
    popup = PalettePopup(types, window)
    popup.open_at(QPoint(10, 10), "Mark as")
    search = popup.palette_view.search
    qtbot.waitUntil(popup.isVisible)
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_S):
        QTest.keyClick(search, key)
    QTest.keyClick(search, Qt.Key.Key_D, CTRL)
    assert search.text() == "s"
    QTest.keyClick(search, Qt.Key.Key_Escape)
    assert not popup.isVisible()
    assert taken == []
    popup.open_at(QPoint(100_000, 100_000), "Mark as")
    assert popup.screen().availableGeometry().contains(popup.geometry())
    popup.close()

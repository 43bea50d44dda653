"""Everything by keyboard and by ear: parts by F6, keys that stay with the traces, names and tips on every control."""

from __future__ import annotations

import pytest
from PyQt6.QtCore import QPoint, Qt, QTimer
from PyQt6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDockWidget,
    QHeaderView,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QPushButton,
    QScrollBar,
    QTabBar,
    QWidget,
)

from app.main_window import MainWindow
from app.settings import Settings
from app.testing import Window, open_window

SEIZURE = "scalp-seizure-46ch/demo_edf.edf"
CONTROLS = (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QTabBar,
)


@pytest.fixture
def main(qtbot):
    window = Window(MainWindow(Settings(theme="light")))
    window.main.resize(1600, 960)
    window.main.show()
    window.main.activateWindow()
    qtbot.waitActive(window.main)
    settle()
    yield window.main
    window.close()


def settle() -> None:
    for _ in range(6):
        QApplication.processEvents()


def is_part_of_another(widget: QWidget) -> bool:
    """Whether a control is the inside of one that has a name, or one that Qt makes and nobody works with."""
    parent = widget.parent()
    if isinstance(widget, QScrollBar | QHeaderView) or isinstance(parent, QTabBar | QLineEdit | QAbstractItemView):
        return True
    if widget.objectName().startswith("qt_") or (isinstance(parent, QDockWidget) and widget.isHidden()):
        return True
    if isinstance(widget, QAbstractItemView) and widget.window().windowType() == Qt.WindowType.Popup:
        return True
    return isinstance(parent, QAbstractSpinBox | QComboBox)


def controls(root: QWidget) -> list[QWidget]:
    """Every control, shown or not."""
    found = [widget for widget in root.findChildren(QWidget) if isinstance(widget, CONTROLS)]
    return [w for w in found if not is_part_of_another(w) and not isinstance(w.window(), QMenu)]


def called(widget: QWidget) -> str:
    text = widget.text() if isinstance(widget, QAbstractButton) else ""
    return f"{type(widget).__name__} {widget.accessibleName() or text!r} in {type(widget.parent()).__name__}"


def test_every_control_of_the_window_has_a_name_and_every_button_a_tip(shared, qtbot):
    window = open_window(shared / "recordings" / SEIZURE, (1400, 860), Settings(theme="light"))
    main = window.main
    window.wait()
    for dock in main.docks.values():
        dock.show()
    main.actions_by_id["trends"].trigger()
    main.actions_by_id["filter_events"].trigger()
    main.notices.offer("3 marks are back", 3, "2026-01-01T14:03:00+00:00", True)
    window.wait()
    canvas = main.view.trace_view.canvas
    left, right = (QPoint(round(canvas.scale_px.x(time)), canvas.height() // 2) for time in (2.0, 5.0))
    qtbot.mousePress(canvas.viewport(), Qt.MouseButton.LeftButton, pos=left)
    qtbot.mouseMove(canvas.viewport(), right)
    qtbot.mouseRelease(canvas.viewport(), Qt.MouseButton.LeftButton, pos=right)
    settle()
    assert main.marking.bar.isVisible()
    everything = controls(main)
    assert len(everything) > 60
    focusable = [w for w in everything if w.focusPolicy() != Qt.FocusPolicy.NoFocus]
    # A button reads its text out by itself; a picture or a sign on it says nothing.
    nameless = [
        called(w)
        for w in focusable
        if not w.accessibleName() and not (isinstance(w, QAbstractButton) and len(w.text().strip()) > 1)
    ]
    tipless = [called(w) for w in everything if isinstance(w, QAbstractButton) and not w.toolTip()]
    clicked = [
        called(w)
        for w in everything
        if isinstance(w, QAbstractButton) and w.focusPolicy() & Qt.FocusPolicy.ClickFocus and w.window() is main
    ]
    window.close()
    assert nameless == []
    assert tipless == []
    # After a click the keys belong to the traces.
    assert clicked == []


def test_f6_goes_around_all_parts_and_back(main):
    main.view.trace_view.canvas.setFocus()
    parts = [part for part, _first in main.key_ways._parts()]
    assert {main.toolbar, main.view, main.docks["events"], main.docks["overlays"], main.docks["model"]} <= set(parts)
    forth: list[QWidget] = []
    for _ in parts:
        main.actions_by_id["next_part"].trigger()
        forth.append(next(part for part in parts if part.isAncestorOf(QApplication.focusWidget())))
    assert set(forth) == set(parts)
    assert QApplication.focusWidget() is main.view.trace_view.canvas
    main.actions_by_id["previous_part"].trigger()
    assert forth[-2].isAncestorOf(QApplication.focusWidget())


def test_tab_reaches_every_field_of_the_toolbar(main, qtbot):
    main.toolbar.open.setFocus(Qt.FocusReason.TabFocusReason)
    seen = [main.toolbar.open]
    for _ in range(12):
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        seen.append(QApplication.focusWidget())
    assert {field for field in main.toolbar.fields() if field.isVisible()} <= set(seen)
    assert main.toolbar.device_button in main.toolbar.fields()


@pytest.mark.parametrize("key", [Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Down])
def test_a_field_opens_by_key_though_the_key_has_another_meaning_on_the_traces(main, qtbot, monkeypatch, key):
    opened: list[str] = []
    fired: list[str] = []
    for name in ("play", "make_mark", "less_sensitive"):
        main.actions_by_id[name].triggered.connect(lambda _on=False, which=name: fired.append(which))
    field = main.toolbar.low
    monkeypatch.setattr(field, "showMenu", lambda: opened.append("by hand"))
    field.menu().aboutToShow.connect(lambda: (opened.append("by Qt"), field.menu().hide()))
    field.setFocus(Qt.FocusReason.TabFocusReason)
    if key == Qt.Key.Key_Space:
        QTimer.singleShot(300, field.menu().hide)
    qtbot.keyClick(field, key)
    assert len(opened) == 1
    assert fired == []
    # What a field has no use for is still done to the traces.
    qtbot.keyClick(field, Qt.Key.Key_F)
    assert main.session.view.notch > 0


def test_a_button_is_pressed_by_enter_and_space_and_letters_act_on_the_traces(main, qtbot):
    pressed: list[int] = []
    button = next(b for b in main.findChildren(QPushButton) if b.text() == "Rule…")
    button.clicked.disconnect()
    button.clicked.connect(lambda: pressed.append(1))
    button.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.keyClick(button, Qt.Key.Key_Return)
    qtbot.keyClick(button, Qt.Key.Key_Space)
    assert len(pressed) == 2
    qtbot.keyClick(button, Qt.Key.Key_BracketRight)
    assert main.session.view.page_seconds > 10


def test_tabs_change_by_arrow_keys(main, qtbot):
    tabs = main.measuring.inspector.tabs
    before = tabs.currentIndex()
    tabs.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.keyClick(tabs, Qt.Key.Key_Right)
    assert tabs.currentIndex() == before + 1

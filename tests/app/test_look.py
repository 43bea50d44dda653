"""Theme, letters and millimetres: the system's theme is followed, letters scale, each screen has its measure."""

from __future__ import annotations

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtGui import QGuiApplication

from app import appearance
from app.look import screen_key, screen_name
from app.main_window import MainWindow
from app.settings import Settings
from app.testing import Window
from viewers.theme import set_text_scale, theme


@pytest.fixture
def make(qtbot):
    """Makes windows without a recording, and puts the letters back."""
    made: list[Window] = []

    def make(settings: Settings | None = None) -> MainWindow:
        made.append(Window(MainWindow(settings or Settings())))
        made[-1].main.show()
        return made[-1].main

    yield make
    for window in made:
        window.close()
    set_text_scale(100)


class _Hints:
    def __init__(self, scheme: Qt.ColorScheme) -> None:
        self._scheme = scheme

    def colorScheme(self) -> Qt.ColorScheme:
        return self._scheme


def told(monkeypatch, scheme: Qt.ColorScheme) -> None:
    """Let the system say that it has changed to light or dark."""
    hints = QGuiApplication.styleHints()
    with monkeypatch.context() as patch:
        patch.setattr(appearance.QGuiApplication, "styleHints", lambda: _Hints(scheme))
        hints.colorSchemeChanged.emit(scheme)


def canvas(main: MainWindow) -> str:
    return main.view.trace_view.canvas.theme.name


def test_the_systems_theme_is_followed_while_the_window_is_open(make, monkeypatch):
    main = make(Settings(theme="system"))
    for scheme, name in ((Qt.ColorScheme.Dark, "dark"), (Qt.ColorScheme.Light, "light")):
        told(monkeypatch, scheme)
        assert canvas(main) == name
        assert main.palette().window().color().name() == theme(name).chrome
        assert main.settings.theme == "system"


def test_a_theme_chosen_is_kept_whatever_the_system_says(make, monkeypatch):
    main = make(Settings(theme="light"))
    told(monkeypatch, Qt.ColorScheme.Dark)
    assert canvas(main) == "light"
    main.actions_by_id["theme_dark"].trigger()
    assert (canvas(main), main.settings.theme) == ("dark", "dark")


def test_letters_grow_by_steps_in_all_parts(make):
    main = make()
    axis, lane = main.view.trace_view.axis.height(), main.view.probability_lane.height()
    title = main.docks["recording"].heading._title.fontInfo().pixelSize()
    for _ in range(3):
        main.actions_by_id["larger_text"].trigger()
    assert main.settings.text_scale == 150
    assert main.view.trace_view.axis.height() == round(1.5 * axis)
    assert main.view.probability_lane.height() == round(1.5 * lane)
    assert main.docks["recording"].heading._title.fontInfo().pixelSize() == pytest.approx(1.5 * title, abs=1)
    main.actions_by_id["smaller_text"].trigger()
    assert main.settings.text_scale == 125
    main.actions_by_id["usual_text"].trigger()
    assert main.view.probability_lane.height() == lane
    for _ in range(20):
        main.actions_by_id["larger_text"].trigger()
    assert main.settings.text_scale == 200


def test_letters_of_the_last_time_come_back(make):
    main = make(Settings(text_scale=150))
    assert main.view.trace_view.axis.height() == round(1.5 * 26)


def test_all_windows_follow(make):
    main = make(Settings(theme="light"))
    other = MainWindow(main.settings, workplace=main.workplace)
    other.show()
    main.actions_by_id["theme_dark"].trigger()
    main.actions_by_id["larger_text"].trigger()
    main.set_px_per_mm(5.0)
    assert canvas(other) == "dark"
    assert other.view.trace_view.axis.height() == main.view.trace_view.axis.height()
    assert other.view.px_per_mm() == 5.0
    Window(other).close()


def test_what_was_measured_belongs_to_its_screen(make):
    main = make()
    key = screen_key(main.screen())
    assert not main.view.is_calibrated()
    assert "not calibrated" in main.status._calibration.text()
    main.set_px_per_mm(5.0)
    assert main.settings.screens == {key: 5.0}
    assert main.view.px_per_mm() == 5.0
    assert "not calibrated" not in main.status._calibration.text()
    # On another screen the measure of this one does not count.
    main.settings.screens = {"Another 1920x1080 @1": 4.0}
    main.look.use_screen()
    assert not main.view.is_calibrated()
    main.set_px_per_mm(5.0)
    main.set_px_per_mm(None)
    assert key not in main.settings.screens
    assert not main.view.is_calibrated()


def test_a_measure_from_before_screens_were_told_apart_is_taken_over(make):
    main = make(Settings(px_per_mm=4.5))
    assert main.view.px_per_mm() == 4.5
    assert main.settings.screens == {screen_key(main.screen()): 4.5}


def test_screens_have_names(qapp):
    assert screen_key(None) != screen_key(QGuiApplication.primaryScreen())
    assert "×" in screen_name(QGuiApplication.primaryScreen())

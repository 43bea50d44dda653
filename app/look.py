"""How the program looks on the screen it is on: theme, size of letters, and how large a millimetre is."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PyQt6.QtCore import QEvent, QObject
from PyQt6.QtGui import QGuiApplication, QScreen

from viewers.theme import TEXT_SCALES

if TYPE_CHECKING:
    from app.main_window import MainWindow


def screen_key(screen: QScreen | None) -> str:
    """What tells a screen, as it is set up now, from others: the same monitor at another resolution is another one."""
    if screen is None:
        return "screen"
    size, ratio = screen.size(), screen.devicePixelRatio()
    words = [screen.manufacturer(), screen.model(), screen.serialNumber()]
    name = " ".join(word for word in words if word) or screen.name() or "screen"
    return f"{name} {size.width()}x{size.height()} @{ratio:g}"


def screen_name(screen: QScreen | None) -> str:
    """A screen as a person knows it."""
    if screen is None:
        return "this screen"
    words = [word for word in (screen.manufacturer(), screen.model()) if word] or [screen.name() or "this screen"]
    return f"{' '.join(words)}, {screen.size().width()} × {screen.size().height()}"


class Look(QObject):
    """Applies theme and size of letters to all windows, follows the system's theme, and knows each screen's scale."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        hints = QGuiApplication.styleHints()
        if hints is not None:
            hints.colorSchemeChanged.connect(self._on_system_theme)
        window.installEventFilter(self)

    def handlers(self) -> dict[str, Callable[[], None]]:
        """What the actions do, by their identifiers in app.actions."""
        return {
            "larger_text": partial(self.step_text, 1),
            "smaller_text": partial(self.step_text, -1),
            "usual_text": partial(self.set_text_scale, 100),
            **{f"theme_{name}": partial(self.choose_theme, name) for name in ("light", "dark", "system")},
        }

    def choose_theme(self, name: str) -> None:
        """Use the light or dark colours, or those of the system, in every window."""
        for window in self._window.workplace.windows:
            window.set_theme(name)

    def step_text(self, steps: int) -> None:
        """Make all letters larger (positive) or smaller."""
        scale = self._window.settings.text_scale
        nearest = min(range(len(TEXT_SCALES)), key=lambda i: abs(TEXT_SCALES[i] - scale))
        self.set_text_scale(TEXT_SCALES[min(max(nearest + steps, 0), len(TEXT_SCALES) - 1)])

    def set_text_scale(self, per_cent: int) -> None:
        """Draw all letters at so many per cent of their usual size."""
        self._window.settings.text_scale = per_cent
        for window in self._window.workplace.windows:
            window.set_theme(window.settings.theme)
        self._window.status.say(f"letters at {per_cent} %")

    def set_px_per_mm(self, px_per_mm: float | None) -> None:
        """Keep what was measured on the present screen, or (None) forget it; all windows on it follow."""
        settings, key = self._window.settings, screen_key(self._window.screen())
        settings.px_per_mm = None
        settings.screens.pop(key, None)
        if px_per_mm is not None:
            settings.screens[key] = px_per_mm
        for window in self._window.workplace.windows:
            window.look.use_screen()

    def use_screen(self) -> None:
        """Draw to the scale of the screen that the window is on."""
        window, settings = self._window, self._window.settings
        if settings.px_per_mm is not None and not settings.screens:
            # Measured before screens were told apart.
            settings.screens[screen_key(window.screen())], settings.px_per_mm = settings.px_per_mm, None
        window.view.set_px_per_mm(settings.screens.get(screen_key(window.screen())))
        window.status.show_calibration(window.view.is_calibrated())
        window.time_base.follow()
        window.reading.request_page()

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:
        """Once the window has been shown, follow it from screen to screen."""
        if watched is self._window and event is not None and event.type() == QEvent.Type.Show:
            handle = self._window.windowHandle()
            if handle is not None:
                handle.screenChanged.connect(self._on_screen)
                self._window.removeEventFilter(self)
                self.use_screen()
        return False

    def _on_screen(self, _screen: QScreen) -> None:
        self.use_screen()

    def _on_system_theme(self, _scheme: object) -> None:
        if self._window.settings.theme == "system":
            self._window.set_theme("system")

"""Whether a window can be opened here at all, said in one line where Qt itself would end the program without a word."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from app.errors import StartError

_SCREENLESS = frozenset({"offscreen", "minimal", "minimalegl", "vnc", "linuxfb", "eglfs", "vkkhrdisplay"})
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
_HEADLESS = "info, inspect, predict, score, screenshot, convert"

# What Qt's libraries and its X11 plugin ask of the system, as ldd lists it: library, package of Debian, of Fedora.
_GUI_LIBRARIES = {
    "libEGL.so.1": ("libegl1", "libglvnd-egl"),
    "libGL.so.1": ("libgl1", "libglvnd-glx"),
    "libX11.so.6": ("libx11-6", "libX11"),
    "libxkbcommon.so.0": ("libxkbcommon0", "libxkbcommon"),
    "libdbus-1.so.3": ("libdbus-1-3", "dbus-libs"),
    "libfontconfig.so.1": ("libfontconfig1", "fontconfig"),
    "libfreetype.so.6": ("libfreetype6", "freetype"),
    "libglib-2.0.so.0": ("libglib2.0-0", "glib2"),
    "libzstd.so.1": ("libzstd1", "libzstd"),
    "libgthread-2.0.so.0": ("libglib2.0-0", "glib2"),
}
_X11_LIBRARIES = {
    "libX11-xcb.so.1": ("libx11-xcb1", "libX11-xcb"),
    "libxcb.so.1": ("libxcb1", "libxcb"),
    "libxcb-cursor.so.0": ("libxcb-cursor0", "xcb-util-cursor"),
    "libxcb-icccm.so.4": ("libxcb-icccm4", "xcb-util-wm"),
    "libxcb-image.so.0": ("libxcb-image0", "xcb-util-image"),
    "libxcb-keysyms.so.1": ("libxcb-keysyms1", "xcb-util-keysyms"),
    "libxcb-randr.so.0": ("libxcb-randr0", "libxcb"),
    "libxcb-render.so.0": ("libxcb-render0", "libxcb"),
    "libxcb-render-util.so.0": ("libxcb-render-util0", "xcb-util-renderutil"),
    "libxcb-shape.so.0": ("libxcb-shape0", "libxcb"),
    "libxcb-shm.so.0": ("libxcb-shm0", "libxcb"),
    "libxcb-sync.so.1": ("libxcb-sync1", "libxcb"),
    "libxcb-util.so.1": ("libxcb-util1", "xcb-util"),
    "libxcb-xfixes.so.0": ("libxcb-xfixes0", "libxcb"),
    "libxcb-xkb.so.1": ("libxcb-xkb1", "libxcb"),
    "libxkbcommon-x11.so.0": ("libxkbcommon-x11-0", "libxkbcommon-x11"),
}


def leave_cores_free() -> None:
    """Let a matrix product in the window take one core; call before numpy is imported. The engine counts for itself."""
    for variable in _THREAD_VARIABLES:
        os.environ[variable] = "1"


def draw_off_screen() -> None:
    """Let Qt draw without a display, unless the person has named a way of drawing."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")


def check_display(environment: Mapping[str, str] = os.environ, platform: str = sys.platform) -> None:
    """Raise StartError where there is no display, or where Qt or a library it needs is missing."""
    plugin = environment.get("QT_QPA_PLATFORM", "").partition(":")[0]
    x11, wayland = environment.get("DISPLAY"), environment.get("WAYLAND_DISPLAY")
    if platform == "linux" and plugin not in _SCREENLESS and not x11 and not wayland:
        raise StartError(
            "there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set): "
            f"start it on a desktop, or use the commands that need none: {_HEADLESS}"
        )
    qt_plugins = load_qt()
    if platform == "linux" and plugin not in _SCREENLESS and (plugin == "xcb" or not wayland):
        _check_x11(qt_plugins / "platforms" / "libqxcb.so", x11 or "")


def load_qt() -> Path:
    """Import Qt and return the folder of its plugins; raises StartError that says what to install."""
    try:
        from PyQt6 import QtWidgets
    except ImportError as error:
        if isinstance(error, ModuleNotFoundError):
            raise StartError(f"{error.name} is not installed: run `pip install PyQt6 pyqtgraph`") from error
        raise StartError(_missing(str(error), _GUI_LIBRARIES)) from error
    return Path(QtWidgets.__file__).parent / "Qt6" / "plugins"


def _check_x11(plugin: Path, display: str) -> None:
    """Load Qt's X11 plugin and connect to the display as Qt will, which ends the program when it fails."""
    if not plugin.exists():
        return  # a Qt of the distribution, which brings its own libraries
    try:
        ctypes.CDLL(str(plugin))
    except OSError as error:
        raise StartError(_missing(str(error), _X11_LIBRARIES)) from error
    xcb = ctypes.CDLL("libxcb.so.1")
    xcb.xcb_connect.restype = ctypes.c_void_p
    connection = ctypes.c_void_p(xcb.xcb_connect(None, None))
    failed = xcb.xcb_connection_has_error(connection)
    xcb.xcb_disconnect(connection)
    if failed:
        raise StartError(
            f"the display cannot be reached (DISPLAY={display}): "
            f"check that it runs and that you may use it, or use the commands that need none: {_HEADLESS}"
        )


def _missing(cause: str, libraries: Mapping[str, tuple[str, str]]) -> str:
    """The sentence that names every missing library of a table, and the packages that bring them."""
    missing = missing_libraries(libraries)
    if not missing:
        return f"Qt cannot be loaded ({cause}): install its system libraries, or PyQt6 again"
    debian = " ".join(dict.fromkeys(libraries[name][0] for name in missing))
    fedora = " ".join(dict.fromkeys(libraries[name][1] for name in missing))
    return (
        f"system libraries that Qt needs are missing ({', '.join(missing)}): install them with "
        f"`sudo apt install {debian}` (Debian, Ubuntu) or `sudo dnf install {fedora}` (Fedora)"
    )


def missing_libraries(libraries: Mapping[str, object], load: Callable[[str], object] = ctypes.CDLL) -> list[str]:
    """Which of these shared libraries the system cannot find."""
    missing = []
    for name in libraries:
        try:
            load(name)
        except OSError:
            missing.append(name)
    return missing

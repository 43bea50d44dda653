"""Where no window can be opened, one line says why; Qt itself would end the program without one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from app.display import _GUI_LIBRARIES, _X11_LIBRARIES, missing_libraries

ROOT = Path(__file__).parents[2]
HEADLESS = "info, inspect, predict, score, screenshot, convert"
LINUX_ONLY = pytest.mark.skipif(sys.platform != "linux", reason="NOT TESTED: displays and libraries of Linux only")


def run(tmp_path: Path, arguments: list[str], before: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in a fresh interpreter without a display, after some lines of Python."""
    code = f"import sys\n{before}\nfrom app.cli import main\nsys.exit(main({arguments!r}))"
    inherited = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")}
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**inherited, "CEREBROSCOPE_HOME": str(tmp_path), "PYTHONPATH": str(ROOT), **variables},
        capture_output=True,
        text=True,
        timeout=60,
    )


def only_line(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 1, done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    return done.stderr


# Importing a module of PyQt6 fails as the dynamic linker fails, and it finds only the libraries that are left.
BLOCKED = """
import ctypes, importlib.abc
class Block(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name in ("PyQt6.QtWidgets", "PyQt6.QtGui"):
            raise ImportError("libEGL.so.1: cannot open shared object file: No such file or directory")
sys.meta_path.insert(0, Block())
def load(name, *rest, _load=ctypes.CDLL, **more):
    if str(name).startswith(("libEGL", "libfontconfig")):
        raise OSError(f"{name}: cannot open shared object file")
    return _load(name, *rest, **more)
ctypes.CDLL = load
"""
NO_QT = """
sys.modules["PyQt6"] = None
"""


@LINUX_ONLY
@pytest.mark.parametrize("arguments", [[], ["demo"], ["--start", "3"]])
def test_no_display(tmp_path, arguments):
    line = only_line(run(tmp_path, arguments))
    assert "no display" in line
    assert HEADLESS in line


@LINUX_ONLY
def test_a_display_that_does_not_answer(tmp_path):
    line = only_line(run(tmp_path, [], DISPLAY=":4711"))
    # Where the X11 plugin's libraries are missing, that is said first, since no display would help.
    assert "DISPLAY=:4711" in line or "sudo apt install libx" in line


@LINUX_ONLY
def test_missing_system_libraries_are_named_with_their_packages(tmp_path):
    line = only_line(run(tmp_path, [], BLOCKED, QT_QPA_PLATFORM="offscreen"))
    assert "libEGL.so.1" in line
    assert "libfontconfig.so.1" in line
    assert "apt install" in line
    assert "libegl1" in line.split()
    assert "libglvnd-egl" in line.split()


def test_a_missing_qt_is_named(tmp_path):
    line = only_line(run(tmp_path, [], NO_QT, QT_QPA_PLATFORM="offscreen"))
    assert "pip install PyQt6" in line


def test_every_library_has_a_package_of_both_kinds_of_system():
    for table in (_GUI_LIBRARIES, _X11_LIBRARIES):
        for name, packages in table.items():
            assert ".so" in name
            assert len(packages) == 2
            assert all(packages)


@LINUX_ONLY
def test_the_tables_hold_what_the_linker_asks_for():
    """Everything that Qt's libraries need from outside its own folder and outside the C library stands in a table."""
    import PyQt6

    qt = Path(PyQt6.__file__).parent
    base = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "ld-linux-x86-64.so.2"}
    base |= {"libstdc++.so.6", "libgcc_s.so.1", "libz.so.1", "ld-linux-aarch64.so.1", "libresolv.so.2"}
    own = {path.name for path in (qt / "Qt6" / "lib").iterdir()}
    objects = [qt / "Qt6/lib/libQt6Core.so.6", qt / "Qt6/lib/libQt6Gui.so.6", qt / "Qt6/lib/libQt6Widgets.so.6"]
    asked = set().union(*(needed(path) for path in objects)) - own - base
    assert asked <= set(_GUI_LIBRARIES), asked - set(_GUI_LIBRARIES)
    x11 = needed(qt / "Qt6/plugins/platforms/libqxcb.so") | needed(qt / "Qt6/lib/libQt6XcbQpa.so.6")
    assert x11 - own - base - set(_GUI_LIBRARIES) <= set(_X11_LIBRARIES)


def needed(path: Path) -> set[str]:
    """The libraries an ELF file names as needed, from its dynamic section."""
    if shutil.which("readelf") is None:
        pytest.skip("NOT TESTED: the tables of system libraries need readelf (package binutils)")
    found = subprocess.run(["readelf", "-d", str(path)], capture_output=True, text=True, timeout=30, check=True)
    return {line.split("[")[1].rstrip("]\n") for line in found.stdout.splitlines() if "(NEEDED)" in line}


def test_missing_libraries_are_those_that_do_not_load():
    def load(name):
        if name != "there":
            raise OSError(name)

    assert missing_libraries({"there": 0, "a": 0, "b": 0}, load) == ["a", "b"]

"""The rules of the house that a static reader of imports cannot see; each in a fresh interpreter."""

from __future__ import annotations

import ast
import importlib.metadata
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from analysis.simulation.demo import RECORDING

ROOT = Path(__file__).parents[1]
ROOMS = ("app", "viewers", "analysis", "models", "assets")
HEAVY = ("torch", "mne", "sklearn", "matplotlib", "captum", "scipy.signal", "onnxruntime", "h5py", "edfio", "pandas")


def run(code: str, *arguments: str, **variables: str) -> str:
    """What a program prints, started from nothing in the folder of main.py."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen", **variables},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_lies_beside_main(room):
    code = f"import {room}; print({room}.__file__)"
    assert Path(run(code).strip()) == ROOT / room / "__init__.py"
    assert (ROOT / "main.py").is_file()


def test_no_other_distribution_claims_the_name_of_a_room():
    """An editable install would lose to it without a word."""
    claimed = importlib.metadata.packages_distributions()
    claims = {room: {name.lower() for name in claimed.get(room, [])} - {"cerebroscope"} for room in ROOMS}
    assert claims == {room: set() for room in ROOMS}


def test_no_module_hides_a_room():
    assert not [path for top in ROOMS for room in ROOMS for path in (ROOT / top).rglob(f"{room}.py")]
    assert not list((ROOT / "tests").rglob("__init__.py"))


def imported_names(source: str) -> set[str]:
    """Every module or name that a text imports, in full."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def test_file_formats_of_scipy_are_imported_by_the_readers_only():
    """The static reader of imports sees packages whole; of SciPy, one part alone is for files."""
    for text in ("import scipy.io", "def f():\n    from scipy import io", "from scipy.io import loadmat"):
        assert any(f"{name}.".startswith("scipy.io.") for name in imported_names(text))
    files = [path for room in ROOMS for path in (ROOT / room).rglob("*.py")]
    using = {
        path.parent.relative_to(ROOT).as_posix()
        for path in files
        if any(f"{name}.".startswith("scipy.io.") for name in imported_names(path.read_text("utf-8")))
    }
    assert using == {"analysis/readers"}


@pytest.mark.parametrize(
    "module", ["app.main_window", "app.testing", "app.start", "app.cli", "app.headless", "app.jobs"]
)
def test_nothing_heavy_comes_with_the_window(module):
    """Torch and the rest live in the engine process, and what the window imports is all it pays for at its start."""
    code = f"import sys, json, {module}; print(json.dumps(sorted(set({HEAVY!r}) & set(sys.modules))))"
    assert json.loads(run(code)) == []


@pytest.mark.parametrize("module", ["app.main_window", "app.start"])
def test_the_window_is_there_before_scipy(module):
    """Its FFT takes as long to load as all our own modules; the first page is what needs it."""
    assert json.loads(run(f"import sys, json, {module}; print(json.dumps('scipy' in sys.modules))")) is False


def test_the_first_painted_page_comes_before_anything_heavy(tmp_path):
    """Architecture section 3 and the specification of reading and drawing, on the real window with a real file."""
    code = f"""
import sys, json, time
from app.display import leave_cores_free
leave_cores_free()
from PyQt6.QtCore import QCoreApplication, QEventLoop
from app.testing import open_window
window = open_window(sys.argv[1])
painted = []
window.main.view.page_shown.connect(lambda _: painted.append(sorted(set({HEAVY!r}) & set(sys.modules))))
deadline = time.monotonic() + 60
while not painted and time.monotonic() < deadline:
    QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 20)
window.wait()
after = sorted(set({HEAVY!r}) & set(sys.modules))
window.close()
print(json.dumps([painted[0], after]))
"""
    painted, after = json.loads(run(code, str(RECORDING), CEREBROSCOPE_HOME=str(tmp_path)))
    assert painted == []
    assert after == []  # and none of it comes later either, once everything about the recording is shown


def test_commands_without_a_window_work_where_there_is_no_qt(shared, tmp_path):
    recording, parity = shared / "recordings/scalp-seizure-46ch/demo_edf.edf", shared / "parity/mvpformer"
    model = ["--checkpoint", parity / "tiny_base.pt", "--head", parity / "tiny_head.pt"]
    commands = [
        ["info", recording],
        ["inspect", parity / "tiny_base.pt"],
        ["predict", recording, *model, "--out", tmp_path / "out"],
        ["score", recording, tmp_path / "out" / "events.tsv"],
        ["convert", recording, "--out", tmp_path / "copy.edf"],
        ["simulate", "--duration", "20", "--out", tmp_path / "made.edf"],
        ["predict", recording, tmp_path / "made.edf", "--checkpoint", "random:axon:tiny", "--out", tmp_path / "all"],
    ]
    code = f"""
import sys, importlib.abc
class Block(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("PyQt6", "pyqtgraph"):
            raise AssertionError(f"{{name}} was imported by a command that needs no window")
sys.meta_path.insert(0, Block())
from app.cli import main
print([main(arguments) for arguments in {[[str(word) for word in command] for command in commands]!r}])
"""
    assert run(code, CEREBROSCOPE_HOME=str(tmp_path)).splitlines()[-1] == "[0, 0, 0, 0, 0, 0, 0]"
    assert (tmp_path / "copy.edf").is_file()
    assert (tmp_path / "out" / "run.json").is_file()
    assert (tmp_path / "made.truth.json").is_file()
    assert (tmp_path / "all" / "recordings.tsv").is_file()


def test_the_checkout_starts_as_main_and_as_a_module():
    for command in (["main.py"], ["-m", "app.cli"]):
        done = subprocess.run(
            [sys.executable, *command, "--help"], cwd=ROOT, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0
        assert "commands" in done.stdout

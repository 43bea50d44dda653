"""The window as a person starts it: it opens, and it ends cleanly."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="NOT TESTED: looks for child processes in /proc")


def children(pid: int) -> list[int]:
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*"):
        found += [int(child) for child in (task / "children").read_text().split()]
    return found


@pytest.fixture
def started(own_folders):
    """Start the program, give it and its engine process once the first page is painted, and never leave it behind."""
    programs = []

    def start(*arguments: str) -> tuple[subprocess.Popen, int]:
        program = subprocess.Popen(
            [sys.executable, str(ROOT / "main.py"), *arguments],
            env={**os.environ, "QT_QPA_PLATFORM": "offscreen", "CEREBROSCOPE_HOME": str(own_folders)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        programs.append(program)
        deadline = time.monotonic() + 60
        while not (found := children(program.pid)):  # the engine is started after the first page
            assert program.poll() is None, program.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        return program, found[0]

    yield start
    for program in programs:
        program.kill()
        program.communicate()


def gone(pid: int) -> bool:
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        status = Path(f"/proc/{pid}/stat")
        try:
            if status.read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.02)
    return False


def test_ctrl_c_closes_it_in_order(shared, started, own_folders):
    program, engine = started(str(shared / "recordings/edf/test.edf"), "--start", "2")
    program.send_signal(signal.SIGINT)
    said, errors = program.communicate(timeout=20)
    assert (program.returncode, said, errors) == (0, "", "")
    assert gone(engine)
    settings = json.loads((own_folders / "config/settings.json").read_text("utf-8"))
    assert settings["version"] == 1
    assert settings["window_state"] != ""


def test_its_engine_ends_with_it_when_it_is_killed(shared, started):
    program, engine = started(str(shared / "recordings/edf/test.edf"))
    program.kill()
    program.communicate()
    assert gone(engine)


def test_demo_opens_and_damaged_settings_do_not_stop_it(started, own_folders):
    (own_folders / "config").mkdir(parents=True)
    (own_folders / "config/settings.json").write_text("{")
    program, _ = started("demo")
    program.send_signal(signal.SIGINT)
    assert program.communicate(timeout=20)[1] == ""
    assert len(list((own_folders / "data/recordings").iterdir())) == 1  # where it was left
    names = sorted(path.name.split("-")[0] for path in (own_folders / "config").iterdir())
    assert names == ["settings.damaged", "settings.json"]

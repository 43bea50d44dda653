"""How things are looked at is on disk while the program runs, and what is older never replaces what is newer."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest

from app.engine_process import EngineProcess
from app.main_window import MainWindow
from app.remembering import InOrder
from app.settings import Settings, load_recording_state
from app.synthetic_edf import SyntheticHeader, to_digital, write_synthetic_file
from app.testing import Window


def test_what_is_older_never_replaces_what_is_newer() -> None:
    written: list[int] = []
    file = InOrder(written.append)
    first, second, third = (file.writer(number) for number in (1, 2, 3))
    second()
    first()
    third()
    third()
    assert written == [2, 3]


def test_what_could_not_be_written_is_tried_again() -> None:
    written: list[int] = []

    def write(number: int) -> None:
        if not written and number == 1:
            written.append(0)
            raise OSError("no room")
        written.append(number)

    writer = InOrder(write).writer(1)
    with pytest.raises(OSError, match="no room"):
        writer()
    writer()
    assert written == [0, 1]


def test_a_program_that_is_killed_comes_back_with_page_montage_and_scale(tmp_path, qtbot, monkeypatch) -> None:
    monkeypatch.setattr(EngineProcess, "start", lambda self: None)
    noise = to_digital(np.random.default_rng(0).normal(0, 20, (60, 4, 64)))
    header = SyntheticHeader(("F3", "F4", "C3", "C4"), 64, 60, "SYNTHETIC_remembering")
    path = write_synthetic_file(tmp_path / "remembering.edf", header, [noise], ())
    kept: list[Settings] = []
    main = MainWindow(Settings(theme="light"), lambda settings: kept.append(deepcopy(settings)), tmp_path / "data")
    window = Window(main)
    main.show()
    main.open_recording(str(path))
    window.wait()
    session = main.session
    session.change_view(montage="common average", uv_per_mm=15.0)
    session.go_to(20.0)
    window.wait()

    def is_kept() -> bool:
        state, _ = load_recording_state(session.recording.id, tmp_path / "data")
        return state.montage == "common average" and state.position == 20.0 and bool(kept)

    qtbot.waitUntil(is_kept, timeout=20_000)  # and nothing was closed
    assert kept[-1].uv_per_mm == 15.0
    window.close()

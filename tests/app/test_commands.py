"""What the menus do, with the dialogs answered by the test."""

from __future__ import annotations

import numpy as np
import pytest
from PyQt6.QtWidgets import QFileDialog, QMessageBox

from analysis.errors import RecordingError
from app import commands
from app.dialogs.calibration import CalibrationDialog
from app.settings import Settings
from app.testing import Window, open_window


@pytest.fixture
def window(shared, qtbot):
    handle = open_window(shared / "recordings/scalp-seizure-46ch/demo_edf.edf", (1200, 800), Settings())
    handle.wait()
    yield handle
    handle.close()


def answer(monkeypatch, method: str, path) -> None:
    monkeypatch.setattr(QFileDialog, method, lambda *_args: (str(path), ""))


def test_a_picture_of_the_window_is_saved(window: Window, monkeypatch, tmp_path):
    answer(monkeypatch, "getSaveFileName", tmp_path / "picture.png")
    commands.save_screenshot(window.main)
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
    answer(monkeypatch, "getSaveFileName", tmp_path / "missing" / "picture.png")
    commands.save_screenshot(window.main)
    assert "choose another folder" in window.main.status._message.text()


def test_another_recording_is_opened_and_its_folder_remembered(window: Window, monkeypatch, shared):
    path = shared / "recordings/broken/zero_start_date.edf"
    answer(monkeypatch, "getOpenFileName", path)
    commands.choose_recording(window.main)
    window.wait()
    assert window.main.session.recording.path == path
    assert window.main.settings.last_folder == str(path.parent)


def test_measuring_the_screen_makes_millimetres_true(window: Window, monkeypatch):
    def measure(dialog: CalibrationDialog) -> int:
        dialog._length.setValue(80.0)
        return 1

    before = window.main.view.trace_view.rows.gain.copy()
    px_per_mm = window.main.view.px_per_mm()
    monkeypatch.setattr(CalibrationDialog, "exec", measure)
    commands.calibrate(window.main)
    window.wait()
    assert list(window.main.settings.screens.values()) == [pytest.approx(5.0)]
    assert window.main.view.is_calibrated()
    after = window.main.view.trace_view.rows.gain
    voltages = [unit == "uV" for unit in window.main.view.trace_view.rows.units]  # others fill their band
    np.testing.assert_allclose((after / before)[voltages], 5.0 / px_per_mm, rtol=1e-5)
    assert "not calibrated" not in window.main.status._calibration.text()


def test_one_fault_is_one_box_however_often_it_comes_back(window: Window):
    for _ in range(3):
        window.main.show_error(RecordingError("the recording cannot be read any more (a.edf): check the disk"))
    window.main.show_error(RecordingError("another fault (a.edf): do something else"))
    boxes = [box.text() for box in window.main.findChildren(QMessageBox) if box.isVisible()]
    assert sorted(text[:7] for text in boxes) == ["another", "the rec"]


def test_running_without_a_recording_asks_for_one(qtbot):
    from app.main_window import MainWindow

    main = MainWindow(Settings())
    qtbot.addWidget(main)
    commands.run_model(main)
    assert "open a recording first" in main.status._message.text()

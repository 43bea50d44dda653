"""A report of the window tells the marks as they stand there, with their decisions, and how the page looks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from analysis.annotation import Annotation
from app.settings import Settings
from app.testing import Window, open_window

SCALP = "scalp-seizure-46ch/demo_edf.edf"


@pytest.fixture
def window(shared: Path, qtbot) -> Window:
    window = open_window(shared / "recordings" / SCALP, (1400, 860), Settings(theme="light"))
    window.wait()
    yield window
    window.close()


def test_the_report_is_of_what_the_window_shows(window: Window, tmp_path: Path, qtbot) -> None:
    main = window.main
    main.session.change_view(montage="common average", uv_per_mm=15.0, highpass=1.0)
    main.session.add_annotations([Annotation(21.5, 0.0, "Spike of mine", ("C3",), author="reader")])
    window.wait()
    job = main.reporting.write(tmp_path / "report.html")
    with qtbot.waitSignal(job.finished, timeout=60_000):
        pass
    text = re.sub(r'src="[^"]*"', "", (tmp_path / "report.html").read_text("utf-8"))
    for words in ("Spike of mine", "00:21.5", "common average", "15 µV/mm", "1–70 Hz", "the window"):
        assert words in text
    assert text.count("<section>") == 2  # the seizure of the file and the reader's mark
    assert "report.html" in main.status._message.text()


def test_a_name_that_no_report_has_is_refused_in_a_sentence(window: Window, tmp_path: Path, qtbot) -> None:
    failed: list[BaseException] = []
    window.main.reporting.failed.connect(failed.append)
    job = window.main.reporting.write(tmp_path / "report.doc")
    with qtbot.waitSignal(job.finished, timeout=60_000):
        pass
    assert "pdf or html" in str(failed[0])
    assert not list(tmp_path.iterdir())


def test_without_a_recording_it_says_what_to_do(qtbot) -> None:
    from app.main_window import MainWindow

    main = MainWindow(Settings(theme="light"))
    try:
        main.actions_by_id["report"].trigger()
        assert "open a recording first" in main.status._message.text()
    finally:
        main.close()

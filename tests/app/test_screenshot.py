"""A picture of the window shows the page that was asked for, of whatever length."""

from pathlib import Path

import pytest

from analysis.recording import Window
from app.screenshot import Shot, _arrange
from app.testing import open_window


@pytest.mark.parametrize("seconds", [2.0, 10.0, 120.0])
def test_a_page_of_any_length_is_shown(shared: Path, qapp: object, seconds: float) -> None:
    """Also of a length that nobody reads by, which is kept as no habit."""
    path = str(shared / "recordings/scalp-seizure-42ch/scalp_seizure.edf")
    window = open_window(path, (1100, 700), start=20.0)
    try:
        window.wait()
        _arrange(Shot(path, start=20.0, duration=seconds), window)
        window.wait()
        page = window.main.view.trace_view.page
        assert page is not None
        assert page.window == Window(20.0, 20.0 + seconds)
    finally:
        window.close()

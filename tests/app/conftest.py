"""What tests of the application share."""

from __future__ import annotations

import pytest

from app.errors import stop_log


@pytest.fixture(autouse=True)
def engines_that_get_their_turn(monkeypatch):
    """Two tests run at once, and an engine of low priority would wait for the other one's."""
    monkeypatch.setattr("app.engine_process.NICENESS", 0)


@pytest.fixture(autouse=True)
def own_folders(tmp_path_factory, monkeypatch):
    """Settings, logs and caches of each test in a folder of its own."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("CEREBROSCOPE_HOME", str(home))
    yield home
    stop_log()  # of a command that failed: errors of the next test must not point to it

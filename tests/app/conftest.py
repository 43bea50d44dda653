"""What tests of the application share."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def own_folders(tmp_path_factory, monkeypatch):
    """Settings, logs and caches of each test in a folder of its own."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("CEREBROSCOPE_HOME", str(home))
    return home

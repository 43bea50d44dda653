"""Fixtures that tests of several rooms share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

# Set before Qt is imported anywhere, so that tests never need a screen.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real recordings and golden numbers that lies beside the checkout."""
    if not SHARED.is_dir():
        pytest.skip(f"NOT TESTED: the folder of real recordings and golden numbers is missing ({SHARED})")
    return SHARED

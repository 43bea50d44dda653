"""What a result says of the program that made it."""

from __future__ import annotations

import platform
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from analysis import provenance
from analysis.provenance import library_versions, now, software_version


def test_versions_are_those_installed_and_others_are_left_out() -> None:
    assert library_versions(["numpy", "no-such-package"]) == {
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


def test_a_checkout_that_was_never_installed_has_no_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provenance, "DISTRIBUTION", "no-such-package")
    assert software_version() == "unknown"


def test_now_is_the_present_in_utc() -> None:
    moment = datetime.fromisoformat(now())
    assert moment.utcoffset() == timedelta(0)
    assert abs(datetime.now(UTC) - moment) < timedelta(seconds=60)
    assert moment.microsecond == 0

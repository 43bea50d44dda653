"""Simulated recordings that several tests look at."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from analysis.simulation.simulator import Settings, Simulated, simulate_recording


@pytest.fixture(scope="session")
def thirty_simulated() -> Sequence[Simulated]:
    """30 recordings of four minutes with one seizure each, at 200 Hz."""
    settings = Settings(duration=240, sfreq=200, seizures=1)
    return [simulate_recording(settings, 1000 + number) for number in range(30)]

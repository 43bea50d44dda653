"""What tests of montages share: recordings of scalp electrodes, recorded pairs and intracranial contacts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from analysis.electrodes import position_of, site_of
from analysis.montages.derivation import Montage
from analysis.recording import Channel, Recording

RATE = 100.0


def _channel(name: str, **changes: object) -> Channel:
    """A scalp electrode, a recorded pair ("Fp1-F7") or, with a type, anything else."""
    facts: dict[str, object] = {"type": "eeg", "unit": "uV", "sfreq": RATE, **changes}
    first, _, second = name.partition("-")
    if facts["type"] == "eeg" and second and "pair" not in facts:
        facts["pair"] = (site_of(first), site_of(second))
    elif facts["type"] == "eeg" and "site" not in facts:
        site = site_of(name)
        facts |= {"site": site, "position": position_of(site) if site else None}
    return Channel(name, name, **facts)  # type: ignore[arg-type]


@pytest.fixture(scope="session")
def channel() -> Callable[..., Channel]:
    """Makes a channel of a name."""
    return _channel


@pytest.fixture(scope="session")
def recording_of(array_recording) -> Callable[..., Recording]:
    """Makes a recording of channels, or of names of scalp channels; its samples are random, seeded by their number."""

    def make(channels: Sequence[Channel | str] | str, data: np.ndarray | None = None) -> Recording:
        words = channels.split() if isinstance(channels, str) else channels
        made = [c if isinstance(c, Channel) else _channel(c) for c in words]
        if data is None:
            data = np.random.default_rng(len(made)).normal(0, 30, (len(made), 400))
        return array_recording(made, data, RATE)

    return make


@pytest.fixture(scope="session")
def values() -> Callable[[Montage, Recording], dict[str, np.ndarray]]:
    """Derives all rows of a montage from a whole recording; row name -> samples."""

    def derive(montage: Montage, recording: Recording) -> dict[str, np.ndarray]:
        data = recording.read(0, recording.n_times)
        return dict(zip(montage.ch_names, montage.apply(data, recording.ch_names), strict=True))

    return derive

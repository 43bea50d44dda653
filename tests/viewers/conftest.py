"""What tests of the drawing share: channels, montages and pages made by hand."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from analysis.montage import Derivation, Montage
from analysis.recording import Channel, Page, Window

SFREQ = 200.0


@pytest.fixture(scope="session")
def eeg_channels() -> Callable[..., tuple[Channel, ...]]:
    """Makes calibrated EEG channels of these names."""

    def make(*names: str, **changes: object) -> tuple[Channel, ...]:
        given = {"type": "eeg", "unit": "uV", "sfreq": SFREQ, **changes}
        return tuple(Channel(name, name, **given) for name in names)  # type: ignore[arg-type]

    return make


@pytest.fixture(scope="session")
def single_montage() -> Callable[..., Montage]:
    """Makes a montage of single channels, each on a side and in a block."""

    def make(*names: str, sides: str = "", blocks: str = "") -> Montage:
        words = {"l": "left", "r": "right", "m": "midline", "o": "other"}
        return Montage(
            "as recorded",
            tuple(
                Derivation(name, name, (), words[sides[i]] if sides else "left", int(blocks[i]) if blocks else 0)
                for i, name in enumerate(names)
            ),
        )

    return make


@pytest.fixture(scope="session")
def make_page() -> Callable[..., Page]:
    """Makes a page of samples (samples, rows) that begins at `start` seconds."""

    def make(data: np.ndarray, names: tuple[str, ...], start: float = 0.0, stop: float | None = None) -> Page:
        end = start + (data.shape[0] - 1) / SFREQ if stop is None else stop
        return Page(Window(start, end), names, SFREQ, data.astype(np.float32), start)

    return make

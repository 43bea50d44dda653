"""Rows are the montage's differences, filtered; chunks, averages and gaps included."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest

from analysis.filtering import DisplayFilter, filter_span
from analysis.montage import Derivation, Montage
from analysis.recording import Channel, Recording
from analysis.row_filter import RowFilter

Make = Callable[..., Recording]
SFREQ = 200.0
NAMES = [f"E{i}" for i in range(40)]
OFF = DisplayFilter(None, None, None)


@pytest.fixture
def recording(array_recording: Make) -> Recording:
    data = np.random.default_rng(1).standard_normal((40, 4000)) * 20 + 300
    kinds = ["misc" if i % 7 == 3 else "eeg" for i in range(40)]
    channels = [Channel(name, name, kind, "uV", SFREQ) for name, kind in zip(NAMES, kinds, strict=True)]
    return array_recording(channels, data, SFREQ)


def montages() -> list[Montage]:
    everyone = tuple(NAMES)
    return [
        Montage("single", tuple(Derivation(name, name) for name in NAMES)),
        Montage("pairs", tuple(Derivation(f"{a}-{b}", a, (b,)) for a, b in pairwise(NAMES))),
        Montage("average", tuple(Derivation(f"{name}-avg", name, everyone) for name in NAMES)),
        Montage(
            "mixed",
            (
                Derivation("a", "E5", ("E9", "E2")),
                Derivation("b", "E9", ("E5",)),
                Derivation("c", "E3"),
                Derivation("d", "E1", ("E9", "E2")),
                Derivation("e", "E8", everyone),
            ),
        ),
    ]


@pytest.mark.parametrize("montage", montages(), ids=lambda m: m.name)
def test_unfiltered_rows_are_those_of_the_montage(recording: Recording, montage: Montage) -> None:
    rows = RowFilter(recording, montage, OFF).compute(500, 900)
    expected = montage.apply(recording.read(500, 900), recording.ch_names)
    np.testing.assert_allclose(rows.T, expected, atol=1e-4)


@pytest.mark.parametrize("montage", montages(), ids=lambda m: m.name)
def test_filtered_rows_are_the_montage_filtered(recording: Recording, montage: Montage) -> None:
    chosen = DisplayFilter(1.0, 40.0)
    got = RowFilter(recording, montage, chosen).compute(1000, 2000)
    derived = montage.apply(recording.read(0, 4000), recording.ch_names)
    expected = filter_span(derived, 0, SFREQ, chosen, 1000, 2000)
    kinds = dict(zip(recording.ch_names, recording.ch_types, strict=True))
    for i, row in enumerate(montage.derivations):
        wanted = expected[i] if kinds[row.anode] == "eeg" else derived[i, 1000:2000]
        np.testing.assert_allclose(got[:, i], wanted, atol=0.02)


def test_gap_in_one_channel_leaves_the_others_alone(array_recording: Make) -> None:
    data = np.random.default_rng(1).standard_normal((3, 4000)) * 20
    channels = [Channel(name, name, "eeg", "uV", SFREQ) for name in "ABC"]
    montage = Montage("m", (Derivation("A", "A"), Derivation("B-C", "B", ("C",))))
    whole = RowFilter(array_recording(channels, data, SFREQ), montage, DisplayFilter()).compute(1000, 3000)
    data[2, 1500:1700] = np.nan
    holed = RowFilter(array_recording(channels, data, SFREQ), montage, DisplayFilter()).compute(1000, 3000)
    np.testing.assert_allclose(holed[:, 0], whole[:, 0], atol=1e-3)
    np.testing.assert_array_equal(np.flatnonzero(np.isnan(holed[:, 1])), np.arange(500, 700))

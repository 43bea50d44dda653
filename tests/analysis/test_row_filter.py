"""Rows are the montage's differences, filtered; chunks, averages and gaps included."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest

from analysis.filtering import DisplayFilter, FilterBank, filter_span
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


@pytest.fixture
def polygraph(array_recording: Make) -> Recording:
    data = np.random.default_rng(4).standard_normal((6, 8000)) * 20 + 300
    kinds = (("A", "eeg"), ("ECG", "ecg"), ("EMG", "emg"), ("Flow", "resp"), ("X1", "misc"), ("Trigger", "stim"))
    return array_recording([Channel(name, name, kind, "uV", SFREQ) for name, kind in kinds], data, SFREQ)


def test_each_kind_goes_through_its_own_filter(polygraph: Recording) -> None:
    page, heart, muscle, breath = (
        DisplayFilter(0.5, 70.0, 50.0),
        DisplayFilter(0.3, 40.0),
        DisplayFilter(10.0, None),
        DisplayFilter(0.1, 15.0),
    )
    bank = FilterBank(page, (("ecg", heart), ("emg", muscle), ("resp", breath)))
    montage = Montage("m", tuple(Derivation(name, name) for name in polygraph.ch_names))
    filtered = RowFilter(polygraph, montage, bank)
    assert filtered.step == 1
    got = filtered.compute(5000, 6000)
    raw = polygraph.read(0, 8000)
    for i, chosen in enumerate((page, heart, muscle, breath)):
        expected = filter_span(raw[i : i + 1], 0, SFREQ, chosen, 5000, 6000)[0]
        np.testing.assert_allclose(got[:, i], expected, atol=0.1)
    np.testing.assert_array_equal(got[:, 4:].T, raw[4:, 5000:6000])


@pytest.mark.parametrize(
    ("own", "step"),
    [
        ((), 2),
        ((("ecg", DisplayFilter(0.5, 100.0)),), 1),
        ((("ecg", DisplayFilter(0.5, None)),), 1),
        ((("ecg", DisplayFilter(0.5, 30.0)),), 2),
        ((("resp", DisplayFilter(0.1, 100.0)),), 1),
        ((("emg", DisplayFilter(10.0, None)),), 2),
    ],
)
def test_rows_share_the_rate_that_the_fastest_of_them_needs(
    array_recording: Make, own: tuple[tuple[str, DisplayFilter], ...], step: int
) -> None:
    channels = [Channel(name, name, name, "uV", 1024.0) for name in ("eeg", "ecg", "resp")]
    recording = array_recording(channels, np.zeros((3, 4096)), 1024.0)
    montage = Montage("m", tuple(Derivation(channel.name, channel.name) for channel in channels))
    assert RowFilter(recording, montage, FilterBank(DisplayFilter(0.5, 70.0), own)).step == step

"""Faulty channels are named for what is wrong with them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from analysis.channel_quality import CLIPPED, FLAT, MISSING, NOT_CALIBRATED, OK, assess_channels
from analysis.readers import open_recording
from analysis.recording import Channel, Recording

Make = Callable[..., Recording]
SFREQ = 250.0


def test_states(array_recording: Make) -> None:
    rng = np.random.default_rng(2)
    n = int(120 * SFREQ)
    good = 30 * rng.standard_normal(n)
    rows = {
        "good": (good, {}),
        "flat": (np.full(n, 12.5), {}),
        "clipped": (np.clip(6 * good, -100, 100), {}),
        "missing": (np.full(n, np.nan), {}),
        "raw": (good, {"calibrated": False}),
        "digital": (np.round(good), {}),
        "trigger": (np.zeros(n), {"type": "stim"}),
        "SpO2": (np.full(n, 97.0), {"type": "misc", "unit": "%"}),
        "square": (np.sign(np.sin(np.arange(n) / 40)) * 50 + good / 10, {}),
    }
    kinds = [
        Channel(
            name,
            name,
            str(extra.get("type", "eeg")),
            str(extra.get("unit", "uV")),
            SFREQ,
            calibrated=bool(extra.get("calibrated", True)),
        )
        for name, (_, extra) in rows.items()
    ]
    quality = assess_channels(array_recording(kinds, np.stack([row for row, _ in rows.values()]), SFREQ))
    assert {name: found.state for name, found in quality.items()} == {
        "good": OK,
        "flat": FLAT,
        "clipped": CLIPPED,
        "missing": MISSING,
        "raw": NOT_CALIBRATED,
        "digital": OK,
        "trigger": OK,
        "SpO2": OK,
        "square": OK,
    }
    assert quality["SpO2"].centre == 97.0
    assert 120 < quality["good"].spread < 160  # 1st to 99th percentile of 30 uV noise: 4.65 SD


def test_gaps_are_left_out_and_short_recordings_judged(array_recording: Make) -> None:
    kinds = [Channel("A", "A", "eeg", "uV", SFREQ)]
    short = array_recording(kinds, np.random.default_rng(0).standard_normal((1, 20)) * 10, SFREQ)
    assert assess_channels(short)["A"].state == OK
    data = np.full((1, 10_000), np.nan)
    data[:, :1000] = np.random.default_rng(0).standard_normal((1, 1000)) * 10
    holed = array_recording(kinds, data, SFREQ)
    holed.gaps = ((4.0, 40.0),)
    assert assess_channels(holed)["A"].state == OK


def test_a_signal_against_the_rail_is_clipped_and_an_absent_instrument_is_flat(array_recording: Make) -> None:
    rng = np.random.default_rng(4)
    n = int(60 * SFREQ)
    rows = {
        "open": (-8711 + 0.266 * rng.integers(0, 4, n), "uV", (-8711.0, 8711.0), CLIPPED),
        "top": (8711 - 0.266 * rng.integers(0, 4, n), "uV", (-8711.0, 8711.0), CLIPPED),
        "good": (30 * rng.standard_normal(n), "uV", (-8711.0, 8711.0), OK),
        "offset": (-8000 + 30 * rng.standard_normal(n), "uV", (-8711.0, 8711.0), OK),
        "idle": (np.where(rng.random(n) < 0.02, 50.0, rng.random(n)), "uV", (0.0, 5000.0), OK),
        "OSAT": (np.zeros(n), "%", (0.0, 102.3), FLAT),
        "resp": (np.full(n, -5.0), "l/s", (-5.0, 5.0), FLAT),
        "SpO2": (np.full(n, 97.0), "%", (0.0, 102.3), OK),
    }
    kinds = [Channel(name, name, "misc", unit, SFREQ, limits=limits) for name, (_, unit, limits, _) in rows.items()]
    quality = assess_channels(array_recording(kinds, np.stack([row[0] for row in rows.values()]), SFREQ))
    assert {name: found.state for name, found in quality.items()} == {name: row[3] for name, row in rows.items()}


def test_channels_of_a_real_amplifier(shared: Path) -> None:
    with open_recording(shared / "recordings/scalp-seizure-46ch/demo_edf.edf") as recording:
        states = {name: found.state for name, found in assess_channels(recording).items()}
    expected = {"X2": CLIPPED, **{f"X{k}": CLIPPED for k in range(6, 19)}, "OSAT": FLAT, "PR": FLAT}
    assert {name: state for name, state in states.items() if state != OK} == expected


@pytest.mark.parametrize(
    "name",
    [
        "scalp-seizure-42ch/scalp_seizure.edf",
        "eegmmidb/eegmmidb_overlapping_annotations.edf",
        "bdf/test.bdf",
        "bdf/openbci_8ch.bdf",
        "siena-headers/PN00-1.edf",
        "ecog-seizure-persyst/ecog_clip2.lay",
        "ecog-seizure-mat/pt01_ecog_onset.h5",
        "brainvision/test.vhdr",
        "eeglab/eeglab_data.set",
        "fif/resting_eo_200hz_raw.fif",
    ],
)
def test_real_signals_of_the_brain_are_sound(shared: Path, name: str) -> None:
    with open_recording(shared / "recordings" / name) as recording:
        quality = assess_channels(recording)
        assert {quality[channel.name].state for channel in recording.channels if channel.is_brain} == {OK}

"""Faulty channels are named for what is wrong with them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from analysis.channel_quality import CLIPPED, FLAT, MISSING, NOT_CALIBRATED, OK, assess_channels
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

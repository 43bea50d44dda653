"""Windows from shared blocks are those that are read one by one, and cost fewer samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from analysis.engine.model_windows import plan_windows
from analysis.engine.window_reader import WindowReader
from analysis.preprocessing import Preprocessing
from analysis.recording import Window

Make = Callable[..., Any]


@pytest.mark.parametrize("method", ["butterworth", "fir"])
def test_windows_are_those_read_one_by_one(make_recording: Make, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    monkeypatch.setattr("analysis.engine.window_reader.BLOCK_SECONDS", 35.0)
    rng = np.random.default_rng(3)
    recording = make_recording(rng.normal(0, 20, (2, 300 * 256)).cumsum(1) / 50, 256.0, gaps=((120.0, 140.0),))
    settings = Preprocessing(200.0, 0.5, 70.0, reference="average", method=method)
    plan = plan_windows(recording, Window(3, 290), 10.0, settings, fault=lambda _: "")
    # Every second of stride a half window, so that windows share what they read, and from the middle outwards.
    wanted = [(int(span), float(onset)) for span, onset in zip(plan.span_of, plan.onsets, strict=True)]
    wanted += [(span, onset + 5) for span, onset in wanted if (span, onset + 10) in wanted]
    wanted.sort(key=lambda window: abs(window[1] - 180))
    samples = 0
    read = recording.read

    def counting(start: int, stop: int, picks: Any = None) -> np.ndarray:
        nonlocal samples
        samples += stop - start
        return read(start, stop, picks)

    monkeypatch.setattr(recording, "read", counting)
    reader = WindowReader(plan)
    by_blocks = [reader.read(*window) for window in wanted]
    shared, samples = samples, 0
    one_by_one = [plan.read_at(*window) for window in wanted]
    assert shared < samples / 3
    for found, expected in zip(by_blocks, one_by_one, strict=True):
        assert found.shape == (2, 2000)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4)  # microvolts, of tens of them


def test_a_window_is_the_same_whatever_was_read_before(make_recording: Make) -> None:
    recording = make_recording(np.random.default_rng(0).normal(size=(1, 900 * 64)), 64.0)
    plan = plan_windows(recording, Window(0, 900), 10.0, Preprocessing(50.0), fault=lambda _: "")
    recording.most_read = 0
    alone = WindowReader(plan).read(0, 400.0)
    assert recording.most_read <= (120 + 2 * 22) * 64
    reader = WindowReader(plan)
    for onset in range(890, 300, -10):
        found = reader.read(0, float(onset))
        if onset == 400:
            np.testing.assert_array_equal(found, alone)
    assert len(reader._held) == 4

"""The packaged detector against the package's own long-recording function, and on a real seizure."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from brainmaze_eeg_models.seizure import predict_channel_seizure_probability
from sklearn.metrics import roc_auc_score

from analysis.engine.brainmaze import BrainmazeDetector, BrainmazeWindows, plan_span
from analysis.engine.detector import Chunk
from analysis.errors import AnalysisError
from analysis.progress import Cancelled, Progress
from analysis.recording import Window
from analysis.survey import ScorableSpan

Make = Callable[..., Any]
EDGE = "a value needs a second around it"
SHORT = BrainmazeWindows(length=60.0, step=20.0, edge=10.0)  # the same method, quick enough for a test


@pytest.fixture(scope="module")
def quick() -> BrainmazeDetector:
    return BrainmazeDetector("modelA", "cpu", SHORT)


def chirp(seconds: float, sfreq: float, n_channels: int = 2) -> np.ndarray:
    """Noise with a chirp of falling frequency in the middle, which the network takes for a seizure."""
    rng = np.random.default_rng(0)
    t = np.arange(round(seconds * sfreq)) / sfreq
    inside = np.clip((t - seconds * 0.4) / (seconds * 0.2), 0, 1)
    wave = np.sin(2 * np.pi * np.cumsum(9 - 6.5 * inside) / sfreq) * ((inside > 0) & (inside < 1))
    noise = np.cumsum(rng.normal(0, 3, (n_channels, len(t))), axis=1)
    return (noise - noise.mean(axis=1, keepdims=True)) * 0.1 + 60 * wave + rng.normal(0, 10, (n_channels, len(t)))


def collect(
    used: BrainmazeDetector, recording: Any, window: Window | None = None, first_time: float | None = None
) -> tuple[np.ndarray, np.ndarray, list[Chunk], Any]:
    run = used.begin(recording, window or Window(0, recording.duration))
    chunks = list(run.chunks(Progress(), first_time))
    times = np.concatenate([chunk.times for chunk in chunks])
    order = np.argsort(times)
    return times[order], np.concatenate([chunk.probability for chunk in chunks])[order], chunks, run


def reference(data: np.ndarray, sfreq: float, length: float) -> np.ndarray:
    """Mean over channels of the package's own function, without the first output, which has no value."""
    data = np.asarray(data, np.float32)
    step = 20 if length >= 60 else 10
    per_channel = [predict_channel_seizure_probability(row, sfreq, window_s=length, step_s=step)[1] for row in data]
    return np.nanmean(np.stack(per_channel)[:, 1:], axis=0)


@pytest.mark.parametrize("seconds", [37.5, 60.0, 133.0, 140.0])
def test_windows_give_what_the_package_gives(make_recording: Make, quick: BrainmazeDetector, seconds: float) -> None:
    data = chirp(seconds, 256.0)
    data[1, 10 * 256 : 20 * 256] = 5.0  # flat for a while
    times, values, _, run = collect(quick, make_recording(data, 256.0))
    assert times == pytest.approx(0.25 + 0.5 * np.arange(len(times)))
    assert values == pytest.approx(reference(data, 256.0, min(60.0, seconds)), abs=1e-5)
    assert run.not_scored == [(0, 0.25, EDGE), (times[-1] + 0.5, seconds, EDGE)]


def test_what_comes_first_does_not_change_the_numbers(make_recording: Make, quick: BrainmazeDetector) -> None:
    recording = make_recording(chirp(400, 256.0), 256.0)
    times, values, _, _ = collect(quick, recording)
    recording.most_read = 0
    there, again, chunks, _ = collect(quick, recording, first_time=310.0)
    assert there.tolist() == times.tolist()
    assert again == pytest.approx(values, abs=1e-6)
    assert abs(chunks[0].times[0] - 310) < 60
    assert abs(chunks[-1].times[0] - 310) > 200
    assert recording.most_read <= 62 * 256
    part_times, part, _, _ = collect(quick, recording, Window(150.0, 222.0))
    wanted = (times >= 150) & (times + 0.5 <= 222)
    assert part_times.tolist() == times[wanted].tolist()
    assert part == pytest.approx(values[wanted], abs=1e-6)


def test_windows_do_not_reach_across_a_gap(make_recording: Make, quick: BrainmazeDetector) -> None:
    data = chirp(200, 256.0)
    recording = make_recording(data, 256.0, gaps=((90.0, 115.0), (120.0, 130.0)))
    times, values, _, run = collect(quick, recording)
    assert values == pytest.approx(
        np.concatenate([reference(data[:, : 90 * 256], 256.0, 60.0), reference(data[:, 130 * 256 :], 256.0, 60.0)]),
        abs=1e-5,
    )
    assert times.max() < 200
    assert run.not_scored == [
        (0, 0.25, EDGE),
        (89.75, 90, EDGE),
        (90, 115, "gap in the recording"),
        (115, 120, "shorter than 10 s"),
        (120, 130, "gap in the recording"),
        (130, 130.25, EDGE),
        (199.75, 200, EDGE),
    ]


def test_time_that_is_flat_everywhere_is_not_scored(make_recording: Make, quick: BrainmazeDetector) -> None:
    data = chirp(60, 256.0)
    data[:, 20 * 256 : 30 * 256] = 5.0
    times, _, _, run = collect(quick, make_recording(data, 256.0))
    assert run.not_scored == [(0, 0.25, EDGE), (20.25, 29.75, "flat in all channels"), (59.75, 60, EDGE)]
    assert not ((times > 20.3) & (times < 29.3)).any()


@pytest.mark.parametrize(
    ("sfreq", "used"), [(128.0, 256.0), (199.0, 256.0), (251.0, 256.0), (250.0, 250.0), (2000.0, 512.0)]
)
def test_rates_it_cannot_take_are_resampled(
    make_recording: Make, quick: BrainmazeDetector, sfreq: float, used: float
) -> None:
    recording = make_recording(chirp(60, sfreq), sfreq)
    run = quick.begin(recording, Window(0, 60))
    assert run.preprocessing["sfreq"] == used
    assert run.preprocessing["resampling"] == ("none" if used == sfreq else "polyphase")
    values = np.concatenate([chunk.probability for chunk in run.chunks(Progress(), None)])
    assert len(values) == 119
    assert np.isfinite(values).all()


def test_every_output_is_covered_and_the_tail_only_fills(quick: BrainmazeDetector) -> None:
    for n in range(20, 400, 7):
        plan = plan_span(ScorableSpan(3.0, 3.0 + n / 2, 1.0), Window(0, 1e6), SHORT)
        assert plan is not None
        covered = np.zeros(n, int)
        for _, low, high in plan.windows:
            covered[low:high] += 1
        assert (covered[1:] > 0).all()
        assert (plan.wanted_from, plan.wanted_to) == (1, n)
    assert plan_span(ScorableSpan(0, 9.9, 0), Window(0, 100), SHORT) is None


def test_it_stops_when_it_is_cancelled(make_recording: Make, quick: BrainmazeDetector) -> None:
    class Impatient(Progress):
        calls = 0

        def report(self, done: float, total: float, message: str = "") -> None:
            if message == "scoring windows":
                self.calls += 1
                if self.calls == 3:
                    raise Cancelled

    run = quick.begin(make_recording(chirp(120, 256.0, 12), 256.0), Window(0, 120))
    with pytest.raises(Cancelled):
        list(run.chunks(Impatient(), None))


def test_a_short_recording_is_said_to_be_short(make_recording: Make) -> None:
    used = BrainmazeDetector("modelA", "cpu")
    assert "only 60 s at once" in used.begin(make_recording(chirp(60, 256.0), 256.0), Window(0, 60)).caveat
    assert "only" not in used.begin(make_recording(chirp(301, 256.0), 256.0), Window(0, 301)).caveat
    with pytest.raises(AnalysisError, match="needs at least 10 s"):
        used.begin(make_recording(chirp(5, 256.0), 256.0), Window(0, 5))


def test_it_finds_the_seizure_of_a_real_recording(shared: Path) -> None:
    from analysis.readers import open_recording

    with open_recording(shared / "recordings/scalp-seizure-42ch/scalp_seizure.edf") as recording:
        times, values, _, run = collect(BrainmazeDetector("modelA", "cpu"), recording)
        types = dict(zip(recording.ch_names, recording.ch_types, strict=True))
    assert {types[name] for name in run.scored} == {"eeg"}
    ictal = times + 0.25 < 85.0
    assert roc_auc_score(ictal, values) >= 0.95
    assert (values[~ictal] >= 0.5).mean() <= 0.10
    assert (values[ictal] >= 0.5).mean() >= 0.95

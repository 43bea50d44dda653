"""Sliding windows that share embeddings against whole windows given to the model one by one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from analysis.engine.detector import Chunk
from analysis.engine.mvpformer_detector import MVPFormerDetector
from analysis.errors import AnalysisError
from analysis.preprocessing import Preprocessing, SpanSignal
from analysis.progress import Cancelled, Progress
from analysis.recording import Window
from analysis.survey import ScorableSpan
from models.mvpformer.config import MVPFormerConfig
from models.registry import untrained_model

Make = Callable[..., Any]
CONFIG = MVPFormerConfig(
    n_embd=16, n_layer=2, n_head=2, n_head_kv=1, n_inner=24, n_positions=12, n_channels=6, n_segments=4,
    task="classification",
)  # fmt: skip
LENGTH = 2560


def classifier(config: MVPFormerConfig = CONFIG) -> torch.nn.Module:
    model = untrained_model("mvpformer", config, seed=3)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "norm" not in name:
                parameter.mul_(20)  # so that every segment makes a difference
    return model


def detector(segments: int | None = None, config: MVPFormerConfig = CONFIG) -> MVPFormerDetector:
    return MVPFormerDetector(classifier(config), torch.device("cpu"), segments)


def signal(seconds: float, sfreq: float = 256.0, n_channels: int = 3, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    loud = 1 + 5 * np.sin(np.arange(round(seconds * sfreq)) / sfreq / 7) ** 2
    return rng.normal(0, 20, (n_channels, round(seconds * sfreq))) * loud


def collect(
    used: MVPFormerDetector, recording: Any, window: Window | None = None, first_time: float | None = None, **more: Any
) -> tuple[np.ndarray, np.ndarray, list[Chunk], Any]:
    run = used.begin(recording, window or Window(0, recording.duration), **more)
    chunks = list(run.chunks(Progress(), first_time))
    times = np.concatenate([chunk.times for chunk in chunks])
    order = np.argsort(times)
    return times[order], np.concatenate([chunk.probability for chunk in chunks])[order], chunks, run


def directly(used: MVPFormerDetector, data: np.ndarray, context: int) -> np.ndarray:
    """Each segment with the history it has, embedded anew for every window; `data` is (channels, samples)."""
    model = used._session._model
    segments = torch.from_numpy(data.reshape(len(data), -1, LENGTH).transpose(1, 0, 2).copy())
    values = []
    with torch.no_grad():
        for k in range(len(segments)):
            window = segments[max(0, k - context + 1) : k + 1][None]
            logits = model.logits_from_embeddings(model.embed(window), context=context)
            values.append(float(torch.softmax(logits, dim=1)[0, 1]))
    return np.array(values)


@pytest.mark.parametrize("context", [1, 3, 4, 12])
def test_shared_embeddings_give_what_whole_windows_give(make_recording: Make, context: int) -> None:
    recording = make_recording(signal(83), 256.0)
    used = detector(context)
    times, values, _, run = collect(used, recording)
    whole = SpanSignal(recording, ScorableSpan(0, 83, 0), range(3), Preprocessing()).read(0, 16 * LENGTH)
    assert times.tolist() == [5.0 * k for k in range(16)]
    assert values == pytest.approx(directly(used, whole, context), abs=1e-5)
    assert values.std() > 0.01
    assert run.facts == {"segments_scored": 16, "segments_with_short_context": min(16, context - 1)}
    assert run.not_scored == [(80.0, 83.0, "less than a segment of 5 s")]


@pytest.mark.parametrize("first_time", [None, 0.0, 152.0, 297.0, 1e6])
def test_each_segment_is_embedded_once_whatever_comes_first(
    make_recording: Make, monkeypatch: pytest.MonkeyPatch, first_time: float | None
) -> None:
    monkeypatch.setattr("analysis.engine.mvpformer_detector.STRETCH_SEGMENTS", 7)
    monkeypatch.setattr("analysis.engine.mvpformer_detector.EMBED_SEGMENTS", 5)
    recording = make_recording(signal(300), 256.0)
    used = detector()
    plain = collect(detector(), recording, batch_size=3)
    embedded: list[int] = []
    embed = used._session.embed

    def counting(segments: np.ndarray) -> torch.Tensor:
        embedded.append(len(segments))
        return embed(segments)

    monkeypatch.setattr(used._session, "embed", counting)
    times, values, chunks, _ = collect(used, recording, first_time=first_time, batch_size=3)
    assert sum(embedded) == 60
    assert times.tolist() == plain[0].tolist()
    assert values == pytest.approx(plain[1], abs=1e-5)
    if first_time is not None and first_time < 300:
        assert chunks[0].times[0] <= first_time < chunks[0].times[0] + 5


def test_only_what_windows_still_need_is_kept(make_recording: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analysis.engine.mvpformer_detector.STRETCH_SEGMENTS", 10)
    monkeypatch.setattr("analysis.engine.mvpformer_detector.EMBED_SEGMENTS", 6)
    recording = make_recording(signal(600), 256.0)
    run = detector().begin(recording, Window(0, 600), 2)
    most = 0
    forget = type(run)._forget

    def watching(self: Any, kept: dict[Any, Any], *rest: Any) -> None:
        nonlocal most
        forget(self, kept, *rest)
        most = max(most, len(kept))

    monkeypatch.setattr(type(run), "_forget", watching)
    recording.most_read = 0
    list(run.chunks(Progress(), 333.0))
    assert most <= 2 * 3 + 6 + 6  # two histories at either frontier and one group that was embedded ahead
    assert recording.most_read < 100 * 256


def test_a_part_gives_what_the_whole_gives_there(make_recording: Make) -> None:
    recording = make_recording(signal(400), 256.0)
    _, values, _, _ = collect(detector(), recording)
    part_times, part_values, _, run = collect(detector(), recording, Window(202, 288))
    assert part_times.tolist() == [5.0 * k for k in range(41, 57)]
    assert part_values == pytest.approx(values[41:57], abs=1e-5)
    assert run.facts["segments_with_short_context"] == 0
    assert run.not_scored[0] == (202, 205, "less than a segment of 5 s")


def test_nothing_runs_across_a_gap(make_recording: Make) -> None:
    data = signal(200)
    with_gap = make_recording(data, 256.0, gaps=((80.0, 120.0),))
    times, values, _, run = collect(detector(), with_gap)
    first = collect(detector(), make_recording(data[:, : 80 * 256], 256.0))
    second = collect(detector(), make_recording(data[:, 120 * 256 :], 256.0))
    assert times.tolist() == [*first[0].tolist(), *(second[0] + 120).tolist()]
    assert values == pytest.approx(np.concatenate([first[1], second[1]]), abs=1e-5)
    assert run.facts["segments_with_short_context"] == 6
    assert run.not_scored == [(80.0, 120.0, "gap in the recording")]


def test_missing_samples_are_not_scored(make_recording: Make) -> None:
    data = signal(60)
    data[:, 22 * 256 : 23 * 256] = np.nan
    times, values, _, run = collect(detector(), make_recording(data, 256.0, format="HDF5"))
    assert times.tolist() == [0, 5, 10, 15, 25, 30, 35, 40, 45, 50, 55]
    assert np.isfinite(values).all()
    assert [span[:2] for span in run.not_scored] == [(20, 22), (22, 23), (23, 25)]


def test_channels_beyond_the_tables_are_left_out(make_recording: Make) -> None:
    run = detector().begin(make_recording(signal(30, n_channels=8), 256.0), Window(0, 30))
    assert run.scored == ("C0", "C1", "C2", "C3", "C4", "C5")
    assert [name for name, _ in run.left_out] == ["C6", "C7"]


def test_work_stops_when_it_is_cancelled(make_recording: Make) -> None:
    class Impatient(Progress):
        def report(self, done: float, total: float, message: str = "") -> None:
            if done >= 2:
                raise Cancelled

    used = detector()
    run = used.begin(make_recording(signal(100), 256.0), Window(0, 100), 1)
    with closing(run.chunks(Impatient(), None)) as chunks:
        assert len(next(chunks).times) == 1
        with pytest.raises(Cancelled):
            next(chunks)
    assert not any(module._forward_pre_hooks for module in used._session._model.modules())


def test_the_size_of_batches_is_learned_from_whole_windows_only(make_recording: Make) -> None:
    used = detector()
    run: Any = used.begin(make_recording(signal(100), 256.0), Window(0, 100))
    learned: list[int] = []
    work_on = run.windows.run

    def noted(n: int, work: Any) -> Any:
        size, made = work_on(n, work)
        learned.append(size)
        return size, made

    run.windows.run = noted
    scored = sum(len(chunk.times) for chunk in run.chunks(Progress(), None))
    assert run.facts["segments_with_short_context"] == used.segments - 1
    assert scored == 20
    assert sum(learned) == 20 - (used.segments - 1)


def test_too_little_memory_halves_the_batch(make_recording: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    used = detector()
    recording = make_recording(signal(100), 256.0)
    expected = collect(detector(), recording)[1]
    sizes: list[int] = []
    probability = used._session.probability

    def small(windows: torch.Tensor, context: int) -> np.ndarray:
        sizes.append(len(windows))
        if len(windows) > 3:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return probability(windows, context)

    monkeypatch.setattr(used._session, "probability", small)
    assert collect(used, recording, batch_size=8)[1] == pytest.approx(expected, abs=1e-5)
    assert sizes.count(8) == 1
    assert max(sizes[sizes.index(8) + 2 :]) == 2


@pytest.mark.parametrize(
    ("seconds", "window", "message"),
    [(4.0, Window(0, 4), "no whole segment of 5 s"), (60.0, Window(11, 19), "between 11 and 19 s")],
)
def test_nothing_to_score_is_said(make_recording: Make, seconds: float, window: Window, message: str) -> None:
    with pytest.raises(AnalysisError, match=message):
        detector().begin(make_recording(signal(seconds), 256.0), window)


def test_refused_models_and_settings() -> None:
    with pytest.raises(AnalysisError, match=r"without a classification head.*--head"):
        detector(config=replace(CONFIG, task="generation"))
    with pytest.raises(AnalysisError, match="1 to 12 segments at once, not at 13"):
        detector(13)
    with pytest.raises(AnalysisError, match="none of this head's classes is called seizure"):
        detector(config=replace(CONFIG, n_classes=3))


def test_random_weights_say_so() -> None:
    used = detector()
    assert used.random_weights
    assert "random weights" in used.caveat
    assert used.input_description == "4 segments of 5 s (20 s) at 512 Hz, median reference"

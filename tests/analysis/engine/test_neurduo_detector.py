"""A fine-tuned NeurDuo over a recording: channels in its order, sequences of units, the published padding."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from analysis.channels import RawChannel, build_channels
from analysis.engine import neurduo_units
from analysis.engine.detectors import load_detector
from analysis.engine.neurduo_units import UnitClassifier, find_channels, plan_sequences
from analysis.engine.predict import predict_seizures
from analysis.engine.serving import Serving
from analysis.errors import AnalysisError
from analysis.progress import Progress
from analysis.recording import Window
from analysis.survey import survey_recording
from models.checkpoint import save_container
from models.neurduo.electrodes import unit_positions
from models.neurduo.normalisation import normalise_window
from models.registry import load_model

HEAD = ("FP1", "F7", "T7", "O2", "CZ")


@pytest.fixture(scope="module")
def files(shared: Path) -> tuple[Path, Path]:
    parity = shared / "parity" / "neurduo"
    return parity / "tiny/tiny_checkpoint.pt", parity / "heads/tiny_heads.safetensors"


@pytest.fixture(scope="module")
def model(files: Any) -> Any:
    return load_model(*files)


def build(make_recording: Any, names: Any = HEAD, seconds: float = 60.0, **more: Any) -> Any:
    rng = np.random.default_rng(2)
    data = rng.normal(size=(len(names), round(seconds * 256))).cumsum(1) + rng.normal(size=(len(names), 1)) * 100
    channels = build_channels([RawChannel(name, "uV", 256.0) for name in names])
    return make_recording(data.astype(np.float32), 256.0, channels, **more)


def probabilities(files: Any, recording: Any, start: float = 0.0, stop: float | None = None) -> dict[float, float]:
    detector = load_detector(*files, device="cpu")
    run = detector.begin(recording, Window(start, stop or recording.duration))
    chunks = list(run.chunks(Progress(), None))
    times = np.concatenate([chunk.times for chunk in chunks])
    return dict(zip(times.round(6).tolist(), np.concatenate([c.probability for c in chunks]).tolist(), strict=True))


@pytest.mark.parametrize("is_made_for_it", [True, False])
def test_bfloat16_on_a_processor_is_of_the_signal_encoder_alone(
    is_made_for_it: bool, files: Any, make_recording: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(neurduo_units, "computes_in_bfloat16", lambda _: is_made_for_it)
    recording = build(make_recording, seconds=20.0)
    detector = load_detector(*files, device="cpu")
    values, facts = [], []
    for precision in ("float32", "bfloat16"):
        run = detector.begin(recording, Window(0.0, 20.0), serving=Serving(precision=precision))
        values.append(np.concatenate([chunk.probability for chunk in run.chunks(Progress(), None)]))
        facts.append(run.served()["precision"])
    apart = np.abs(values[0] - values[1]).max()
    if is_made_for_it:
        assert 0 < apart < 0.01
        assert facts[1]["format"] == "bfloat16"
        assert facts[1]["largest_difference"] == pytest.approx(apart, abs=1e-6)
    else:
        assert apart == 0
        assert facts[1]["format"] == "float32"
        assert "not made for products in bfloat16" in facts[1]["reason"]


def test_units_of_sequences_with_the_last_one_padded(files: Any, model: Any, make_recording: Any) -> None:
    recording = build(make_recording, seconds=33.0)  # one sequence of 4 units of 5 s, then 2 units
    found = probabilities(files, recording)
    assert list(found) == [0, 5, 10, 15, 20, 25]
    positions = torch.tensor([unit_positions()[site] for site in HEAD])
    for first, count in ((0, 4), (20, 2)):
        signal = torch.zeros(5, 4 * 1280)
        signal[:, : count * 1280] = torch.from_numpy(recording.data[:, first * 256 : (first + 5 * count) * 256])
        chunks = normalise_window(signal).view(5, 40, 128).transpose(0, 1)[None]
        with torch.inference_mode():
            expected = model.logits(chunks, positions, torch.zeros(5, dtype=torch.int64)).softmax(-1)[0, :count, 1]
        mine = [found[first + 5.0 * i] for i in range(count)]
        np.testing.assert_allclose(mine, expected.numpy(), rtol=0, atol=1e-5)


@pytest.mark.parametrize("span", [(0.0, 30.0), (31.0, 52.0), (44.0, 60.0)])
def test_a_unit_has_one_probability_whatever_is_asked_for(span: Any, files: Any, make_recording: Any) -> None:
    recording = build(make_recording, seconds=70.0)
    whole, part = probabilities(files, recording), probabilities(files, recording, *span)
    assert part
    assert part == pytest.approx({time: whole[time] for time in part}, abs=1e-5)
    assert min(part) >= span[0]
    assert max(part) + 5 <= span[1]


def test_sequences_nearest_to_a_time_come_first(files: Any, make_recording: Any) -> None:
    recording = build(make_recording, seconds=90.0)
    detector = load_detector(*files, device="cpu")
    run: Any = detector.begin(recording, Window(0, 90), batch_size=1)
    first = next(iter(run.chunks(Progress(), 50.0)))
    assert first.times[0] == 40.0
    assert first.durations.tolist() == [5.0] * 4
    ordered = plan_sequences(list(run.plan.signals), 4, None)
    assert [sequence.start for sequence in ordered] == [0, 4, 8, 12, 16]


def test_the_channels_of_the_head_in_its_order(model: Any, make_recording: Any) -> None:
    names = ("EEG Cz-Ref", "EEG T3-Ref", "EEG O2-Ref", "EEG Pz-Ref", "EEG F7-Ref", "EEG Fp1-Ref", "EKG1")
    recording = build(make_recording, names)
    chosen, missing = find_channels(recording, survey_recording(recording, Window(0, 60)), model.config.head)
    assert chosen.ch_names == ("Fp1", "F7", "T3", "O2", "Cz"), "a T3 lies where a T7 lies"
    assert not missing.any()
    assert dict(chosen.left_out) == {
        "EKG1": "not a brain signal (ecg)",
        "Pz": "not among the channels this head reads",
    }


def test_a_flat_channel_is_hidden_and_told(files: Any, make_recording: Any) -> None:
    recording = build(make_recording)
    recording.data[1] = 12.0
    run: Any = load_detector(*files, device="cpu").begin(recording, Window(0, 60))
    assert run.facts["missing_channels"] == ["F7"]
    assert "read as zeros" in dict(run.left_out)["F7"]
    values = np.concatenate([chunk.probability for chunk in run.chunks(Progress(), None)])
    assert np.isfinite(values).all()
    recording.data[:] = 1.0
    with pytest.raises(AnalysisError, match=r"no channel can be scored \(made.edf\)"):
        load_detector(*files, device="cpu").begin(recording, Window(0, 60))


@pytest.mark.parametrize("names", [("C3",), ("FP1", "F7", "T7", "O2"), ("x", "y")])
def test_absent_electrodes_are_named(names: Any, files: Any, make_recording: Any) -> None:
    recording = build(make_recording, names)
    absent = ", ".join(site for site in HEAD if site not in names)
    with pytest.raises(
        AnalysisError, match=rf"this head reads FP1, F7, T7, O2, CZ, and the recording has no {absent} "
    ):
        load_detector(*files, device="cpu").begin(recording, Window(0, 60))


def test_a_container_predicts_from_a_file(shared: Path, model: Any, tmp_path: Path) -> None:
    path = tmp_path / "neurduo.safetensors"
    save_container(model, path)
    recording = shared / "recordings" / "scalp-seizure-46ch" / "demo_edf.edf"
    result = predict_seizures(recording, path, device="cpu")
    assert result.complete
    assert len(result.probability) == 9
    np.testing.assert_allclose(result.durations, 5)
    assert result.provenance["rule"]["name"] == "E.2"
    assert result.random_weights
    assert result.model_title == "NeurDuo-EEG-tiny"
    assert result.provenance["scored_channels"] == ["Fp1", "F7", "T3", "O2", "Cz"]
    assert result.provenance["checkpoint"]["family"] == "neurduo"


def test_gaps_and_short_rests_are_not_scored(files: Any, make_recording: Any) -> None:
    recording = build(make_recording, gaps=((22.0, 30.0),))
    detector = load_detector(*files, device="cpu")
    run = detector.begin(recording, Window(0, 60))
    times = np.concatenate([chunk.times for chunk in run.chunks(Progress(), None)])
    np.testing.assert_allclose(times, [0, 5, 10, 15, 30, 35, 40, 45, 50, 55])
    assert [(a, b) for a, b, _ in run.not_scored] == [(20.0, 22.0), (22.0, 30.0)]
    with pytest.raises(AnalysisError, match=r"no whole unit of 5 s can be scored between 21 and 25 s"):
        detector.begin(recording, Window(21, 25))


def test_what_gives_no_seizure_probability(files: Any, shared: Path, model: Any, tmp_path: Path) -> None:
    with pytest.raises(AnalysisError, match=r"without a fine-tuned head tells no classes \(.*tiny_checkpoint.pt\)"):
        load_detector(files[0], device="cpu")
    with pytest.raises(AnalysisError, match="neurduo-tokenizer checkpoints give no seizure probability"):
        load_detector(shared / "parity/neurduo/tokenizer/tiny.safetensors", device="cpu")
    with pytest.raises(AnalysisError, match="takes no number of segments"):
        load_detector(*files, device="cpu", segments=4)
    sleep = tmp_path / "sleep.safetensors"
    save_container(model, sleep, labels=["W", "N1"])
    detector = load_detector(sleep, device="cpu")
    assert detector.configuration["labels"] == ["W", "N1"], "of two classes the second is taken for the seizure"
    with pytest.raises(AnalysisError, match="the batch size must be at least 1"):
        detector.begin(None, Window(0, 1), batch_size=0)  # type: ignore[arg-type]


def test_a_head_for_something_that_is_no_electrode(model: Any) -> None:
    other = deepcopy(model)
    other.config = replace(model.config, head=replace(model.config.head, channels=("FP1", "EKG", "T7", "O2", "CZ")))
    with pytest.raises(AnalysisError, match="this head reads EKG, which is no electrode"):
        UnitClassifier(other, torch.device("cpu"))

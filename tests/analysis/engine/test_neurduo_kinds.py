"""NeurDuo's analyses from a file to named arrays, and what they say in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.analyses import Findings
from analysis.engine import neurduo_kinds, neurduo_stream
from analysis.engine.analyze import analyze
from analysis.errors import AnalysisError
from analysis.progress import Progress

TINY = "parity/neurduo/tiny/tiny_checkpoint.pt"


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neurduo_stream, "_last", None)


@pytest.fixture(scope="module")
def scalp(shared: Path) -> Path:
    return shared / "recordings" / "scalp-seizure-46ch" / "demo_edf.edf"


def run(kind: str, shared: Path, path: Path, *span: float, options: Any = None, progress: Any = None) -> Any:
    return analyze(kind, path, [shared / TINY], *span, options=options or {}, device="cpu", progress=progress)


class Partial(Progress):
    def __init__(self) -> None:
        self.parts: list[Findings] = []

    def partial(self, result: Any) -> None:
        self.parts.append(result)


def test_rates_of_both_streams(shared: Path, scalp: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neurduo_kinds, "PARTIAL_SECONDS", 0.0)
    progress = Partial()
    found = run("streams", shared, scalp, progress=progress)
    fast, slow = found.values("fast_by_channel"), found.values("slow_by_channel")
    assert fast.shape == (90, 20)
    assert slow.shape == (22, 20)
    assert np.isnan(fast[0]).all()
    assert np.isfinite(fast[1:]).all()
    assert np.isnan(slow[0]).all()
    np.testing.assert_allclose(found.values("fast"), fast.mean(1), rtol=1e-6)
    np.testing.assert_allclose(found.values("slow_time"), 1.5 + 2 * np.arange(22))
    np.testing.assert_allclose(found.values("time"), 0.5 * np.arange(90))
    np.testing.assert_allclose(
        found.values("fast_at_writes")[1:], fast[4:88].reshape(21, 4, 20).mean((1, 2)), rtol=1e-5
    )
    facts = found.facts
    assert facts["fast_median"] == pytest.approx(np.median(fast[1:].mean(1)), rel=1e-5)
    assert (facts["compared_writes"], facts["step_seconds"], facts["write_seconds"]) == (21, 0.5, 2.0)
    assert facts["state_bytes"] == 20 * 308_160 // 10
    assert 0 < facts["causal_against_window"]["median"] < 0.5
    assert any("causal normalisation changes the output by" in note for note in found.notes)
    assert found.random_weights
    last = progress.parts[-1]
    np.testing.assert_array_equal(last.arrays["fast"].values, found.values("fast"))


def test_a_span_has_the_rates_of_the_whole_recording(shared: Path, scalp: Path) -> None:
    whole = run("streams", shared, scalp)
    part = run("streams", shared, scalp, 20.2, 10.0)
    assert part.facts["first_time"] == 20.0
    steps = round(20.0 / 0.5) + np.arange(len(part.values("fast")))
    np.testing.assert_allclose(part.values("fast"), whole.values("fast")[steps], rtol=1e-3, atol=1e-4)
    late = run("streams", shared, scalp, 20.2, 10.0, options={"history": 5})
    assert late.facts["begins_at"] == pytest.approx(15.5)
    assert any("starts from zero at 15.5 s, not with the recording" in note for note in late.notes)


def test_gaps_and_resets_are_told(shared: Path) -> None:
    path = shared / "recordings" / "broken" / "edfplus_d_gap.edf"
    found = run("streams", shared, path)
    assert found.facts["resets"] == [0.0]
    assert found.facts["not_scored"] == [[5.0, 65.0, "gap in the recording"]]
    assert any("1 of at most 60 s, over which the state is carried, and 0 longer" in note for note in found.notes)
    again = run("streams", shared, path, options={"reset_gap": 20})
    assert again.facts["resets"] == [0.0, 65.0]
    assert np.isnan(again.values("fast")[[0, 10]]).all()
    with pytest.raises(AnalysisError, match=r"no signal between 20 and 30 s \(.*edfplus_d_gap.edf\)"):
        run("streams", shared, path, 20, 10)


def test_one_channel_and_missing_samples(shared: Path) -> None:
    found = run("memory", shared, shared / "recordings" / "broken" / "brainvision_nan.vhdr")
    assert [span[2] for span in found.facts["not_scored"]] == ["samples are missing"] * 2
    assert found.values("weights").shape == (32, 8, 8)


def test_time_constants_with_an_untrained_model_beside(shared: Path, scalp: Path) -> None:
    found = run("timescales", shared, scalp, options={"seed": 3})
    golden = np.load(shared / "parity" / "neurduo" / "tiny" / "timescales_rates.npz")
    for name in ("fast", "slow"):
        np.testing.assert_allclose(found.values(name), golden[f"tau_{name}_s"], rtol=1e-5)
        assert found.values(f"untrained_{name}").shape == found.values(name).shape
        np.testing.assert_allclose(
            found.values(f"{name}_median"), np.median(golden[f"tau_{name}_s"], (1, 2)), rtol=1e-5
        )
    assert found.facts["fast_median"] == pytest.approx(float(golden["np_median_tau"][0]), rel=1e-5)
    assert found.facts["untrained_fast_longest"] == pytest.approx(500, rel=0.5)
    assert "looks almost the same" in found.notes[0]


def test_what_the_bank_recalls(shared: Path, scalp: Path) -> None:
    found = run("memory", shared, scalp, 0, 30)
    weights, written = found.values("weights"), found.values("slot_time")
    assert weights.shape == (60, 20, 8)
    assert (weights[:3] == 0).all()
    np.testing.assert_allclose(weights[3:].sum(-1), 1, atol=1e-5)
    times = found.values("time")
    for step in (0, 2, 3, 6, 7, 40, 59):
        count = min((step + 1) // 4, 8)
        newest = (step + 1) // 4 * 2.0 - 0.5  # begin of the step that wrote last
        expected = [np.nan] * (8 - count) + [newest - 2 * age for age in range(count - 1, -1, -1)]
        np.testing.assert_allclose(written[step], expected)
        assert (weights[step, :, : 8 - count] == 0).all()
        assert times[step] == step / 2
    assert (found.values("gate")[:3] == 0).all()
    assert ((found.values("gate")[3:] > 0) & (found.values("gate")[3:] < 1)).all()
    assert found.labels["slot"][-2:] == ("2 s before it", "newest")
    assert found.facts["bank_seconds"] == 16


def test_units_and_their_classes(shared: Path, scalp: Path) -> None:
    parity = shared / "parity" / "neurduo"
    table = {"checkpoint": parity / "tiny/tiny_checkpoint.pt", "head": parity / "heads/tiny_heads.safetensors"}
    found = analyze("stages", scalp, [table], device="cpu")
    assert found.values("probability").shape == (9, 2)
    np.testing.assert_allclose(found.values("probability").sum(1), 1, atol=1e-6)
    np.testing.assert_allclose(found.values("time"), 5 * np.arange(9))
    np.testing.assert_array_equal(found.values("choice"), found.values("probability").argmax(1))
    assert found.labels["class"] == ("background", "seizure")
    with pytest.raises(AnalysisError, match="without a fine-tuned head tells no classes"):
        run("stages", shared, scalp)


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("edfplus-c-d/edfPlusD.edf", "no channel is named by an electrode"),
        ("ecog-seizure-mat/pt01_ecog_onset.h5", "no channel is named by an electrode"),
    ],
)
def test_recordings_without_electrodes_end_in_one_line(file: str, words: str, shared: Path) -> None:
    with pytest.raises(AnalysisError, match=words) as caught:
        run("streams", shared, shared / "recordings" / file)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "file", ["axon/tiny.safetensors", "mvpformer/tiny_base.pt", "neurduo/tokenizer/tiny.safetensors"]
)
def test_models_of_other_families_are_refused(file: str, shared: Path, scalp: Path) -> None:
    with pytest.raises(AnalysisError, match=r"gives no streams \(.*" + Path(file).name):
        analyze("streams", scalp, [shared / "parity" / file], device="cpu")

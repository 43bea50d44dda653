"""Number formats that are checked, batches that travel, and choices that are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from analysis.engine.memory import Meter
from analysis.engine.serving import BFLOAT16, FLOAT32, Precision, Serving, Staging
from analysis.errors import AnalysisError

CPU = torch.device("cpu")


def product(scale: float, seed: int = 0) -> Any:
    """Work whose probabilities are those of a matrix product, of weights that make rounding matter or not."""
    torch.manual_seed(seed)
    layer, x = torch.nn.Linear(64, 5).requires_grad_(False), torch.randn(7, 64) * scale

    def work() -> np.ndarray:
        return torch.sigmoid(layer(x).float())[:, 0].numpy()

    return work


def test_float32_is_computed_once_and_says_nothing_of_a_check() -> None:
    calls = []
    precision = Precision(FLOAT32, CPU)
    precision.run(lambda: calls.append(1) or np.zeros(1))  # type: ignore[func-returns-value]
    assert len(calls) == 1
    assert precision.facts == {"precision": {"format": "float32"}}
    assert precision.options == {}


def test_a_first_batch_in_both_formats_tells_how_far_they_are_apart() -> None:
    work = product(1.0)
    exact = work()
    precision = Precision(BFLOAT16, CPU)
    assert precision.options == {"precision": "bfloat16"}
    found = precision.run(work)
    apart = float(np.abs(found - exact).max())
    assert 0 < apart < 0.01, "the numbers of the chosen format come back"
    assert precision.facts == {
        "precision": {"format": "bfloat16", "largest_difference": apart, "tolerance": 0.01, "compared": 7}
    }
    assert not precision.settled
    np.testing.assert_array_equal(precision.run(work), found)
    assert precision.facts["precision"]["compared"] == 14
    assert precision.settled, "what comes is computed once"
    calls: list[int] = []
    precision.run(lambda: calls.append(1) or work())  # type: ignore[func-returns-value]
    assert len(calls) == 1


def test_beyond_the_tolerance_float32_is_used_after_all() -> None:
    x, ones = torch.tensor([[257.0, -256.0]]), torch.ones(2, 1)  # bfloat16 knows no 257

    def work() -> np.ndarray:
        return torch.sigmoid((x @ ones).float())[:, 0].numpy()

    exact = work()
    precision = Precision(BFLOAT16, CPU)
    np.testing.assert_array_equal(precision.run(work), exact)
    facts = precision.facts["precision"]
    assert facts["format"] == "float32"
    assert facts["largest_difference"] == pytest.approx(1 / (1 + np.exp(-1)) - 0.5, abs=1e-6)
    assert facts["reason"] == "bfloat16 differs too much"
    np.testing.assert_array_equal(precision.run(work), exact)


@pytest.mark.parametrize(
    ("error", "reason"),
    [(RuntimeError("mat1 must be float\nmore"), "bfloat16 failed: mat1 must be float"), (None, "differs too much")],
)
def test_what_cannot_be_computed_in_bfloat16_is_not(error: Exception | None, reason: str) -> None:
    def work() -> np.ndarray:
        if not torch.is_autocast_enabled("cpu"):
            return np.zeros(3)
        if error is not None:
            raise error
        return np.full(3, np.nan)

    precision = Precision(BFLOAT16, CPU)
    assert precision.run(work).tolist() == [0, 0, 0]
    assert precision.name == FLOAT32
    assert reason in precision.facts["precision"]["reason"]


def test_memory_that_runs_out_in_the_check_is_left_to_the_batch() -> None:
    def work() -> np.ndarray:
        if torch.is_autocast_enabled("cpu"):
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return np.zeros(3)

    precision = Precision(BFLOAT16, CPU)
    with pytest.raises(torch.OutOfMemoryError):
        precision.run(work)
    assert precision.run(lambda: np.zeros(1)).tolist() == [0], "and is done anew with fewer"
    assert precision.name == BFLOAT16


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"batch_size": 0}, "at least 1, not 0"),
        ({"memory_share": 0.0}, "above 0 and at most 1, not 0"),
        ({"memory_share": 1.5}, "above 0 and at most 1, not 1.5"),
        ({"precision": "int4"}, "no precision is called 'int4'"),
    ],
)
def test_what_cannot_be_chosen(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(AnalysisError, match=words):
        Serving(**wrong).chosen()


def test_the_batch_may_take_its_share_of_what_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Meter, "free", lambda self: 1000)
    assert Serving(memory_share=0.25).batch(CPU, "cpu", "x", 8)._budget == 250
    assert Serving().chosen(5).batch(CPU, "cpu", "x", 8).size == 5
    monkeypatch.setattr(Meter, "free", lambda self: None)
    assert Serving().batch(CPU, "cpu", "x", 8)._budget is None


@pytest.mark.parametrize(
    ("cores", "threads", "device", "ahead"),
    [(2, 2, "cpu", False), (2, 1, "cpu", True), (8, 4, "cpu", True), (1, 1, "cpu", False), (2, 2, "cuda", True)],
)
def test_windows_are_read_ahead_where_the_model_leaves_a_core_for_it(
    monkeypatch: pytest.MonkeyPatch, cores: int, threads: int, device: str, ahead: bool
) -> None:
    monkeypatch.setattr("analysis.engine.serving._cores", lambda: cores)
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    there = torch.device(device)
    assert Serving().reads_ahead(there) is ahead
    assert Serving().reads_ahead(there, cores) is (device == "cuda"), "another library counts its own threads"
    assert Serving(overlap=True).reads_ahead(there)
    assert not Serving(overlap=False).reads_ahead(there)


def test_automatic_precision_is_that_of_the_device() -> None:
    assert Serving().number_format(CPU).asked == FLOAT32
    assert Serving(precision="bfloat16").number_format(CPU).asked == BFLOAT16


def test_a_batch_stays_here_where_the_device_has_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = torch.arange(12.0).view(4, 3)
    staging = Staging(CPU)
    assert torch.equal(staging.stage(batch).take(1, 3), batch[1:3])

    def full(_: Any) -> Any:
        raise torch.OutOfMemoryError("CUDA out of memory.")

    monkeypatch.setattr(staging, "_stream", object())
    monkeypatch.setattr(staging, "_send", full)
    staged = staging.stage(batch)
    assert len(staged) == 4
    assert torch.equal(staged.take(0, 2), batch[:2])
    monkeypatch.setattr(staging, "_send", lambda _: (_ for _ in ()).throw(RuntimeError("a kernel failed")))
    with pytest.raises(RuntimeError, match="a kernel failed"):
        staging.stage(batch)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="NOT TESTED: no CUDA device")
def test_batches_arrive_on_a_gpu_from_another_thread() -> None:
    from analysis.engine.ahead import made_ahead

    device = torch.device("cuda")
    batches = [torch.randn(64, 19, 2560, generator=torch.Generator().manual_seed(i)) for i in range(8)]
    staging = Staging(device)
    with made_ahead(lambda _check: map(staging.stage, batches), lambda: None) as staged:
        for expected, found in zip(batches, staged, strict=True):
            busy = torch.randn(2048, 2048, device=device)
            for _ in range(20):
                busy = busy @ busy / 50
            assert torch.equal(found.take(0, 64).cpu(), expected)
            assert found.take(3, 5).is_cuda

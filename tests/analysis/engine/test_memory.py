"""Memory as the system tells it: free, at most in use, and what a container allows."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from analysis.engine import memory
from analysis.engine.memory import CudaMeter, Meter, meter_of

MEGABYTE = 2**20


@pytest.mark.skipif(sys.platform != "linux", reason="NOT TESTED: only Linux tells the free memory by these files")
def test_the_peak_of_a_batch_is_seen_and_counted_anew() -> None:
    meter = Meter()
    assert meter.free() is None or meter.free() > 0  # type: ignore[operator]
    meter.begin()
    array = np.ones(64 * MEGABYTE, np.uint8)
    del array
    peak = meter.peak()
    assert peak is not None
    assert 60 * MEGABYTE < peak < 200 * MEGABYTE


def test_where_marks_cannot_be_reset_only_what_exceeds_them_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    status = tmp_path / "status"
    monkeypatch.setattr(memory, "_REFS", tmp_path / "absent" / "refs")
    monkeypatch.setattr(memory, "_STATUS", status)
    status.write_text("VmHWM:\t  500 kB\nVmRSS:\t  300 kB\n")
    meter = Meter()
    meter.begin()
    assert meter.peak() == 0
    status.write_text("VmHWM:\t  700 kB\nVmRSS:\t  300 kB\n")
    assert meter.peak() == 200 * 1024


@pytest.mark.parametrize("names", memory._GROUP_FILES)
def test_a_container_leaves_what_its_limit_and_its_cache_do(tmp_path: Path, names: tuple[str, str, str]) -> None:
    limit, used, cached = names
    (tmp_path / limit).parent.mkdir(exist_ok=True)
    (tmp_path / limit).write_text("1000\n")
    (tmp_path / used).write_text("700\n")
    (tmp_path / limit).with_name("memory.stat").write_text(f"anon 5\n{cached} 200\n")
    assert memory._left_in_group(tmp_path) == 500
    (tmp_path / limit).write_text("max\n")
    assert memory._left_in_group(tmp_path) is None


def test_nobody_tells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_SYSTEM", tmp_path / "none")
    monkeypatch.setattr(memory, "_left_in_group", lambda: None)
    assert Meter().free() is None


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="NOT TESTED: no CUDA device")
def test_the_peak_on_a_gpu() -> None:
    meter = meter_of(torch.device("cuda"))
    assert isinstance(meter, CudaMeter)
    assert meter.free() > 64 * MEGABYTE  # type: ignore[operator]
    meter.begin()
    there = torch.ones(16 * MEGABYTE, device="cuda")
    del there
    assert 64 * MEGABYTE <= (meter.peak() or 0) < 80 * MEGABYTE

"""Blocks of signal do not cost fresh pages of memory each time."""

from __future__ import annotations

import gc
import subprocess
import sys

import pytest

from app.heap import no_collections

_MEASURE = """
import resource
import numpy as np
from app.heap import keep_freed_memory
assert keep_freed_memory() == {kept}
for i in range(6):
    if i == 3:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    np.ones(2_500_000, np.float32)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the setting is glibc's")
def test_freed_arrays_are_used_again() -> None:
    """Three arrays of 10 MB are 7,300 pages of 4 KB; none of them is asked of the system again."""
    import ctypes

    kept = hasattr(ctypes.CDLL(None), "mallopt")
    told = subprocess.run(
        [sys.executable, "-c", _MEASURE.format(kept=kept)], capture_output=True, text=True, check=True
    )
    assert not kept or int(told.stdout) < 100


def test_other_systems_are_left_alone(monkeypatch) -> None:
    from app.heap import keep_freed_memory

    monkeypatch.setattr(sys, "platform", "darwin")
    assert keep_freed_memory() is False


def test_no_garbage_is_looked_for_until_all_are_done() -> None:
    gc.enable()  # which the tests as a whole are without
    try:
        assert gc.isenabled()
        with no_collections():
            with no_collections():
                assert not gc.isenabled()
            assert not gc.isenabled()
        assert gc.isenabled()
    finally:
        gc.disable()

"""Processes of a bench's own: for torch with as many threads as are to be measured, for a window with new settings."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_TIMEOUT = 1800


def measure_apart(module: str, *arguments: int | str, threads: int) -> dict[str, Any] | str:
    """The JSON that `python -m module ARGUMENTS…` prints last, or the last line of what it complained of."""
    return _run(module, arguments, {"OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads)})


def run_apart(
    module: str, arguments: Sequence[str], variables: Mapping[str, str] | None = None
) -> dict[str, Any] | str:
    """The same with settings of its own, as a new user has them."""
    with tempfile.TemporaryDirectory(prefix="cerebroscope-bench-home-") as home:
        return _run(module, arguments, {**(variables or {}), "CEREBROSCOPE_HOME": home})


def _run(module: str, arguments: Sequence[int | str], variables: Mapping[str, str]) -> dict[str, Any] | str:
    root = str(Path(__file__).resolve().parents[1])
    environment = {**os.environ, **variables}
    environment |= {"PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")]).rstrip(":")}
    command = [sys.executable, "-P", "-m", module, *map(str, arguments)]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=_TIMEOUT)
    except subprocess.TimeoutExpired:
        return f"no end after {_TIMEOUT} s"
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        return f"failed: {lines[-1] if lines else f'exit code {done.returncode}'}"
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found

"""One process of the engine's own for a bench that loads torch, with as many threads as are to be measured."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

_TIMEOUT = 1800


def measure_apart(module: str, *arguments: int | str, threads: int) -> dict[str, Any] | str:
    """The JSON that `python -m module ARGUMENTS…` prints last, or the last line of what it complained of."""
    root = str(Path(__file__).resolve().parents[1])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")]).rstrip(":")}
    environment |= {"OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads)}
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

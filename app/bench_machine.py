"""What a bench is measured on, and what this machine can do at most: the floors of all benches are told from that."""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

YARDSTICK_MS = 5.7
YARDSTICK_CHANNELS, YARDSTICK_LENGTH = 128, 18_432
_COPIED = 64 << 20
_SIDE = 1024
_DRAWN = 1_000_000


@cache
def machine() -> dict[str, Any]:
    """What the figures are taken on, as it was before the first of them."""
    from importlib.metadata import version

    from app.engine_process import core_count

    load = round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None
    return {
        "system": platform.platform(),
        "processor": processor(),
        "cores": core_count(),
        "memory_gb": memory_gb(),
        "gpu": gpu(),
        "load": load,
        "python": platform.python_version(),
        "pyqt": version("PyQt6"),
        "numpy": version("numpy"),
        "yardstick_ms": yardstick(),
        "yardstick_of_targets_ms": YARDSTICK_MS,
        "copy_gb_s": copy_rate(),
        "product_gflop_s": product_rate(),
    }


def processor() -> str:
    """The processor's name, as far as the system tells it."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.processor() or platform.machine()


def memory_gb() -> float | None:
    """Main memory in gigabytes; None where the system does not tell."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9
    except (AttributeError, ValueError, OSError):
        return None


def gpu() -> str | None:
    """The first NVIDIA GPU, as its driver names it; None without one. Torch is not asked: it takes seconds to load."""
    import shutil
    import subprocess

    if shutil.which("nvidia-smi") is None:
        return None
    command = ["nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    return done.stdout.splitlines()[0].strip() if done.returncode == 0 and done.stdout.strip() else None


@cache
def yardstick() -> float:
    """Milliseconds for a float32 FFT there and back of 128 channels x 18 s x 1024 Hz on one thread: least of 15.

    The targets and the peer's figures were taken where this took YARDSTICK_MS; the ratio tells what a machine is worth.
    """
    from scipy import fft

    data = np.random.default_rng(0).normal(size=(YARDSTICK_CHANNELS, YARDSTICK_LENGTH)).astype(np.float32)
    return 1000 * _least(lambda: fft.irfft(fft.rfft(data, workers=1), data.shape[1], workers=1))


@cache
def copy_rate() -> float:
    """Gigabytes copied a second by one thread, of arrays that no cache holds."""
    source = np.zeros(_COPIED, np.uint8)
    target = np.ones_like(source)
    return _COPIED / 1e9 / _least(lambda: np.copyto(target, source))


@cache
def product_rate() -> float:
    """Billions of float32 operations a second in a product of two square matrices, on all cores that BLAS may take."""
    left = np.random.default_rng(0).normal(size=(_SIDE, _SIDE)).astype(np.float32)
    return 2 * _SIDE**3 / 1e9 / _least(lambda: left @ left)


@cache
def draw_rate() -> float:
    """Millions of normal random numbers drawn a second by one thread."""
    generator = np.random.default_rng(0)
    return _DRAWN / 1e6 / _least(lambda: generator.standard_normal(_DRAWN, dtype=np.float32))


def _least(work: Callable[[], object]) -> float:
    """Seconds: the least of 15."""
    best = float("inf")
    for _ in range(15):
        began = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - began)
    return best


def describe_machine(facts: dict[str, Any]) -> list[str]:
    """The machine in lines."""
    memory = f", {facts['memory_gb']:.0f} GB" if facts["memory_gb"] else ""
    lines = [
        f"{facts['system']}, {facts['processor']}, {facts['cores']} cores{memory}, load {facts['load']}, "
        f"GPU: {facts['gpu'] or 'none'}",
        f"Python {facts['python']}, PyQt {facts['pyqt']}, numpy {facts['numpy']}",
        f"memory copied at {facts['copy_gb_s']:.1f} GB/s, float32 matrices multiplied at "
        f"{facts['product_gflop_s']:.0f} GFLOP/s",
    ]
    slower = facts["yardstick_ms"] / YARDSTICK_MS
    lines.append(
        f"yardstick, an FFT of 128 channels there and back: {facts['yardstick_ms']:.1f} ms; {YARDSTICK_MS:g} ms where "
        f"the targets and the figures with * were measured, so this machine is {slower:.1f} x slower now"
    )
    if facts["load"] is not None and facts["load"] > facts["cores"]:
        lines.append("the machine is busy: wall times are too long; --detail shows processor time beside them")
    return lines


def resident_mb(pid: int | str = "self") -> float:
    """Resident memory of a process; the most it ever was where the system does not tell the present."""
    return _of_status("VmRSS", pid)


def peak_mb() -> float:
    """The most memory this process ever held."""
    return _of_status("VmHWM", "self")


def _of_status(field: str, pid: int | str) -> float:
    status = Path(f"/proc/{pid}/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith(f"{field}:"))
        return float(line.split()[1]) / 1024
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (1024**2 if sys.platform == "darwin" else 1024)

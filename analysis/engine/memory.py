"""How much memory is free for a batch, and how much one took at most: of this process, or of a GPU."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import torch

_STATUS, _REFS, _SYSTEM = Path("/proc/self/status"), Path("/proc/self/clear_refs"), Path("/proc/meminfo")
_GROUPS = Path("/sys/fs/cgroup")
# Of a group of processes: its limit, what it holds, and of that what the system takes back unasked.
_GROUP_FILES = (
    ("memory.max", "memory.current", "inactive_file"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "total_inactive_file"),
)
_RESET_PEAK = "5"


class Meter:
    """The clock and the memory of the processor; `peak` counts what the whole process took, reading ahead included."""

    def __init__(self) -> None:
        self._base = 0

    def now(self) -> float:
        """Seconds on a clock that only runs forward, with all work done that was given out before."""
        return time.monotonic()

    def free(self) -> int | None:
        """Bytes that can still be taken; None where the system does not tell."""
        system = _kilobytes(_SYSTEM, "MemAvailable")
        known = [value for value in (system, _left_in_group()) if value is not None]
        return min(known) if known else None

    def begin(self) -> None:
        """Count from here."""
        try:
            _REFS.write_text(_RESET_PEAK)
            self._base = _kilobytes(_STATUS, "VmRSS") or 0
        except OSError:
            self._base = _highest() or 0

    def peak(self) -> int | None:
        """Bytes by which the memory in use rose at most since `begin`; None where the system does not tell."""
        highest = _highest()
        return None if highest is None else max(0, highest - self._base)


class CudaMeter(Meter):
    """The clock and the memory of a GPU, as torch hands it out."""

    def __init__(self, device: torch.device) -> None:
        super().__init__()
        self._device = device

    def now(self) -> float:
        torch.cuda.synchronize(self._device)
        return super().now()

    def free(self) -> int | None:
        spare, _ = torch.cuda.mem_get_info(self._device)
        kept = torch.cuda.memory_reserved(self._device) - torch.cuda.memory_allocated(self._device)
        return int(spare + kept)

    def begin(self) -> None:
        torch.cuda.reset_peak_memory_stats(self._device)
        self._base = torch.cuda.memory_allocated(self._device)

    def peak(self) -> int | None:
        return max(0, int(torch.cuda.max_memory_allocated(self._device)) - self._base)


def meter_of(device: torch.device) -> Meter:
    """What measures batches on a device."""
    return CudaMeter(device) if device.type == "cuda" else Meter()


def _highest() -> int | None:
    """The most memory this process has held, in bytes."""
    found = _kilobytes(_STATUS, "VmHWM")
    if found is not None or sys.platform == "win32":
        return found
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def _kilobytes(file: Path, name: str) -> int | None:
    """A row such as "VmHWM: 12 kB" in bytes; None where there is no such file or row."""
    try:
        rows = file.read_text().splitlines()
    except OSError:
        return None
    found = next((row for row in rows if row.startswith(f"{name}:")), None)
    return None if found is None else int(found.split()[1]) * 1024


def _left_in_group(root: Path = _GROUPS) -> int | None:
    """What a container lets its processes take beyond what they hold; None where nothing limits them."""
    for limit_file, used_file, reclaimable in _GROUP_FILES:
        try:
            limit = int((root / limit_file).read_text())
            used = int((root / used_file).read_text())
            rows = (root / limit_file).with_name("memory.stat").read_text().split()
        except (OSError, ValueError):  # "max" is no number
            continue
        cached = int(dict(zip(rows[::2], rows[1::2], strict=False)).get(reclaimable, 0))
        return max(0, limit - used + cached)
    return None

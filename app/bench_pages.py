"""The window's bench: makes its recordings, runs each scenario in a fresh process, and tells the floor of each row."""

from __future__ import annotations

import math
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.errors import AnalysisError
from app.bench_apart import run_apart
from app.bench_cases import VIEWER_CASES, Case, Measured, Rows
from app.bench_files import FILES, HOUR, BenchFile, make_file, shortened
from app.bench_machine import YARDSTICK_CHANNELS, YARDSTICK_LENGTH, copy_rate, yardstick
from app.benches import Found, Plan

if TYPE_CHECKING:
    from app.bench_peer import Peer

SCENARIOS_OF_FILES = {
    "start": ("hour",),
    "open": ("day", "hour"),
    "day": ("day",),
    "hour": ("hour",),
    "hour64": ("hour64",),
    "wide": ("wide",),
    "marks": ("hour", "marks3000", "marks100000"),
}
_STARTS = 5
_TIMEOUT = 900
_FRAME_BYTES = 1600 * 900 * 4
_PADS = 8.0  # seconds of signal to both sides of a page, which its filter needs
_LONGEST_FILTERED = 1200.0  # seconds; a longer page is drawn from the overview


def bench(plan: Plan) -> Found:
    """Measure the window; beside mne-qt-browser where that is asked for."""
    share = plan.pick(0.1, 0.5, 1.0)
    repeats = plan.pick(6, 12, 24)
    files = {name: shortened(file, share) for name, file in FILES.items()}
    if plan.size != "full":
        files["hour"] = HOUR  # short already
    scenarios = dict(SCENARIOS_OF_FILES, **({"busy": ("hour",)} if plan.busy else {}))
    with workplace(sum(file.bytes for file in files.values())) as folder:
        paths = {
            name: plan.say(f"making {name}", lambda file=file: make_file(file, folder)) for name, file in files.items()
        }
        compiled = compiled_in(folder / "compiled")
        peer = _peer(plan, repeats, paths, compiled)
        measured, troubles = _measure(plan, scenarios, repeats, paths, compiled, peer)
    rows: Rows = []
    for case in VIEWER_CASES:
        if case.name == "busy page" and not plan.busy:
            continue
        found = measured.get(case.name)
        if found is None:
            rows.append((case, troubles.get(scenario_of(case), "not measured")))
        else:
            rows.append(_beside(case, with_floor(case, found, files), peer.samples.get(case.name, []) if peer else []))
    return Found(rows, peer.remarks if peer else [])


def _peer(plan: Plan, repeats: int, paths: dict[str, Path], compiled: dict[str, str]) -> Peer | None:
    """What measures mne-qt-browser, where that is asked for."""
    if not plan.peer:
        return None
    from app.bench_peer import Peer

    return Peer(plan, repeats, paths, compiled)


def _measure(
    plan: Plan,
    scenarios: dict[str, tuple[str, ...]],
    repeats: int,
    paths: dict[str, Path],
    compiled: dict[str, str],
    peer: Peer | None,
) -> tuple[dict[str, Measured], dict[str, str]]:
    measured: dict[str, Measured] = {}
    troubles: dict[str, str] = {}
    for scenario, needed in scenarios.items():
        files = [paths[name] for name in needed]
        for i in range(1 + _STARTS if scenario == "start" else 1):
            outcome = plan.say(
                f"measuring {scenario}", lambda s=scenario, f=files: run_scenario(s, repeats, f, compiled)
            )
            if isinstance(outcome, str):
                troubles[scenario] = outcome
            elif scenario != "start" or i > 0:  # the first start compiles
                _add(measured, outcome)
            if peer is not None:
                peer.measure(scenario, is_counted=scenario != "start" or i > 0)
    return measured, troubles


def _beside(case: Case, measured: Measured, rival: Sequence[float]) -> tuple[Case, Measured]:
    """A row with what mne-qt-browser took here, where that was measured."""
    from dataclasses import replace

    if not rival:
        return case, measured
    return replace(case, rival="mne-qt-browser"), replace(measured, rival=tuple(rival))


def scenario_of(case: Case) -> str:
    """The scenario that a case is measured in."""
    first = case.name.split()[0]
    return {"page": "day", "memory": "day", "marks3000": "marks", "marks100000": "marks"}.get(
        first, "open" if case.name.startswith("day open") else first
    )


def _add(measured: dict[str, Measured], outcome: dict[str, list[list[float]]]) -> None:
    for case, samples in outcome.items():
        before = measured.get(case, Measured(()))
        cpu = sorted(cpu for _, cpu in samples)[len(samples) // 2]
        measured[case] = Measured((*before.samples, *(wall for wall, _ in samples)), cpu)


def run_scenario(
    scenario: str, repeats: int, paths: Sequence[Path], variables: Mapping[str, str] | None = None
) -> dict[str, Any] | str:
    """The samples of a scenario in a process of its own, or the last line of what it complained of."""
    return run_apart("app.bench_viewer", [scenario, str(repeats), repr(time.time()), *map(str, paths)], variables)


def compiled_in(folder: Path) -> dict[str, str]:
    """Variables by which Python keeps compiled modules in a folder, so that starts after the first are warm."""
    return {"PYTHONPYCACHEPREFIX": str(folder), "PYTHONDONTWRITEBYTECODE": ""}


@contextmanager
def workplace(needed: int) -> Iterator[Path]:
    """A temporary folder with room for the recordings, removed afterwards; refuses in words where there is none."""
    place = Path(tempfile.gettempdir())
    free = shutil.disk_usage(place).free
    if free < 1.2 * needed:
        raise AnalysisError(
            f"its recordings need {1.2 * needed / 1e9:.1f} GB, and {free / 1e9:.1f} GB are free ({place}): "
            "free some space, set TMPDIR, or take --quick"
        )
    with tempfile.TemporaryDirectory(prefix="cerebroscope-bench-") as folder:
        yield Path(folder)


# Floors

_PAGES = {"page 60 s": 60.0, "page 5 min": 300.0, "page 1 h": 3600.0, "page 24 h": 86400.0}
_FILTERED = ("jump", "zoom", "montage", "filter")


def with_floor(case: Case, measured: Measured, files: dict[str, BenchFile]) -> Measured:
    """The same with the least time that its bytes and its FFTs take at this machine's own rates."""
    from dataclasses import replace

    if case.unit != "ms" or case.name in ("start", "hour topography"):
        return measured
    first, what = case.name.split()[0], case.name.split()[-1]
    file = files.get(first, files["hour" if first == "busy" else "day"])
    frame = 2 * _FRAME_BYTES / copy_rate() / 1e6  # drawn once, put on the screen once
    if what == "open":
        return replace(measured, floor=file.bytes / copy_rate() / 1e6, floor_of="all bytes of the file read once")
    length = _PAGES.get(case.name, 10.0)
    fresh = case.name in _PAGES or what in _FILTERED or case.name.startswith("day open")
    if fresh and length <= _LONGEST_FILTERED:
        worked = file.channels * file.sfreq * (length + _PADS) * 6 / copy_rate() / 1e6  # 2 bytes read, 4 written
        floor = frame + worked + fft_time(file.channels, int((length + _PADS) * file.sfreq))
        return replace(measured, floor=floor, floor_of="samples read, FFT there and back, two copies of the frame")
    return replace(measured, floor=frame, floor_of="two copies of the frame")


def fft_time(channels: int, length: int) -> float:
    """Milliseconds of the yardstick's FFT for other sizes, shared among all cores."""
    from app.engine_process import core_count

    work = channels * length * math.log2(length)
    return yardstick() * work / (YARDSTICK_CHANNELS * YARDSTICK_LENGTH * math.log2(YARDSTICK_LENGTH)) / core_count()

"""What is asked of a figure of a page, and what a page shows once that is settled; knows no Qt and no matplotlib."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from analysis.filtering import DisplayFilter, Filters
from analysis.montage import Montage
from analysis.recording import Window

if TYPE_CHECKING:
    from analysis.analyses import Analysis
    from analysis.annotation import Annotation
    from analysis.figures.layers import Arcs, Heat, Lane, RowLook, Shares

FORMS = ("svg", "pdf", "png")
RANDOM_WORDS = "Random weights: what the model says means nothing."
PAPER_MM = (180.0, 120.0)
LEAST_MM, MOST_MM = 60.0, 1200.0


@dataclass(frozen=True)
class FigureRequest:
    """What a figure shows; times in seconds, sizes in millimetres, frequencies in hertz (0 is off).

    `panels` are kinds of analysis that are drawn below the page, `parts` say which part of an overlay is drawn, by its
    kind. `like` is the .json beside another figure: all but size, resolution and file are as there.
    """

    recording: str
    out: str
    start: float = 0.0
    duration: float = 0.0
    checkpoints: tuple[Mapping[str, Any], ...] = ()
    overlays: tuple[str, ...] = ()
    montage: str | None = None
    uv_per_mm: float = 7.0
    size_mm: tuple[float, float] = PAPER_MM
    dpi: int = 300
    highpass: float = 0.5
    lowpass: float = 70.0
    notch: float = 0.0
    device: str = "auto"
    bad_channels: tuple[str, ...] = ()
    panels: tuple[str, ...] = ()
    parts: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    patient: bool = False
    like: str | None = None


@dataclass(frozen=True)
class ShownPage:
    """Everything on a page but the signal, settled: of a window, or of a request once its models have answered.

    `facts` are what the .json tells of where it comes from.
    """

    window: Window
    montage: Montage
    filters: Filters = field(default_factory=DisplayFilter)
    uv_per_mm: float = 7.0
    marks: Sequence[Annotation] = ()
    heats: Sequence[Heat] = ()
    lanes: Sequence[Lane | Shares] = ()
    arcs: Sequence[Arcs] = ()
    looks: Sequence[RowLook] = ()
    clock: bool = False
    foot: Sequence[str] = ()
    panels: Sequence[Analysis] = ()
    bad_channels: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)


def command_of(request: FigureRequest, facts_file: str = "") -> str:
    """The command line that makes the same figure; of what a window showed, from the .json beside the figure."""
    words = ["python", "main.py", "figure", request.recording]
    words += ["--like", facts_file] if facts_file else _asked(request)
    words += ["--size", "x".join(f"{v:g}" for v in request.size_mm), "--dpi", f"{request.dpi}"]
    words += ["--patient"] if request.patient else []
    words += ["--out", request.out]
    return shlex.join(words) if sys.platform != "win32" else _for_windows(words)


def _asked(request: FigureRequest) -> list[str]:
    words = ["--start", repr(float(request.start)), "--duration", repr(float(request.duration))]
    for table in request.checkpoints:
        words += ["--checkpoint", str(table["checkpoint"])]
    for name in ("head", "config"):
        given = next((table[name] for table in request.checkpoints if table.get(name)), None)
        words += [f"--{name}", str(given)] if given else []
    for flag, values in (("--overlay", request.overlays), ("--panel", request.panels), ("--bad", request.bad_channels)):
        for value in values:
            words += [flag, value]
    for flag, pairs in (("--part", request.parts), ("--option", request.options)):
        for name, value in pairs.items():
            words += [flag, f"{name}={value}"]
    words += ["--montage", request.montage] if request.montage else []
    words += ["--sensitivity", f"{request.uv_per_mm:.12g}", "--low", f"{request.highpass:.12g}"]
    words += ["--high", f"{request.lowpass:.12g}", "--notch", f"{request.notch:.12g}"]
    return words + (["--device", request.device] if request.device != "auto" else [])


def _for_windows(words: Sequence[str]) -> str:
    import subprocess

    return subprocess.list2cmdline(words)

"""The commands and what each of them takes; light, so that help and small commands come at once."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from app.cli_values import (
    count,
    duration,
    pair,
    paper,
    probability,
    seconds,
    seed,
    sensitivity,
    size,
)


class Parser(argparse.ArgumentParser):
    """Says wrong usage as every other error: one line that begins with `error:`, after the usage."""

    more: Callable[[], str] | None = None  # what stands at the end of the help, made when somebody asks for it

    def format_help(self) -> str:
        text = super().format_help()
        return f"{text}\n{self.more()}" if self.more is not None else text

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(2, f"error: {message}\n")


def _no_arguments(_: argparse.ArgumentParser) -> None:
    return


def _info(parser: argparse.ArgumentParser) -> None:
    _add_recording(parser)
    _add_json(parser)


def _inspect(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("checkpoint", metavar="CHECKPOINT", help="file, brainmaze, or random:FAMILY[:SIZE[:SEED]]")
    _add_head(parser)
    _add_json(parser)


def _predict(parser: argparse.ArgumentParser) -> None:
    from analysis.service import MEMORY_SHARE, PRECISIONS

    parser.add_argument(
        "recording", nargs="+", metavar="RECORDING", help="recordings, or folders, BIDS data sets and lists of them"
    )
    parser.add_argument(
        "--checkpoint", metavar="C", required=True, help="model: a file, brainmaze, or random:FAMILY[:SIZE[:SEED]]"
    )
    _add_head(parser)
    add_start(parser)
    parser.add_argument("--stop", type=seconds, metavar="S", help="end of the span, seconds (default: the end)")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto", help="default: auto")
    parser.add_argument("--batch-size", type=count, metavar="N", help="windows at a time (default: what fits)")
    parser.add_argument(
        "--memory-share",
        type=probability,
        metavar="P",
        default=MEMORY_SHARE,
        help=f"share of the free memory for a batch (default: {MEMORY_SHARE:g})",
    )
    parser.add_argument(
        "--precision",
        choices=PRECISIONS,
        default="auto",
        help="default: bfloat16 on a GPU, if a check allows it; on a processor it is of NeurDuo's signal encoder alone",
    )
    parser.add_argument("--segments", type=count, metavar="T", help="segments in MVPFormer's window")
    _add_bad(parser)
    parser.add_argument("--rule", choices=("auto", "E.1", "E.2"), default="auto", help="how events are made")
    parser.add_argument("--threshold", type=probability, metavar="P", help="least probability of a response")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="several: share them out on a dask.distributed cluster")
    parser.add_argument("--span-hours", type=seconds, metavar="H", help="longest task of a cluster (default: 4)")
    parser.add_argument("--out", metavar="DIR", required=True, help="folder for the results")


def _analyze(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", metavar="KIND", help="what to look at; all kinds are listed below")
    if isinstance(parser, Parser):
        parser.more = _list_kinds
    _add_recording(parser)
    parser.add_argument(
        "--checkpoint",
        metavar="C",
        action="append",
        required=True,
        help="model: a file, or random:FAMILY[:SIZE[:SEED]]; twice for what compares two",
    )
    _add_head(parser)
    add_start(parser)
    parser.add_argument("--duration", type=duration, metavar="S", help="length of the span, seconds (default: all)")
    parser.add_argument(
        "--option", action="append", default=[], metavar="K=V", help="an option of the kind; may be repeated"
    )
    _add_bad(parser)
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto", help="default: auto")
    parser.add_argument("--out", metavar="DIR", required=True, help="folder for the results")


def _list_kinds() -> str:
    from app.kind_list import list_kinds

    return list_kinds()


def _list_overlays(*others: str) -> str:
    """What can be laid on a page: besides the others, the same kinds of analysis in a figure and in the window."""
    import textwrap

    from app.figure_layers import KINDS_DRAWN

    return (
        textwrap.fill(
            f"overlays: {', '.join([*others, *KINDS_DRAWN])}", 100, subsequent_indent="  ", break_on_hyphens=False
        )
        + "\n"
    )


def _list_figure_overlays() -> str:
    return _list_overlays("annotations", "seizure")


def _list_window_overlays() -> str:
    return _list_overlays("annotations", "model-events", "seizure")


def _figure(parser: argparse.ArgumentParser) -> None:
    if isinstance(parser, Parser):
        parser.more = _list_figure_overlays
    _add_recording(parser)
    add_checkpoints(parser)
    parser.add_argument("--start", type=seconds, default=0.0, metavar="S", help="beginning, seconds")
    parser.add_argument("--duration", type=duration, default=0.0, metavar="S", help="length, seconds")
    parser.add_argument(
        "--overlay",
        action="append",
        default=[],
        metavar="NAME",
        help="what to lay on the page; all are listed below; may be repeated",
    )
    parser.add_argument("--part", action="append", default=[], type=pair, metavar="NAME=PART", help="layer, block, …")
    parser.add_argument("--panel", action="append", default=[], metavar="KIND", help="analysis to draw below the page")
    parser.add_argument("--option", action="append", default=[], type=pair, metavar="K=V", help="of the analyses")
    _add_look(parser)
    parser.add_argument("--like", metavar="F.json", help="all that another figure shows, from the .json beside it")
    parser.add_argument("--patient", action="store_true", help="write who was recorded over the figure")
    parser.add_argument("--size", type=paper, default=(180.0, 120.0), metavar="WxH", help="mm (default: 180x120)")
    parser.add_argument("--dpi", type=count, default=300, metavar="N", help="of a PNG (default: 300)")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto", help="default: auto")
    parser.add_argument("--out", metavar="F", required=True, help="figure to write: .svg, .pdf or .png")


def _report(parser: argparse.ArgumentParser) -> None:
    _add_recording(parser)
    parser.add_argument("--events", metavar="F", help="marks to report (default: the recording's own)")
    parser.add_argument("--checkpoint", metavar="C", help="model: a file, or brainmaze (default: none)")
    _add_head(parser)
    parser.add_argument("--pages", type=count, default=20, metavar="N", help="at most so many pages of events (20)")
    _add_look(parser)
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto", help="default: auto")
    parser.add_argument("--out", metavar="F", required=True, help="report to write: .pdf or .html")


def _add_look(parser: argparse.ArgumentParser) -> None:
    """How pages for print are shown."""
    parser.add_argument("--montage", metavar="NAME", help="montage (default: the usual one)")
    _add_bad(parser)
    parser.add_argument("--sensitivity", type=sensitivity, default=7.0, metavar="UV", help="µV/mm of the paper")
    parser.add_argument("--low", type=seconds, default=0.5, metavar="HZ", help="low filter, 0 for off (0.5)")
    parser.add_argument("--high", type=seconds, default=70.0, metavar="HZ", help="high filter, 0 for off (70)")
    parser.add_argument("--notch", type=seconds, default=0.0, metavar="HZ", help="notch, 0 for off (default)")


def _score(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("reference", nargs="?", metavar="REFERENCE", help="what is true: event file or recording")
    parser.add_argument("hypothesis", nargs="?", metavar="HYPOTHESIS", help="what was predicted: event file")
    parser.add_argument("--duration", type=duration, metavar="S", help="length of the recording, seconds")
    parser.add_argument("--recording", metavar="NAME", help="which recording of a summary that tells of several")
    parser.add_argument("--batch", metavar="LIST.tsv", help="table with columns reference, hypothesis, duration")
    parser.add_argument("--seed", type=int, metavar="N", help="seed of the draws behind kappa")
    _add_json(parser)


def _screenshot(parser: argparse.ArgumentParser) -> None:
    if isinstance(parser, Parser):
        parser.more = _list_window_overlays
    _add_recording(parser)
    add_checkpoints(parser)
    add_start(parser)
    parser.add_argument("--duration", type=duration, metavar="S", help="length of the page, seconds (default: 10)")
    parser.add_argument("--sensitivity", type=sensitivity, metavar="UV", help="microvolts per millimetre (default: 7)")
    parser.add_argument(
        "--overlay",
        action="append",
        default=[],
        metavar="NAME",
        help="overlay to show; all are listed below; may be repeated",
    )
    parser.add_argument("--panel", metavar="NAME", help="panel to bring into view")
    parser.add_argument("--montage", metavar="NAME", help="montage, also one of your own (default: the usual one)")
    parser.add_argument("--theme", choices=("light", "dark"), default="light", help="default: light")
    parser.add_argument("--size", type=size, default=(1600, 900), metavar="WxH", help="default: 1600x900")
    parser.add_argument("--out", metavar="F.png", required=True, help="picture to write")


def _convert(parser: argparse.ArgumentParser) -> None:
    _add_recording(parser)
    parser.add_argument("--out", metavar="F.edf", required=True, help="file to write: .edf, .bdf")
    parser.add_argument(
        "--anonymize",
        action="store_true",
        help="leave out who was recorded, the date and the time of day; texts of marks stay",
    )


def _simulate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", metavar="NAME.edf", required=True, help="recording to write; its truth lies beside it")
    parser.add_argument("--seed", type=seed, default=0, metavar="N", help="equal seeds give equal files (default: 0)")
    parser.add_argument("--duration", type=count, default=600, metavar="S", help="length, whole seconds (600)")
    parser.add_argument("--seizures", type=seed, metavar="N", help="how many (default: one for every five minutes)")
    parser.add_argument("--electrodes", choices=("10-20", "64", "ieeg"), default="10-20", help="default: 10-20")
    parser.add_argument(
        "--region", action="append", default=[], metavar="NAME", help="where seizures begin; may be repeated (any)"
    )
    parser.add_argument("--sfreq", type=count, metavar="HZ", help="rate (default: 256, of ieeg 512)")
    parser.add_argument("--reference", choices=("any", "none", "cz-pz", "ears"), default="any", help="default: any")


def _train(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("recipe", metavar="RECIPE.toml", help="what to train, on what, how; see assets/recipes")
    parser.add_argument(
        "--out", metavar="DIR", help="folder for checkpoint, metrics and state (default: the recipe's name)"
    )
    parser.add_argument("--resume", action="store_true", help="go on with the training in that folder")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto", help="default: auto")


def _bench(parser: argparse.ArgumentParser) -> None:
    from app.benches import BENCHES, SIZES

    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(BENCHES)} (default: all)")
    either = parser.add_mutually_exclusive_group()
    either.add_argument("--size", choices=SIZES, default="full", help="of recordings and repetitions (default: full)")
    either.add_argument("--quick", dest="size", action="store_const", const="quick", help="the same as --size quick")
    parser.add_argument("--busy", action="store_true", help="viewer: also turn pages while a model runs")
    parser.add_argument("--peer", action="store_true", help="viewer: measure mne-qt-browser beside it")
    parser.add_argument("--seizures", type=count, metavar="N", help="attribution: seizures (default: by size)")
    parser.add_argument("--detail", action="store_true", help="print 95th percentiles and CPU time as well")
    parser.add_argument("--report", metavar="F.md", help="also write what was found as a page")
    _add_json(parser)


COMMANDS: dict[str, tuple[str, Any]] = {
    "demo": ("opens a short simulated recording", _no_arguments),
    "info": ("describes a recording without loading its samples", _info),
    "inspect": ("describes a checkpoint: family, configuration, parameters, key check", _inspect),
    "predict": ("runs a model over a recording and writes its events and probabilities", _predict),
    "analyze": ("looks into a model on this signal: KIND.npz, KIND.json, KIND.svg", _analyze),
    "figure": ("draws a page with its overlays for print, as vectors", _figure),
    "report": ("writes a report: facts, events with their review, a page for each", _report),
    "score": ("compares two event files", _score),
    "screenshot": ("renders the main window off screen", _screenshot),
    "convert": ("makes a lossless EDF+ or BDF+ copy of a recording", _convert),
    "simulate": ("simulates EEG with known seizures: NAME.edf, NAME.events.tsv, NAME.truth.json", _simulate),
    "train": ("trains a model by a recipe: checkpoint, metrics.jsonl", _train),
    "bench": ("measures the program against its targets", _bench),
}


def _add_recording(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("recording", metavar="RECORDING", help="recording file")


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def _add_head(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--head", metavar="H", help="file with the classifier head")
    parser.add_argument("--config", metavar="F", help="JSON file with the sizes, for an official file of another size")


def add_checkpoints(parser: argparse.ArgumentParser) -> None:
    """The models to work with, and what belongs to their files."""
    parser.add_argument(
        "--checkpoint",
        action="append",
        default=[],
        metavar="C",
        help="model: a file, brainmaze, or random:FAMILY[:SIZE[:SEED]]; may be repeated",
    )
    _add_head(parser)


def _add_bad(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--bad", action="append", default=[], metavar="NAME", help="bad channel to leave out; may be repeated"
    )


def add_start(parser: argparse.ArgumentParser) -> None:
    """Where to begin."""
    parser.add_argument("--start", type=seconds, metavar="S", help="beginning, seconds from the first sample")

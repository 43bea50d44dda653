"""The command line: what is asked for, and how it ends. Imports nothing heavy, so that small commands start at once."""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

_USAGE = "main.py [RECORDING] [--checkpoint C]... [--start S]  |  main.py COMMAND ..."
_DEBUG = "--debug"


class _Parser(argparse.ArgumentParser):
    """Says wrong usage as every other error: one line that begins with `error:`, after the usage."""

    more: Callable[[], str] | None = None  # what stands at the end of the help, made when somebody asks for it

    def format_help(self) -> str:
        text = super().format_help()
        return f"{text}\n{self.more()}" if self.more is not None else text

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(2, f"error: {message}\n")


class _Version(argparse.Action):
    """Prints the version, which is looked up when somebody asks for it: that takes as long as the whole help."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        print(_version())
        parser.exit()


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command or open the window; 0 done, 1 failed with a sentence on stderr, 2 wrong usage."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    debug = _take_debug(arguments)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a name the terminal cannot show must not end the program
    options = argparse.Namespace()
    try:
        parser = _parser_for(arguments)
        parser.parse_args(arguments, options)
        if options.run == "score" and bool(options.batch) == bool(options.reference and options.hypothesis):
            parser.error("score takes REFERENCE and HYPOTHESIS, or --batch LIST.tsv")
        code = _run(options, debug)
        sys.stdout.flush()
    except SystemExit as end:  # argparse: help, version or wrong usage
        return end.code if isinstance(end.code, int) else 0
    except BrokenPipeError:
        _silence_stdout()  # whoever read has enough, as `head` has
        return 0
    except KeyboardInterrupt:
        print("\ncancelled" if sys.stderr.isatty() else "cancelled", file=sys.stderr)
        return 1
    except Exception as error:
        return _fail(error, options, debug)
    return code


def _run(options: argparse.Namespace, debug: bool) -> int:
    from app import terminal

    terminal.quiet_libraries(debug)
    if options.run == "window" and options.recording is not None:
        _refuse_misspelt_command(options.recording)
    return getattr(terminal, options.run)(options) or 0


def _refuse_misspelt_command(name: str) -> None:
    """Say which command was meant where a word is neither a file nor one of them."""
    from difflib import get_close_matches

    from analysis.errors import RecordingError

    if os.path.exists(name) or name in COMMANDS:
        return  # a command's name after a bare `--` means a file
    if close := get_close_matches(name, COMMANDS, 1):
        raise RecordingError(f"there is no such file ({name}): check the path; the command is called {close[0]}")


def _fail(error: Exception, options: argparse.Namespace, debug: bool) -> int:
    from app.errors import describe_error, hide_in_log, is_expected, log_error, start_log
    from app.settings import folders

    if not is_expected(error):
        hide_in_log(getattr(options, "recording", None) or "", "a recording")
        try:
            start_log(folders().data / "log")
            log_error(error)
        except OSError:
            debug = True  # nowhere to keep the details
    sentence, details = describe_error(error, getattr(options, "out", None) or "standard output")
    if debug:
        sys.stderr.write(details)
    print(f"error: {sentence}", file=sys.stderr)
    _silence_stdout()
    return 1


def _silence_stdout() -> None:
    """Keep Python from complaining, when it ends, about output that could not be written."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _take_debug(arguments: list[str]) -> bool:
    """Remove --debug wherever it stands before a bare `--`."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    found = _DEBUG in arguments[:end]
    arguments[:end] = [argument for argument in arguments[:end] if argument != _DEBUG]
    return found


def _parser_for(arguments: Sequence[str]) -> argparse.ArgumentParser:
    """The commands' parser when the first argument is one, else the window's."""
    first = arguments[0] if arguments else ""
    if first in COMMANDS and not os.path.isfile(first):
        return _command_parser()
    return _window_parser()


def _window_parser() -> argparse.ArgumentParser:
    names = "\n".join(f"  {name:<12}{text}" for name, (text, _) in COMMANDS.items())
    parser = _Parser(
        prog="main.py",
        usage=_USAGE,
        description="Opens the window. Research use only: not for diagnosis.",
        epilog=f"commands (main.py COMMAND --help tells more):\n{names}\n\n{_DEBUG} adds the traceback to an error.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show program's version number and exit")
    parser.add_argument("recording", nargs="?", metavar="RECORDING", help="recording to open")
    _add_checkpoints(parser)
    _add_start(parser)
    parser.set_defaults(run="window")
    return parser


def _command_parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="main.py", usage=_USAGE)
    commands = parser.add_subparsers(metavar="COMMAND", prog="main.py", parser_class=_Parser)
    for name, (text, add_arguments) in COMMANDS.items():
        command = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        add_arguments(command)
        command.set_defaults(run=name)
    return parser


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
    _add_start(parser)
    parser.add_argument("--stop", type=_seconds, metavar="S", help="end of the span, seconds (default: the end)")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto", help="default: auto")
    parser.add_argument("--batch-size", type=_count, metavar="N", help="windows at a time (default: what fits)")
    parser.add_argument(
        "--memory-share",
        type=_probability,
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
    parser.add_argument("--segments", type=_count, metavar="T", help="segments in MVPFormer's window")
    _add_bad(parser)
    parser.add_argument("--rule", choices=("auto", "E.1", "E.2"), default="auto", help="how events are made")
    parser.add_argument("--threshold", type=_probability, metavar="P", help="least probability of a response")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="several: share them out on a dask.distributed cluster")
    parser.add_argument("--span-hours", type=_seconds, metavar="H", help="longest task of a cluster (default: 4)")
    parser.add_argument("--out", metavar="DIR", required=True, help="folder for the results")


def _analyze(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", metavar="KIND", help="what to look at; all kinds are listed below")
    if isinstance(parser, _Parser):
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
    _add_start(parser)
    parser.add_argument("--duration", type=_duration, metavar="S", help="length of the span, seconds (default: all)")
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
    if isinstance(parser, _Parser):
        parser.more = _list_figure_overlays
    _add_recording(parser)
    _add_checkpoints(parser)
    parser.add_argument("--start", type=_seconds, default=0.0, metavar="S", help="beginning, seconds")
    parser.add_argument("--duration", type=_duration, default=0.0, metavar="S", help="length, seconds")
    parser.add_argument(
        "--overlay",
        action="append",
        default=[],
        metavar="NAME",
        help="what to lay on the page; all are listed below; may be repeated",
    )
    parser.add_argument("--part", action="append", default=[], type=_pair, metavar="NAME=PART", help="layer, block, …")
    parser.add_argument("--panel", action="append", default=[], metavar="KIND", help="analysis to draw below the page")
    parser.add_argument("--option", action="append", default=[], type=_pair, metavar="K=V", help="of the analyses")
    _add_look(parser)
    parser.add_argument("--like", metavar="F.json", help="all that another figure shows, from the .json beside it")
    parser.add_argument("--patient", action="store_true", help="write who was recorded over the figure")
    parser.add_argument("--size", type=_paper, default=(180.0, 120.0), metavar="WxH", help="mm (default: 180x120)")
    parser.add_argument("--dpi", type=_count, default=300, metavar="N", help="of a PNG (default: 300)")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto", help="default: auto")
    parser.add_argument("--out", metavar="F", required=True, help="figure to write: .svg, .pdf or .png")


def _report(parser: argparse.ArgumentParser) -> None:
    _add_recording(parser)
    parser.add_argument("--events", metavar="F", help="marks to report (default: the recording's own)")
    parser.add_argument("--checkpoint", metavar="C", help="model: a file, or brainmaze (default: none)")
    _add_head(parser)
    parser.add_argument("--pages", type=_count, default=20, metavar="N", help="at most so many pages of events (20)")
    _add_look(parser)
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto", help="default: auto")
    parser.add_argument("--out", metavar="F", required=True, help="report to write: .pdf or .html")


def _add_look(parser: argparse.ArgumentParser) -> None:
    """How pages for print are shown."""
    parser.add_argument("--montage", metavar="NAME", help="montage (default: the usual one)")
    _add_bad(parser)
    parser.add_argument("--sensitivity", type=_sensitivity, default=7.0, metavar="UV", help="µV/mm of the paper")
    parser.add_argument("--low", type=_seconds, default=0.5, metavar="HZ", help="low filter, 0 for off (0.5)")
    parser.add_argument("--high", type=_seconds, default=70.0, metavar="HZ", help="high filter, 0 for off (70)")
    parser.add_argument("--notch", type=_seconds, default=0.0, metavar="HZ", help="notch, 0 for off (default)")


def _score(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("reference", nargs="?", metavar="REFERENCE", help="what is true: event file or recording")
    parser.add_argument("hypothesis", nargs="?", metavar="HYPOTHESIS", help="what was predicted: event file")
    parser.add_argument("--duration", type=_duration, metavar="S", help="length of the recording, seconds")
    parser.add_argument("--recording", metavar="NAME", help="which recording of a summary that tells of several")
    parser.add_argument("--batch", metavar="LIST.tsv", help="table with columns reference, hypothesis, duration")
    parser.add_argument("--seed", type=int, metavar="N", help="seed of the draws behind kappa")
    _add_json(parser)


def _screenshot(parser: argparse.ArgumentParser) -> None:
    if isinstance(parser, _Parser):
        parser.more = _list_window_overlays
    _add_recording(parser)
    _add_checkpoints(parser)
    _add_start(parser)
    parser.add_argument("--duration", type=_duration, metavar="S", help="length of the page, seconds (default: 10)")
    parser.add_argument("--sensitivity", type=_sensitivity, metavar="UV", help="microvolts per millimetre (default: 7)")
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
    parser.add_argument("--size", type=_size, default=(1600, 900), metavar="WxH", help="default: 1600x900")
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
    parser.add_argument("--seed", type=_seed, default=0, metavar="N", help="equal seeds give equal files (default: 0)")
    parser.add_argument("--duration", type=_count, default=600, metavar="S", help="length, whole seconds (600)")
    parser.add_argument("--seizures", type=_seed, metavar="N", help="how many (default: one for every five minutes)")
    parser.add_argument("--electrodes", choices=("10-20", "64", "ieeg"), default="10-20", help="default: 10-20")
    parser.add_argument(
        "--region", action="append", default=[], metavar="NAME", help="where seizures begin; may be repeated (any)"
    )
    parser.add_argument("--sfreq", type=_count, metavar="HZ", help="rate (default: 256, of ieeg 512)")
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
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--size", choices=SIZES, default="full", help="of recordings and repetitions (default: full)")
    size.add_argument("--quick", dest="size", action="store_const", const="quick", help="the same as --size quick")
    parser.add_argument("--busy", action="store_true", help="viewer: also turn pages while a model runs")
    parser.add_argument("--peer", action="store_true", help="viewer: measure mne-qt-browser beside it")
    parser.add_argument("--seizures", type=_count, metavar="N", help="attribution: seizures (default: by size)")
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


def _add_checkpoints(parser: argparse.ArgumentParser) -> None:
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


def _add_start(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--start", type=_seconds, metavar="S", help="beginning, seconds from the first sample")


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number")
    return value


def _seconds(text: str) -> float:
    value = _number(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text} lies before the beginning of the recording")
    return value


def _duration(text: str) -> float:
    value = _number(text)
    if value <= 0:
        raise argparse.ArgumentTypeError(f"{text} is no length: give seconds above 0")
    return value


def _sensitivity(text: str) -> float:
    value = _number(text)
    if value <= 0:
        raise argparse.ArgumentTypeError(f"{text} is no sensitivity: give microvolts per millimetre above 0")
    return value


def _probability(text: str) -> float:
    value = _number(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text} is no probability: give a number from 0 to 1")
    return value


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def _seed(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 on")
    return int(text)


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.lower().partition("x")
    size = (_count(width), _count(height))
    if not (400 <= size[0] <= 8000 and 300 <= size[1] <= 8000):
        raise argparse.ArgumentTypeError(f"{text} is no size of a window: give one from 400x300 to 8000x8000")
    return size


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"{text} is no setting: give NAME=VALUE")
    return name, value


def _paper(text: str) -> tuple[float, float]:
    width, _, height = text.lower().partition("x")
    size = (_number(width), _number(height))
    if not (60 <= size[0] <= 1200 and 60 <= size[1] <= 1200):
        raise argparse.ArgumentTypeError(f"{text} is no size of a figure: give one from 60x60 to 1200x1200 mm")
    return size


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"cerebroscope {version('cerebroscope')}"
    except PackageNotFoundError:
        return "cerebroscope (not installed)"


if __name__ == "__main__":
    sys.exit(main())

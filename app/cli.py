"""The command line: what is asked for, and how it ends. Imports nothing heavy, so that small commands start at once."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from app.cli_arguments import COMMANDS, Parser, add_checkpoints, add_start

_USAGE = "main.py [RECORDING] [--checkpoint C]... [--start S]  |  main.py COMMAND ..."
_DEBUG = "--debug"


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
    parser = Parser(
        prog="main.py",
        usage=_USAGE,
        description="Opens the window. Research use only: not for diagnosis.",
        epilog=f"commands (main.py COMMAND --help tells more):\n{names}\n\n{_DEBUG} adds the traceback to an error.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show program's version number and exit")
    parser.add_argument("recording", nargs="?", metavar="RECORDING", help="recording to open")
    add_checkpoints(parser)
    add_start(parser)
    parser.set_defaults(run="window")
    return parser


def _command_parser() -> argparse.ArgumentParser:
    parser = Parser(prog="main.py", usage=_USAGE)
    commands = parser.add_subparsers(metavar="COMMAND", prog="main.py", parser_class=Parser)
    for name, (text, add_arguments) in COMMANDS.items():
        command = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        add_arguments(command)
        command.set_defaults(run=name)
    return parser


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"cerebroscope {version('cerebroscope')}"
    except PackageNotFoundError:
        return "cerebroscope (not installed)"


if __name__ == "__main__":
    sys.exit(main())

"""Exceptions in words: what a person reads, what a developer needs, and where both are kept.

Knows nothing of Qt, so that headless commands and the window say the same thing.
"""

from __future__ import annotations

import errno
import logging
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from analysis.errors import AnalysisError, RecordingError
from models.errors import CheckpointError

LOG_NAME = "cerebroscope.log"
_LOG_BYTES = 1_000_000
_LOG_FILES = 3
_LONGEST = 600
_IN_LOG = "is_in_cerebroscope_log"  # attribute of an error that has been written

_logger = logging.getLogger(__name__)
_hidden: dict[str, str] = {}
_log_file: Path | None = None


class StartError(Exception):
    """The window cannot be opened on this machine as it is; the message says what to install or to do instead."""


EXPECTED = (RecordingError, CheckpointError, AnalysisError, StartError)

_NO_SPACE = ("the disk is full", "free some space or choose another folder")
_SYSTEM_ERRORS = {
    errno.ENOSPC: _NO_SPACE,
    errno.EDQUOT: _NO_SPACE,
    errno.EFBIG: ("the file system takes no file of this size", "free some space or choose another folder"),
    errno.EACCES: ("permission denied", "change its permissions or choose another place"),
    errno.EPERM: ("permission denied", "change its permissions or choose another place"),
    errno.EROFS: ("the disk can only be read", "choose another folder"),
    errno.ENOENT: ("there is no such file or folder", "check the path"),
    errno.ENOTDIR: ("a part of the path is a file, not a folder", "check the path"),
    errno.EISDIR: ("this is a folder", "name a file"),
    errno.EEXIST: ("this exists already", "remove it or choose another name"),
    errno.ENAMETOOLONG: ("the name is too long", "choose a shorter one"),
    errno.EIO: ("the disk reports an input/output error", "check the disk or copy the file elsewhere"),
}


def is_expected(error: BaseException) -> bool:
    """Whether the error is of a kind that its own message explains, or that the system explains."""
    return isinstance(error, (*EXPECTED, MemoryError)) or (isinstance(error, OSError) and error.errno in _SYSTEM_ERRORS)


def describe_error(error: BaseException, file: str | Path | None = None) -> tuple[str, str]:
    """One sentence for a person, and the whole traceback for whoever has to find the cause.

    `file` is named where a system error does not say which file it speaks of.
    """
    details = "".join(traceback.format_exception(error))
    if isinstance(error, EXPECTED):
        return _one_line(str(error)), details
    if isinstance(error, MemoryError):
        return "there is not enough memory for this: close other programs or choose a shorter span", details
    if isinstance(error, OSError) and error.errno in _SYSTEM_ERRORS:
        what, remedy = _SYSTEM_ERRORS[error.errno]
        name = error.filename if error.filename is not None else file
        where = f" ({name})" if name is not None else ""
        return _one_line(f"{what}{where}: {remedy}"), details
    kept = f"; the details are in {_log_file}" if _log_file is not None else ""
    return _one_line(f"unexpected {type(error).__name__}: {error}{kept}"), details


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


class _DiscreetFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        text = super().format(record)
        for private, instead in sorted(_hidden.items(), key=lambda pair: -len(pair[0])):  # before a part of it goes
            text = text.replace(private, instead)
        return text


def hide_in_log(private: str, instead: str) -> None:
    """Write `instead` wherever the log would hold `private`: the path of a recording, which often names a patient.

    Whole or not, and as an error of the system spells it.
    """
    if not private:
        return
    path = Path(private)
    for text in {private, str(path), str(path.absolute()), path.name if path.suffix else private}:
        _hidden[text] = _hidden[repr(text)[1:-1]] = instead


def start_log(folder: Path) -> Path:
    """Keep warnings and errors of the program in a rotating file in `folder`; returns the path of the newest."""
    from logging.handlers import RotatingFileHandler

    global _log_file
    path = folder / LOG_NAME
    root = logging.getLogger()
    if _log_file == path:
        return path
    stop_log()
    folder.mkdir(parents=True, exist_ok=True)
    handler = RotatingFileHandler(path, maxBytes=_LOG_BYTES, backupCount=_LOG_FILES, encoding="utf-8", delay=True)
    handler.setFormatter(_DiscreetFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    handler.setLevel(logging.WARNING)
    root.addHandler(handler)
    logging.captureWarnings(True)
    _log_file = path
    return path


def stop_log() -> None:
    """Close the log file."""
    from logging.handlers import RotatingFileHandler

    global _log_file
    root = logging.getLogger()
    for handler in [h for h in root.handlers if isinstance(h, RotatingFileHandler)]:
        root.removeHandler(handler)
        handler.close()
    _log_file = None


def log_error(error: BaseException) -> None:
    """Write an error with its traceback to the log, once, through however many hands it goes."""
    if getattr(error, _IN_LOG, False):
        return
    setattr(error, _IN_LOG, True)
    _logger.error("%s", type(error).__name__, exc_info=error)


def install_hooks(show: Callable[[BaseException], None], stop: Callable[[], None] | None = None) -> Callable[[], None]:
    """Log and show every exception that nobody caught, on any thread; returns a function that takes the hooks away.

    PyQt ends the process when a slot raises and `sys.excepthook` is the built-in one, so this comes before the first
    window. `show` may be called on any thread; an error of the same place is shown once, however often it comes back.
    `stop` is called for Ctrl+C in the terminal.
    """
    shown: set[tuple[str, str, int]] = set()

    def take(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            if stop is not None:
                stop()
            return
        log_error(error)
        place = (kind.__name__, *_place(trace))
        if place not in shown:
            shown.add(place)
            show(error)

    def take_from_thread(args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None and not issubclass(args.exc_type, SystemExit):
            take(args.exc_type, args.exc_value, args.exc_traceback)

    before = sys.excepthook, threading.excepthook
    sys.excepthook, threading.excepthook = take, take_from_thread

    def remove() -> None:
        sys.excepthook, threading.excepthook = before

    return remove


def _place(trace: TracebackType | None) -> tuple[str, int]:
    if trace is None:
        return "", 0
    while trace.tb_next is not None:
        trace = trace.tb_next
    return trace.tb_frame.f_code.co_filename, trace.tb_lineno

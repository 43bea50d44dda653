"""What Qt has to say goes to the log, not to the terminal of a person who cannot act on it."""

from __future__ import annotations

import logging
import sys

from PyQt6.QtCore import QMessageLogContext, QtMsgType, qInstallMessageHandler

_LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
}

_logger = logging.getLogger("qt")


def log_qt_messages() -> None:
    """Take over Qt's messages; a fatal one, after which Qt ends the program, is still written on stderr."""
    qInstallMessageHandler(_take)


def _take(kind: QtMsgType, _context: QMessageLogContext, text: str | None) -> None:
    if kind == QtMsgType.QtFatalMsg:
        print(f"error: Qt cannot go on: {text}", file=sys.stderr, flush=True)
    _logger.log(_LEVELS.get(kind, logging.CRITICAL), "%s", text)

"""The other end of EngineProcess: a process of its own that runs named functions one after the other.

Started as `python -m app.engine_child HANDLE NICENESS [MODULE]…`. Imports nothing heavy itself; the functions it is
asked for do. It ends as soon as the process that started it is gone.
"""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import inspect
import os
import pickle
import queue
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from analysis.progress import Cancelled, Progress
from app.messages import Disconnected, pack, receive, send

_REPORT_PAUSE = 0.02
_OOM_SCORE = "500"
_PORTABLE = frozenset({"builtins", "analysis", "models"})


class _PipeProgress(Progress):
    """Sends progress and partial results to the other process, and hears from it when the work is not wanted."""

    def __init__(self, call: int, send: Callable[..., None], cancelled: set[int]) -> None:
        self._call = call
        self._send = send
        self._cancelled = cancelled
        self._sent_at = 0.0

    def check(self) -> None:
        if self._call in self._cancelled:
            raise Cancelled

    def report(self, done: float, total: float, message: str = "") -> None:
        self.check()
        now = time.monotonic()
        if now - self._sent_at >= _REPORT_PAUSE or done >= total:
            self._sent_at = now
            self._send("progress", self._call, (done, total, message))

    def partial(self, result: Any) -> None:
        self.check()
        self._send("partial", self._call, result)


class _Server:
    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._calls: queue.SimpleQueue[tuple[int, str, dict[str, Any]]] = queue.SimpleQueue()
        self._cancelled: set[int] = set()

    def serve(self, preload: Sequence[str]) -> None:
        """Import `preload`, then answer calls for ever; the listening thread ends the process."""
        threading.Thread(target=self._listen, name="listen", daemon=True).start()
        for module in preload:
            with contextlib.suppress(ImportError):  # said when a function of it is asked for
                importlib.import_module(module)
        while True:
            self._answer(*self._calls.get())

    def _listen(self) -> None:
        while True:
            try:
                what, call, *rest = receive(self._connection)
            except Disconnected:
                os._exit(0)  # whoever started this is gone: stop at once, in the midst of whatever runs
            if what == "call":
                self._calls.put((call, *rest))
            else:
                self._cancelled.add(call)

    def _answer(self, call: int, function: str, arguments: dict[str, Any]) -> None:
        try:
            progress = _PipeProgress(call, self._send, self._cancelled)
            progress.check()
            self._send("begun", call, None)
            self._send("succeeded", call, _run(function, arguments, progress))
        except Cancelled:
            self._send("cancelled", call, None)
        except BaseException as error:  # travels to the other process, where it is raised again
            self._send("failed", call, (portable(error), "".join(traceback.format_exception(error))))
        self._cancelled.discard(call)

    def _send(self, what: str, call: int, value: Any) -> None:
        packed = pack((what, call, value))
        try:
            send(self._connection, packed)
        except Disconnected:
            os._exit(0)


def _run(function: str, arguments: dict[str, Any], progress: Progress) -> Any:
    module, _, name = function.partition(":")
    target = importlib.import_module(module)
    for part in name.split("."):
        target = getattr(target, part)
    if "progress" in inspect.signature(target).parameters:
        arguments = {**arguments, "progress": progress}
    return target(**arguments)


def portable(error: BaseException) -> BaseException:
    """The error itself where it is one of ours or of Python's, else a RuntimeError that quotes it.

    Unpickling an error of a library would import that library, which the window must not load.
    """
    room = type(error).__module__.partition(".")[0]
    if room not in _PORTABLE:
        return RuntimeError(f"{type(error).__name__}: {error}")
    try:
        pickle.loads(pickle.dumps(error, 5))
    except Exception:  # an exception may carry anything, and anything may happen when that is pickled
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def _settle(niceness: int) -> None:
    """Step back behind the window: low priority, first to go when memory runs out, deaf to Ctrl+C, silent on stdout."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if niceness and hasattr(os, "nice"):
        os.nice(niceness)
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:
        score.write(_OOM_SCORE)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    faulthandler.enable()


def _connect(handle: int) -> Any:
    if sys.platform == "win32":
        from multiprocessing.connection import PipeConnection

        return PipeConnection(handle)
    from multiprocessing.connection import Connection

    return Connection(handle)


def main() -> None:
    """Serve the process that started this one."""
    handle, niceness, *preload = sys.argv[1:]
    connection = _connect(int(handle))
    _settle(int(niceness))
    _Server(connection).serve(preload)


if __name__ == "__main__":
    main()

"""EngineProcess: a process of its own that holds what the window must not load, and can be killed and started again."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import Any

from analysis.errors import AnalysisError
from analysis.progress import Cancelled, Progress
from app.messages import Disconnected, pack, receive, send

_POLL = 0.05
_GRACE = 0.7  # with the poll before and the kill after it, a cancelled call is over within a second
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


class RemoteTraceback(Exception):
    """The traceback of an error in the other process, as text; the cause of the error that is raised here."""


NICENESS = 10  # of whoever does not choose another


class EngineProcess:
    """Runs functions by name in one other process, one at a time.

    Nothing is started before `start` or the first `call`. `niceness` lowers its priority, so that drawing comes first;
    `threads` bounds the cores a matrix product may take (default: all but one); `preload` names modules to import ahead
    of the first call; `log` is a file for what the process writes on stderr. Safe to use from several threads: calls
    take turns.
    """

    def __init__(
        self,
        name: str = "engine",
        niceness: int | None = None,
        threads: int | None = None,
        preload: Sequence[str] = (),
        log: Path | None = None,
    ) -> None:
        self._name = name
        self._niceness = NICENESS if niceness is None else niceness
        self._threads = threads or max(1, core_count() - 1)
        self._preload = tuple(preload)
        self._log = log
        self._turn = threading.Lock()
        self._state = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None
        self._calls = 0
        self._begun = False
        self._closed = False

    @property
    def pid(self) -> int | None:
        """Process number, None when it does not run."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    def start(self) -> None:
        """Start the process unless it runs; returns at once, while the process is still getting ready."""
        with self._state:
            if not self._closed:
                self._start()

    def call(self, function: str, arguments: dict[str, Any] | None = None, progress: Progress | None = None) -> Any:
        """Run "module:function" with keyword arguments in the other process and return what it returns.

        A function with a parameter `progress` gets a Progress whose reports and partial results arrive at the one
        given here. Cancelling that one asks the function to stop and kills the process when it does not. Errors arrive
        as themselves, with the other side's traceback as their cause. AnalysisError when the process dies at work.
        """
        progress = progress or Progress()
        while not self._turn.acquire(timeout=_POLL):
            progress.check()
        try:
            what, value = self._ask(function, arguments or {}, progress)
        finally:
            self._turn.release()
        if what == "succeeded":
            return value
        if what == "cancelled":
            raise Cancelled
        error, text = value
        raise error from RemoteTraceback(f'\n"""\n{text}"""')

    def close(self, timeout: float = 2.0) -> None:
        """End the process and whatever it works on; calls in progress, and later ones, are cancelled."""
        self._closed = True
        process = self._process
        if process is not None:
            process.kill()  # it keeps nothing that could be lost
        if self._turn.acquire(timeout=timeout):
            with self._state:
                self._forget()
            self._turn.release()

    def __enter__(self) -> EngineProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(self, function: str, arguments: dict[str, Any], progress: Progress) -> tuple[str, Any]:
        """Send a call and return its last message; a process that died before it began with it is replaced once."""
        for last in (False, True):
            self._begun = False
            try:
                return self._attempt(function, arguments, progress)
            except Disconnected as dead:
                end = self._death(function, arguments)
                if self._begun or last or self._closed:
                    raise end from dead
        raise AssertionError

    def _attempt(self, function: str, arguments: dict[str, Any], progress: Progress) -> tuple[str, Any]:
        self._calls += 1
        packed = pack(("call", self._calls, function, arguments))
        with self._state:
            connection = self._start()
        try:
            send(connection, packed)
            return self._relay(connection, self._calls, progress)
        except Disconnected:
            raise
        except BaseException:  # cancelled, or the receiver failed: nobody waits for the answer any more
            self._abandon(connection, self._calls)
            raise

    def _relay(self, connection: Connection, number: int, progress: Progress) -> tuple[str, Any]:
        """Pass messages on until the last one of a call, which is returned."""
        while True:
            progress.check()
            if self._closed:
                raise Cancelled
            message = _next_message(connection, _POLL)
            if message is None or message[1] != number:
                continue
            what, _, value = message
            if what == "begun":
                self._begun = True
            elif what == "progress":
                progress.report(*value)
            elif what == "partial":
                progress.partial(value)
            else:
                return what, value

    def _abandon(self, connection: Connection, number: int) -> None:
        """Ask the function to stop; where it does not in time, replace the process."""
        deadline = time.monotonic() + _GRACE
        try:
            send(connection, pack(("cancel", number)))
            while (left := deadline - time.monotonic()) > 0 and not self._closed:
                message = _next_message(connection, min(left, _POLL))
                if message is not None and message[1] == number and message[0] not in ("progress", "partial"):
                    return
        except Disconnected:
            pass  # it is gone already, which is as good
        with self._state:
            self._forget()
            if not self._closed:
                self._start()

    def _death(self, function: str, arguments: dict[str, Any]) -> Exception:
        with self._state:
            process = self._process
            if self._closed or process is None:
                return Cancelled()
            with suppress(subprocess.TimeoutExpired):
                process.wait(_GRACE)
            code = process.returncode
            self._forget()
        cause = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
        if code == -9:
            cause += ", which often means that memory ran out"
        about = arguments.get("path", function)
        return AnalysisError(
            f"the {self._name} stopped in the middle of its work by {cause} ({about}): "
            "run it again; a shorter span or a smaller batch needs less memory"
        )

    def _start(self) -> Connection:
        """The connection to a running process; `_state` is held."""
        if self._closed:
            raise Cancelled
        if self._process is not None and self._process.poll() is None and self._connection is not None:
            return self._connection
        self._forget()
        here, there = Pipe()
        try:
            self._process = self._spawn(there)
        finally:
            there.close()
        self._connection = here
        return here

    def _spawn(self, there: Connection) -> subprocess.Popen[bytes]:
        handle = there.fileno()
        options: dict[str, Any] = {"pass_fds": [handle]}
        if sys.platform == "win32":
            os.set_handle_inheritable(handle, True)
            startup = subprocess.STARTUPINFO(lpAttributeList={"handle_list": [handle]})
            flags = subprocess.CREATE_NO_WINDOW
            flags |= subprocess.BELOW_NORMAL_PRIORITY_CLASS if self._niceness else 0
            options = {"startupinfo": startup, "creationflags": flags}
        command = [sys.executable, "-P", "-m", "app.engine_child", str(handle), str(self._niceness), *self._preload]
        if self._log is not None:
            self._log.parent.mkdir(parents=True, exist_ok=True)
        with open(self._log, "wb") if self._log is not None else nullcontext() as errors:
            return subprocess.Popen(
                command,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                **options,
            )

    def _environment(self) -> dict[str, str]:
        variables = dict.fromkeys(_THREAD_VARIABLES, str(self._threads))
        paths = [os.path.abspath(path) for path in sys.path]
        return {**os.environ, **variables, "PYTHONPATH": os.pathsep.join(paths)}

    def _forget(self) -> None:
        """Kill the process if it lives, and leave nothing of it behind; `_state` is held."""
        if self._connection is not None:
            self._connection.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._connection = self._process = None


def _next_message(connection: Connection, timeout: float) -> tuple[str, int, Any] | None:
    try:
        waiting = connection.poll(timeout)
    except OSError as error:
        raise Disconnected from error
    return receive(connection) if waiting else None


def core_count() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

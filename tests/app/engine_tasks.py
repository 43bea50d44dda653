"""What tests let an engine process do; imported there by name."""

import os
import signal
import sys
import time
from pathlib import Path

import numpy as np

from analysis.errors import AnalysisError, RecordingError
from models.errors import CheckpointError

FAMILIES = {"recording": RecordingError, "checkpoint": CheckpointError, "analysis": AnalysisError, "value": ValueError}


def add(a, b):
    return a + b


def double(array):
    return array * 2


def keep(value):
    return value


def count(n, progress, pause=0.0):
    for i in range(n):
        progress.report(i + 1, n, f"step {i + 1}")
        progress.partial(i)
        time.sleep(pause)
    return "counted"


def fail(family, message):
    raise FAMILIES[family](message)


def fail_oddly():
    class Odd(Exception):
        def __init__(self, a, b):
            super().__init__(f"odd {a} {b}")

    raise Odd(1, 2)


def unpicklable():
    return lambda: None


def write(text):
    print(text)
    os.write(1, text.encode())
    return "written"


def circumstances():
    return {
        "pid": os.getpid(),
        "nice": os.nice(0),
        "threads": os.environ["OMP_NUM_THREADS"],
        "sigint": signal.getsignal(signal.SIGINT) is signal.SIG_IGN,
        "modules": sorted(sys.modules),
    }


def sleep_deaf(seconds, mark):
    """Work that never reports, so that it cannot be asked to stop."""
    Path(mark).write_text(str(os.getpid()))
    time.sleep(seconds)


def die(mark, how):
    Path(mark).write_text(str(os.getpid()))
    if how == "exit":
        os._exit(7)
    os.kill(os.getpid(), getattr(signal, how))
    time.sleep(30)


def large(megabytes):
    return np.ones(megabytes * 250_000, np.float32)

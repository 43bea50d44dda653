"""Memory: what a page has used is kept for the next one, and garbage is not looked for at the wrong time."""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # names of glibc's mallopt
_LARGEST_KEPT = 32 << 20
_MOST_KEPT = 64 << 20


def keep_freed_memory() -> bool:
    """Let freed arrays of some megabytes be used again instead of going back to the system; whether it could be done.

    Otherwise each block of signal comes as fresh pages, which the kernel clears one by one: a fifth of a block's time.
    Costs at most 64 MB.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False  # another C library, whose allocator has no such setting
    settings = ((_MMAP_THRESHOLD, _LARGEST_KEPT), (_TRIM_THRESHOLD, _MOST_KEPT))
    return all(mallopt(ctypes.c_int(name), ctypes.c_int(size)) == 1 for name, size in settings)


@contextmanager
def no_collections() -> Iterator[None]:
    """Look for no garbage meanwhile: whoever makes objects by the hundred thousand would have all looked at many times.

    For any thread, but all are without it.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()

"""The real FFT of SciPy without the rest of `scipy.fft`, whose loading takes as long as that of all our own modules.

What computes in it is one compiled module that needs nothing else of SciPy: loaded alone it gives the same numbers to
the last bit. Where it cannot be had alone, such as in another version of SciPy, `scipy.fft` is loaded after all.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from typing import Any

import numpy as np

_NAME = "scipy.fft._pocketfft.pypocketfft"  # its own name, under which `scipy.fft` finds it if it is loaded later
_UNSCALED, _BY_LENGTH = 0, 2  # how it divides what it returns
_LOCK = threading.Lock()
_LOADED: list[_Transforms] = []


@dataclass(frozen=True)
class _Transforms:
    rfft: Callable[[np.ndarray], np.ndarray]
    irfft: Callable[[np.ndarray, int], np.ndarray]
    good_size: Callable[[int], int]


def rfft(data: np.ndarray) -> np.ndarray:
    """Spectrum of real float32 or float64 (rows, samples), complex (rows, samples // 2 + 1)."""
    return _transforms().rfft(data)


def irfft(spectrum: np.ndarray, count: int) -> np.ndarray:
    """The `count` real samples (rows, count) of a spectrum (rows, count // 2 + 1)."""
    return _transforms().irfft(spectrum, count)


def next_fast_len(least: int) -> int:
    """The least length from `least` on that a real transform is fast for."""
    return _transforms().good_size(least)


def _transforms() -> _Transforms:
    if not _LOADED:
        with _LOCK:
            if not _LOADED:
                _LOADED.append(_alone() or _with_scipy())
    return _LOADED[0]


def _alone() -> _Transforms | None:
    """The transforms of the compiled module; None where it is not as it is known."""
    try:
        compiled: Any = sys.modules.get(_NAME) or _load_alone()
        found = _Transforms(
            lambda data: compiled.r2c(data, (1,), True, _UNSCALED, None, 1),
            lambda spectrum, count: compiled.c2r(spectrum, (1,), count, False, _BY_LENGTH, None, 1),
            lambda least: int(compiled.good_size(least, True)),
        )
        is_known = _is_right(found)
    except (ImportError, AttributeError, TypeError, ValueError, OSError):
        return None
    return found if is_known else None


def _load_alone() -> Any:
    scipy = find_spec("scipy")
    if scipy is None or not scipy.submodule_search_locations:
        raise ImportError("SciPy is not installed as a folder")
    folder = Path(scipy.submodule_search_locations[0], "fft", "_pocketfft")
    spec = PathFinder.find_spec(_NAME, [str(folder)])
    if spec is None or spec.loader is None:
        raise ImportError(f"SciPy has no such module ({_NAME})")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return sys.modules.setdefault(_NAME, module)


def _is_right(found: _Transforms) -> bool:
    """Whether a small transform comes out as it must, there and back, and in single precision."""
    data = np.array([[1, 2, 4, 8]], np.float32)
    spectrum = found.rfft(data)
    exact = spectrum.dtype == np.complex64 and np.allclose(spectrum, [[15, -3 + 6j, -5]])
    return bool(exact and np.allclose(found.irfft(spectrum, 4), data) and found.good_size(7) in (7, 8))


def _with_scipy() -> _Transforms:
    from scipy import fft

    return _Transforms(
        lambda data: fft.rfft(data, axis=1),
        lambda spectrum, count: fft.irfft(spectrum, count, axis=1),
        lambda least: int(fft.next_fast_len(least, real=True)),
    )

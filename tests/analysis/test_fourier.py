"""The transform without the rest of SciPy: its numbers are those of `scipy.fft`, with or without it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import fft

from analysis import fourier


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("length", [2, 30, 1000, 6144])
def test_numbers_are_those_of_scipy(dtype: type, length: int) -> None:
    data = np.random.default_rng(length).standard_normal((5, length)).astype(dtype)
    spectrum = fourier.rfft(data)
    np.testing.assert_array_equal(spectrum, fft.rfft(data, axis=1), strict=True)
    count = length // 2 // 2 * 2
    half = spectrum[:, : count // 2 + 1]
    np.testing.assert_array_equal(fourier.irfft(half, count), fft.irfft(half, count, axis=1), strict=True)


def test_fast_lengths_are_those_of_scipy() -> None:
    lengths = [1, 7, 11, 1000, 3011, 17_389]
    assert list(map(fourier.next_fast_len, lengths)) == [fft.next_fast_len(n, real=True) for n in lengths]


def test_scipy_as_a_whole_takes_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fourier, "_LOADED", [])
    monkeypatch.setattr(fourier, "_alone", lambda: None)
    test_numbers_are_those_of_scipy(np.float32, 1000)
    test_fast_lengths_are_those_of_scipy()


class _Odd:
    """A module of the same name that computes something else, or that lacks what is asked for."""

    def __init__(self, *functions: str) -> None:
        self.functions = functions

    def __getattr__(self, name: str) -> object:
        if name not in self.functions:
            raise AttributeError(name)
        return (lambda n, _real: n) if name == "good_size" else lambda data, *_more: np.asarray(data, np.complex64)


@pytest.mark.parametrize("module", [_Odd(), _Odd("r2c"), _Odd("r2c", "c2r", "good_size"), object()])
def test_a_module_that_is_not_as_known_is_not_used(monkeypatch: pytest.MonkeyPatch, module: object) -> None:
    monkeypatch.setitem(sys.modules, fourier._NAME, module)
    assert fourier._alone() is None


_ALONE = """
import sys
import numpy as np
from analysis import fourier
spectrum = fourier.rfft(np.eye(4, 1000, dtype=np.float32))
assert fourier._alone() is not None, "not loaded alone"
assert "scipy.fft" not in sys.modules, "all of it was loaded"
from scipy import fft, signal
assert (fft.rfft(np.eye(4, 1000, dtype=np.float32)) == spectrum).all(), "loaded later, it gives other numbers"
assert signal.fftconvolve([1.0, 2.0], [1.0, 1.0]).round(9).tolist() == [1.0, 3.0, 2.0]
"""


def test_nothing_else_of_scipy_is_loaded_and_all_of_it_can_be_later() -> None:
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", _ALONE], cwd=root, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr

"""What tests of the review share: a reader who does things at random, whom programs outside pytest also load."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def random_reader() -> ModuleType:
    """The module beside this file: Reader(book, seed) and base_marks()."""
    path = Path(__file__).with_name("random_reader.py")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

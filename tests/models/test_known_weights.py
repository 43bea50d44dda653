"""The digests of files that hold random numbers."""

from __future__ import annotations

import hashlib
from pathlib import Path

from models.known_weights import RANDOM_WEIGHTS


def test_the_golden_weight_files_are_all_known(shared: Path) -> None:
    files = [path for path in (shared / "parity").rglob("*") if path.suffix in (".pt", ".safetensors")]
    digests = [hashlib.sha256(path.read_bytes()).hexdigest() for path in files]
    assert set(digests) == RANDOM_WEIGHTS
    assert len(digests) == len(RANDOM_WEIGHTS)

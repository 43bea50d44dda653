"""The digests of files that hold random numbers."""

from __future__ import annotations

import hashlib
from pathlib import Path

from models.known_weights import RANDOM_WEIGHTS


def test_the_golden_weight_files_are_all_known(golden_mvpformer: Path) -> None:
    files = [path for path in golden_mvpformer.glob("tiny_*") if path.suffix in (".pt", ".safetensors")]
    assert {hashlib.sha256(path.read_bytes()).hexdigest() for path in files} == RANDOM_WEIGHTS
    assert len(files) == 5

"""Choosing a detector by name or file, and refusing what gives no seizure probability."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from analysis.engine import detectors
from analysis.engine.detectors import load_detector
from analysis.errors import AnalysisError
from models.errors import CheckpointError


@pytest.mark.parametrize(("name", "title"), [("brainmaze", "A"), ("brainmaze-a", "A"), ("Brainmaze-B", "B")])
def test_packaged_detectors_go_by_name(name: str, title: str) -> None:
    detector = load_detector(name, device="cpu")
    assert detector.title == f"brainmaze {title}"
    assert not detector.random_weights
    for limit in ("intracranial", "300 s", "muscle"):
        assert limit in detector.caveat


def test_a_packaged_detector_takes_no_head() -> None:
    with pytest.raises(AnalysisError, match=r"takes no head, .* \(brainmaze\): leave them out"):
        load_detector("brainmaze", head="head.pt")


def test_published_files_make_a_classifier_that_says_it_is_random(shared: Path) -> None:
    folder = shared / "parity/mvpformer"
    detector = load_detector(folder / "tiny_base.pt", folder / "tiny_head.pt", device="cpu")
    assert detector.random_weights
    assert detector.family == "mvpformer"
    assert len(detector.digests) == 2
    assert detector.input_description.startswith("14 segments")


def test_a_generative_checkpoint_is_refused_with_what_is_possible(shared: Path) -> None:
    with pytest.raises(AnalysisError, match=r"generative MVPFormer.*tiny_base\.pt.*--head"):
        load_detector(shared / "parity/mvpformer/tiny_base.pt", device="cpu")


@pytest.mark.parametrize("file", ["neurduo/tiny/tiny_checkpoint.pt", "mvpformer/tiny_head.pt", "mvpformer/README.md"])
def test_other_files_are_refused_by_the_loader(shared: Path, file: str) -> None:
    with pytest.raises((CheckpointError, AnalysisError), match=Path(file).name):
        load_detector(shared / "parity" / file, device="cpu")


def test_the_detector_used_last_is_kept_until_one_of_its_files_changes(shared: Path, tmp_path: Path) -> None:
    for name in ("tiny_base.pt", "tiny_head.pt", "tiny_config.json"):
        shutil.copy(shared / "parity/mvpformer" / name, tmp_path)
    base, head = tmp_path / "tiny_base.pt", tmp_path / "tiny_head.pt"
    first = load_detector(base, head, device="cpu")
    assert load_detector(base, head, device="cpu") is first
    assert load_detector(base, head, device="cpu", segments=5) is not first
    second = load_detector(base, head, device="cpu")
    head.touch()
    third = load_detector(base, head, device="cpu")
    assert third is not second
    (tmp_path / "tiny_config.json").touch()
    fourth = load_detector(base, head, device="cpu")
    assert fourth is not third
    shutil.copy(tmp_path / "tiny_config.json", tmp_path / "config.json")  # comes first from now on
    assert load_detector(base, head, device="cpu") is not fourth


def test_never_two_models_are_held(shared: Path) -> None:
    load_detector("brainmaze", device="cpu")
    with pytest.raises(CheckpointError):
        load_detector(shared / "nothing.pt", device="cpu")
    assert detectors._last is None

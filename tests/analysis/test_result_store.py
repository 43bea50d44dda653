"""Results go to disk and back without loss, within a limit, and a damaged one is as good as none."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analysis.annotation import Annotation
from analysis.errors import AnalysisError
from analysis.recording import Window
from analysis.result_files import load_result, save_result
from analysis.result_store import ResultStore
from analysis.results import AnalysisRequest, SeizurePrediction


def prediction(n: int = 50, **options: object) -> SeizurePrediction:
    request = AnalysisRequest("seizure", "abc", ("d1", "d2"), window=Window(0.0, 250.0), options=options)
    return SeizurePrediction(
        request=request,
        created="2026-01-02T03:04:05+00:00",
        software_version="0.1",
        provenance={"device": "cpu", "left_out": [["ECG", "ecg"]], "lowpass": None},
        times=np.arange(n) * 5.0,
        durations=np.full(n, 5.0),
        probability=np.random.default_rng(0).random(n).astype(np.float32),
        events=(Annotation(5.0, 20.5, "sz", ("Fp1",), 0.75, "model:x", (("note", "é"),)), Annotation(60.0, 0.0, "sz")),
        not_scored=((1.0, 2.0, "gap"),),
        left_out=(("ECG", "not EEG"),),
        model_title="x",
        caveat="limits",
        random_weights=True,
    )


def test_a_result_goes_round_without_loss(tmp_path: Path) -> None:
    saved = prediction(segments=4)
    save_result(saved, tmp_path / "a.b")
    loaded = load_result(tmp_path / "a.b")
    assert isinstance(loaded, SeizurePrediction)
    for name in ("times", "durations", "probability"):
        array = getattr(loaded, name)
        assert array.tolist() == getattr(saved, name).tolist()
        assert array.dtype == getattr(saved, name).dtype
        assert not array.flags.writeable
    blank = {name: np.empty(0) for name in ("times", "durations", "probability")}
    assert repr(replace(loaded, **blank)) == repr(replace(saved, **blank))
    assert loaded.request.key() == saved.request.key()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.b.json", "a.b.npz"]


@pytest.mark.parametrize("damage", ["no arrays", "cut arrays", "cut facts", "other format", "other type"])
def test_a_damaged_result_is_refused(tmp_path: Path, damage: str) -> None:
    save_result(prediction(), tmp_path / "r")
    arrays, facts = tmp_path / "r.npz", tmp_path / "r.json"
    text = facts.read_text()
    match damage:
        case "no arrays":
            arrays.unlink()
        case "cut arrays":
            arrays.write_bytes(arrays.read_bytes()[:100])
        case "cut facts":
            facts.write_text(text[: len(text) // 2])
        case "other format":
            facts.write_text(text.replace("cerebroscope-result/1", "cerebroscope-result/9"))
        case "other type":
            facts.write_text(text.replace("SeizurePrediction", "Nothing"))
    with pytest.raises(AnalysisError, match=r"not a whole result of this program \(.*r\.json\)"):
        load_result(tmp_path / "r")
    key = "r"
    assert ResultStore(tmp_path).get(key) is None
    assert list(tmp_path.iterdir()) == []


def test_stored_results_are_found_by_what_was_asked(tmp_path: Path) -> None:
    store = ResultStore(tmp_path / "cache")
    result = prediction(segments=4)
    assert store.get(result.request.key()) is None
    assert store.put(result)
    found = store.get(prediction(segments=4).request.key())
    assert found is not None
    assert found.events == result.events  # type: ignore[attr-defined]
    assert store.get(prediction(segments=5).request.key()) is None


def test_what_was_not_used_for_longest_goes_first(tmp_path: Path) -> None:
    results = [prediction(1000, segments=i) for i in range(4)]
    save_result(results[0], tmp_path / "size")
    size = sum(path.stat().st_size for path in tmp_path.iterdir())
    store = ResultStore(tmp_path / "cache", limit_bytes=int(3.5 * size))
    for age, result in enumerate(results[:3]):
        store.put(result)
        os.utime(tmp_path / "cache" / f"{result.request.key()}.json", (1000 + age, 1000 + age))
    assert store.get(results[0].request.key()) is not None  # used now, so it is the newest
    store.put(results[3])
    kept = [store.get(result.request.key()) is not None for result in results]
    assert kept == [True, False, True, True]


def test_a_result_larger_than_the_limit_is_not_kept(tmp_path: Path) -> None:
    store = ResultStore(tmp_path, limit_bytes=100)
    assert not store.put(prediction())
    assert list(tmp_path.iterdir()) == []


def test_a_part_of_a_result_is_not_stored(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="only complete results"):
        ResultStore(tmp_path).put(replace(prediction(), complete=False))


def test_a_full_disk_leaves_nothing_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    assert not ResultStore(tmp_path).put(prediction())
    assert list(tmp_path.iterdir()) == []

"""Predictions made in parts are the prediction of the whole, for every family, wherever it is cut."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from analysis.engine.predict import predict_seizures
from analysis.postprocessing import EpisodeRule, describe_rule, rule_of
from analysis.prediction_parts import cut_window, join_parts
from analysis.recording import Window

SCALP_42 = "recordings/scalp-seizure-42ch/scalp_seizure.edf"
SCALP_46 = "recordings/scalp-seizure-46ch/demo_edf.edf"
COUNTED = ("segments_scored", "windows_scored", "units_scored", "segments_with_short_context")


@pytest.mark.parametrize(("seconds", "count"), [(100.0, 1), (30.0, 3), (45.0, 2), (1.0, 90)])
def test_parts_tile_the_window(seconds: float, count: int) -> None:
    parts = cut_window(Window(10.0, 100.0), seconds)
    assert len(parts) == count
    assert parts[0].start == 10.0
    assert parts[-1].stop == 101.0  # nothing that begins with the last sample is lost to rounding
    assert [part.stop for part in parts[:-1]] == [part.start for part in parts[1:]]
    assert all(part.duration <= seconds + 1e-9 for part in parts[:-1])


def test_a_rule_comes_back_from_its_description() -> None:
    rule = EpisodeRule(merge_gap=10.0, min_duration=8.0)
    assert rule_of(describe_rule(rule)) == rule


@pytest.mark.parametrize(
    "checkpoint", ["brainmaze", "random:axon:tiny", "random:prise-eeg:tiny", "random:neurduo:tiny-chbmit", "tiny"]
)
def test_parts_give_the_numbers_of_the_whole(shared: Path, checkpoint: str) -> None:
    folder = shared / "parity/mvpformer"
    files = (folder / "tiny_base.pt", folder / "tiny_head.pt") if checkpoint == "tiny" else (checkpoint,)
    path, length = (shared / SCALP_42, 236.0) if "neurduo" in checkpoint else (shared / SCALP_46, 45.0)
    whole = predict_seizures(path, *files, device="cpu", threshold=0.4, batch_size=1)
    spans = cut_window(Window(0.0, length), length / 2.6)
    parts = [predict_seizures(path, *files, device="cpu", threshold=0.4, batch_size=1, part=span) for span in spans]
    assert sum(len(part.times) > 0 for part in parts) >= 2
    assert sum(len(part.times) for part in parts) == len(whole.times)
    joined = join_parts(parts[::-1])
    np.testing.assert_array_equal(joined.times, whole.times)
    np.testing.assert_array_equal(joined.durations, whole.durations)
    # Float32 sums come out in another order where windows are grouped otherwise.
    np.testing.assert_allclose(joined.probability, whole.probability, rtol=0, atol=3e-7)
    assert [(e.onset, e.duration) for e in joined.events] == [(e.onset, e.duration) for e in whole.events]
    assert joined.not_scored == tuple(sorted(whole.not_scored))
    assert joined.request == whole.request
    assert joined.request.key() != parts[0].request.key()
    counts = [
        {name: facts[name] for name in COUNTED if name in facts} for facts in (joined.provenance, whole.provenance)
    ]
    assert counts[0] == counts[1]
    assert joined.complete

"""Labels of windows: seizures that overlap them, stages and named marks over their middles."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.annotation import Annotation
from analysis.engine.window_labels import check_groups, label_windows, stage_of
from analysis.errors import AnalysisError

ONSETS = np.array([0.0, 10.0, 20.0, 30.0])


def test_a_seizure_that_overlaps_a_window_labels_it() -> None:
    found = label_windows(ONSETS, 10.0, [Annotation(9.5, 5.0, "seizure")])
    assert found.index.tolist() == [1, 1, 0, 0]
    assert found.counts == {"no seizure": 2, "seizure": 2}


def test_marks_count_by_the_middle_of_a_window() -> None:
    marks = [Annotation(4.0, 10.0, "T1"), Annotation(16.0, 12.0, "T2"), Annotation(30.0, 10.0, "T0")]
    found = label_windows(ONSETS, 10.0, marks, "T2, T1")
    assert found.names == ("T2", "T1")
    assert found.index.tolist() == [1, -1, 0, -1]
    with pytest.raises(AnalysisError, match="no label is named"):
        label_windows(ONSETS, 10.0, marks, " , ")


def test_stages_are_put_in_order_of_depth() -> None:
    texts = ("Sleep stage 4", "Sleep stage R", "Sleep stage ?", "Sleep stage W")
    marks = [Annotation(10.0 * i, 10.0, text) for i, text in enumerate(texts)]
    found = label_windows(ONSETS, 10.0, marks, "stages")
    assert found.names == ("W", "R", "N3")
    assert found.index.tolist() == [2, 1, -1, 0]


@pytest.mark.parametrize(
    ("text", "stage"),
    [
        ("Sleep stage 1", "N1"), ("sleep stage N2", "N2"), ("Stage: 3", "N3"), ("N3", "N3"), ("Sleep stage W", "W"),
        ("Sleep stage REM", "R"), ("stage_wake", "W"), ("Movement time", ""), ("Sleep stage ?", ""), ("W", ""),
        ("N", ""),
    ],
)  # fmt: skip
def test_what_names_a_stage(text: str, stage: str) -> None:
    assert stage_of(text) == stage


def test_one_group_alone_is_refused_with_the_counts() -> None:
    found = label_windows(ONSETS, 10.0, [])
    with pytest.raises(AnalysisError, match=r"night.edf; 4 of no seizure, 0 of seizure"):
        check_groups(found, "night.edf")
    check_groups(label_windows(ONSETS, 10.0, [Annotation(0.0, 5.0, "seizure")]), "night.edf")

"""Segments on their grid, and stretches that cover each wanted segment once, nearest first."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from analysis.readers import open_recording
from analysis.recording import Window
from analysis.seizure_marks import seizures
from analysis.survey import ScorableSpan
from analysis.windowing import plan_runs, plan_stretches, segments_of, seizure_labels, uncovered

WHOLE = ScorableSpan(0, 100, 0)


def test_segments_lie_on_the_grid_of_the_origin() -> None:
    (run,) = plan_runs([ScorableSpan(11.0, 48.0, 3.0)], Window(22.0, 40.0), 5.0)
    assert (run.first, run.stop) == (2, 9)  # 13-18 … 43-48
    assert (run.wanted_first, run.wanted_stop) == (4, 7)  # 23-28 … 33-38
    assert run.onsets(4, 7).tolist() == [23.0, 28.0, 33.0]
    assert run.history(4) == 2
    assert run.n_short(context=4) == 1


def test_rounded_times_on_the_grid_count_as_on_it() -> None:
    third = 1 / 3
    (run,) = plan_runs([ScorableSpan(third, third + 15, third)], Window(0, 1000), 5.0)
    assert (run.wanted_first, run.wanted_stop) == (0, 3)


def test_what_no_segment_covers_is_told() -> None:
    spans = [ScorableSpan(0, 23, 0), ScorableSpan(30, 33, 0), ScorableSpan(41, 50, 0)]
    runs = plan_runs(spans, Window(2, 100), 5.0)
    assert uncovered(runs, spans, Window(2, 100)) == [Window(2, 5), Window(20, 23), Window(30, 33), Window(41, 45)]


def test_the_stretch_looked_at_comes_first_and_then_its_neighbours() -> None:
    runs = plan_runs([WHOLE], Window(0, 100), 5.0)
    stretches = plan_stretches(runs, 4, 52.0)
    assert [(s.start, s.stop) for s in stretches] == [(10, 14), (6, 10), (14, 18), (2, 6), (18, 20), (0, 2)]
    assert [(s.start, s.stop) for s in plan_stretches(runs, 8, None)] == [(0, 8), (8, 16), (16, 20)]


@given(
    st.lists(st.tuples(st.floats(0, 50), st.floats(0, 300)), max_size=4),
    st.floats(0, 500),
    st.integers(1, 9),
    st.one_of(st.none(), st.floats(-10, 2000)),
)
def test_every_wanted_segment_is_in_one_stretch(
    pieces: list[tuple[float, float]], start: float, size: int, first_time: float | None
) -> None:
    spans, at = [], 0.0
    for gap, length in pieces:
        spans.append(ScorableSpan(at + gap, at + gap + length, at + gap))
        at += gap + length
    runs = plan_runs(spans, Window(start, 1500), 5.0)
    stretches = plan_stretches(runs, size, first_time)
    done = sorted((s.run.span.origin, k) for s in stretches for k in range(s.start, s.stop))
    assert done == sorted((r.span.origin, k) for r in runs for k in range(r.wanted_first, r.wanted_stop))
    assert all(0 < s.stop - s.start <= size for s in stretches)


def test_a_signal_is_cut_into_segments() -> None:
    signal = np.arange(24).reshape(2, 12)
    assert segments_of(signal, 4).tolist()[1] == [[4, 5, 6, 7], [16, 17, 18, 19]]


def test_windows_of_a_long_term_recording_are_labelled_as_the_published_loader_does(shared: Path) -> None:
    folder = shared / "parity/mvpformer/swec_like"
    expected = np.load(folder / "expected.npz")
    with open_recording(folder / "ID01/ID01_total.h5") as recording:
        marks, duration = seizures(recording.annotations), recording.duration
    (run,) = plan_runs([ScorableSpan(0, duration, 0)], Window(0, duration), 5.0)
    # The loader leaves out the last windows of a recording, as many as one window has segments.
    begins = run.onsets(0, run.stop - 3 + 1)[:-3]
    assert begins.tolist() == expected["window_begin_seconds"].tolist()
    labels = seizure_labels(begins, 5.0, 3, marks)
    assert labels.tolist() == expected["labels"].tolist()
    assert seizure_labels(begins, 5.0, 3, []).tolist() == [0] * 15


@given(
    st.lists(st.tuples(st.integers(0, 60), st.integers(0, 20)), max_size=5),
    st.lists(st.integers(0, 60), max_size=8),
    st.integers(1, 4),
)
def test_a_window_is_a_seizure_when_its_last_segment_touches_one(
    spans: list[tuple[int, int]], onsets: list[int], n_segments: int
) -> None:
    marked = [(a, a + length) for a, length in spans]
    labels = seizure_labels(np.array(onsets, float), 5.0, n_segments, marked)
    for onset, label in zip(onsets, labels.tolist(), strict=True):
        begin = onset + 5 * (n_segments - 1)
        assert label == any(a <= begin + 5 and b >= begin for a, b in marked)

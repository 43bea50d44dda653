"""Scores against timescoring and scikit-learn, and the cases where a figure is undefined."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from timescoring import annotations as ts_annotations
from timescoring import scoring as ts_scoring

from analysis.errors import AnalysisError
from analysis.scoring import ScoringRule, cohen_kappas, compare_events, landis_koch, score_events, segment_labels


@st.composite
def disjoint_events(draw: st.DrawFn, duration: int) -> list[tuple[float, float]]:
    """Sorted, disjoint, non-touching events on a grid of a tenth of a second."""
    edges = sorted(draw(st.sets(st.integers(0, duration * 10), max_size=24)))
    return [(a / 10, b / 10) for a, b in zip(edges[::2], edges[1::2], strict=False)]


@st.composite
def scored_pair(draw: st.DrawFn) -> tuple[int, list[tuple[float, float]], list[tuple[float, float]]]:
    duration = draw(st.integers(1, 2000))
    return duration, draw(disjoint_events(duration)), draw(disjoint_events(duration))


def same(ours: float | None, theirs: float) -> bool:
    return math.isnan(theirs) if ours is None else ours == pytest.approx(theirs, rel=1e-12)


@settings(deadline=None, max_examples=150)
@given(scored_pair())
def test_scores_agree_with_timescoring(pair: tuple[int, list[tuple[float, float]], list[tuple[float, float]]]) -> None:
    duration, ref, hyp = pair
    ours = compare_events(ref, hyp, duration, rule=ScoringRule(n_draws=1))
    theirs_ref, theirs_hyp = (ts_annotations.Annotation(list(e), 10, duration * 10) for e in (ref, hyp))
    for got, want in (
        (ours.event, ts_scoring.EventScoring(theirs_ref, theirs_hyp)),
        (ours.sample, ts_scoring.SampleScoring(theirs_ref, theirs_hyp)),
    ):
        assert (got.tp, got.fp, got.n_reference) == (want.tp, want.fp, want.refTrue)
        assert same(got.sensitivity, want.sensitivity)
        assert same(got.precision, want.precision)
        assert same(got.f1, want.f1)
        assert same(got.fp_per_24h, want.fpRate)


@settings(deadline=None, max_examples=50)
@given(scored_pair(), st.randoms())
def test_order_and_overlap_of_the_input_do_not_matter(
    pair: tuple[int, list[tuple[float, float]], list[tuple[float, float]]], random: object
) -> None:
    duration, ref, hyp = pair
    untidy = [*hyp, *((a, (a + b) / 2) for a, b in hyp)]
    random.shuffle(untidy)  # type: ignore[attr-defined]
    rule = ScoringRule(n_draws=1)
    assert compare_events(ref, untidy, duration, rule=rule) == compare_events(ref, hyp, duration, rule=rule)


@settings(deadline=None, max_examples=100)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60))
def test_vectorised_kappa_is_scikit_learns(labels: list[tuple[bool, bool]]) -> None:
    first, second = np.array(labels).T
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = cohen_kappa_score(first, second, labels=[False, True])
    assert cohen_kappas(first[None], second[None])[0] == pytest.approx(expected, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize(("stop", "duration"), [(5, 15), (10, 15), (20, 25), (20, 30), (45, 95), (36, 20000)])
def test_a_prediction_of_nothing_or_of_everything_agrees_as_by_chance(stop: float, duration: float) -> None:
    for hypothesis in ([], [(0.0, duration)]):
        kappa = score_events([(0.0, stop)], hypothesis, duration)["kappa"]
        assert str(kappa["all"]) == str(kappa["draws_mean"]) == str(kappa["draws_sd"]) == "0.0"
        assert kappa["word"] == "Slight"


def test_a_perfect_prediction() -> None:
    score = compare_events([(100, 160), (2000, 2060)], [(100, 160), (2000, 2060)], 3600)
    rates = {"sensitivity": 1.0, "precision": 1.0, "f1": 1.0, "fp_per_24h": 0.0}
    kappa = {"all": 1.0, "draws_mean": 1.0, "draws_sd": 0.0, "n_draws": 250, "n_undefined": 0}
    assert score.to_dict() == {
        "sample": rates,
        "event": {**rates, "tp": 2, "fp": 0, "n_reference": 2},
        "kappa": {**kappa, "word": "Almost perfect"},
        "fp_per_hour": 0.0,
        "rule": ScoringRule().describe(),
        "seed": 0,
        "duration": 3600,
    }


def test_undefined_figures_are_none_and_never_zero() -> None:
    score = score_events([], [], 3600)
    assert score["sample"] == {"sensitivity": None, "precision": None, "f1": None, "fp_per_24h": 0.0}
    assert score["kappa"] == {
        "all": None,
        "draws_mean": None,
        "draws_sd": None,
        "n_draws": 250,
        "n_undefined": 250,
        "word": None,
    }


def test_rare_seizures_leave_some_draws_undefined() -> None:
    """At 1 % prevalence a draw of 300 from many misses every seizure in about 0.99^300 = 5 % of cases."""
    n = 20000
    spans = [(k * 500.0, k * 500.0 + 5) for k in range(n // 100)]
    kappa = compare_events(spans, spans, n * 5.0, seed=3).kappa
    assert 2 <= kappa.n_undefined <= 30
    assert kappa.draws_mean == 1.0
    assert kappa.overall == 1.0


def test_draws_are_repeated_by_their_seed() -> None:
    ref, hyp = [(100.0, 400.0), (5000.0, 5400.0)], [(150.0, 420.0), (9000.0, 9100.0)]
    first, again, other = (compare_events(ref, hyp, 20000, seed).kappa for seed in (1, 1, 2))
    assert first == again
    assert first.draws_mean != other.draws_mean
    assert first.draws_mean == pytest.approx(first.overall, abs=0.05)


def test_a_recording_shorter_than_a_draw_gives_the_same_kappa_each_time() -> None:
    kappa = compare_events([(15.15, 44.12)], [(10, 45)], 45).kappa
    assert (kappa.n_segments, kappa.segments_per_draw, kappa.n_undefined) == (9, 9, 0)
    assert kappa.draws_mean == pytest.approx(kappa.overall, abs=1e-12)
    assert kappa.draws_sd == 0.0


def test_two_seizures_close_together_count_once_and_the_counts_say_so() -> None:
    score = compare_events([(100, 120), (200, 230)], [(100, 120)], 3600)
    assert score.raw == (2, 1)
    assert score.merged == (1, 1)
    assert score.event.sensitivity == 1.0


def test_segments_on_the_grid() -> None:
    assert segment_labels([(5, 10)], 22, 5).tolist() == [False, True, False, False]
    assert segment_labels([(4.9, 10.1)], 22, 5).tolist() == [True, True, True, False]
    assert segment_labels([(20.5, 22)], 22, 5).tolist() == [False] * 4  # the rest of 2 s is no segment
    assert len(segment_labels([], 3, 5)) == 1


@pytest.mark.parametrize(
    ("kappa", "word"),
    [(-0.1, "Poor"), (0.0, "Slight"), (0.2, "Slight"), (0.21, "Fair"), (0.6, "Moderate"), (0.8, "Substantial"),
     (0.81, "Almost perfect"), (1.0, "Almost perfect"), (None, None)],
)  # fmt: skip
def test_landis_and_koch(kappa: float | None, word: str | None) -> None:
    assert landis_koch(kappa) == word


@pytest.mark.parametrize("duration", [0.0, -1.0, math.nan])
def test_an_unknown_length_is_refused(duration: float) -> None:
    with pytest.raises(AnalysisError, match="length of the recording is not known"):
        compare_events([], [], duration)

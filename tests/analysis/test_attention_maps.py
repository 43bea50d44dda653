"""What is read off maps between channels, against closed forms and SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr

from analysis.attention_maps import (
    against_even,
    asymmetry,
    average_ranks,
    code_distances,
    distance,
    even_flow,
    even_lags,
    implied_map,
    pairs_of,
    physical_distances,
    row_entropy,
    softmax_rows,
    spearman,
    strength_in,
    strength_out,
    strongest_targets,
)

EVEN = np.full((2, 5, 5), 0.2)


def test_even_attention_has_strength_and_entropy_one_and_no_asymmetry() -> None:
    for strength in (strength_in, strength_out):
        np.testing.assert_allclose(strength(EVEN), 1.0, rtol=1e-12)
    np.testing.assert_allclose(row_entropy(EVEN), 1.0, rtol=1e-12)
    np.testing.assert_allclose(against_even(EVEN), 0.0, atol=1e-12)
    np.testing.assert_array_equal(asymmetry(EVEN), 0.0)


def test_a_hub_receives_all_and_the_others_nothing() -> None:
    hub = np.zeros((4, 4))
    hub[:, 1] = 1.0
    np.testing.assert_allclose(strength_in(hub), [0, 4, 0, 0])  # 3 others give 1 each; evenly they would give 3 / 4
    np.testing.assert_allclose(strength_out(hub), [4 / 3, 0, 4 / 3, 4 / 3])
    assert row_entropy(hub) == 0.0
    np.testing.assert_allclose(asymmetry(hub), np.sqrt(6 / 4))  # six cells differ by one, four are one


def test_what_is_nothing_has_no_asymmetry_and_one_channel_no_strength() -> None:
    assert np.isnan(asymmetry(np.zeros((3, 3))))
    for measure in (strength_in, strength_out):
        assert np.isnan(measure(np.ones((1, 1)))).all()
    assert np.isnan(row_entropy(np.ones((2, 1, 1)))).all()


def test_distance_is_that_of_frobenius() -> None:
    assert distance(np.eye(3), np.zeros((3, 3))) == pytest.approx(np.sqrt(3))


def test_the_implied_map_is_a_symmetric_toeplitz_matrix_of_code_distances() -> None:
    codes = np.array([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]])
    between = code_distances(codes)
    np.testing.assert_allclose(between, [[0, 5, 10], [5, 0, 5], [10, 5, 0]])
    np.testing.assert_allclose(implied_map(between), [[0, 5, 10], [5, 0, 5], [10, 5, 0]])
    bent = implied_map(np.array([[0.0, 2.0, 1.0], [2.0, 0.0, 9.0], [1.0, 9.0, 0.0]]))
    np.testing.assert_array_equal(bent, [[0, 2, 1], [2, 0, 2], [1, 2, 0]])


def test_physical_distances_are_nothing_where_a_place_is_not_known() -> None:
    found = physical_distances(np.array([[0, 0, 0], [3, 4, 0], [np.nan, 0, 0]], float))
    assert found[0, 1] == 5.0
    assert np.isnan(found[2]).all()


def test_rows_of_scores_become_shares() -> None:
    np.testing.assert_allclose(softmax_rows(np.log([[1.0, 3.0]])), [[0.25, 0.75]])


@pytest.mark.parametrize("ties", [False, True])
def test_spearman_is_scipys_over_known_pairs(ties: bool) -> None:
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(2, 40))
    if ties:
        x, y = np.round(x), np.round(y)
    x[3] = np.nan
    y[7] = np.nan
    found, n = spearman(x, y)
    known = np.isfinite(x) & np.isfinite(y)
    assert n == 38
    assert found == pytest.approx(spearmanr(x[known], y[known]).statistic, abs=1e-12)
    assert np.isnan(spearman(np.ones(9), np.arange(9.0))[0])
    assert np.isnan(spearman(np.arange(2.0), np.arange(2.0))[0])


def test_equal_values_share_their_ranks() -> None:
    np.testing.assert_allclose(average_ranks(np.array([5.0, 1.0, 5.0, 0.0])), [3.5, 2, 3.5, 1])


def test_each_pair_counts_once_and_its_directions_are_averaged() -> None:
    np.testing.assert_allclose(pairs_of(np.array([[9, 1, 2], [3, 9, 4], [4, 6, 9]], float)), [2, 3, 5])


def test_targets_are_others_that_get_more_than_their_share() -> None:
    row = np.array([0.4, 0.3, 0.05, 0.25])
    assert strongest_targets(row, 0, 5) == [1]
    assert strongest_targets(row, 2, 5) == [0, 1]
    assert strongest_targets(row, 2, 1) == [0]
    assert strongest_targets(np.full(4, 0.25), 0, 5) == []


def test_even_flow_is_the_mean_over_tokens_counted_one_by_one() -> None:
    t, c = 4, 3
    counted = np.zeros(4)
    for query in range(t):
        for key in range(query + 1):
            for other in range(c):
                relation = (2 if other else 0) + (key < query)
                counted[relation] += 1 / ((query + 1) * c) / t
    np.testing.assert_allclose(even_flow(t, c), counted)
    assert even_flow(t, c).sum() == pytest.approx(1.0)


def test_even_lags_are_the_mean_over_segments_counted_one_by_one() -> None:
    t = 5
    counted = np.zeros(t)
    for query in range(t):
        for key in range(query + 1):
            counted[query - key] += 1 / (query + 1) / t
    np.testing.assert_allclose(even_lags(t), counted)
    assert even_lags(t).sum() == pytest.approx(1.0)

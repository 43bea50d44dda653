"""How two groups differ, against SciPy and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_ind
from sklearn.metrics import roc_auc_score

from analysis.group_difference import compare_groups


def test_area_and_interval_are_those_of_other_libraries() -> None:
    rng = np.random.default_rng(2)
    first, second = np.round(rng.normal(0.4, 1.0, 23), 1), np.round(rng.normal(0.0, 2.0, 41), 1)
    found = compare_groups(first, second)
    labels = np.r_[np.ones(23), np.zeros(41)]
    assert found.auroc == pytest.approx(roc_auc_score(labels, np.r_[first, second]), abs=1e-12)
    interval = ttest_ind(first, second, equal_var=False).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high), abs=1e-12)
    assert (found.n_first, found.n_second) == (23, 41)


def test_groups_that_are_too_small_have_no_numbers() -> None:
    assert compare_groups(np.empty(0), np.ones(3)).describe() == {
        "n_first": 0,
        "n_second": 3,
        "auroc": None,
        "difference": None,
        "low": None,
        "high": None,
    }
    one = compare_groups(np.array([2.0]), np.array([1.0, 2.0, 3.0]))
    assert one.auroc == 0.5
    assert one.difference == 0.0
    assert np.isnan(one.low)
    constant = compare_groups(np.ones(4), np.zeros(4))
    assert (constant.auroc, constant.low, constant.high) == (1.0, 1.0, 1.0)

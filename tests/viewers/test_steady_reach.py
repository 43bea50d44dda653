"""The reach of colours stays from page to page and grows only where it must."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.attribution_maps import round_up, spread_of
from viewers.steady_reach import SteadyReach


def test_the_reach_of_the_first_values_stays() -> None:
    reaches = SteadyReach()
    assert reaches.of("night", np.full(10, -0.791)) == pytest.approx(0.8)
    assert reaches.of("night", np.full(10, 0.01)) == pytest.approx(0.8)
    assert reaches.of("night", np.full(10, 1.1)) == pytest.approx(0.8)
    assert reaches.of("night", np.full(10, 1.61)) == pytest.approx(1.7)
    assert reaches.of("night", np.full(10, 0.1)) == pytest.approx(1.7)
    assert reaches.of("another", np.full(10, 0.0301)) == pytest.approx(0.031)


@pytest.mark.parametrize(("value", "rounded"), [(1.0, 1.0), (0.0123, 0.013), (99.5, 100.0), (240.0, 240.0)])
def test_two_figures_upwards(value: float, rounded: float) -> None:
    assert round_up(value) == pytest.approx(rounded, rel=1e-12)


def test_few_large_values_do_not_pale_all_others() -> None:
    values = np.append(np.linspace(-1, 1, 999), 1e6)
    assert 0.9 < spread_of(values) < 1.0
    assert spread_of(np.array([np.nan, 3.0])) == 3.0
    assert spread_of(np.array([np.nan])) == 0.0


def test_nothing_known_is_not_remembered() -> None:
    reaches = SteadyReach()
    assert reaches.of("night", np.zeros(4)) == 1.0
    assert reaches.of("night", np.full(4, 7.0)) == 7.0

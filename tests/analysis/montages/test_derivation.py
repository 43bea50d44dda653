"""A montage applied to samples: differences, shared means, signs, and channels that are missing for a while."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.filtering import DisplayFilter
from analysis.montages.derivation import Derivation, Montage, channel_mean
from analysis.row_filter import RowFilter

NAMES = tuple("abcdefgh")


@st.composite
def derivations(draw) -> Derivation:
    anode = draw(st.sampled_from(NAMES))
    cathode = tuple(draw(st.lists(st.sampled_from(NAMES), max_size=5, unique=True)))
    return Derivation(f"{anode}-{''.join(cathode)}", anode, cathode, sign=draw(st.sampled_from((1, -1))))


@given(rows=st.lists(derivations(), min_size=1, max_size=6), seed=st.integers(0, 2**32 - 1))
def test_each_row_is_the_channel_minus_the_mean_of_the_others_with_its_sign(rows, seed):
    data = np.random.default_rng(seed).normal(0, 50, (len(NAMES), 20)).astype(np.float32)
    out = Montage("any", tuple(rows)).apply(data, NAMES)
    assert out.dtype == np.float32
    for i, row in enumerate(rows):
        mean = data[[NAMES.index(n) for n in row.cathode]].astype(np.float64).mean(axis=0) if row.cathode else 0.0
        np.testing.assert_allclose(out[i], row.sign * (data[NAMES.index(row.anode)] - mean), atol=1e-4)


def test_samples_handed_in_are_left_alone():
    data = np.ones((8, 5), np.float32)
    Montage("m", (Derivation("a", "a", sign=-1), Derivation("b", "b", ("a",)))).apply(data, NAMES)
    np.testing.assert_array_equal(data, 1)


def test_a_montage_picks_only_the_channels_it_needs_in_the_order_of_the_file():
    montage = Montage("m", (Derivation("h-b", "h", ("b",)), Derivation("c", "c")))
    assert montage.picks(NAMES) == [1, 2, 7]


def test_the_mean_of_channels_is_that_of_those_that_are_there():
    data = np.array([[1, np.nan, np.nan], [3, 5, np.nan]], np.float32)
    np.testing.assert_array_equal(channel_mean(data), [2, 5, np.nan])


@pytest.mark.parametrize("cuts", [DisplayFilter(None, None, None), DisplayFilter(1.0, 30.0)])
def test_the_rows_that_are_drawn_have_the_sign_and_the_mean_of_the_montage(cuts, array_recording, channel):
    """What a window shows comes from RowFilter; a channel that is lost for a while must not take its average along."""
    data = np.random.default_rng(3).normal(0, 40, (8, 4000))
    data[5, 1000:1200] = np.nan
    recording = array_recording([channel(n, site=None) for n in NAMES], data, 200.0)
    rows = (Derivation("turned", "a", ("b",), sign=-1), Derivation("mean", "c", NAMES), Derivation("raw", "d", sign=-1))
    montage = Montage("m", rows)
    got = RowFilter(recording, montage, cuts).compute(800, 1600)
    plain = montage.apply(recording.read(0, 4000), recording.ch_names)
    assert not np.isnan(plain).any()
    if cuts.is_off:
        np.testing.assert_allclose(got.T, plain[:, 800:1600], atol=1e-4)
    else:
        other = Montage("m", tuple(Derivation(r.name, r.anode, r.cathode) for r in rows))
        unturned = RowFilter(recording, other, cuts).compute(800, 1600)
        np.testing.assert_allclose(got, unturned * [-1, 1, -1], atol=1e-3)
        assert np.abs(got).max() > 10

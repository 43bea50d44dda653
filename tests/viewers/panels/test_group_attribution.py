"""The panel of groups: shares, completeness, the scalp through a group's electrodes, what is left of the priors."""

from __future__ import annotations

import numpy as np
import pytest

from models.prise.electrodes import NETWORKS, REGIONS, STATIC_GROUPS, dynamic_group_names
from viewers.panels.group_attribution import ALL, DYNAMIC, STATIC, GroupAttribution

CHANNELS = ("Fp1", "Fp2", "F3", "F4", "C3", "C4", "P3", "P4", "O1", "O2", "A1")


@pytest.fixture
def result(make_analysis):
    def make(channels=CHANNELS, relative=1e-6):
        rng = np.random.default_rng(4)
        by_channel = rng.uniform(0, 1, (42, len(channels)))
        by_channel /= by_channel.sum()
        share = by_channel.sum(1)
        dynamic = share[18:].reshape(4, 6)
        arrays = {
            "share": (share, ("group",), "1", "share", "paper"),
            "by_region": (share[:10], ("region",), "1", "share by region", "our definition"),
            "by_network": (share[10:18], ("network",), "1", "share by network", "our definition"),
            "by_window_and_lag": (dynamic, ("quarter", "lag"), "1", "share", "our definition"),
            "by_channel": (by_channel, ("group", "channel"), "1", "share", "our definition"),
            "channel": (by_channel.sum(0), ("channel",), "1", "share", "our definition"),
            "prior": ([0.1, -0.2, -1.8, 1.6], ("preservation",), "1", "left", "paper"),
        }
        labels = {
            "group": (*STATIC_GROUPS, *dynamic_group_names()),
            "region": tuple(REGIONS),
            "network": tuple(NETWORKS),
            "quarter": ("0", "1", "2", "3"),
            "lag": ("0 ms", "16 ms", "31 ms", "47 ms", "62 ms", "94 ms"),
            "channel": channels,
            "site": channels,
            "preservation": ("ratio", "in", "out", "gap"),
        }
        facts = {"target": "seizure", "score_change": 0.5, "completeness_residual": 1e-7}
        facts["completeness_relative"] = relative
        return make_analysis("group-attribution", arrays, labels, facts, notes=("Completeness: all is told.",))

    return make


def test_shares_are_told_in_per_cent_with_the_residual(shown, result):
    made = result()
    panel = shown(GroupAttribution, made)
    np.testing.assert_allclose(panel.regions.values, 100 * made.values("by_region"), rtol=1e-6)
    np.testing.assert_allclose(panel.networks.values, 100 * made.values("by_network"), rtol=1e-6)
    np.testing.assert_allclose(panel.dynamic.values, 100 * made.values("by_window_and_lag"), rtol=1e-5)
    assert "seizure" in panel._score.text()
    assert "residual +1e-07" in panel._score.text()
    assert panel._notes.isHidden()  # said above already
    np.testing.assert_allclose(panel.prior.values, [0.1, -0.2, -1.8, 1.6], rtol=1e-6)


def test_a_large_residual_is_warned_of(shown, result):
    assert shown(GroupAttribution, result())._sentence.isHidden()
    panel = shown(GroupAttribution, result(relative=0.2))
    assert "miss 20 % of the change" in panel._sentence.text()


def test_all_static_dynamic_or_one_group_lie_on_the_scalp(shown, result):
    made = result()
    panel = shown(GroupAttribution, made)
    head = panel.head._head.layout.ch_names
    assert head == CHANNELS[:-1]  # ears are no scalp
    places = [CHANNELS.index(name) for name in head]
    by_channel = made.values("by_channel")[:, places]
    for which, rows in ((ALL, slice(None)), (STATIC, slice(0, 18)), (DYNAMIC, slice(18, None))):
        panel.place.choose(which)
        panel.place.chosen.emit(which)
        np.testing.assert_allclose(panel.head.values, 100 * by_channel[rows].sum(0), rtol=1e-5)
    for click, group in (
        (lambda: panel.regions.row_clicked.emit(3), 3),
        (lambda: panel.networks.row_clicked.emit(2), 12),
        (lambda: panel.dynamic.cell_clicked.emit(1, 5), 18 + 11),
    ):
        click()
        np.testing.assert_allclose(panel.head.values, 100 * by_channel[group], rtol=1e-5)
        assert made.labels["group"][group] in panel.place.currentText()
    assert panel.dynamic.chosen == (1, 5)
    assert panel.regions.chosen is panel.networks.chosen is None
    panel.dynamic.cell_clicked.emit(1, 5)
    assert panel.place.value() == ALL


def test_too_few_electrodes_for_a_map_are_told(shown, result):
    panel = shown(GroupAttribution, result(channels=CHANNELS[:4]))
    assert panel.head.isHidden()
    assert "at least 8 electrodes" in panel._no_head.text()

"""The panel of attribution: sums over what the reader points at, sorted channels, and what must be known of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from analysis.annotation import Annotation
from analysis.electrodes import position_of
from analysis.recording import Window
from viewers.panels.attribution import ALL, AT_CURSOR, EVENT, PAGE, Attribution, Occluded, TokenEvidence
from viewers.panels.attribution_checks import NOT_MADE
from viewers.panels.electrode_map import ElectrodeMap
from viewers.panels.value_scale import Scale

SITES = ("Fp1", "Fp2", "F3", "F4", "C3", "C4", "P3", "P4", "O1", "O2")


def pick(panel, place: str) -> None:
    panel.place.choose(place)
    panel.place.chosen.emit(place)


@pytest.fixture
def recording(array_recording, eeg_channels):
    channels = eeg_channels(*SITES)
    placed = [replace(channel, site=channel.name, position=position_of(channel.name)) for channel in channels]
    return array_recording(placed, np.zeros((len(placed), 400)), 100.0)


def test_the_sum_over_the_page_is_sorted_and_follows_the_page(shown, attribution) -> None:
    result = attribution()
    panel = shown(Attribution, result)
    panel.set_window(Window(12.0, 14.0))
    sums = dict(zip(("Fp1", "C3", "O1"), result.values("attribution")[1].sum(-1), strict=True))
    assert list(panel.bars.names) == sorted(sums, key=lambda name: -abs(sums[name]))
    np.testing.assert_allclose(panel.bars.values, [sums[name] for name in panel.bars.names], rtol=1e-4, atol=1e-4)
    assert panel.when.text() == "Page, 00:12.0 to 00:14.0: sum by channel"
    panel.set_window(Window(13.0, 23.0))
    assert panel.when.text() == "Page, 00:13.0 to 00:14.0, the part that was explained: sum by channel"
    panel.set_window(Window(30.0, 40.0))
    assert panel.bars.message == "Nothing was explained here"
    assert not panel.bars.names


def test_the_moment_under_the_cursor(shown, attribution) -> None:
    result = attribution()
    panel = shown(Attribution, result)
    pick(panel, AT_CURSOR)
    assert panel.bars.message == "Move the cursor over the traces"
    panel.set_time(12.07)
    expected = result.values("attribution")[1, :, 5:10].sum(-1) / 0.05
    np.testing.assert_allclose(sorted(panel.bars.values), sorted(expected), rtol=1e-4, atol=1e-3)
    assert panel.when.text() == "At 00:12.07"
    panel.set_time(9.0)
    assert panel.bars.message == "Nothing was explained here"


def test_an_event_stays_until_the_next_and_a_selection_goes_first(shown, attribution) -> None:
    result = attribution()
    values = result.values("attribution")
    panel = shown(Attribution, result)
    pick(panel, EVENT)
    assert panel.bars.message.startswith("Select a span")
    panel.set_event(Annotation(10.0, 2.0, "sz"))
    panel.set_event(None)
    np.testing.assert_allclose(sorted(panel.bars.values), sorted(values[0].sum(-1)), rtol=1e-4, atol=1e-4)
    panel.set_selection(Window(12.0, 14.0))
    assert panel.when.text().startswith("Selection, 00:12.0")
    np.testing.assert_allclose(sorted(panel.bars.values), sorted(values[1].sum(-1)), rtol=1e-4, atol=1e-4)
    panel.set_selection(None)
    assert not panel.when.text().startswith("Selection")


def test_class_gap_nodes_and_baseline_are_told(shown, attribution) -> None:
    panel = shown(Attribution, attribution(windows=3))
    text = panel.facts.text()
    assert "Class seizure · Integrated Gradients, signed · 32 nodes" in text
    assert "Score +0.5 to +2.5 against the baseline" in text
    assert "Completeness gap 0.60% (largest of 3 windows)" in text
    assert "Baseline: the 10 s from 300.00 s on, in which no seizure is marked" in text
    assert "mean of its two electrodes" in panel.rule.text()
    assert not panel._sentence.isVisible()
    assert "below 0.01%" not in text
    panel.set_result(attribution(windows=6))
    assert "up to 1.2%" in panel._sentence.text()
    panel.set_result(None)
    assert not panel.facts.isVisible()
    assert not panel.checks.isVisible()


def test_checks_are_shown_where_they_were_made(shown, attribution) -> None:
    panel = shown(Attribution, attribution())
    assert panel.checks.agreement.text() == NOT_MADE
    assert not panel.checks.curves["deletion"].isVisible()
    result = attribution(checks=True)
    panel.set_result(result)
    assert panel.checks.agreement.text().splitlines() == [
        "Rank correlation with occlusion: 0.55 (0.50 to 0.60 in 2 windows)",
        "Rank correlation with keep-one: −0.50 (−0.50 to −0.50 in 2 windows)",
    ]
    curve = panel.checks.curves["insertion"]
    np.testing.assert_allclose(curve.series[0].values, result.values("insertion_by_map").mean(0), rtol=1e-6)
    assert curve.labels == ("0%", "33%", "67%", "100%")
    assert curve.describe_layer(1).startswith("33% of the channels\nby the map ")
    bars = panel.checks.bars["occlusion"]
    mean = result.values("occlusion").mean(0)
    assert list(bars.names) == [("Fp1", "C3", "O1")[i] for i in np.argsort(-np.abs(mean))]


def test_size_alone_is_asked_for_on_the_traces(shown, attribution, qtbot) -> None:
    panel = shown(Attribution, attribution())
    with qtbot.waitSignal(panel.part_chosen) as asked:
        panel.part.choose("absolute")
        panel.part.chosen.emit(panel.part.value())
    assert asked.args == ["absolute"]
    panel.set_part("mean")
    assert panel.part.value() == "absolute"


def test_grad_cam_is_averaged_without_a_sign(shown, evidence) -> None:
    result = evidence()
    panel = shown(TokenEvidence, result)
    pick(panel, ALL)
    np.testing.assert_allclose(sorted(panel.bars.values), sorted(result.values("evidence").mean((0, 2))), rtol=1e-5)
    assert not panel.part.isVisible()
    assert not panel.checks.isVisible()
    assert panel.facts.text().startswith("Class seizure · Grad-CAM · last layer · tokens of 1 s")
    assert panel.place.value() == ALL
    assert "mean by channel" in panel.when.text()


def test_occlusion_tells_what_replaced_the_signal_and_what_one_channel_brings(shown, occlusion) -> None:
    result = occlusion()
    panel = shown(Occluded, result)
    pick(panel, ALL)
    np.testing.assert_allclose(sorted(panel.bars.values), sorted(result.values("by_second").sum((0, 2))), rtol=1e-4)
    assert "Replaced by: the 10 s from 300.00 s on, in which no seizure is marked" in panel.facts.text()
    assert panel.checks.bars["keep_one"].isVisible()
    assert not panel.checks.agreement.isVisible()
    panel.set_result(occlusion(by="second"))
    assert "tells nothing of channels" in panel.bars.message
    assert not panel.checks.isVisible()
    assert "nothing of channels" in panel.when.text()


def test_a_channel_table_of_what_is_shown(shown, attribution) -> None:
    panel = shown(Attribution, attribution())
    pick(panel, PAGE)
    panel.set_window(Window(10.0, 14.0))
    lines = panel.table().splitlines()
    assert lines[0].startswith("# integrated-gradients: AXON-tiny")
    assert lines[-3].split("\t")[0] == panel.bars.names[0]


def test_too_few_electrodes_leave_the_bars_alone(shown, attribution, recording) -> None:
    panel = shown(Attribution)
    panel.set_recording(recording)
    panel.set_window(Window(10.0, 14.0))
    panel.set_result(attribution())
    assert not panel.map.isVisible()
    assert "at least 8 electrodes" in panel._no_map.text()
    assert len(panel.bars.names) == 3


def test_electrodes_without_a_value_are_left_out_of_the_map(qtbot, recording) -> None:
    made = ElectrodeMap()
    qtbot.addWidget(made)
    names = [name for name in SITES if name != "C4"][::-1]
    assert made.set_channels(recording, names)
    values = np.arange(9.0)
    made.set_values(values, Scale(-9.0, 9.0, "score"))
    shown = dict(zip(made.head._head.layout.ch_names, made.head.values, strict=True))
    assert shown == dict(zip(names, values, strict=True))
    assert ("C4", "not given to the model") in made.head._head.layout.left_out
    made.set_values(None, Scale(-9.0, 9.0, "score"))
    assert made.head.values is None


def test_contacts_are_shown_by_shaft(qtbot, array_recording, eeg_channels) -> None:
    channels = eeg_channels("LA1", "LA2", "LA3", "LB1", "LB2", type="seeg")
    made = ElectrodeMap()
    qtbot.addWidget(made)
    assert made.set_channels(array_recording(channels, np.zeros((5, 10)), 10.0), ["LA3", "LA1", "LB2"])
    made.set_values(np.array([3.0, 1.0, 2.0]), Scale(-3.0, 3.0, "score"))
    assert made.contacts.values.tolist() == [1.0, 3.0, 2.0]
    assert not made.set_channels(None, ["LA1"])

"""NeurDuo's panels: medians by channel, blocks beside untrained ones, recall under the cursor, classes of units."""

from __future__ import annotations

import numpy as np
import pytest

from viewers.panels.bank_recall import BankRecall
from viewers.panels.stream_rates import StreamRates
from viewers.panels.time_constants import TimeConstants, boxes_of, seconds_text
from viewers.panels.unit_classes import UnitClasses


def test_rates_by_channel_with_the_age_of_the_state(streams, shown):
    result = streams()
    panel = shown(StreamRates, result)
    np.testing.assert_allclose(panel.fast.values, np.median(result.values("fast_by_channel"), axis=0), rtol=1e-6)
    np.testing.assert_allclose(panel.slow.values, np.median(result.values("slow_by_channel"), axis=0), rtol=1e-6)
    assert "Fast above slow at 4 of 4 writes" in panel.words.text()
    assert "The state is 0 s old" in panel._sentence.text()
    assert panel.table().splitlines()[-1].startswith("C4\t")
    chosen = []
    panel.part_chosen.connect(chosen.append)
    panel.part.setCurrentIndex(1)
    panel.part.activated.emit(1)
    assert chosen == ["fast"]


def test_recall_of_the_step_under_the_cursor(memory, shown):
    result = memory()
    panel = shown(BankRecall, result)
    assert panel.moment.text().startswith("Step 01:47.5 to 01:48.0: 3 writes held")
    np.testing.assert_array_equal(panel.weights.values, result.values("weights")[15])
    assert panel.weights.columns == ("−6", "−4", "−2")
    panel.set_time(103.7)
    assert panel.moment.text().startswith("Step 01:43.5 to 01:44.0: 2 writes held")
    np.testing.assert_array_equal(panel.gate.values, result.values("gate")[7].astype(float))
    panel.set_time(None)
    assert panel.moment.text().startswith("Step 01:43.5")
    panel.set_time(100.1)
    assert panel.weights.message == "nothing has been written yet"
    assert np.isnan(panel.gate.values).all()
    panel.set_time(106.0)
    head, first, _ = (line.split("\t") for line in panel.table().splitlines()[-3:])
    assert head == ["channel", "gate", "share", "100.0 to 102.0 s", "102.0 to 104.0 s", "104.0 to 106.0 s"]
    np.testing.assert_allclose([float(v) for v in first[3:]], result.values("weights")[12, 0], rtol=1e-3)


@pytest.fixture
def timescales(make_analysis):
    """Time constants of two fast blocks and a slow one, twice as long as the untrained model's."""
    rng = np.random.default_rng(2)
    arrays, facts = {}, {"step_seconds": 0.5, "write_seconds": 2.0}
    for name, blocks in (("fast", 2), ("slow", 1)):
        values = np.exp(rng.normal(2.0, 1.0, (blocks, 8, 4)))
        axes = (f"{name}_layer", f"{name}_channel", f"{name}_state")
        arrays |= {name: (2 * values, axes, "s", "", "paper"), f"untrained_{name}": (values, axes, "s")}
        for whose, times in (("", 2 * values), ("untrained_", values)):
            facts |= {f"{whose}{name}_median": np.median(times), f"{whose}{name}_longest": times.max()}
    note = "Mamba's initialisation alone gives almost the same."
    return make_analysis("timescales", arrays, facts=facts, models=("NeurDuo-EEG-S",), notes=(note,))


def test_every_block_beside_the_untrained_one_with_the_warning_first(timescales, shown):
    panel = shown(TimeConstants, timescales)
    boxes = boxes_of(timescales)
    assert [(box.stream, box.name) for box in boxes] == [("fast", "0"), ("fast", "1"), ("slow", "0")]
    for box in boxes:
        np.testing.assert_allclose(box.own, 2 * box.untrained, rtol=1e-6)
    np.testing.assert_allclose(boxes[1].own[2], np.median(timescales.values("fast")[1]), rtol=1e-6)
    assert "initialisation" in panel._sentence.text()
    assert not panel._notes.isVisible()  # said once
    assert panel.words.text().startswith("Fast: median ")
    assert panel.plot.describe(panel.plot.area.center()).startswith("fast block 1: median")
    assert len(panel.table().splitlines()) == 6


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.5, "0.5 s"), (7.4, "7.4 s"), (29.2, "29 s"), (500.0, "8.3 min"), (7200.0, "2 h")]
)
def test_times_in_the_unit_they_are_read_in(seconds, text):
    assert seconds_text(seconds) == text


def test_minutes_in_each_class_and_the_unit_under_the_cursor(make_analysis, shown):
    probability = np.float32([[0.9, 0.05, 0.05], [0.1, 0.1, 0.8], [0.2, 0.1, 0.7], [0.6, 0.4, 0.0]])
    arrays = {
        "time": (30.0 * np.arange(4), ("unit",), "s"),
        "probability": (probability, ("unit", "class"), "1", "", "paper"),
        "choice": (probability.argmax(1), ("unit",)),
    }
    facts = {"first_time": 0.0, "unit_seconds": 30.0, "context_units": 20, "missing_channels": ["PZ"]}
    panel = shown(UnitClasses, make_analysis("stages", arrays, {"class": ("W", "N1", "R")}, facts))
    assert panel.spent.names == ("W", "R", "N1")
    np.testing.assert_allclose(panel.spent.values, [1.0, 1.0, 0.0])
    panel.set_time(45.0)
    np.testing.assert_allclose(panel.unit.values, probability[1, [0, 2, 1]])
    assert panel.words.text() == "Channels without a signal: PZ"

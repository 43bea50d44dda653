"""Rows that are drawn at another scale than the page say so, and at which."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.figures.row_scales import RowScale, described, foot_words, row_scales
from analysis.montage import Derivation, Montage
from analysis.recording import Channel

RATE, PITCH = 100.0, 5.0


@pytest.fixture
def scales(array_recording) -> list[RowScale]:
    kinds = [("C3", "eeg", "uV"), ("ECG", "ecg", "uV"), ("OSAT", "misc", "%"), ("PR", "misc", "bpm")]
    channels = [Channel(name, name, kind, unit, RATE) for name, kind, unit in kinds]
    data = np.zeros((1000, 4), np.float32)
    data[:, 2] = np.linspace(90.0, 100.0, 1000)  # 1st to 99th percentile: 9.8 of them, on 4 mm
    data[:, 3] = 60.0
    montage = Montage("as recorded", tuple(Derivation(name, name) for name, _, _ in kinds))
    return row_scales(montage, array_recording(channels, data.T, RATE), data, 7.0, PITCH)


def test_a_row_is_as_high_as_its_words_say(scales) -> None:
    assert [scale.words() for scale in scales] == ["7 µV/mm", "70 µV/mm", "2.45 %/mm", "flat"]
    assert [scale.is_own for scale in scales] == [False, True, True, True]
    assert scales[1].heights(np.array([-700.0])) == pytest.approx(10.0)  # negative is up
    assert scales[2].heights(np.array([95.0, 95.0 + 2.45])) == pytest.approx([0.0, 1.0], abs=1e-6)
    assert scales[3].heights(np.array([60.0])) == 0.0


def test_the_foot_and_the_facts_name_the_rows_of_other_scales(scales) -> None:
    assert foot_words(scales, 7.0) == "7 µV/mm (ECG 70 µV/mm; OSAT, PR on own scales, positive up)"
    assert foot_words(scales[:1], 7.0) == "7 µV/mm"
    facts = described(scales)
    assert facts["ECG"] == {"units_per_mm": 70.0, "unit": "uV", "up": "negative"}
    assert facts["OSAT"]["units_per_mm"] == pytest.approx(2.45)
    assert (facts["PR"]["units_per_mm"], facts["PR"]["up"]) == (None, "positive")
    assert "C3" not in facts

"""Montages along shafts: which contacts are neighbours, which average is whose, and what is said of the rest."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.errors import AnalysisError
from analysis.filtering import DisplayFilter
from analysis.montage import build_montage, refusal
from analysis.readers import open_recording
from analysis.row_filter import RowFilter

CONTACTS = ["A10", "A2", "A1", "B'2", "A9", "B'1", "B'3", "A4", "A3", "C7"]


@pytest.fixture
def implant(recording_of, channel):
    extra = [channel("Fz"), channel("ECG", type="ecg")]
    return recording_of([channel(name, type="seeg") for name in CONTACTS] + extra)


def test_neighbours_stand_by_shaft_and_number_and_never_cross_a_gap_or_a_shaft(implant, values):
    montage = build_montage("neighbour bipolar", implant)
    assert montage.ch_names == ("A1-A2", "A2-A3", "A3-A4", "A9-A10", "B'1-B'2", "B'2-B'3", "Fz", "ECG")
    assert [row.block for row in montage.derivations] == [0, 0, 0, 0, 1, 1, 2, 3]
    assert montage.note == "not derived over missing contacts: A4-A9; without a neighbour: C7"
    data = dict(zip(implant.ch_names, implant.read(0, 400), strict=True))
    np.testing.assert_array_equal(values(montage, implant)["A9-A10"], data["A9"] - data["A10"])


def test_a_bad_contact_keeps_its_pairs(implant):
    """A difference hides nothing: the pair is shown, and the gutter says that one of the two is bad."""
    assert build_montage("neighbour bipolar", implant, {"A2"}).ch_names[:2] == ("A1-A2", "A2-A3")


def test_each_shaft_has_its_own_mean_of_good_contacts(implant, values):
    montage = build_montage("shaft average", implant, {"A10": "flat"})
    rows = values(montage, implant)
    data = dict(zip(implant.ch_names, implant.read(0, 400).astype(np.float64), strict=True))
    good = ["A1", "A2", "A3", "A4", "A9"]
    np.testing.assert_allclose(rows["A10-avg"], data["A10"] - np.mean([data[n] for n in good], axis=0), atol=1e-4)
    np.testing.assert_allclose(sum(rows[f"{n}-avg"] for n in good), 0, atol=1e-3)
    np.testing.assert_allclose(sum(rows[f"B'{i}-avg"] for i in (1, 2, 3)), 0, atol=1e-3)
    assert "C7-avg" not in rows
    assert montage.note == "left out, flat: A10; shafts with fewer than 3 good contacts are not shown: C"
    np.testing.assert_array_equal(rows["Fz"], data["Fz"])


@pytest.mark.parametrize("name", ["neighbour bipolar", "shaft average"])
def test_what_is_drawn_is_what_the_montage_says(name, implant):
    montage = build_montage(name, implant)
    drawn = RowFilter(implant, montage, DisplayFilter(None, None, None)).compute(0, 400)
    np.testing.assert_allclose(drawn.T, montage.apply(implant.read(0, 400), implant.ch_names), atol=1e-4)


def test_contacts_recorded_as_pairs_are_put_in_order_and_have_no_average(recording_of, channel):
    pairs = [("A2", "A3"), ("A10", "A11"), ("A1", "A2"), ("A1", "B1")]
    recording = recording_of([channel(f"{a}-{b}", type="seeg", pair=(a, b)) for a, b in pairs])
    assert build_montage("neighbour bipolar", recording).ch_names == ("A1-A2", "A2-A3", "A10-A11")
    assert "recorded bipolar (A2-A3, …)" in refusal("shaft average", recording)
    assert "recorded bipolar (A2-A3, …)" in refusal("common average", recording)


def test_contacts_alone_have_no_neighbours(recording_of, channel):
    recording = recording_of([channel(f"A{i}", type="seeg") for i in (1, 3, 5)])
    with pytest.raises(AnalysisError, match="side by side"):
        build_montage("neighbour bipolar", recording)


def test_channels_on_no_shaft_are_named(recording_of, channel):
    recording = recording_of([channel(n, type="seeg") for n in ("A1", "A2", "A3", "deep", "odd 10x")])
    for name in ("neighbour bipolar", "shaft average"):
        assert "on no shaft, not shown: deep, odd 10x" in build_montage(name, recording).note


def test_a_real_implant_with_a_grid(shared):
    """G5 and G6 are missing and G11, G12 stand behind G23 in this file; 30 contacts of one name are a grid."""
    with open_recording(shared / "recordings/ecog-seizure-mat/pt01_ecog_onset.h5") as recording:
        montage = build_montage("neighbour bipolar", recording)
        average = build_montage("shaft average", recording)
    names = montage.ch_names
    assert names[:6] == ("G1-G2", "G2-G3", "G3-G4", "G7-G8", "G8-G9", "G9-G10")
    assert names[6:8] == ("G10-G11", "G11-G12")
    assert "G32-ATT1" not in names
    strips = {"ATT": 8, "PLT": 6, "AST": 4, "PST": 4, "AD": 4, "PD": 4, "SF": 6, "IF": 6, "ILT": 4, "MLT": 4, "SLT": 4}
    assert len(names) == 28 + sum(n - 1 for n in strips.values())
    assert "not derived over missing contacts: G4-G7" in montage.note
    assert "G has as many contacts as a grid" in montage.note
    assert {len(row.cathode) for row in average.derivations} == {30, *strips.values()}

"""References that are one and the same for every row: means of good channels, and a channel that was chosen."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.errors import AnalysisError
from analysis.filtering import DisplayFilter
from analysis.montage import MontageOptions, build_montage, refusal
from analysis.montages.averages import AVERAGE, AVERAGE_WITHOUT_FP, SZCORE, reference_choices, reference_name
from analysis.montages.sources import Sources
from analysis.row_filter import RowFilter

TEN_TWENTY = "Fp1 Fp2 F7 F3 Fz F4 F8 T7 C3 Cz C4 T8 P7 P3 Pz P4 P8 O1 O2"
REGIONS = "F7 T7 P7 Fp1 F3 C3 P3 O1 Fz Cz Pz Fp2 F4 C4 P4 O2 F8 T8 P8".split()
CONTACTS = ["B1", "A10", "A2", "A1", "A9", "B2", "B10", "LP'3", "LP'1", "LP'2"]


@pytest.fixture
def cap(recording_of, channel):
    return recording_of([*f"{TEN_TWENTY} A1 A2".split(), channel("ECG", type="ecg"), channel("EOG", type="eog")])


@pytest.fixture
def implant(recording_of, channel):
    return recording_of([channel(name, type="seeg") for name in CONTACTS])


@pytest.mark.parametrize("name", [AVERAGE, SZCORE])
@pytest.mark.parametrize("bad", [(), ("T7", "O2")])
def test_rows_of_the_members_sum_to_zero(name, bad, cap, values):
    rows = values(build_montage(name, cap, bad), cap)
    members = [site for site in TEN_TWENTY.split() if site not in bad]
    np.testing.assert_allclose(sum(rows[f"{site}-avg"].astype(np.float64) for site in members), 0, atol=1e-3)
    mean = np.mean([cap.read(0, 400)[cap.ch_names.index(site)] for site in members], axis=0, dtype=np.float64)
    for site in TEN_TWENTY.split():
        np.testing.assert_allclose(rows[f"{site}-avg"], cap.read(0, 400)[cap.ch_names.index(site)] - mean, atol=1e-4)


def test_a_bad_channel_keeps_its_row_and_loses_its_vote_and_the_reason_is_said(cap):
    montage = build_montage(AVERAGE, cap, {"T7": "marked bad", "O2": "flat", "A1": "flat", "Fz": "flat"})
    assert montage.note == "left out, marked bad: T7; left out, flat: Fz, O2"
    assert "T7-avg" in montage.ch_names
    assert {"T7", "O2", "Fz", "A1", "A2", "ECG"}.isdisjoint(montage.derivations[0].cathode)


def test_rows_stand_by_region_and_right_before_left_on_demand(cap, recording_of):
    rows = [row.anode for row in build_montage(AVERAGE, cap).derivations]
    assert rows == [*REGIONS, "ECG", "EOG"]
    turned = [row.anode for row in build_montage(AVERAGE, cap, options=MontageOptions(right_first=True)).derivations]
    assert turned[:3] == ["F8", "T8", "P8"]
    assert sorted(turned) == sorted(rows)


def test_a_dense_cap_keeps_the_order_of_the_file(recording_of):
    names = f"{TEN_TWENTY} FC1 FC2 FC5 FC6 CP1 CP2 CP5 CP6".split()[::-1]
    assert [row.anode for row in build_montage(AVERAGE, recording_of(names)).derivations] == names


def test_fp1_and_fp2_can_be_left_out_of_the_mean(cap, recording_of):
    montage = build_montage(AVERAGE_WITHOUT_FP, cap)
    assert set(montage.derivations[0].cathode) == set(TEN_TWENTY.split()) - {"Fp1", "Fp2"}
    assert "Fp1-avg" in montage.ch_names
    assert montage.note == "shown but not in the average, since blinks spread: Fp1, Fp2"
    assert "neither" in refusal(AVERAGE_WITHOUT_FP, recording_of(TEN_TWENTY.split()[2:]))


def test_fewer_than_eight_good_channels_are_warned_of(cap):
    bad = TEN_TWENTY.split()[:12]
    assert "average of only 7 eeg channels" in build_montage(AVERAGE, cap, bad).note
    assert "average of only 7 eeg channels" in build_montage(SZCORE, cap, bad).note
    assert "only" not in build_montage(AVERAGE, cap, bad[:11]).note


def test_where_every_electrode_is_marked_bad_the_refusal_says_so(cap, channel, recording_of):
    for name in (AVERAGE, SZCORE):
        with pytest.raises(AnalysisError, match=r"none is left \(marked bad: .* and 11 more\)") as refused:
            build_montage(name, cap, TEN_TWENTY.split())
        assert "recording" not in str(refused.value)
    with pytest.raises(AnalysisError, match="good referential"):
        build_montage(AVERAGE, recording_of([channel("ECG", type="ecg")]))


def test_szcore_names_what_is_missing_and_needs_eight(recording_of):
    montage = build_montage(SZCORE, recording_of(TEN_TWENTY.replace("T7 ", "")))
    assert montage.note == "not in the recording: T7"
    assert len(montage.derivations) == 18
    assert "12 of 19 rows" in refusal(SZCORE, recording_of(TEN_TWENTY.split()[:7]))


def test_contacts_are_averaged_by_themselves_and_stand_by_shaft_as_people_count(recording_of, channel):
    recording = recording_of([channel(n, type="seeg") for n in CONTACTS] + [channel(n) for n in TEN_TWENTY.split()])
    montage = build_montage(AVERAGE, recording)
    scalp, contacts = montage.derivations[:19], montage.derivations[19:]
    assert {row.cathode for row in scalp} == {tuple(REGIONS)}
    assert [row.anode for row in contacts] == ["B1", "B2", "B10", "A1", "A2", "A9", "A10", "LP'1", "LP'2", "LP'3"]
    assert {frozenset(row.cathode) for row in contacts} == {frozenset(CONTACTS)}


def test_a_chosen_contact_is_taken_from_all_others(implant, values):
    montage = build_montage(reference_name("A9"), implant, {"A9"})
    assert montage.name == "reference A9"
    assert montage.note == "left out, marked bad: A9"
    assert [row.name for row in montage.derivations][:3] == ["B1-A9", "B2-A9", "B10-A9"]
    assert "A9-A9" not in montage.ch_names
    data = implant.read(0, 400)
    for row in montage.derivations:
        np.testing.assert_array_equal(
            values(montage, implant)[row.name], data[implant.ch_names.index(row.anode)] - data[CONTACTS.index("A9")]
        )


def test_a_chosen_reference_leaves_channels_of_another_kind_as_they_were(recording_of, channel):
    recording = recording_of([channel(n, type="seeg") for n in CONTACTS] + ["Fz", "Cz"])
    rows = {row.name: row.cathode for row in build_montage("reference A9", recording).derivations}
    assert rows["Fz"] == ()
    assert rows["B1-A9"] == ("A9",)
    assert build_montage("reference Cz", recording).derivations[-1].name == "Fz-Cz"


@pytest.mark.parametrize("name", ["reference", "reference ", "reference X", "reference ECG", "reference F3-C3"])
def test_what_is_no_electrode_is_no_reference(name, recording_of, channel):
    recording = recording_of([*TEN_TWENTY.split(), channel("ECG", type="ecg"), "F3-C3"])
    assert refusal(name, recording)


def test_everything_that_holds_a_potential_can_be_chosen(recording_of, channel):
    recording = recording_of(
        [channel("B2", type="seeg"), channel("B1", type="seeg"), *"Cz A1 Fp1 F3-C3".split(), channel("ECG", type="ecg")]
    )
    assert reference_choices(Sources(recording)) == ["B1", "B2", "Fp1", "Cz", "A1"]


@pytest.mark.parametrize("name", [AVERAGE, SZCORE, "reference Cz", "Laplacian"])
def test_what_is_drawn_is_what_the_montage_says(name, cap):
    montage = build_montage(name, cap, {"Pz"})
    drawn = RowFilter(cap, montage, DisplayFilter(None, None, None)).compute(0, 400)
    np.testing.assert_allclose(drawn.T, montage.apply(cap.read(0, 400), cap.ch_names), atol=1e-4)

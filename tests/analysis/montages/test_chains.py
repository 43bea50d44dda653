"""Lists on recordings not made for them: recorded pairs, other references, missing and substitute electrodes."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.errors import AnalysisError
from analysis.montage import build_montage, refusal
from analysis.montages.chains import mirrored_site
from analysis.montages.lists import LISTS
from analysis.readers import open_recording

TEN_TWENTY = "Fp1 Fp2 F7 F3 Fz F4 F8 T7 C3 Cz C4 T8 P7 P3 Pz P4 P8 O1 O2"
LB = "Fp1-F7 F7-T7 T7-P7 P7-O1 Fp1-F3 F3-C3 C3-P3 P3-O1 Fz-Cz Cz-Pz Fp2-F4 F4-C4 C4-P4 P4-O2 Fp2-F8 F8-T8 T8-P8 P8-O2"
NEEDS_POTENTIALS = (
    *("ear referential", "linked ears", "contralateral ear", "Cz reference", "R-18.3", "common average"),
    *("Laplacian", "SzCORE", "TB-18.1", "TB-18.2"),
)


def test_the_files_own_spelling_is_shown(recording_of):
    old = TEN_TWENTY.replace("T7", "T3").replace("T8", "T4").replace("P7", "T5").replace("P8", "T6")
    montage = build_montage("TB-18.1", recording_of(old))
    assert montage.ch_names[7:15] == ("T3-C3", "C3-Cz", "Cz-C4", "C4-T4", "T5-P3", "P3-Pz", "Pz-P4", "P4-T6")


def test_a_negative_spike_at_t7_points_the_tips_of_its_two_rows_at_each_other(recording_of, values):
    """Phase reversal: down in F7-T7 and up in T7-P7, where a deflection goes up for a value below zero."""
    data = np.zeros((19, 400))
    data[TEN_TWENTY.split().index("T7"), 200] = -100.0
    recording = recording_of(TEN_TWENTY, data)
    rows = values(build_montage("LB-18.1", recording), recording)
    assert rows["F7-T7"][200] == 100.0  # positive: drawn downwards
    assert rows["T7-P7"][200] == -100.0  # negative: drawn upwards
    moved = [name for name, samples in rows.items() if samples.any()]
    assert moved == ["F7-T7", "T7-P7"]


@pytest.mark.parametrize("name", NEEDS_POTENTIALS)
def test_recorded_pairs_refuse_what_needs_single_electrodes_and_name_one_of_themselves(name, shared):
    with open_recording(shared / "recordings/chbmit-headers/chb05_06.edf") as recording:
        reason = refusal(name, recording)
    assert "recorded bipolar (Fp1-F7, …)" in reason


def test_chb_mit_files_are_reordered_from_what_they_recorded(shared):
    with open_recording(shared / "recordings/chbmit-headers/chb05_06.edf") as recording:
        data = recording.read(0, recording.n_times)
        for name in ("LB-18.1", "LB-18.2", "LB-18.3", "parasagittal first", "CHB-MIT"):
            montage = build_montage(name, recording)
            wanted = LISTS[name].replace(" |", "").split()
            assert montage.note == ""
            assert [row.name.removesuffix(" (2)") for row in montage.derivations] == wanted
            assert all(row.sign == 1 and not row.cathode for row in montage.derivations)
            np.testing.assert_array_equal(
                montage.apply(data, recording.ch_names)[3], data[recording.ch_names.index(montage.ch_names[3])]
            )
        rows = build_montage("CHB-MIT", recording).derivations
    assert [row.anode for row in rows if row.name.startswith("T8-P8")] == ["T8-P8", "T8-P8 (2)"]


def test_a_pair_recorded_the_other_way_round_is_turned_and_said(recording_of, values):
    recording = recording_of([*LB.split()[1:], "F7-Fp1"])
    montage = build_montage("LB-18.1", recording)
    assert montage.ch_names == tuple(LB.split())
    assert montage.derivations[0].sign == -1
    assert montage.note == "sign turned, recorded the other way round: Fp1-F7"
    np.testing.assert_array_equal(values(montage, recording)["Fp1-F7"], -recording.read(0, 400)[-1])


def test_a_ring_from_chb_mit_pairs_takes_the_sense_of_the_list(shared):
    with open_recording(shared / "recordings/chbmit-headers/chb05_06.edf") as recording:
        montage = build_montage("hat band", recording)
        data = recording.read(0, recording.n_times)
        rows = dict(zip(montage.ch_names, montage.apply(data, recording.ch_names), strict=True))
        by_name = dict(zip(recording.ch_names, data, strict=True))
    assert montage.ch_names == ("Fp2-F8", "F8-T8", "T8-P8", "P8-O2", "O1-P7", "P7-T7", "T7-F7", "F7-Fp1")
    np.testing.assert_array_equal(rows["O1-P7"], -by_name["P7-O1"])
    np.testing.assert_array_equal(rows["P7-T7"], by_name["P7-T7"])  # recorded in both senses
    assert "not in the recording: O2-O1, Fp1-Fp2" in montage.note


def test_pairs_with_more_than_half_missing_are_not_a_montage(recording_of):
    montage = build_montage("LB-18.1", recording_of(LB.split()[:8]))
    assert len(montage.derivations) == 8
    assert "Fz-Cz, Cz-Pz, Fp2-F4" in montage.note
    with pytest.raises(AnalysisError, match="11 of 18"):
        build_montage("LB-18.1", recording_of(TEN_TWENTY.split()[:10]))


def test_what_is_missing_is_named_by_electrode(recording_of):
    assert "(T1, T2): 18 of 18 rows" in refusal("R-18.3", recording_of(TEN_TWENTY))
    assert "(A1, A2): 19 of 19 rows" in refusal("ear referential", recording_of(TEN_TWENTY))


@pytest.mark.parametrize(
    ("ears", "left", "right"), [("M1 M2", "M1", "M2"), ("TP9 TP10", "TP9", "TP10"), ("TP9 TP10 M1 M2", "M1", "M2")]
)
def test_mastoids_stand_in_for_ears_and_it_is_said(ears, left, right, recording_of):
    recording = recording_of(f"{TEN_TWENTY} {ears}")
    for name in ("ear referential", "linked ears", "TB-18.2", "TUH TCP"):
        montage = build_montage(name, recording)
        assert montage.note.startswith(f"{left}, {right} for A1, A2, which the recording does not have: near, but not")
        used = {c for row in montage.derivations for c in (row.anode, *row.cathode)}
        assert {left, right} <= used
    assert f"F7-{left}" in build_montage("ear referential", recording).ch_names
    assert f"F7-{left}{right}" in build_montage("linked ears", recording).ch_names


def test_ears_that_were_recorded_are_used_whatever_else_there_is(recording_of):
    montage = build_montage("ear referential", recording_of(f"{TEN_TWENTY} M1 M2 A1 A2"))
    assert montage.note == ""
    assert montage.derivations[0].cathode == ("A1",)


def test_one_ear_alone_does_not_make_linked_ears(recording_of):
    recording = recording_of(f"{TEN_TWENTY} A1")
    assert "(A2)" in refusal("linked ears", recording)
    montage = build_montage("ear referential", recording)
    assert len(montage.derivations) == 11
    lost = ", ".join(f"{site}-A2" for site in "Fp2 F4 C4 P4 O2 F8 T8 P8".split())
    assert montage.note == f"not in the recording: {lost}"


def test_a_bad_ear_leaves_the_mean_and_is_named(recording_of, values):
    recording = recording_of(f"{TEN_TWENTY} A1 A2")
    montage = build_montage("linked ears", recording, {"A1"})
    assert montage.note == "left out, marked bad: A1"
    data = dict(zip(recording.ch_names, recording.read(0, 400), strict=True))
    np.testing.assert_allclose(values(montage, recording)["F7-A1A2"], data["F7"] - data["A2"], atol=1e-5)


def test_an_electrode_that_everything_was_recorded_against_is_known(channel, recording_of, values):
    """Recorded against Cz, Fz is Fz-Cz itself and Cz-Pz is Pz with its sign turned."""
    sites = [channel(site, reference="Cz") for site in TEN_TWENTY.split() if site != "Cz"]
    recording = recording_of(sites)
    montage = build_montage("LB-18.1", recording)
    assert montage.ch_names == tuple(LB.split())
    assert montage.note == ""
    rows, data = values(montage, recording), dict(zip(recording.ch_names, recording.read(0, 400), strict=True))
    np.testing.assert_array_equal(rows["Fz-Cz"], data["Fz"])
    np.testing.assert_array_equal(rows["Cz-Pz"], -data["Pz"])
    assert len(build_montage("Cz reference", recording).derivations) == 18


def test_what_was_recorded_against_linked_ears_shows_them_as_it_is(channel, recording_of):
    recording = recording_of([channel(site, reference="LE") for site in TEN_TWENTY.split()])
    montage = build_montage("linked ears", recording)
    assert montage.ch_names[0] == "F7-LE"
    assert all(row.cathode == () for row in montage.derivations)
    assert len(montage.derivations) == 19


def test_different_references_are_warned_of(channel, recording_of):
    sites = [channel(s, reference="Ref" if s[-1] in "13579z" else "AR") for s in TEN_TWENTY.split()]
    recording = recording_of(sites)
    assert "different references (Ref, AR)" in build_montage("TB-18.1", recording).note
    assert build_montage("LB-18.1", recording).note != ""
    same = recording_of(
        [channel(s, reference=r) for s, r in zip(TEN_TWENTY.split(), ["Ref", "REF"] * 10, strict=False)]
    )
    assert build_montage("LB-18.1", same).note == ""


def test_polygraphy_stands_below_every_montage_in_one_order(channel, recording_of):
    extras = [
        channel("Photic", type="misc"),
        channel("Trigger", type="stim"),
        channel("Thor", type="resp"),
        channel("SpO2", type="misc", unit="%"),
        channel("EMG chin", type="emg"),
        channel("EOG left", type="eog"),
        channel("ECG", type="ecg"),
    ]
    recording = recording_of([*f"{TEN_TWENTY} A1 A2 T1 T2 FT9 FT10".split(), *extras])
    wanted = ("ECG", "EOG left", "EMG chin", "Thor", "Trigger", "Photic", "SpO2")
    for name in (*LISTS, "common average", "Laplacian", "SzCORE", "reference Cz"):
        montage = build_montage(name, recording)
        assert montage.ch_names[-7:] == wanted
        tail = montage.derivations[-7:]
        assert {row.block for row in tail} == {montage.derivations[-8].block + 1}
        assert all(row.anode == row.name and not row.cathode for row in tail)


def test_slow_senses_of_the_body_are_shown_and_inputs_of_no_known_kind_counted(channel, recording_of):
    slow = ("POL OSAT", "PR", "SpO2", "SaO2", "HR", "Pulse", "Temp", "EtCO2")
    unknown = ("X2", "DC1", "DC10", "PG1", "Accel")
    recording = recording_of([*TEN_TWENTY.split(), *(channel(n, type="misc") for n in (*slow, *unknown))])
    for name in ("LB-18.1", "common average"):
        montage = build_montage(name, recording)
        assert montage.ch_names[-len(slow) :] == slow
        assert montage.note == ""
        assert montage.unshown == "5 channels of unknown kind are not shown: X2, DC1, DC10, …"
    assert build_montage("as recorded", recording).unshown == ""
    one = recording_of([*TEN_TWENTY.split(), channel("X2", type="misc")])
    assert build_montage("LB-18.1", one).unshown == "1 channel of unknown kind is not shown: X2"


def test_what_is_there_but_not_calibrated_is_not_called_missing(channel, recording_of):
    sites = [channel(n, calibrated=n not in ("Fz", "Pz")) for n in TEN_TWENTY.split() if n != "O2"]
    recording = recording_of(sites)
    note = build_montage("LB-18.1", recording).note
    assert note == "not calibrated: Fz-Cz, Cz-Pz; not in the recording: P4-O2, P8-O2"
    assert build_montage("SzCORE", recording).note == "not calibrated: Fz, Pz; not in the recording: O2"
    pair = recording_of([channel(n, calibrated=n != "Cz-Pz") for n in LB.split()])
    assert build_montage("LB-18.1", pair).note == "not calibrated: Cz-Pz"
    few = [channel(n, calibrated=n != "Fz") for n in "Fp1 F7 T7 Fz".split()]
    assert "potential is not known (not in the recording: P7, O1" in refusal("LB-18.1", recording_of(few))
    assert "not calibrated: Fz)" in refusal("LB-18.1", recording_of(few))


@pytest.mark.parametrize(
    ("site", "other"), [("Fp1", "Fp2"), ("T8", "T7"), ("FT10", "FT9"), ("Cz", "Cz"), ("A2", "A1"), ("P10", "P9")]
)
def test_mirrored_site(site, other):
    assert mirrored_site(site) == other

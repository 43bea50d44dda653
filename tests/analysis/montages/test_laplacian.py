"""The source derivation: neighbours by table and by position, marks for what is missing, and what stays constant."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.montage import MontageOptions, build_montage, refusal
from analysis.montages.chains import mirrored_site
from analysis.readers import open_recording
from analysis.recording import Channel

TEN_TWENTY = "Fp1 Fp2 F7 F3 Fz F4 F8 T7 C3 Cz C4 T8 P7 P3 Pz P4 P8 O1 O2"


def neighbours(montage) -> dict[str, tuple[str, ...]]:
    return {row.anode: row.cathode for row in montage.derivations}


def test_a_potential_that_is_the_same_everywhere_vanishes(recording_of, values):
    recording = recording_of(TEN_TWENTY, np.tile(np.arange(400.0) / 7, (19, 1)))
    rows = values(build_montage("Laplacian", recording), recording)
    assert len(rows) == 19
    for samples in rows.values():
        np.testing.assert_allclose(samples, 0, atol=1e-4)


def test_a_row_is_the_electrode_minus_the_mean_of_its_neighbours(recording_of, values):
    recording = recording_of(TEN_TWENTY)
    montage = build_montage("Laplacian", recording)
    assert montage.note == ""
    data = dict(zip(recording.ch_names, recording.read(0, 400).astype(np.float64), strict=True))
    rows = values(montage, recording)
    np.testing.assert_allclose(
        rows["C3-lap"], data["C3"] - (data["F3"] + data["T7"] + data["P3"] + data["Cz"]) / 4, atol=1e-4
    )
    np.testing.assert_allclose(rows["O1-lap"], data["O1"] - (data["O2"] + data["P3"] + data["P7"]) / 3, atol=1e-4)


def test_a_row_without_all_neighbours_takes_the_rest_and_is_marked(recording_of):
    recording = recording_of(TEN_TWENTY.replace("T8 ", ""))
    montage = build_montage("Laplacian", recording, {"C3"})
    near = neighbours(montage)
    assert near["F3"] == ("Fp1", "F7", "Fz")
    assert near["C4"] == ("F4", "P4", "Cz")
    marked = {row.name for row in montage.derivations if row.name.endswith("*")}
    assert marked == {"F3-lap*", "T7-lap*", "P3-lap*", "Cz-lap*", "F8-lap*", "C4-lap*", "P8-lap*"}
    assert montage.note.startswith("left out, marked bad: C3; * not all neighbours: ")
    assert "F3 without C3" in montage.note
    assert "C3-lap" in montage.ch_names


def test_a_row_with_fewer_than_two_neighbours_is_left_out_and_named(recording_of):
    montage = build_montage("Laplacian", recording_of(TEN_TWENTY), {"O2", "P7"})
    assert "O1-lap" not in " ".join(montage.ch_names)
    assert "not shown, fewer than 2 neighbours: O1" in montage.note


def test_the_files_own_spelling_is_that_of_rows_and_neighbours(recording_of):
    montage = build_montage("Laplacian", recording_of(TEN_TWENTY.replace("T7", "T3").replace("P7", "T5")))
    assert neighbours(montage)["T3"] == ("F7", "C3", "T5")
    assert "T3-lap" in montage.ch_names


def test_electrodes_that_the_table_lacks_are_named(recording_of):
    montage = build_montage("Laplacian", recording_of(f"{TEN_TWENTY} Fpz A1 A2"))
    assert montage.note == "not shown, neighbours not known: Fpz"
    assert "A1-lap" not in montage.ch_names


def test_a_channel_of_the_name_of_a_missing_electrode_is_no_neighbour(recording_of, channel):
    odd = Channel("O1", "O1", "eeg", "", 100.0, site="O1", calibrated=False)
    montage = build_montage("Laplacian", recording_of([*TEN_TWENTY.replace("O1 ", "").split(), odd]))
    assert all("O1" not in row.cathode for row in montage.derivations)
    assert "O2 without O1" in montage.note


def test_few_electrodes_have_no_neighbours(recording_of):
    assert "only 0 of the 4 scalp electrodes" in refusal("Laplacian", recording_of("Fp1 C4 O1 T8"))


@pytest.mark.parametrize(
    ("name", "of_cz", "least"),
    [
        ("eegmmidb/eegmmidb_overlapping_annotations.edf", {"C1", "C2", "FCz", "CPz"}, 64),
        ("siena-headers/PN00-1.edf", {"FC1", "FC2", "CP1", "CP2"}, 29),
    ],
)
def test_a_cap_of_many_electrodes_takes_the_nearest_on_both_sides_alike(name, of_cz, least, shared):
    with open_recording(shared / "recordings" / name) as recording:
        montage = build_montage("Laplacian", recording)
        sites = {channel.name: channel.site for channel in recording.channels}
        data = np.ones((len(recording.channels), 3), np.float32)
        np.testing.assert_array_equal(montage.apply(data, recording.ch_names)[:least], 0)
    near = {sites[row.anode]: {sites[n] for n in row.cathode} for row in montage.derivations if row.cathode}
    assert len(near) == least
    assert near["Cz"] == of_cz
    assert "by position" in montage.note
    assert all(2 <= len(members) <= 6 for members in near.values())
    for site, members in near.items():
        assert {mirrored_site(member) for member in members} == near[mirrored_site(site)]


def test_a_net_with_positions_and_no_names_has_neighbours(array_recording):
    angles = np.arange(12) * np.pi / 6
    ring = [Channel(f"E{i}", f"E{i}", "eeg", "uV", 100.0, (np.cos(a), np.sin(a), 0.0)) for i, a in enumerate(angles)]
    recording = array_recording([*ring, Channel("E99", "E99", "eeg", "uV", 100.0)], np.zeros((13, 10)), 100.0)
    montage = build_montage("Laplacian", recording)
    assert set(neighbours(montage)["E5"]) >= {"E4", "E6"}
    assert "neighbours not known: E99" in montage.note


def test_the_right_side_comes_first_on_demand(recording_of):
    montage = build_montage("Laplacian", recording_of(TEN_TWENTY), options=MontageOptions(right_first=True))
    assert montage.ch_names[:3] == ("F8-lap", "T8-lap", "P8-lap")

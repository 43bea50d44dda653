"""Montages that a reader wrote: they follow the places from recording to recording, and say what they cannot show."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from analysis.errors import AnalysisError
from analysis.montage import MontageOptions, build_montage, montages_for
from analysis.montages.custom import (
    CustomMontage,
    CustomRow,
    Electrode,
    custom_from,
    custom_montage,
    known_electrodes,
    parse_electrode,
    try_rows,
)
from analysis.montages.sources import Sources
from analysis.readers import open_recording

TEN_TWENTY = "Fp1 Fp2 F7 F3 Fz F4 F8 T7 C3 Cz C4 T8 P7 P3 Pz P4 P8 O1 O2"


def site(name: str) -> Electrode:
    return Electrode(name)


def named(name: str) -> Electrode:
    return Electrode(name, is_site=False)


MIXED = CustomMontage(
    "mine",
    (
        (CustomRow(site("F7"), (site("T7"),)), CustomRow(site("T7"), (site("P7"),), label="temporal")),
        (),
        (
            CustomRow(site("Cz"), to_average=True),
            CustomRow(site("O1"), (site("A1"), site("A2"))),
            CustomRow(named("X1")),
        ),
    ),
)


def test_rows_are_what_was_written_in_the_spelling_of_the_recording(recording_of, channel, values):
    names = f"{TEN_TWENTY} A1 A2".replace("T7", "T3").split()
    recording = recording_of([*names, channel("X1", type="misc"), channel("ECG", type="ecg")])
    montage = build_montage("mine", recording, options=MontageOptions(own=(MIXED,)))
    assert montage.ch_names == ("F7-T3", "temporal", "Cz-avg", "O1-A1+A2", "X1", "ECG")
    assert [row.block for row in montage.derivations] == [0, 0, 1, 1, 1, 2]
    assert montage.note == ""
    data = dict(zip(recording.ch_names, recording.read(0, 400).astype(np.float64), strict=True))
    rows = values(montage, recording)
    np.testing.assert_allclose(rows["temporal"], data["T3"] - data["P7"], atol=1e-4)
    np.testing.assert_allclose(rows["Cz-avg"], data["Cz"] - np.mean([data[n] for n in names[:19]], axis=0), atol=1e-4)
    np.testing.assert_allclose(rows["O1-A1+A2"], data["O1"] - (data["A1"] + data["A2"]) / 2, atol=1e-4)
    np.testing.assert_array_equal(rows["X1"], recording.read(0, 400)[21])


def test_what_a_recording_lacks_is_left_out_and_said(recording_of):
    recording = recording_of("F7 T7 Cz O1 A2 C3 C4 P3 P4 Pz Fz")
    montage = custom_montage(MIXED, Sources(recording, {"Pz": "flat"}))
    assert montage.ch_names == ("F7-T7", "Cz-avg", "O1-A2")
    assert "rows left out: T7-P7: P7 not in the recording, X1: X1 not in the recording" in montage.note
    assert "mean of the rest: O1 without A1" in montage.note
    assert "left out, flat: Pz" in montage.note


def test_faults_are_told_row_by_row(recording_of):
    sources = Sources(recording_of("F7-T7 T7-P7 A1 Cz"))
    rows = [
        CustomRow(site("F7"), (site("T7"),)),
        CustomRow(site("T7"), (site("F7"),)),
        CustomRow(site("F7")),
        CustomRow(named("f7-t7")),
        CustomRow(named("F7-T7"), to_average=True),
        CustomRow(site("Oz"), (site("Cz"),)),
    ]
    made = try_rows(rows, sources)
    assert [row if isinstance(row, str) else row.name for row in made] == [
        "F7-T7",
        "T7-F7",
        "F7 known only within recorded pairs such as F7-T7",
        "F7-T7",
        "F7-T7 holds no potential that an average can be taken from",
        "Oz not in the recording",
    ]


def test_what_has_another_unit_is_not_taken_away(recording_of, channel):
    recording = recording_of(["Cz", channel("SpO2", type="misc", unit="%")])
    (fault,) = try_rows([CustomRow(site("Cz"), (named("SpO2"),))], Sources(recording))
    assert "another unit" in fault


def test_bad_channels_leave_averages_of_ones_own_too(recording_of):
    sources = Sources(recording_of(TEN_TWENTY), {"T7": "marked bad"})
    rows = custom_montage(CustomMontage("m", ((CustomRow(site("Cz"), to_average=True),),)), sources)
    assert len(rows.derivations[0].cathode) == 18
    assert rows.note == "left out, marked bad: T7"
    several = CustomMontage("m", ((CustomRow(site("Cz"), (site("T7"), site("T8"))),),))
    assert custom_montage(several, sources).derivations[0].cathode == ("T8",)


def test_a_montage_with_nothing_to_show_is_refused_with_its_reasons(recording_of):
    with pytest.raises(AnalysisError, match=r"mine has no row .*F7-T7: F7 and T7 not in the recording"):
        custom_montage(MIXED, Sources(recording_of("Oz Cz-Pz".split()[:1])))


@pytest.mark.parametrize(
    "file",
    ["scalp-seizure-46ch/demo_edf.edf", "chbmit-headers/chb05_06.edf", "ecog-seizure-mat/pt01_ecog_onset.h5"],
)
def test_every_montage_can_be_the_start_of_ones_own(file, shared):
    """The rows of the brain come back the same, in the same recording; labels of averages keep their short form."""
    with open_recording(shared / "recordings" / file) as recording:
        sources = Sources(recording)
        brain = {channel.name for channel in recording.channels if channel.is_brain}
        for name in montages_for(recording):
            try:
                montage = build_montage(name, recording)
            except AnalysisError:
                continue
            again = custom_montage(custom_from(montage, sources, "mine"), sources)
            wanted = [row for row in montage.derivations if row.anode in brain]
            got = [row for row in again.derivations if row.anode in brain]
            assert [(r.anode, set(r.cathode), r.sign) for r in got] == [
                (r.anode, set(r.cathode), r.sign) for r in wanted
            ], name
            assert [a.block != b.block for a, b in pairwise(got)] == [a.block != b.block for a, b in pairwise(wanted)]


def test_names_are_kept_by_place_so_that_they_serve_other_recordings(recording_of):
    old = recording_of(TEN_TWENTY.replace("T7", "T3").replace("P7", "T5"))
    mine = custom_from(build_montage("LB-18.1", old), Sources(old), "mine")
    assert mine.rows[1] == CustomRow(site("F7"), (site("T7"),))
    assert custom_montage(mine, Sources(recording_of(TEN_TWENTY))).ch_names[1:3] == ("F7-T7", "T7-P7")


@pytest.mark.parametrize(
    ("typed", "electrode"),
    [
        ("t3", site("T7")),
        (" fp1 ", site("Fp1")),
        ("A1", named("A1")),
        ("x1", named("X1")),
        ("nothing", named("nothing")),
        ("", None),
    ],
)
def test_typed_names_are_channels_of_the_recording_first(typed, electrode, recording_of, channel):
    """A1 is a contact here, not an ear."""
    recording = recording_of(["T3", "Fp1", channel("A1", type="seeg"), channel("X1", type="misc")])
    assert parse_electrode(typed, Sources(recording)) == electrode


def test_without_a_recording_a_typed_name_is_a_place():
    assert parse_electrode("A1") == site("A1")
    assert parse_electrode("LA'3") == named("LA'3")


def test_names_to_choose_from_begin_with_the_electrodes(recording_of, channel):
    recording = recording_of([channel("ECG", type="ecg"), "Cz", "F7"])
    assert known_electrodes(Sources(recording)) == ["F7", "Cz", "ECG"]

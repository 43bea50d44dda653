"""Montages against hand-written sums: which channel minus which, in which order, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.errors import AnalysisError
from analysis.montage import (
    AS_RECORDED,
    AVERAGE,
    CHB_MIT,
    INTRACRANIAL_MONTAGES,
    LB_18_1,
    MONTAGES,
    REFERENCE,
    SCALP_MONTAGES,
    build_montage,
    default_montage,
    montages_for,
    refusal,
    side_of,
)
from analysis.recording import Channel

TEN_TWENTY = "Fp1 Fp2 F7 F3 Fz F4 F8 T7 C3 Cz C4 T8 P7 P3 Pz P4 P8 O1 O2".split()
LB_ROWS = (
    "Fp1-F7 F7-T7 T7-P7 P7-O1 Fp1-F3 F3-C3 C3-P3 P3-O1 Fz-Cz Cz-Pz Fp2-F4 F4-C4 C4-P4 P4-O2 Fp2-F8 F8-T8 T8-P8 P8-O2"
).split()


def scalp(name: str, site: str | None = None, **changes) -> Channel:
    return Channel(name, name, "eeg", "uV", 100.0, site=site or name, **changes)


def bipolar(name: str, label: str | None = None) -> Channel:
    a, b = name.split("-")
    return Channel(label or name, name, "eeg", "uV", 100.0, pair=(a, b))


@pytest.fixture
def recording(array_recording):
    data = np.random.default_rng(0).normal(size=(21, 50)).astype(np.float32)
    extra = [Channel("A1", "A1", "eeg", "uV", 100.0, site="A1"), Channel("ECG", "ECG", "ecg", "uV", 100.0)]
    return array_recording([scalp(n) for n in TEN_TWENTY] + extra, data, 100.0)


def rows_of(montage, recording) -> dict[str, np.ndarray]:
    data = recording.read(0, recording.n_times)
    return dict(zip(montage.ch_names, montage.apply(data, recording.ch_names), strict=True))


def test_longitudinal_rows_are_the_published_list_in_order(recording):
    montage = build_montage(LB_18_1, recording)
    assert [r.name for r in montage.derivations if r.side != "other"] == LB_ROWS
    assert montage.derivations[-1].name == "ECG"
    assert montage.note == ""


def test_each_longitudinal_row_is_input_one_minus_input_two(recording):
    data = dict(zip(recording.ch_names, recording.read(0, 50), strict=True))
    rows = rows_of(build_montage(LB_18_1, recording), recording)
    for name in LB_ROWS:
        a, b = name.split("-")
        np.testing.assert_array_equal(rows[name], data[a] - data[b])


def test_old_names_serve_as_their_new_sites(array_recording):
    old = {"T7": "T3", "T8": "T4", "P7": "T5", "P8": "T6"}
    channels = [scalp(old.get(n, n), site=n) for n in TEN_TWENTY]
    recording = array_recording(channels, np.eye(19, 30, dtype=np.float32), 100.0)
    montage = build_montage(LB_18_1, recording)
    assert montage.ch_names[1:4] == ("F7-T3", "T3-T5", "T5-O1")
    assert default_montage(recording) == LB_18_1


def test_average_leaves_out_ears_and_polygraphy(recording):
    rows = rows_of(build_montage(AVERAGE, recording), recording)
    data = recording.read(0, 50)
    mean = data[:19].mean(axis=0, dtype=np.float64)
    np.testing.assert_allclose(rows["Cz-avg"], data[9] - mean, atol=1e-6)
    assert "A1-avg" not in rows
    np.testing.assert_array_equal(rows["ECG"], data[20])
    total = sum(rows[f"{name}-avg"] for name in TEN_TWENTY)
    np.testing.assert_allclose(total, 0, atol=1e-5)


def test_an_uncalibrated_channel_is_not_averaged(array_recording):
    data = np.ones((10, 20), np.float32)
    data[9] = 1e6
    channels = [scalp(n) for n in TEN_TWENTY[:9]] + [scalp("C4", calibrated=False)]
    recording = array_recording(channels, data, 100.0)
    rows = rows_of(build_montage(AVERAGE, recording), recording)
    assert "C4-avg" not in rows
    assert build_montage(AVERAGE, recording).note == "left out, not calibrated: C4"
    np.testing.assert_array_equal(rows["Fp1-avg"], np.zeros(20, np.float32))


def test_a_channel_with_missing_samples_leaves_the_average_of_the_others(array_recording):
    data = np.random.default_rng(1).normal(size=(10, 20)).astype(np.float32)
    data[3, 5:8] = np.nan
    data[:, 15] = np.nan
    recording = array_recording([scalp(n) for n in TEN_TWENTY[:10]], data, 100.0)
    rows = rows_of(build_montage(AVERAGE, recording), recording)
    others = [i for i in range(10) if i != 3]
    np.testing.assert_allclose(rows["Fp1-avg"][5:8], data[0, 5:8] - data[others, 5:8].mean(axis=0), atol=1e-6)
    np.testing.assert_allclose(rows["Fp1-avg"][8:15], data[0, 8:15] - data[:, 8:15].mean(axis=0), atol=1e-6)
    assert np.isnan(rows["F3-avg"][5:8]).all()
    assert np.isnan(rows["Fp1-avg"][15])


def test_the_average_names_what_it_leaves_out_but_for_the_ears(array_recording):
    ears = [scalp("A1"), scalp("M2", calibrated=False)]
    odd = [bipolar("F3-C3"), bipolar("T8-P8"), scalp("Pz", calibrated=False)]
    others = [Channel("ECG", "ECG", "ecg", "uV", 100.0, calibrated=False)]
    recording = array_recording([scalp(n) for n in TEN_TWENTY[:8]] + ears + odd + others, np.ones((14, 20)), 100.0)
    montage = build_montage(AVERAGE, recording)
    assert montage.note == "left out, not calibrated: Pz; left out, recorded bipolar: F3-C3, T8-P8"
    assert set(montage.ch_names) == {f"{n}-avg" for n in TEN_TWENTY[:8]} | {"ECG"}


def test_a_long_list_of_what_is_left_out_is_cut(array_recording):
    channels = [scalp(n) for n in TEN_TWENTY[:8]] + [bipolar(n) for n in LB_ROWS[:10]]
    note = build_montage(AVERAGE, array_recording(channels, np.ones((18, 20)), 100.0)).note
    assert note == f"left out, recorded bipolar: {', '.join(LB_ROWS[:8])} and 2 more"


def test_the_average_of_a_whole_cap_with_ears_needs_no_note(recording):
    assert build_montage(AVERAGE, recording).note == ""


def test_few_channels_make_a_noted_average(array_recording):
    recording = array_recording([scalp(n) for n in TEN_TWENTY[:3]], np.ones((3, 20)), 100.0)
    assert build_montage(AVERAGE, recording).note == "average of only 3 eeg channels"


def test_recorded_bipolar_channels_are_reordered_and_never_averaged(array_recording):
    channels = [bipolar(n) for n in reversed(LB_ROWS)] + [bipolar("T8-P8", "T8-P8 (2)")]
    data = np.arange(19)[:, None] * np.ones((1, 20))
    recording = array_recording(channels, data, 100.0)
    montage = build_montage(LB_18_1, recording)
    assert montage.ch_names == tuple(LB_ROWS)
    assert rows_of(montage, recording)["Fp1-F7"][0] == 17
    with pytest.raises(AnalysisError, match="recorded bipolar"):
        build_montage(AVERAGE, recording)
    assert "recorded bipolar" in refusal(AVERAGE, recording)


def test_recordings_made_bipolar_open_with_every_channel(array_recording):
    def default_of(*labels: str) -> str:
        channels = [bipolar(label, f"{i} {label}") for i, label in enumerate(labels)]
        return default_montage(array_recording(channels, np.ones((len(labels), 20)), 100.0))

    further = ("P7-T7", "T7-FT9", "FT9-FT10", "FT10-T8", "T8-P8")
    assert default_of(*LB_ROWS, *further) == CHB_MIT
    assert default_of(*LB_ROWS, *further, "F9-T9") == AS_RECORDED
    assert default_of(*LB_ROWS, "T7-FT9") == AS_RECORDED
    assert default_of(*LB_ROWS) == LB_18_1


def test_a_montage_that_lacks_its_electrodes_is_refused_with_the_count(array_recording):
    recording = array_recording([scalp(n) for n in ("Fp1", "F7", "Cz")], np.ones((3, 20)), 100.0)
    with pytest.raises(AnalysisError, match="17 of 18"):
        build_montage(LB_18_1, recording)
    assert default_montage(recording) == AS_RECORDED


def test_missing_rows_are_named(array_recording):
    channels = [scalp(n) for n in TEN_TWENTY if n != "Cz"]
    recording = array_recording(channels, np.ones((18, 20)), 100.0)
    assert build_montage(LB_18_1, recording).note == "not in the recording: Fz-Cz, Cz-Pz"
    assert default_montage(recording) == AS_RECORDED


def test_unknown_montage_names_those_there_are(recording):
    with pytest.raises(AnalysisError, match=r"LB-18\.1"):
        build_montage("banana", recording)


@pytest.mark.parametrize(
    ("channel", "side"),
    [
        (scalp("F3"), "left"),
        (scalp("T10"), "right"),
        (scalp("Pz"), "midline"),
        (bipolar("F3-C3"), "left"),
        (bipolar("F3-F4"), "midline"),
        (Channel("ECG", "ECG", "ecg", "uV", 100.0), "other"),
        (Channel("A'1", "A'1", "seeg", "uV", 100.0), "other"),
    ],
)
def test_sides(channel, side):
    assert side_of(channel) == side


def test_each_kind_of_recording_has_its_own_list_of_montages(array_recording):
    data = np.zeros((2, 10))
    contacts = [Channel(f"A{i}", f"A{i}", "seeg", "uV", 100.0) for i in (1, 2)]
    ecg = [Channel(n, n, "ecg", "uV", 100.0) for n in ("ECG1", "ECG2")]
    assert montages_for(array_recording([scalp("Cz"), scalp("Pz")], data, 100.0)) == SCALP_MONTAGES
    assert montages_for(array_recording(contacts, data, 100.0)) == INTRACRANIAL_MONTAGES
    assert montages_for(array_recording(ecg, data, 100.0)) == (AS_RECORDED,)
    both = montages_for(array_recording([contacts[0], scalp("Cz")], data, 100.0))
    assert both[: len(INTRACRANIAL_MONTAGES)] == INTRACRANIAL_MONTAGES
    assert sorted(both) == sorted({*INTRACRANIAL_MONTAGES, *SCALP_MONTAGES})


def test_the_keys_of_scalp_and_intracranial_recordings():
    """A reader's fingers know these; an order that changes by accident would show another montage without a word."""
    assert SCALP_MONTAGES[:9] == (
        *("as recorded", "LB-18.1", "LB-18.3", "TB-18.1", "ear referential"),
        *("common average", "hat band", "Laplacian", "Cz reference"),
    )
    assert INTRACRANIAL_MONTAGES[:4] == ("as recorded", "neighbour bipolar", "shaft average", "common average")
    assert {*SCALP_MONTAGES, *INTRACRANIAL_MONTAGES} == {*MONTAGES, REFERENCE}


def test_nothing_is_left_out_of_what_was_recorded(recording):
    montage = build_montage(AS_RECORDED, recording, bad=("Cz",))
    assert montage.ch_names == recording.ch_names
    assert all(not row.cathode and row.sign == 1 for row in montage.derivations)

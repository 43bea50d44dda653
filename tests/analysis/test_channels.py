"""Channel names, types and places from real labels and from those that readers have met in bug reports."""

from __future__ import annotations

import pytest

from analysis.channels import RawChannel, build_channels
from analysis.recording import Channel


def built(*labels: str, unit: str = "uV") -> list[Channel]:
    return list(build_channels([RawChannel(label, unit, 256.0) for label in labels]))


# label among ten-twenty company -> name, type, site or pair, reference
ONE_BY_ONE = [
    ("Fp1", "Fp1", "eeg", "Fp1", None),
    ("FP1", "Fp1", "eeg", "Fp1", None),
    ("fz", "Fz", "eeg", "Fz", None),
    ("EEG Fp1-Ref", "Fp1", "eeg", "Fp1", "Ref"),
    ("EEG f7-REF", "F7", "eeg", "F7", "REF"),
    ("EEG T3-LE", "T3", "eeg", "T7", "LE"),
    ("T4", "T4", "eeg", "T8", None),
    ("T5-AR", "T5", "eeg", "P7", "AR"),
    ("T6-A1A2", "T6", "eeg", "P8", "A1A2"),
    ("C3-(A1+A2)/2", "C3", "eeg", "C3", "(A1+A2)/2"),
    ("Cz-Avg", "Cz", "eeg", "Cz", "Avg"),
    ("Fp1-G2", "Fp1", "eeg", "Fp1", "G2"),
    ("FP1_REF", "Fp1", "eeg", "Fp1", "REF"),
    ("EEGFP1", "Fp1", "eeg", "Fp1", None),
    ("EEG-FP1", "Fp1", "eeg", "Fp1", None),
    ("Fc5.", "FC5", "eeg", "FC5", None),
    ("Cz..", "Cz", "eeg", "Cz", None),
    ("EEG 01-LE", "O1", "eeg", "O1", "LE"),
    ("P0z", "POz", "eeg", "POz", None),
    ("F1O", "F10", "eeg", "F10", None),
    ("AFF5H", "AFF5h", "eeg", "AFF5h", None),
    ("EEG A1-Ref", "A1", "eeg", "A1", "Ref"),
    ("M2", "M2", "eeg", "M2", None),
    ("T1", "T1", "eeg", "T1", None),
    ("FP1-F7", "Fp1-F7", "eeg", ("Fp1", "F7"), None),
    ("Fp1 - F7", "Fp1-F7", "eeg", ("Fp1", "F7"), None),
    ("EEG T3-T5", "T3-T5", "eeg", ("T7", "P7"), None),
    ("T8-P8-0", "T8-P8", "eeg", ("T8", "P8"), None),
    ("FZ-CZ", "Fz-Cz", "eeg", ("Fz", "Cz"), None),
    ("F4-A1", "F4-A1", "eeg", ("F4", "A1"), None),
    ("ECG", "ECG", "ecg", None, None),
    ("EKG 1", "EKG 1", "ecg", None, None),
    ("EKG EKG", "EKG", "ecg", None, None),
    ("EEG EKG1-REF", "EKG1", "ecg", None, "REF"),
    ("POL ECG2", "ECG2", "ecg", None, None),
    ("ECG1-ECG2", "ECG1-ECG2", "ecg", None, None),
    ("EOG VEOG_I", "VEOG_I", "eog", None, None),
    ("EOG horizontal", "EOG horizontal", "eog", None, None),
    ("HEOGli", "HEOGli", "eog", None, None),
    ("REOG", "REOG", "eog", None, None),
    ("E1-M2", "E1-M2", "eog", None, None),
    ("EEG ROC-LE", "ROC", "eog", None, "LE"),
    ("EMG submental", "EMG submental", "emg", None, None),
    ("Chin1-Chin2", "Chin1-Chin2", "emg", None, None),
    ("Resp oro-nasal", "Resp oro-nasal", "resp", None, None),
    ("RESP1-REF", "RESP1", "resp", None, "REF"),
    ("SpO2", "SpO2", "misc", None, None),
    ("SaO2", "SaO2", "misc", None, None),
    ("OSAT", "OSAT", "misc", None, None),
    ("PR", "PR", "misc", None, None),
    ("Temp rectal", "Temp rectal", "misc", None, None),
    ("PHOTIC PH", "PH", "misc", None, None),
    ("PHOTIC-REF", "PHOTIC", "misc", None, "REF"),
    ("POL DC01", "DC01", "misc", None, None),
    ("DC4", "DC4", "misc", None, None),
    ("X18", "X18", "misc", None, None),
    ("POL E", "E", "misc", None, None),
    ("POL PG1", "PG1", "misc", None, None),
    ("POL T1", "T1", "misc", None, None),
    ("POL $A1", "$A1", "misc", None, None),
    ("*A2", "*A2", "misc", None, None),
    ("REF_EEG REF_EEG", "REF_EEG REF_EEG", "misc", None, None),
    ("EXG1", "EXG1", "misc", None, None),
    ("1", "1", "misc", None, None),
    ("IBI", "IBI", "misc", None, None),
    ("Status", "Status", "stim", None, None),
    ("stAtUs", "stAtUs", "stim", None, None),
    ("tRigGer", "tRigGer", "stim", None, None),
    ("DIG DTRIG", "DTRIG", "stim", None, None),
    ("STI 014", "STI 014", "stim", None, None),
    ("Event marker", "Event marker", "stim", None, None),
    ("MK", "MK", "stim", None, None),
    ("EEG SP1-REF", "SP1", "eeg", None, "REF"),
]
COMPANY = ("Fp2", "F8", "F4", "Pz", "O2", "P4", "C4", "P3")


@pytest.mark.parametrize(
    ("label", "name", "kind", "place", "reference"), ONE_BY_ONE, ids=[row[0] for row in ONE_BY_ONE]
)
def test_labels(label: str, name: str, kind: str, place: object, reference: str | None) -> None:
    channel = built(label, *COMPANY)[0]
    assert (channel.name, channel.type, channel.reference) == (name, kind, reference)
    assert (channel.pair or channel.site) == place
    assert channel.original_name == label


def test_unknown_labels_are_eeg_where_nothing_else_is_known() -> None:
    assert [c.type for c in built("squarewave", "ramp", "Channel 1", "EEG Channel-2")] == ["eeg"] * 4
    assert built("EEG Channel-2")[0].name == "Channel-2"


def test_unknown_labels_beside_known_ones_are_eeg_only_if_recorded_alike() -> None:
    known = [RawChannel(label, "uV", 256.0, acquisition=("HP:0.5Hz",)) for label in COMPANY]
    alike = RawChannel("Ergo-Left", "uV", 256.0, acquisition=("HP:0.5Hz",))
    other = RawChannel("Ergo-Right", "uV", 256.0, acquisition=("HP:DC",))
    assert [c.type for c in build_channels([*known, alike, other])][-2:] == ["eeg", "misc"]


def test_names_are_unique_and_the_first_keeps_its_own() -> None:
    channels = built("T8-P8", "T8-P8", "T8-P8", "EEG Fp1", "Fp1", "", "")
    assert [c.name for c in channels] == ["T8-P8", "T8-P8 (2)", "T8-P8 (3)", "Fp1", "Fp1 (2)", "unnamed", "unnamed (2)"]


def test_a_reference_that_all_share_makes_channels_referential() -> None:
    channels = built("Fp1-Cz", "F3-Cz", "F4-Cz", "Pz-Cz", "O1-Cz")
    first = channels[0]
    assert (first.name, first.site, first.pair, first.reference) == ("Fp1", "Fp1", None, "Cz")
    # Sleep-EDF's two channels are derivations, and so are those against both ears.
    assert [c.pair for c in built("EEG Fpz-Cz", "EEG Pz-Oz")] == [("Fpz", "Cz"), ("Pz", "Oz")]
    ears = built("Fp1-A1", "F3-A1", "C3-A1", "P3-A1", "O1-A1", "Fp2-A2", "F4-A2")
    assert all(c.pair and c.reference is None for c in ears)


def test_shafts_make_a_recording_intracranial() -> None:
    labels = [f"LA'{i}" for i in range(1, 9)] + [f"O{i}" for i in range(1, 11)] + [f"P{i}" for i in range(1, 9)]
    channels = built(*labels, "EKG1", "DC1", "Fz")
    assert [c.type for c in channels] == ["seeg"] * 26 + ["ecg", "misc", "eeg"]
    assert all(c.site is None and c.position is None for c in channels[:26])
    assert channels[-1].site == "Fz"


def test_polygraphic_prefix_does_not_hide_contacts() -> None:
    channels = built(
        *[f"POL LA{i}" for i in range(1, 9)], *[f"POL RH{i}" for i in range(1, 9)], "POL DC01", "EEG Cz-Ref"
    )
    assert [c.type for c in channels] == ["seeg"] * 16 + ["misc", "eeg"]
    assert channels[0].name == "LA1"


def test_grids_are_ecog() -> None:
    assert {c.type for c in built(*[f"G{i}" for i in range(1, 33)], *[f"AST{i}" for i in range(1, 5)])} == {"ecog"}


def test_bipolar_contacts_are_pairs_of_one_shaft() -> None:
    channels = built(*[f"G{i}-G{i + 1}" for i in range(1, 8)])
    assert [c.pair for c in channels][:2] == [("G1", "G2"), ("G2", "G3")]
    assert {c.type for c in channels} == {"seeg"}


@pytest.mark.parametrize(("prefix", "kind"), [("SEEG", "seeg"), ("iEEG", "seeg"), ("ECOG", "ecog")])
def test_a_type_word_alone_is_reason_enough(prefix: str, kind: str) -> None:
    channels = built(f"{prefix} A1", f"{prefix} B3")
    assert [(c.name, c.type, c.site) for c in channels] == [("A1", kind, None), ("B3", kind, None)]


def test_numbered_caps_are_scalp() -> None:
    biosemi = built(*[f"{letter}{i}" for letter in "ABCD" for i in range(1, 33)], "Status")
    assert {c.type for c in biosemi[:-1]} == {"eeg"}
    assert all(c.site is None for c in biosemi)  # A1 and C3 are no ear and no central electrode here
    net = built(*[f"E{i}" for i in range(1, 129)], "Cz")
    assert {c.type for c in net} == {"eeg"}
    assert net[-1].site == "Cz"


def test_a_ten_ten_cap_has_no_shafts() -> None:
    labels = "Fp1 F1 F2 F3 F4 F5 F6 F7 F8 C1 C2 C3 C4 C5 C6 P1 P2 P3 P4 P5 P6 O1 O2 Fz Cz Pz".split()
    assert all(c.type == "eeg" and c.site == c.name for c in built(*labels))


def test_what_is_no_voltage_is_no_eeg() -> None:
    assert [(c.type, c.site) for c in built("Cz", "Fp1", unit="%")] == [("misc", None)] * 2


def test_a_type_the_file_states_is_kept() -> None:
    raw = [RawChannel("A1", "uV", 256.0, kind="seeg"), RawChannel("Fp1", "uV", 256.0, kind="ecg")]
    assert [c.type for c in build_channels(raw)] == ["seeg", "ecg"]


def test_places() -> None:
    cz, pair, ear, other = built("Cz", "Fp1-F7", "F4-A1", "EKG")
    fp1, f7, f4, *_ = built("Fp1", "F7", "F4")
    assert cz.position is not None
    assert fp1.position is not None
    assert f7.position is not None
    assert pair.position == pytest.approx([(a + b) / 2 for a, b in zip(fp1.position, f7.position, strict=True)])
    assert ear.position == f4.position
    assert other.position is None
    told = build_channels([RawChannel("Cz", "uV", 256.0, position=(0.0, 0.01, 0.1))])
    assert told[0].position == (0.0, 0.01, 0.1)

"""What NeurDuo is given: electrodes by name, and chunks that leave gaps out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from analysis.channels import RawChannel, build_channels
from analysis.engine.neurduo_input import choose_electrodes, input_settings, plan_chunks, resolve_channel
from analysis.errors import AnalysisError
from analysis.recording import Window

STATED = {"sampling_rate": 256.0, "highpass": 0.5, "lowpass": 75.0, "notch": "mains", "order": 4}
RAW = {"sampling_rate": 256.0, "highpass": None, "lowpass": None, "notch": None}


def channels(*labels: str, sfreq: float = 256.0) -> Any:
    return build_channels([RawChannel(label, "uV", sfreq) for label in labels])


def noise(n_channels: int, seconds: float, sfreq: float = 256.0) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(n_channels, round(seconds * sfreq))).astype(np.float32) * 20


@pytest.mark.parametrize(
    ("label", "site", "row"),
    [
        ("EEG Fp1-REF", "FP1", 0),
        ("EEG T3-LE", "T3", 1),
        ("C3-A2", "C3", 11),
        ("F7-T7", "F7", 0),
        ("Fz-Cz", "FZ", 15),
        ("Fp1.", "FP1", 0),  # dropped by the published rule, understood by our readers
        ("POL Fp1", "FP1", 0),
    ],
)
def test_labels_that_mean_an_electrode(label: str, site: str, row: int) -> None:
    others = ["EEG O1-REF", "EEG O2-REF", "EEG P3-REF"]
    found = resolve_channel(channels(label, *others)[0])
    assert found is not None
    assert (found.site, found.reference_id) == (site, row)


def test_contacts_and_other_caps_are_no_electrodes_of_the_same_name() -> None:
    shafts = channels(
        *(f"F{i}" for i in range(1, 9)), *(f"LA{i}" for i in range(1, 9)), *(f"LB{i}" for i in range(1, 9))
    )
    cap = channels(*(f"{g}{i}" for g in "ABCD" for i in range(1, 33)), "Status")
    for group in (shafts, cap):
        assert not any(resolve_channel(channel) for channel in group)


def test_the_first_channel_of_each_site_counts(make_recording: Any) -> None:
    found = channels("Fp1-F7", "F7-T7", "Fp1-F3", "X1", "C3.")
    recording = make_recording(noise(5, 4), 256.0, found)
    chosen = choose_electrodes(recording, range(5), (("A1", "at the ear"),), with_references=True)
    assert chosen.sites == ("FP1", "F7", "C3")
    assert chosen.picks == (0, 1, 4)
    assert dict(chosen.left_out)[found[2].name] == f"the electrode of {found[0].name} again"
    assert "no electrode" in dict(chosen.left_out)["X1"]
    assert "C3" in chosen.notes[0]
    np.testing.assert_allclose(np.linalg.norm(chosen.positions, axis=1), 1, atol=1e-6)


def test_references_are_those_of_the_labels_or_none(make_recording: Any) -> None:
    recording = make_recording(noise(2, 4), 256.0, channels("C3-A2", "F4-M1"))
    for with_references, rows in ((True, [11, 12]), (False, [0, 0])):
        assert choose_electrodes(recording, (0, 1), (), with_references).reference_ids.tolist() == rows


def test_names_that_mean_nothing_are_refused_in_one_line(make_recording: Any) -> None:
    recording = make_recording(noise(2, 4), 256.0, channels("square", "ramp"))
    with pytest.raises(AnalysisError, match=r"no channel is named by an electrode.*square, ramp \(made.edf\): re"):
        plan_chunks(recording, STATED, 128)


def test_chunks_lie_on_the_grid_of_their_stretch(make_recording: Any) -> None:
    data = noise(2, 30)
    recording = make_recording(data.copy(), 256.0, channels("C3", "C4"), gaps=((7.2, 9.9), (20.0, 25.0)))
    plan = plan_chunks(recording, RAW, 128)
    onsets = plan.onsets()
    assert plan.n_chunks == len(onsets) == 14 + 20 + 10
    np.testing.assert_allclose(onsets[[0, 13, 14, 33, 34, 43]], [0, 6.5, 9.9, 19.4, 25, 29.5])
    np.testing.assert_allclose(plan.gap, [np.inf, 2.9, 5.1])
    assert [span[2] for span in plan.not_scored] == ["gap in the recording"] * 2
    for chunk in (0, 13, 14, 20, 34, 43):
        (made,) = plan.read(recording, chunk, chunk + 1)
        start = round(onsets[chunk] * 256)
        np.testing.assert_allclose(made[0], data[:, start : start + 128], atol=1e-5)
    (made,) = plan.read(recording, 14, 34)
    assert made.shape == (20, 2, 128)
    assert [plan.run_of(chunk) for chunk in (0, 13, 14, 33, 34)] == [0, 0, 1, 1, 2]


def test_missing_samples_and_flat_channels_are_left_out_and_told(make_recording: Any) -> None:
    data = noise(3, 40)
    data[1] = 7.0
    data[2, 256 * 10 : 256 * 12] = np.nan
    recording = make_recording(data, 256.0, channels("C3", "C4", "Cz"), format="BrainVision")
    plan = plan_chunks(recording, STATED, 128)
    assert plan.electrodes.sites == ("C3", "CZ")
    assert dict(plan.electrodes.left_out) == {"C4": "flat"}
    assert plan.not_scored == ((10.0, 12.0, "samples are missing"),)
    assert plan.n_chunks == 20 + 56


def test_a_span_without_a_whole_chunk_is_refused(make_recording: Any) -> None:
    recording = make_recording(noise(1, 10), 256.0, channels("C3"))
    with pytest.raises(AnalysisError, match=r"no chunk of 0.5 s without a gap lies between 3 and 3.4 s"):
        plan_chunks(recording, STATED, 128, window=Window(3.0, 3.4))


@pytest.mark.parametrize("mains", [50.0, 60.0])
def test_the_notch_is_at_what_hums(mains: float, make_recording: Any) -> None:
    data = noise(2, 60) + 60 * np.sin(2 * np.pi * mains * np.arange(60 * 256) / 256).astype(np.float32)
    recording = make_recording(data, 256.0, channels("C3", "C4"))
    assert input_settings(recording, STATED).notch == (mains,)
    plan = plan_chunks(recording, STATED, 128)
    (made,) = plan.read(recording, 40, 60)
    power = np.abs(np.fft.rfft(made.transpose(1, 0, 2).reshape(2, -1))) ** 2
    frequencies = np.fft.rfftfreq(20 * 128, 1 / 256)
    beside = power[:, np.abs(frequencies - 40) < 2].mean()
    assert power[:, np.abs(frequencies - mains) < 0.2].mean() < 2 * beside
    assert input_settings(recording, RAW).notch == ()

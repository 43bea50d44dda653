"""Which channels and spans are scored, with the reason for each that is not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from analysis.errors import AnalysisError
from analysis.recording import Window
from analysis.survey import ScorableSpan, bad_brain_channels, leave_out, survey_recording

Make = Callable[..., object]


def noise(n_channels: int, seconds: float, sfreq: float = 200.0, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, 20, (n_channels, round(seconds * sfreq)))


def test_every_channel_that_is_left_out_is_named_with_its_reason(make_recording: Make, make_channel: Make) -> None:
    data = noise(9, 30)
    data[1] = 7.0
    data[2] = np.nan
    data[3, : 10 * 200] = np.nan
    channels = [
        make_channel("T8-P8", pair=("T8", "P8")),
        make_channel("flat"),
        make_channel("gone"),
        make_channel("loose"),
        make_channel("T8-P8 (2)", pair=("T8", "P8")),
        make_channel("ECG", "ecg"),
        make_channel("Fz", calibrated=False),
        make_channel("A1", "seeg"),
        make_channel("Cz"),
    ]
    survey = survey_recording(make_recording(data, 200.0, channels, format="HDF5"), Window(0, 30))
    assert survey.picks == (0, 8)
    assert dict(survey.left_out) == {
        "flat": "flat",
        "gone": "no samples",
        "loose": "samples missing in 33% of the time",
        "T8-P8 (2)": "second copy of T8-P8",
        "ECG": "not a brain signal (ecg)",
        "Fz": "not calibrated",
        "A1": "intracranial beside scalp EEG",
    }


def test_ears_are_references_and_not_scored(make_recording: Make, make_channel: Make) -> None:
    channels = [make_channel("Cz", site="Cz"), make_channel("M1", site="M1"), make_channel("A2", site="A2")]
    survey = survey_recording(make_recording(noise(3, 10), 200.0, channels), Window(0, 10))
    assert survey.picks == (0,)
    assert dict(survey.left_out) == dict.fromkeys(("M1", "A2"), "at the ear, a place for references")


def test_channels_beyond_what_the_model_takes_are_named(make_recording: Make) -> None:
    survey = survey_recording(make_recording(noise(4, 10), 200.0), Window(0, 10), max_channels=3)
    assert survey.picks == (0, 1, 2)
    assert survey.left_out == (("C3", "beyond the 3 channels this checkpoint has rows for"),)


def test_spans_keep_the_grid_of_their_gap_free_stretch(make_recording: Make) -> None:
    data = noise(2, 100)
    data[:, 30 * 200 : 31 * 200] = np.nan
    data[1, 70 * 200 : 71 * 200 + 1] = np.nan
    recording = make_recording(data, 200.0, gaps=((40.0, 55.0),), format="BrainVision")
    survey = survey_recording(recording, Window(10, 90))
    assert survey.spans == (
        ScorableSpan(10, 30, 0),
        ScorableSpan(31, 40, 0),
        ScorableSpan(55, 70, 55),
        ScorableSpan(71.005, 90, 55),
    )
    assert survey.not_scored == (
        (30, 31, "samples are missing"),
        (40, 55, "gap in the recording"),
        (70, 71.005, "samples are missing"),
    )


def test_missing_samples_are_found_across_the_borders_of_what_is_read_at_once(make_recording: Make) -> None:
    data = noise(1, 200)
    data[:, 59 * 200 : 121 * 200] = np.nan
    recording = make_recording(data, 200.0, format="HDF5")
    survey = survey_recording(recording, Window(0, 200))
    assert [(s.start, s.stop) for s in survey.spans] == [(0, 59), (121, 200)]
    assert recording.most_read <= 60 * 200


def test_a_long_recording_is_looked_at_in_places(make_recording: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analysis.survey.WHOLE_BELOW", 1000)
    data = noise(3, 4000, 20.0)
    data[1] = 0.0
    recording = make_recording(data, 20.0)
    survey = survey_recording(recording, Window(0, 4000))
    assert survey.picks == (0, 2)
    assert recording.most_read == 40


@pytest.mark.parametrize(
    ("kind", "value", "reason"),
    [("ecg", 1.0, "not a brain signal"), ("eeg", 0.0, "flat"), ("eeg", np.nan, "no samples")],
)
def test_nothing_to_score_is_refused(
    make_recording: Make, make_channel: Make, kind: str, value: float, reason: str
) -> None:
    recording = make_recording(np.full((1, 2000), value), 200.0, [make_channel("X", kind)])
    with pytest.raises(AnalysisError, match=f"made.edf.*{reason}"):
        survey_recording(recording, Window(0, 10))


def test_channels_marked_bad_are_left_out_and_make_room_for_their_copies(
    make_recording: Make, make_channel: Make
) -> None:
    channels = [
        make_channel("Cz", site="Cz"),
        make_channel("Cz (2)", site="Cz"),
        make_channel("Fz", site="Fz"),
        make_channel("ECG", "ecg"),
    ]
    recording = make_recording(noise(4, 10), 200.0, channels)
    leave_out(recording, ["Cz", "ECG"])
    survey = survey_recording(recording, Window(0, 10))
    assert survey.picks == (1, 2)
    assert survey.left_out == (("Cz", "marked bad"), ("ECG", "not a brain signal (ecg)"))
    assert bad_brain_channels(recording) == ["Cz"]  # of the heart no model would have been given anything
    assert bad_brain_channels(recording, ["Fz", "elsewhere"]) == ["Fz"]


def test_a_bad_channel_that_is_not_there_is_refused_by_name(make_recording: Make) -> None:
    with pytest.raises(AnalysisError, match=r"no channel is called 'Fzz' \(made.edf\): choose from C0, C1"):
        leave_out(make_recording(noise(2, 10), 200.0), ["Fzz"])

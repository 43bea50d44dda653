"""Simulated files: what is written is read back exactly, events and truth lie beside it."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.errors import AnalysisError, RecordingError
from analysis.event_tables import read_events, seizures
from analysis.progress import Cancelled, Progress
from analysis.readers import open_recording
from analysis.simulation.files import STEP_UV, write_simulation
from analysis.simulation.simulator import Settings, simulate_recording
from analysis.simulation.truth import read_truth

SETTINGS = Settings(duration=145, sfreq=200, seizures=1)


@pytest.mark.parametrize(("electrodes", "kind"), [("10-20", "eeg"), ("64", "eeg"), ("ieeg", "seeg")])
def test_what_is_written_is_read_back_exactly(tmp_path, electrodes, kind):
    settings = Settings(duration=145, sfreq=200, seizures=1, electrodes=electrodes)
    truth, paths = write_simulation(settings, 9, tmp_path / "one.edf")
    made = simulate_recording(settings, 9)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.edf", "one.events.tsv", "one.truth.json"]
    with open_recording(paths[0]) as recording:
        assert recording.warnings == []
        assert recording.ch_names == made.ch_names
        assert set(recording.ch_types) == {kind}
        assert (recording.sfreq, recording.n_times) == (200, 145 * 200)
        data = recording.read(0, recording.n_times)
        steps = np.rint(made.data.astype(float) / STEP_UV)
        assert np.abs(steps).max() < 32767
        read = data.astype(float) / STEP_UV
        assert np.abs(read - np.rint(read)).max() < 0.01
        # A value half way between two steps may go either way in the float32 it is computed in.
        assert (np.rint(read) != steps).mean() < 1e-4
        assert np.abs(np.rint(read) - steps).max() <= 1
        marks = recording.annotations
    assert [mark.description for mark in marks] == ["simulated EEG of no person", "seizure"]
    (seizure,) = truth.events
    assert (marks[1].onset, marks[1].duration) == (seizure.onset, seizure.duration)
    table = read_events(paths[1])
    assert seizures(table.events) == [(seizure.onset, pytest.approx(seizure.stop))]
    assert dict(table.events[0].extras)["focus"] == seizure.focus_channel
    assert read_truth(paths[0]) == truth == made.truth


def test_the_header_says_that_it_is_simulated(tmp_path):
    write_simulation(Settings(duration=10, seizures=0), 77, tmp_path / "one.edf")
    header = (tmp_path / "one.edf").read_bytes()[:256]
    assert b"Cerebroscope_simulated_EEG" in header
    assert b"seed_77" in header
    assert header[8:88].split() == [b"X"] * 4


def test_equal_seeds_give_equal_files(tmp_path):
    for name in ("a", "b"):
        write_simulation(SETTINGS, 3, tmp_path / f"{name}.edf")
    for ending in (".edf", ".events.tsv", ".truth.json"):
        assert (tmp_path / f"a{ending}").read_bytes() == (tmp_path / f"b{ending}").read_bytes()


def test_a_cancelled_simulation_leaves_nothing(tmp_path):
    class Stop(Progress):
        def report(self, done, total, message=""):
            raise Cancelled

    with pytest.raises(Cancelled):
        write_simulation(SETTINGS, 3, tmp_path / "one.edf", Stop())
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_name_and_a_wrong_seed_are_refused(tmp_path):
    with pytest.raises(RecordingError, match=r"must end in \.edf"):
        write_simulation(SETTINGS, 3, tmp_path / "one.bdf")
    with pytest.raises(AnalysisError, match="no seed"):
        write_simulation(SETTINGS, -1, tmp_path / "one.edf")
    with pytest.raises(FileNotFoundError):
        write_simulation(SETTINGS, 3, tmp_path / "missing" / "one.edf")

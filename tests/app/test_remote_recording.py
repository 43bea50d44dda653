"""Recordings in another process look exactly as they do in this one, and load nothing here."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from analysis.errors import RecordingError
from analysis.readers import open_recording
from app.engine_process import EngineProcess
from app.remote_recording import RemoteRecording, open_for_window

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def reader():
    with EngineProcess("reader", niceness=0) as reader:
        yield reader


@pytest.mark.parametrize(
    "name",
    ["edf/test.edf", "brainvision/test.vhdr", "eeglab/eeglab_data.set", "fif/resting_eo_200hz_raw.fif"],
)
def test_facts_and_samples_are_those_of_the_local_reader(shared, reader, name):
    path = shared / "recordings" / name
    here, there = open_recording(path), RemoteRecording(path, reader)
    for fact in ("path", "format", "id", "channels", "sfreq", "n_times", "start_datetime", "gaps", "annotations"):
        assert getattr(there, fact) == getattr(here, fact), fact
    assert there.warnings == here.warnings
    stop = min(here.n_times, 400)
    np.testing.assert_array_equal(there.read(-5, stop), here.read(-5, stop))
    np.testing.assert_array_equal(there.read(10, 20, [1, 0]), here.read(10, 20, [1, 0]))
    np.testing.assert_array_equal(there.read_native(0, 0.1, 0.9), here.read_native(0, 0.1, 0.9))


def test_edf_is_read_here_and_the_rest_elsewhere(shared, reader):
    recordings = shared / "recordings"
    assert not isinstance(open_for_window(recordings / "edf/test.edf", reader), RemoteRecording)
    assert isinstance(open_for_window(recordings / "brainvision/test.vhdr", reader), RemoteRecording)


@pytest.mark.parametrize("name", ["brainvision_renamed.vhdr", "html_page.edf", "empty.edf"])
def test_a_refusal_is_the_sentence_of_the_local_reader(shared, reader, name):
    path = shared / "recordings/broken" / name
    with pytest.raises(RecordingError) as here:
        open_recording(path)
    with pytest.raises(RecordingError) as there:
        open_for_window(path, reader)
    assert str(there.value) == str(here.value)


def test_reading_goes_on_after_the_reader_was_killed(shared, reader):
    recording = RemoteRecording(shared / "recordings/edf/test.edf", reader)
    before = recording.read(0, 100)
    os.kill(reader.pid, signal.SIGKILL)
    np.testing.assert_array_equal(recording.read(0, 100), before)


def test_a_file_that_changed_meanwhile_is_not_mistaken_for_the_old_one(shared, reader, tmp_path):
    path = tmp_path / "a.edf"
    shutil.copyfile(shared / "recordings/edf/test.edf", path)
    recording = RemoteRecording(path, reader)
    os.kill(reader.pid, signal.SIGKILL)
    shutil.copyfile(shared / "recordings/edf/test_stim_channel.edf", path)
    with pytest.raises(RecordingError, match="changed since"):
        recording.read(0, 10)


def test_two_recordings_may_be_read_in_turn_from_several_threads(shared, reader):
    paths = [shared / "recordings/edf" / name for name in ("test.edf", "duplicate_channel_labels.edf")]
    expected = [open_recording(path).read(0, 50) for path in paths]
    recordings = [RemoteRecording(path, reader) for path in paths]
    wrong = []

    def work(i):
        for _ in range(10):
            if not np.array_equal(recordings[i].read(0, 50), expected[i], equal_nan=True):
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i % 2,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert wrong == []


def test_no_format_library_is_loaded_here(shared):
    code = f"""
import sys
from app.engine_process import EngineProcess
from app.remote_recording import open_for_window
with EngineProcess("reader", niceness=0) as reader:
    for name in ("brainvision/test.vhdr", "edf/test.edf"):
        recording = open_for_window({str(shared / "recordings")!r} + "/" + name, reader)
        recording.read(0, 100)
print(sorted({{"mne", "scipy.signal", "torch", "h5py", "scipy.io", "PyQt6"}} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("[]\n", "")

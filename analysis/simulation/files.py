"""A simulated recording as files: EDF+, its events as a table, and its truth."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from analysis.annotation import Annotation
from analysis.edf_writing import (
    UNKNOWN_PATIENT,
    EdfWriter,
    FileAnnotation,
    FileLayout,
    SignalFields,
    file_annotations,
    recording_field,
    signal_fields,
    stored,
)
from analysis.errors import AnalysisError, RecordingError
from analysis.event_tables import write_events
from analysis.progress import Progress
from analysis.simulation.settings import Settings
from analysis.simulation.simulator import SIMULATOR, simulate_blocks
from analysis.simulation.truth import Seizure, Truth, truth_path, write_truth
from models.whole_files import whole_file

STEP_UV = 0.1  # one digital step
_LARGEST = 32767
EVENTS_SUFFIX = ".events.tsv"
NOTE = "simulated EEG of no person"


def write_simulation(
    settings: Settings, seed: int, out: str | Path, progress: Progress | None = None
) -> tuple[Truth, tuple[Path, Path, Path]]:
    """Simulate a recording into `out` (.edf), with its events and its truth beside it; returns the truth and the paths.

    Samples are rounded to STEP_UV. The recording is written block by block and takes its name when it is whole.
    AnalysisError says what cannot be simulated, RecordingError that the name is wrong, OSError what cannot be written.
    """
    path = Path(out)
    if path.suffix.lower() != ".edf":
        raise RecordingError(f"the name of a simulated recording must end in .edf ({path}): give it this ending")
    if seed < 0:
        raise AnalysisError(f"{seed} is no seed: give a whole number from 0 on")
    progress = progress or Progress()
    truth, blocks = simulate_blocks(settings, seed)
    table, told = path.with_name(f"{path.stem}{EVENTS_SUFFIX}"), truth_path(path)
    seconds, fs = settings.duration, settings.sfreq
    with whole_file(path) as file:
        writer = EdfWriter(file, _layout(seed, seconds), _signals(truth, fs), _annotations(truth))
        done = 0
        for block in blocks:
            records = to_digital(block).reshape(len(block), -1, fs).transpose(1, 0, 2)
            writer.write(stored(records.reshape(len(records), -1), 2))
            done += len(records)
            progress.report(done, seconds, f"{done} s")
        write_events(table, [_event(one) for one in truth.events], None, truth.duration_s)
        write_truth(told, truth)
    return truth, (path, table, told)


def to_digital(microvolts: np.ndarray) -> np.ndarray:
    """Nearest digital values, clipped to what the format holds."""
    return np.clip(np.rint(microvolts / np.float32(STEP_UV)), -_LARGEST, _LARGEST).astype("<i2")


def _layout(seed: int, seconds: int) -> FileLayout:
    equipment = f"X X Cerebroscope_simulated_EEG_version_{SIMULATOR}_seed_{seed}"
    return FileLayout(2, UNKNOWN_PATIENT, recording_field(None, equipment), None, b"1", range(seconds))


def _signals(truth: Truth, fs: int) -> list[SignalFields]:
    word = "SEEG" if truth.electrodes == "ieeg" else "EEG"
    physical, digital = (-_LARGEST * STEP_UV, _LARGEST * STEP_UV), (-_LARGEST, _LARGEST)
    return [signal_fields(f"{word} {name}", "uV", physical, digital, "simulated", fs) for name in truth.channels]


def _annotations(truth: Truth) -> list[FileAnnotation]:
    notes = [Annotation(0.0, 0.0, NOTE), *(Annotation(one.onset, one.duration, "seizure") for one in truth.events)]
    return file_annotations(notes, 0.0, {})


def _event(seizure: Seizure) -> Annotation:
    focus = (("region", seizure.region), ("focus", seizure.focus_channel))
    return Annotation(seizure.onset, seizure.duration, "sz", extras=focus)

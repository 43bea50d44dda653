"""Copies that broke off: read as far as whole samples go, with a warning, or refused in a sentence of ours."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from analysis.conversion import convert
from analysis.errors import RecordingError
from analysis.progress import Progress
from analysis.readers import open_recording
from analysis.readers.completeness import readable_samples

CUT = [
    # header, the file that is cut, the share that is left, seconds that remain, what the warning says
    ("fif/resting_eo_200hz_raw.fif", "resting_eo_200hz_raw.fif", 0.5, 179.0, "cut short or never closed"),
    ("fif/resting_eo_200hz_raw.fif", "resting_eo_200hz_raw.fif", 0.999, 359.0, "cut short or never closed"),
    ("fif/test_bin_raw.fif", "test_bin_raw.fif", 0.5, 2.0, "cut short or never closed"),
    (
        "brainvision/test.vhdr",
        "test.eeg",
        0.999,
        7.892,
        "ends in the middle of a sample: it was cut short, and 7.892 s",
    ),
    ("eeglab/eeglab_data.set", "eeglab_data.fdt", 0.5, 15252 / 128, "the data end early: 119.156 s .* not the 238.312"),
    ("ecog-seizure-persyst/ecog_clip2.lay", "ecog_clip2.dat", 0.5, 2.115, "ends in the middle of a sample"),
]
REFUSED = [
    ("fif/test_bin_raw.fif", "test_bin_raw.fif", 0.03),
    ("fif/test_bin_raw.fif", "test_bin_raw.fif", 0.999),
    ("eeglab/eeglab_data.set", "eeglab_data.set", 0.5),
    ("brainvision/test_old_layout_latin1_software_filter.vhdr", "test_old_layout_latin1_software_filter.eeg", 0.5),
    ("brainvision/test.vhdr", "test.eeg", 0.0001),
]


def cut(shared: Path, folder: Path, name: str, which: str, share: float) -> Path:
    """A copy of a recording of which one file has lost its end."""
    source = shared / "recordings" / name
    for file in source.parent.glob(f"{source.stem}.*"):
        shutil.copyfile(file, folder / file.name)
    whole = (folder / which).read_bytes()
    (folder / which).write_bytes(whole[: int(len(whole) * share)])
    return folder / source.name


@pytest.mark.parametrize(("name", "which", "share", "seconds", "said"), CUT)
def test_what_is_left_is_read_and_said(shared, tmp_path, name, which, share, seconds, said):
    path = cut(shared, tmp_path, name, which, share)
    with open_recording(shared / "recordings" / name) as whole, open_recording(path) as part:
        assert part.duration == pytest.approx(seconds)
        assert any(re.search(said, sentence) for sentence in part.warnings), part.warnings
        n = part.n_times
        np.testing.assert_array_equal(part.read(0, n), whole.read(0, n))
        assert np.isnan(part.read(n, n + 5)).all()
        assert not whole.warnings


@pytest.mark.parametrize(("name", "which", "share"), REFUSED)
def test_what_cannot_be_told_is_refused_without_a_librarys_words(shared, tmp_path, name, which, share):
    path = cut(shared, tmp_path, name, which, share)
    with pytest.raises(RecordingError) as caught:
        open_recording(path)
    assert re.fullmatch(rf"[^()]+ \({re.escape(str(tmp_path))}/[^()]+\): [^()]+", str(caught.value))
    assert not re.search(r"NoneType|reshape|buffer|MNE|bytes|array", str(caught.value))


def test_a_promised_length_is_compared_with_what_is_there(shared, tmp_path):
    path = cut(shared, tmp_path, "brainvision/test.vhdr", "test.eeg", 0.5)
    header = path.read_text(encoding="utf-8").replace("NumberOfChannels=32", "NumberOfChannels=32\nDataPoints=7900")
    path.write_text(header, encoding="utf-8")
    with open_recording(path) as recording:
        assert (
            "test.eeg ends early: it was cut short, and 3.950 s of the 7.900 s that the header tells of are there"
            in (recording.warnings)
        )


def test_a_cut_fif_is_converted_as_far_as_it_goes(shared, tmp_path):
    path = cut(shared, tmp_path, "fif/resting_eo_200hz_raw.fif", "resting_eo_200hz_raw.fif", 0.5)
    made = convert(path, tmp_path / "copy.edf", False, Progress())
    with open_recording(made.path) as copy:
        assert copy.duration == 179.0


def test_a_read_that_fails_later_says_so_in_our_words(shared, tmp_path):
    path = cut(shared, tmp_path, "eeglab/eeglab_data.set", "eeglab_data.fdt", 1.0)
    with open_recording(path) as recording:
        (tmp_path / "eeglab_data.fdt").write_bytes(b"\0" * 1000)
        with pytest.raises(RecordingError, match=r"the samples from 100 s on cannot be read \(.*\.set\): check"):
            recording.read(12800, 12900)


@pytest.mark.parametrize("there", [0, 1, 2, 499, 998, 999, 1000])
def test_readable_samples_finds_the_end(there):
    tried = []

    def can_read(sample: int) -> bool:
        tried.append(sample)
        return sample < there

    assert readable_samples(1000, can_read) == there
    assert len(tried) <= 12

"""Marks written into a copy of a recording come back from it, and the samples stay as they are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import edfio
import numpy as np
import pytest

from analysis.annotation import Annotation
from analysis.conversion import convert
from analysis.description import describe
from analysis.readers import open_recording
from analysis.recording import Recording


def _marks(recording: Recording) -> list[Annotation]:
    names = recording.ch_names
    texts = ["spike", "début: éveil", "日本", "two\nlines", "", "mail me @@ home", f"not one of @@{names[0]}", "SZ"]
    marks = [Annotation(0.25 * i, 0.5 * (i % 2), text) for i, text in enumerate(texts)]
    marks += [Annotation(1.0, 0.0, "same"), Annotation(1.0, 0.0, "same")]
    marks += [Annotation(1.5, 0.125, "here", (name,)) for name in names]
    marks += [Annotation(2.0, 0.0, "many", names[:3]), Annotation(2.0, 0.0, "", names[-2:])]
    marks += [Annotation(2.5, 1.0, "sz", (), author="model:brainmaze A (random weights)")]
    marks += [Annotation(2.5, 1.0, "", names[:2], author="model:B"), Annotation(-0.25, 1.0, "before")]
    last = min(4.0, recording.duration)
    return [replace(mark, onset=mark.onset * last / 4.0) for mark in marks]


def _said(marks: object) -> list[tuple]:
    return sorted((round(m.onset, 6), m.duration, m.description, m.ch_names, m.author) for m in marks)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("file", "ending"),
    [
        ("scalp-seizure-46ch/demo_edf.edf", ".edf"),
        ("edf/test.edf", ".bdf"),
        ("edf/duplicate_channel_labels.edf", ".edf"),
        ("edfplus-c-d/edfPlusD.edf", ".edf"),
        ("edfplus-c-d/bdfPlusC.bdf", ".bdf"),
        ("bdf/test.bdf", ".bdf"),
        ("brainvision/test.vhdr", ".bdf"),
        ("broken/edfplus_d_gap.edf", ".edf"),
        ("broken/first_tal_offset.edf", ".edf"),
        ("broken/duplicate_and_dash_channels.edf", ".edf"),
        ("broken/prefixed_names.edf", ".edf"),
    ],
)
def test_marks_come_back_from_a_copy(shared: Path, tmp_path: Path, file: str, ending: str) -> None:
    path, out = shared / "recordings" / file, tmp_path / f"copy{ending}"
    before = path.read_bytes()
    source = open_recording(path)
    marks = _marks(source)
    convert(path, out, annotations=marks)
    copy = open_recording(out)
    assert (copy.ch_names, copy.gaps, copy.start_datetime) == (source.ch_names, source.gaps, source.start_datetime)
    added = [a for a in copy.annotations if a.description == "missing data"]  # how gaps of other formats are told
    assert _said(a for a in copy.annotations if a not in added) == _said(replace(m, author=_author(m)) for m in marks)
    assert copy.n_times >= source.n_times
    if ending == path.suffix:
        np.testing.assert_array_equal(copy.read(0, copy.n_times), source.read(0, source.n_times))
    assert path.read_bytes() == before


def _author(mark: Annotation) -> str:
    return mark.author if mark.is_model else "file"


def test_a_hundred_thousand_marks_fit_into_a_copy_of_ten_records(shared: Path, tmp_path: Path) -> None:
    path, out = shared / "recordings/broken/latin1_annotation.edf", tmp_path / "copy.edf"
    marks = [Annotation(i / 10_000, (i % 3) / 8, f"spike {i % 100}", ("Fp1",) if i % 2 else ()) for i in range(100_000)]
    convert(path, out, annotations=marks)
    copy = open_recording(out)
    assert _said(copy.annotations) == _said(marks)
    assert copy.duration == open_recording(path).duration


def test_a_model_is_named_wherever_its_event_is_told(shared: Path, tmp_path: Path) -> None:
    path, out = shared / "recordings/broken/latin1_annotation.edf", tmp_path / "copy.edf"
    convert(path, out, annotations=[Annotation(3.0, 1.0, "sz", author="model:A"), Annotation(4.0, 0.0, "eyes open")])
    with open_recording(out) as copy:
        assert [a["description"] for a in describe(copy)["annotations"]] == ["sz [model:A]", "eyes open"]


def test_other_programs_read_the_marks(shared: Path, tmp_path: Path) -> None:
    path, out = shared / "recordings/broken/latin1_annotation.edf", tmp_path / "copy.edf"
    marks = [Annotation(1.25, 0.5, "éveil", ("Fp1", "Fp2")), Annotation(3.0, 0.0, "sz", author="model:A")]
    convert(path, out, annotations=marks)
    assert [(a.onset, a.duration, a.text) for a in edfio.read_edf(out).annotations] == [
        (1.25, 0.5, "éveil@@Fp1"),
        (1.25, 0.5, "éveil@@Fp2"),
        (3.0, None, "sz [model:A]"),
    ]

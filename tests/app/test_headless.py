"""Predict and score as scripts use them: whole files, honest figures, one sentence for what goes wrong."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from analysis.errors import AnalysisError, RecordingError
from analysis.event_tables import read_events, seizures
from analysis.progress import Cancelled, Progress
from app import headless
from app.output_folder import write_folder

SCALP_42 = "recordings/scalp-seizure-42ch/scalp_seizure.edf"
SCALP_46 = "recordings/scalp-seizure-46ch/demo_edf.edf"


def predict_tiny(shared: Path, out: Path, **more: object) -> headless.Outcome:
    folder = shared / "parity/mvpformer"
    return headless.predict(
        shared / SCALP_46, folder / "tiny_base.pt", out, head=folder / "tiny_head.pt", device="cpu", **more
    )


def test_a_prediction_is_three_files_that_agree(shared: Path, tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    outcome = predict_tiny(shared, out)
    assert sorted(path.name for path in out.iterdir()) == ["events.tsv", "probabilities.tsv", "run.json"]
    assert [path.name for path in tmp_path.iterdir()] == ["deep"]
    table = read_events(out / "events.tsv")
    assert table.duration == 45
    assert table.start_datetime is not None
    rows = [line.split("\t") for line in (out / "probabilities.tsv").read_text().splitlines()]
    assert rows[0] == ["onset", "duration", "probability"]
    values = np.array(rows[1:], float)
    assert values[:, 0].tolist() == [5.0 * k for k in range(9)]
    run = json.loads((out / "run.json").read_text())
    assert run["intended_use"] == "Research use only: not for diagnosis."
    assert run["random_weights"]
    assert run["n_events"] == len(seizures(table.events))
    assert run["threshold"] == 0.5
    assert set(run["files"]) == {"events.tsv", "probabilities.tsv"}
    for event in table.events:
        inside = (values[:, 0] >= event.onset) & (values[:, 0] < event.stop) & (values[:, 2] >= 0.5)
        assert event.confidence == pytest.approx(values[inside, 2].mean(), abs=1e-4)
    assert "random weights" in " ".join(outcome.warnings)
    assert "left out, not a brain signal (ecg): ECG" in outcome.text
    assert "Research use only" in outcome.text
    assert re.search(r"^[\d.e+]+ hours of recording per minute \(cpu, .*, float32\)$", outcome.text, re.MULTILINE)


def test_a_recording_without_events_gets_a_background_row(shared: Path, tmp_path: Path) -> None:
    predict_tiny(shared, tmp_path / "out", threshold=1.0)
    _, row = (tmp_path / "out/events.tsv").read_text("utf-8").splitlines()
    assert row.split("\t")[:3] == ["0", "45", "bckg"]
    table = read_events(tmp_path / "out/events.tsv")
    assert (table.events, table.duration) == ((), 45)


def test_the_packaged_detector_scores_well_on_a_real_seizure(shared: Path, tmp_path: Path) -> None:
    headless.predict(shared / SCALP_42, "brainmaze", tmp_path / "out", device="cpu")
    for reference in (SCALP_42, "recordings/scalp-seizure-42ch/scalp_seizure_events.tsv"):
        facts = headless.score(shared / reference, tmp_path / "out").facts
        assert facts["duration"] == 236
        assert facts["event"]["f1"] == 1.0
        assert facts["sample"]["sensitivity"] >= 0.95
        assert facts["sample"]["precision"] >= 0.85
        assert facts["kappa"]["word"] == "Almost perfect"


def test_an_older_prediction_is_replaced_and_other_files_stay(shared: Path, tmp_path: Path) -> None:
    (tmp_path / "events.tsv").write_text("old")
    (tmp_path / "notes.txt").write_text("mine")
    predict_tiny(shared, tmp_path)
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert (tmp_path / "events.tsv").read_text() != "old"
    assert len(list(tmp_path.iterdir())) == 4


def test_cancelling_leaves_nothing(shared: Path, tmp_path: Path) -> None:
    class Impatient(Progress):
        def report(self, done: float, total: float, message: str = "") -> None:
            if message.startswith("scoring") and done > 2:
                raise Cancelled

    with pytest.raises(Cancelled):
        predict_tiny(shared, tmp_path / "out", batch_size=1, progress=Impatient())
    assert list(tmp_path.iterdir()) == []


def test_bad_places_are_refused_before_any_work(shared: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(AnalysisError, match="this is a file"):
        predict_tiny(shared, tmp_path / "file")
    with pytest.raises(OSError, match="file/below") as refusal:
        predict_tiny(shared, tmp_path / "file/below")
    assert refusal.value.filename == str(tmp_path / "file/below")
    assert (tmp_path / "file").read_text() == "x"


@pytest.mark.parametrize("there", [False, True])
def test_a_full_disk_leaves_nothing_half_written(tmp_path: Path, there: bool) -> None:
    """The limit on file sizes makes the second file fail in the middle, as a full disk would."""
    if there:
        (tmp_path / "new").mkdir()
    script = textwrap.dedent(
        f"""
        import resource, signal
        from pathlib import Path
        from app.output_folder import write_folder
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        try:
            write_folder(Path({str(tmp_path / "new/deep")!r}), {{"a": "x" * 10, "b": "y" * 5000}})
        except OSError as error:
            print(error.filename)
        """
    )
    pytest.importorskip("resource")
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=Path(__file__).parents[2], check=True
    )
    assert run.stdout.strip() == str(tmp_path / "new/deep")
    assert [path.name for path in tmp_path.rglob("*")] == (["new"] if there else [])


def test_files_are_readable_by_others_as_usual(tmp_path: Path) -> None:
    write_folder(tmp_path / "out", {"a": "x"})
    usual = tmp_path / "usual"
    usual.write_text("x")
    assert (tmp_path / "out/a").stat().st_mode == usual.stat().st_mode


def test_nothing_of_qt_is_needed() -> None:
    script = (
        "import sys\n"
        "class Block:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name.split('.')[0] in {'PyQt6', 'pyqtgraph'}: raise ImportError(name)\n"
        "sys.meta_path.insert(0, Block())\n"
        "import app.headless\n"
        "print([m for m in ('torch', 'mne', 'sklearn', 'scipy.signal') if m in sys.modules])\n"
    )
    root = Path(__file__).parents[2]
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=root, check=True)
    assert run.stdout.strip() == "[]"


def events(path: Path, rows: list[tuple[float, float, str]], duration: float | None = None) -> Path:
    lines = ["onset\tduration\teventType" + ("\trecordingDuration" if duration else "")]
    lines += [f"{a}\t{d}\t{kind}" + (f"\t{duration}" if duration else "") for a, d, kind in rows]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_the_length_is_taken_from_what_tells_it(tmp_path: Path) -> None:
    plain = events(tmp_path / "plain.tsv", [(10, 20, "sz")])
    told = events(tmp_path / "told.tsv", [(10, 20, "sz")], 3600)
    other = events(tmp_path / "other.tsv", [(10, 20, "sz")], 7200)
    assert headless.score(plain, told).facts["duration"] == 3600
    assert headless.score(plain, told, duration=600).facts["duration"] == 600
    both = headless.score(told, other)
    assert both.facts["duration"] == 3600
    assert "told.tsv and other.tsv speak of 3600 s and 7200 s" in both.warnings[0]
    neither = headless.score(plain, plain)
    assert neither.facts["duration"] == 30
    assert "to the last event" in neither.text
    assert "--duration" in neither.warnings[0]
    empty = events(tmp_path / "empty.tsv", [])
    with pytest.raises(AnalysisError, match="length of the recording is not known"):
        headless.score(empty, empty)


def test_raw_and_merged_counts_stand_side_by_side(tmp_path: Path) -> None:
    ref = events(tmp_path / "r.tsv", [(100, 20, "sz"), (180, 20, "sz")], 3600)
    text = headless.score(ref, events(tmp_path / "h.tsv", [(100, 700, "sz")])).text
    assert "2 seizures as marked, 1 after merging and splitting (r.tsv)" in text
    assert "1 seizure as marked, 3 after merging and splitting (h.tsv)" in text


def test_marks_of_another_program_count_as_its_prediction_but_never_as_the_reference(tmp_path: Path) -> None:
    found = events(tmp_path / "p.tsv", [(100, 30, "Persyst SeizureDetected")], 3600)
    ref = events(tmp_path / "r.tsv", [(100, 30, "seizure")], 3600)
    scored = headless.score(ref, found)
    assert scored.facts["event"]["tp"] == 1
    assert "detections of another program" in scored.warnings[0]
    assert headless.score(found, ref).facts["event"]["n_reference"] == 0


def test_a_start_without_an_end_is_warned_of(tmp_path: Path) -> None:
    ref = events(tmp_path / "r.tsv", [(100, 0, "seizure starts")], 3600)
    assert "begins at 100 s has no end" in headless.score(ref, ref).warnings[0]


def test_a_seizure_without_a_length_is_warned_of(tmp_path: Path) -> None:
    ref = events(tmp_path / "r.tsv", [(100, 0, "seizure"), (300, 20, "sz"), (500, 10, "seizure-like artefact")], 3600)
    scored = headless.score(ref, events(tmp_path / "h.tsv", [(300, 20, "sz")]))
    assert scored.facts["event"]["n_reference"] == 1
    assert scored.warnings == ("r.tsv: the seizure that begins at 100 s has no end and is not scored",)


def test_the_recording_of_a_summary_is_found_by_name_or_by_what_was_predicted(shared: Path, tmp_path: Path) -> None:
    summary = shared / "recordings/chbmit-headers/chb05-summary.txt"
    named = events(tmp_path / "chb05_06_events.tsv", [(400, 100, "sz")])
    assert headless.score(summary, named).facts["event"]["tp"] == 1
    out = tmp_path / "out"
    out.mkdir()
    events(out / "events.tsv", [(400, 100, "sz")])
    with pytest.raises(RecordingError, match="--recording"):
        headless.score(summary, out / "events.tsv")
    assert headless.score(summary, out, recording="chb05_13").facts["event"]["tp"] == 0
    (out / "run.json").write_text(json.dumps({"recording": {"path": "/data/chb05_06.edf"}}))
    assert headless.score(summary, out / "events.tsv").facts["event"]["tp"] == 1


def test_events_past_the_length_are_warned_of(tmp_path: Path) -> None:
    late = events(tmp_path / "late.tsv", [(100, 20, "sz"), (300, 20, "sz")], 3600)
    long = events(tmp_path / "long.tsv", [(5, 20, "sz")])
    given = headless.score(late, long, duration=10)
    assert given.facts["event"]["n_reference"] == 0
    assert any("late.tsv: 2 events reach past the end at 10 s, left out" in warning for warning in given.warnings)
    short = events(tmp_path / "short.tsv", [(5, 2, "sz")], 10)
    warnings = headless.score(short, late).warnings
    assert any("late.tsv: 2 events reach past the end at 10 s, left out" in warning for warning in warnings)


def test_no_folder_is_not_the_working_folder(shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AnalysisError, match="no folder is named for the results: give one with --out"):
        predict_tiny(shared, "")
    assert not list(tmp_path.iterdir())


def test_a_list_of_pairs(tmp_path: Path) -> None:
    events(tmp_path / "r.tsv", [(100, 20, "sz")])
    events(tmp_path / "h.tsv", [(100, 20, "sz")])
    events(tmp_path / "none.tsv", [])
    table = tmp_path / "list.tsv"
    table.write_text("reference\thypothesis\tduration\nr.tsv\th.tsv\t3600\n\nr.tsv\tnone.tsv\t7200\n")
    outcome = headless.score_batch(table)
    assert [facts["event"]["tp"] for facts in outcome.facts] == [1, 0]
    assert [facts["duration"] for facts in outcome.facts] == [3600, 7200]
    assert [facts["hypothesis"] for facts in outcome.facts] == ["h.tsv", "none.tsv"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "first line must name the columns"),
        ("a\tb\n1\t2\n", "first line must name the columns"),
        ("reference\thypothesis\n", "has no pairs"),
        ("reference\thypothesis\nr.tsv\tnothing.tsv\n", r"line 2 of the list cannot be scored .*no such file"),
        ("reference\thypothesis\tduration\nr.tsv\tr.tsv\tlong\n", "line 2 .*list.tsv.* 'long' is not a length: give"),
        ("reference\thypothesis\tduration\nr.tsv\tr.tsv\t-4\n", "line 2 .*list.tsv.* '-4' is not a length: give"),
        ("reference\thypothesis\tduration\nr.tsv\tr.tsv\tinf\n", "line 2 .*list.tsv.* 'inf' is not a length"),
    ],
)
def test_lists_that_cannot_be_scored(tmp_path: Path, text: str, message: str) -> None:
    events(tmp_path / "r.tsv", [(100, 20, "sz")], 3600)
    (tmp_path / "list.tsv").write_text(text)
    with pytest.raises(RecordingError, match=message):
        headless.score_batch(tmp_path / "list.tsv")

"""What commands write: the real thing where all goes well, and nothing at all where it does not."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from analysis.readers import open_recording
from app.bench_files import HOUR, make_file
from app.cli import main

ROOT = Path(__file__).parents[2]
POSIX_ONLY = pytest.mark.skipif(os.name != "posix", reason="NOT TESTED: limits and permissions of POSIX systems only")


@pytest.fixture
def files(shared):
    """Words of a command that stand for files."""
    parity = shared / "parity/mvpformer"
    return {
        "REC": str(shared / "recordings/scalp-seizure-46ch/demo_edf.edf"),
        "BASE": str(parity / "tiny_base.pt"),
        "HEAD": str(parity / "tiny_head.pt"),
    }


WRITERS = {
    "predict": ("results", "predict REC --checkpoint BASE --head HEAD --device cpu --out OUT"),
    "convert": ("copy.edf", "convert REC --out OUT"),
    "screenshot": ("picture.png", "screenshot REC --size 1100x700 --out OUT"),
    "simulate": ("made.edf", "simulate --duration 60 --seizures 0 --sfreq 128 --out OUT"),
}


def arguments_of(command: str, out: Path, files: dict[str, str]) -> list[str]:
    return [{**files, "OUT": str(out)}.get(word, word) for word in WRITERS[command][1].split()]


def run(arguments: list[str], home: Path, **options) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "CEREBROSCOPE_HOME": str(home), "QT_QPA_PLATFORM": "offscreen"}
    return subprocess.run(
        [sys.executable, str(ROOT / "main.py"), *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        **options,
    )


def only_error(errors: str) -> str:
    lines = [line for line in errors.splitlines() if not line.startswith("warning: ")]
    assert len(lines) == 1, errors
    assert lines[0].startswith("error: ")
    assert "unexpected" not in lines[0]
    return lines[0]


# Where all goes well


def test_predict_and_score(files, tmp_path, capsys):
    out = tmp_path / "a" / "results"
    assert main(arguments_of("predict", out, files)) == 0
    said = capsys.readouterr()
    assert "random" in said.out + said.err
    assert sorted(path.name for path in out.iterdir()) == ["events.tsv", "probabilities.tsv", "run.json"]
    rows = (out / "probabilities.tsv").read_text("utf-8").splitlines()
    assert rows[0] == "onset\tduration\tprobability"
    assert len(rows) == 1 + 9  # 45 s in segments of 5 s
    assert json.loads((out / "run.json").read_text("utf-8"))["recording"]["duration"] == 45
    assert main(["score", files["REC"], str(out / "events.tsv"), "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)
    assert set(scores) == {"sample", "event", "kappa", "fp_per_hour", "rule", "seed", "duration", "units"}
    assert scores["event"]["n_reference"] == 1
    assert scores["duration"] == 45


def test_score_batch(files, tmp_path, capsys):
    (tmp_path / "list.tsv").write_text(f"reference\thypothesis\tduration\n{files['REC']}\t{files['REC']}\t45\n")
    assert main(["score", "--batch", str(tmp_path / "list.tsv"), "--json"]) == 0
    (scores,) = json.loads(capsys.readouterr().out)
    assert scores["event"]["f1"] == 1
    assert scores["kappa"]["all"] == 1


def test_inspect_states_the_limits_of_a_packaged_detector(capsys):
    assert main(["inspect", "brainmaze"]) == 0
    (limits,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("limits: "))
    for limit in ("intracranial", "300 s", "muscle"):
        assert limit in limits
    assert main(["inspect", "brainmaze", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["limits"] == limits.removeprefix("limits: ")


def test_inspect_refuses_what_predict_would_refuse(files, tmp_path, capsys):
    import torch

    state = torch.load(files["BASE"], weights_only=True)
    state["encoder.proj.weight"][0, 0] = torch.nan
    torch.save(state, tmp_path / "base.pt")
    config = str(Path(files["BASE"]).with_name("tiny_config.json"))
    assert main(["inspect", str(tmp_path / "base.pt"), "--config", config]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert "encoder.proj.weight holds values that are not finite" in only_error(said.err)


def test_convert(files, tmp_path, capsys):
    out = tmp_path / "copy.edf"
    assert main(["convert", files["REC"], "--out", str(out), "--anonymize"]) == 0
    assert "copy.edf" in capsys.readouterr().out
    one, other = open_recording(files["REC"]), open_recording(out)
    assert [c.original_name for c in one.channels] == [c.original_name for c in other.channels]
    np.testing.assert_array_equal(one.read(0, one.n_times), other.read(0, other.n_times))
    assert other.start_datetime is None


def test_screenshot(files, tmp_path):
    from PyQt6.QtGui import QImage

    out = tmp_path / "picture.png"
    done = run(arguments_of("screenshot", out, files), tmp_path / "home")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    image = QImage(str(out))
    assert (image.width(), image.height()) == (1100, 700)
    colours = {image.pixel(x, y) for x in range(0, 1100, 3) for y in range(0, 700, 3)}
    assert len(colours) > 50  # traces and text, not an empty window
    assert [path.name for path in tmp_path.iterdir() if path.name != "home"] == ["picture.png"]


def test_a_picture_of_another_size_than_asked_is_said(files, tmp_path, capsys):
    out = tmp_path / "picture.png"
    assert main(["screenshot", files["REC"], "--size", "400x300", "--out", str(out)]) == 0
    assert capsys.readouterr().err.startswith("warning: the window cannot be 400 x 300")
    assert out.is_file()


def test_screenshot_with_a_model_and_a_panel(files, tmp_path, capsys):
    out = tmp_path / "picture.png"
    arguments = ["screenshot", files["REC"], "--checkpoint", files["BASE"], "--head", files["HEAD"]]
    arguments += ["--overlay", "seizure", "--panel", "prediction", "--theme", "dark"]
    assert main([*arguments, "--start", "10", "--duration", "20", "--out", str(out)]) == 0
    assert capsys.readouterr().err == ""
    assert out.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--overlay", "nothing"], "no overlay is called 'nothing' (REC): choose one of seizure"),
        (["--overlay", "gates"], "shows what a model says (REC): name a model with --checkpoint"),
        (["--panel", "cka"], "shows the inside of a model (REC): name a model with --checkpoint"),
        (["--panel", "gates", "--checkpoint", "brainmaze"], "brainmaze A gives no gates"),
        (["--overlay", "seizure"], "shows what a model says (REC): name a model with --checkpoint"),
        (["--panel", "nothing"], "no panel is called 'nothing' (REC): choose one of "),
        (["--start", "45"], "there is nothing at 45 s (REC): choose a start within 0 to 45 s"),
        (["--start", "1000"], "there is nothing at 1000 s (REC): choose a start within 0 to 45 s"),
        (["--montage", "sideways"], "sideways"),
        (["--checkpoint", "HEAD"], "head"),
    ],
)
def test_screenshots_that_cannot_be(files, tmp_path, capsys, more, words):
    arguments = ["screenshot", files["REC"], *(files.get(word, word) for word in more)]
    assert main([*arguments, "--out", str(tmp_path / "picture.png")]) == 1
    assert words.replace("REC", files["REC"]) in only_error(capsys.readouterr().err)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("picture.jpg", "only PNG pictures are written (PLACE): choose a name that ends in .png"),
        ("picture", "only PNG pictures are written (PLACE): choose a name that ends in .png"),
        ("", "no file is named to write: give one with --out"),
    ],
)
def test_pictures_have_names_that_say_what_they_are(files, tmp_path, capsys, name, words):
    place = str(tmp_path / name) if name else ""
    assert main(["screenshot", files["REC"], "--out", place]) == 1
    assert words.replace("PLACE", place) in only_error(capsys.readouterr().err)
    assert list(tmp_path.iterdir()) == []


def test_scoring_a_file_of_no_events_says_what_event_files_there_are(files, tmp_path, capsys):
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"0" * 100)
    assert main(["score", files["REC"], str(tmp_path / "picture.png")]) == 1
    said = only_error(capsys.readouterr().err)
    assert f"({tmp_path / 'picture.png'}): give an event table (.tsv, .csv, .csv_bi, .tse)" in said


# Where it does not


@pytest.mark.parametrize(
    ("command", "code"),
    [*((command, errno.ENOSPC) for command in WRITERS), ("convert", errno.EIO), ("convert", errno.EDQUOT)],
)
def test_a_disk_that_fails_at_the_last_moment(files, tmp_path, capsys, monkeypatch, command, code):
    def refuse(_):
        raise OSError(code, os.strerror(code))

    out = tmp_path / WRITERS[command][0]
    monkeypatch.setattr(os, "fsync", refuse)
    assert main(arguments_of(command, out, files)) == 1
    said = capsys.readouterr()
    assert str(out.with_suffix("")) in only_error(said.err)  # this file, or one of those beside it
    assert said.out == ""
    assert list(tmp_path.iterdir()) == []


@POSIX_ONLY
@pytest.mark.parametrize("command", WRITERS)
def test_a_disk_that_takes_only_a_part(files, tmp_path, command):
    """The system itself refuses to let any file grow beyond some bytes, in the midst of writing."""
    import resource

    out = tmp_path / "out" / WRITERS[command][0]
    out.parent.mkdir()
    done = run(
        arguments_of(command, out, files),
        tmp_path / "home",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64)),
    )
    assert done.returncode == 1
    assert str(out.with_suffix("")) in only_error(done.stderr)
    assert list(out.parent.iterdir()) == []


@pytest.mark.parametrize("command", WRITERS)
def test_what_was_there_before_survives_a_failure(files, tmp_path, capsys, monkeypatch, command):
    out = tmp_path / WRITERS[command][0]
    kept = out / "events.tsv" if command == "predict" else out
    kept.parent.mkdir(exist_ok=True)
    kept.write_text("older")

    def refuse(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", refuse)
    assert main(arguments_of(command, out, files)) == 1
    only_error(capsys.readouterr().err)
    assert kept.read_text() == "older"
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [kept]


@pytest.mark.parametrize("command", WRITERS)
@pytest.mark.parametrize("place", ["below a file", "no such folder", "wrong kind"])
def test_places_that_cannot_be_written(files, tmp_path, capsys, command, place):
    if (command, place) == ("predict", "no such folder"):
        pytest.skip("predict makes its folder")
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    ending = Path(WRITERS[command][0]).suffix
    (tmp_path / f"folder{ending}").mkdir(exist_ok=True)
    out = {
        "below a file": tmp_path / "file" / WRITERS[command][0],
        "no such folder": tmp_path / "missing" / WRITERS[command][0],
        "wrong kind": tmp_path / ("file" if command == "predict" else f"folder{ending}"),
    }[place]
    before = sorted(tmp_path.rglob("*"))
    assert main(arguments_of(command, out, files)) == 1
    only_error(capsys.readouterr().err)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_recording_is_never_overwritten_by_its_copy(files, tmp_path, capsys):
    path = tmp_path / "a.edf"
    content = Path(files["REC"]).read_bytes()
    path.write_bytes(content)
    assert main(["convert", str(path), "--out", str(path)]) == 1
    only_error(capsys.readouterr().err)
    assert path.read_bytes() == content


def obey_permissions() -> None:
    """Take away root's right to ignore them (the capabilities DAC_OVERRIDE and DAC_READ_SEARCH) from what runs next."""
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        for capability in (1, 2):
            if libc.prctl(24, capability, 0, 0, 0):
                os._exit(77)


@POSIX_ONLY
@pytest.mark.skipif(os.name == "posix" and os.geteuid() == 0 and sys.platform != "linux", reason="NOT TESTED: as root")
@pytest.mark.parametrize(
    ("name", "mode", "arguments"),
    [
        ("rec.edf", 0o000, "info LOCKED"),
        ("rec.edf", 0o000, "predict LOCKED --checkpoint brainmaze --out OUT"),
        ("rec.edf", 0o000, "convert LOCKED --out OUT.edf"),
        ("rec.edf", 0o000, "LOCKED"),
        ("base.pt", 0o000, "inspect LOCKED"),
        ("base.pt", 0o000, "predict REC --checkpoint LOCKED --out OUT"),
        ("head.pt", 0o000, "predict REC --checkpoint BASE --head LOCKED --out OUT"),
        ("folder", 0o555, "predict REC --checkpoint BASE --head HEAD --out LOCKED/results"),
        ("folder", 0o555, "convert REC --out LOCKED/copy.edf"),
        ("folder", 0o555, "simulate --duration 20 --out LOCKED/made.edf"),
        ("folder", 0o555, "screenshot REC --size 1100x700 --out LOCKED/picture.png"),
        ("events.tsv", 0o000, "score REC LOCKED"),
    ],
)
def test_no_permission(files, tmp_path, name, mode, arguments):
    locked = tmp_path / "in" / name
    locked.parent.mkdir()
    if name == "folder":
        locked.mkdir()
    else:
        source = {"rec.edf": "REC", "base.pt": "BASE", "head.pt": "HEAD"}.get(name)
        locked.write_bytes(Path(files[source]).read_bytes() if source else b"onset\tduration\n")
    locked.chmod(mode)
    words = {**files, "LOCKED": str(locked), "OUT": str(tmp_path / "out")}
    given = [
        words.get(w, w.replace("LOCKED/", f"{locked}/").replace("OUT.", f"{words['OUT']}.")) for w in arguments.split()
    ]
    done = run(given, tmp_path / "home", preexec_fn=obey_permissions)
    if done.returncode == 77:
        pytest.skip("NOT TESTED: root's capabilities cannot be dropped here")
    assert done.returncode == 1, done.stdout
    line = only_error(done.stderr)
    assert str(locked) in line
    assert "ermission" in line
    assert not list(tmp_path.glob("out*"))
    if name == "folder":
        assert list(locked.iterdir()) == []


def test_ctrl_c_during_a_prediction_leaves_nothing(tmp_path):
    recording = make_file(HOUR, tmp_path)  # long enough that it cannot be over yet
    out = tmp_path / "out"
    work = subprocess.Popen(
        [
            sys.executable,
            str(ROOT / "main.py"),
            "predict",
            str(recording),
            "--checkpoint",
            "brainmaze",
            "--out",
            str(out),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "CEREBROSCOPE_HOME": str(tmp_path / "home")},
        # A shell that starts tests in the background has them, and all that they start, ignore the signal.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    time.sleep(4.0)
    work.send_signal(signal.SIGINT)
    try:
        said, errors = work.communicate(timeout=60)
    finally:
        work.kill()
    assert (work.returncode, said) == (1, "")
    assert errors.splitlines()[-1] == "cancelled"
    assert "Traceback" not in errors
    assert {path.name for path in tmp_path.iterdir()} <= {recording.name, "home"}

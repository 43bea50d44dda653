"""The command line: how it is understood, and that every bad input ends in one clear line and nothing half-written."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from analysis.errors import AnalysisError
from analysis.kinds import KINDS
from app import terminal
from app.cli import COMMANDS, main
from app.kind_list import list_kinds

ROOT = Path(__file__).parents[2]


@pytest.fixture
def ran(monkeypatch):
    """The options each command would have been run with."""
    calls = []
    for name in ("window", *COMMANDS):
        monkeypatch.setattr(terminal, name, lambda options, name=name: calls.append((name, options)))
    return calls


@pytest.fixture
def fail(monkeypatch):
    """Let `info` fail with an error."""

    def install(error):
        def raise_it(_):
            raise error

        monkeypatch.setattr(terminal, "info", raise_it)

    return install


def program(arguments: list[str], **options) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, str(ROOT / "main.py"), *arguments],
        stdout=options.pop("stdout", subprocess.PIPE),
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


# How it is understood


@pytest.mark.parametrize(
    ("arguments", "name", "expected"),
    [
        ([], "window", {"recording": None, "checkpoint": [], "start": None}),
        (["a.edf"], "window", {"recording": "a.edf"}),
        (["a.edf", "--start", "3"], "window", {"start": 3.0}),
        (["--checkpoint", "c", "a.edf", "--checkpoint", "d", "--head", "h"], "window", {"checkpoint": ["c", "d"]}),
        (["--start", "3", "info"], "window", {"recording": "info"}),
        (["--", "-odd.edf"], "window", {"recording": "-odd.edf"}),
        (["demo"], "demo", {}),
        (["info", "a.edf"], "info", {"recording": "a.edf", "json": False}),
        (["info", "--json", "a.edf"], "info", {"json": True}),
        (["inspect", "brainmaze"], "inspect", {"checkpoint": "brainmaze", "head": None}),
        (["score", "r.tsv", "h.tsv", "--duration", "60"], "score", {"reference": "r.tsv", "duration": 60.0}),
        (["score", "--batch", "l.tsv", "--json"], "score", {"batch": "l.tsv", "reference": None}),
        (["screenshot", "a.edf", "--size", "800x600", "--out", "f.png"], "screenshot", {"size": (800, 600)}),
        (["convert", "a.edf", "--out", "b.edf", "--anonymize"], "convert", {"anonymize": True}),
        (["bench", "viewer", "--busy"], "bench", {"names": ["viewer"], "busy": True}),
        (
            ["simulate", "--out", "a.edf"],
            "simulate",
            {"seed": 0, "duration": 600, "seizures": None, "electrodes": "10-20", "region": [], "reference": "any"},
        ),
        (
            ["simulate", "--out", "a.edf", "--electrodes", "ieeg", "--seizures", "0", "--seed", "7", "--sfreq", "128"],
            "simulate",
            {"electrodes": "ieeg", "seizures": 0, "seed": 7, "sfreq": 128},
        ),
        (["predict", "a", "b", "--checkpoint", "c", "--out", "o"], "predict", {"recording": ["a", "b"]}),
        (
            ["predict", "a.edf", "--checkpoint", "c", "--out", "o", "--batch-size", "4", "--device", "cpu"],
            "predict",
            {"batch_size": 4, "device": "cpu", "start": None, "stop": None, "rule": "auto", "threshold": None},
        ),
        (
            ["predict", "a", "--checkpoint", "c", "--out", "o", "--memory-share", "0.2", "--precision", "float32"],
            "predict",
            {"memory_share": 0.2, "precision": "float32", "batch_size": None},
        ),
    ],
)
def test_arguments(ran, arguments, name, expected):
    assert main(arguments) == 0
    ((called, options),) = ran
    assert called == name
    assert expected.items() <= vars(options).items()


@pytest.mark.parametrize("arguments", [["--debug", "info", "a"], ["info", "--debug", "a"], ["info", "a", "--debug"]])
def test_debug_may_stand_anywhere(ran, arguments):
    assert main(arguments) == 0
    assert ran[0][0] == "info"


def test_a_file_named_like_a_command_is_a_recording(ran, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["demo"]) == 0
    (tmp_path / "demo").touch()
    assert main(["demo"]) == 0
    assert [name for name, _ in ran] == ["demo", "window"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["a.edf", "b.edf"],
        ["--wrong"],
        ["info"],
        ["info", "a", "b"],
        ["info", "a", "--start", "1"],
        ["predict", "a", "--checkpoint", "c"],
        ["predict", "a", "--out", "o"],
        ["predict", "a", "--checkpoint", "c", "--out", "o", "--device", "tpu"],
        ["predict", "a", "--checkpoint", "c", "--out", "o", "--batch-size", "0"],
        ["predict", "a", "--checkpoint", "c", "--out", "o", "--batch-size", "-3"],
        ["predict", "a", "--checkpoint", "c", "--out", "o", "--start", "-1"],
        ["predict", "a", "--checkpoint", "c", "--out", "o", "--start", "nan"],
        ["predict", "a", "--checkpoint", "c", "--out", "o", "--stop", "soon"],
        ["predict", "a", "--checkpoint", "c", "--out", "o", "--threshold", "1.5"],
        ["predict", "a", "--checkpoint", "c", "--out", "o", "--rule", "E.3"],
        ["score", "a", "b", "--duration", "0"],
        ["score", "a"],
        ["score"],
        ["score", "a", "b", "--batch", "l"],
        ["screenshot", "a", "--out", "f.png", "--size", "big"],
        ["screenshot", "a", "--out", "f.png", "--size", "10x10"],
        ["screenshot", "a"],
        ["convert", "a"],
        ["simulate"],
        ["simulate", "a.edf"],
        ["simulate", "--out", "a.edf", "--duration", "0"],
        ["simulate", "--out", "a.edf", "--seed", "-1"],
        ["simulate", "--out", "a.edf", "--electrodes", "10-5"],
        ["simulate", "--out", "a.edf", "--reference", "linked"],
        ["simulate", "--out", "a.edf", "--sfreq", "fast"],
    ],
)
def test_wrong_usage(ran, capsys, arguments):
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("usage: ")
    assert said.err.splitlines()[-1].startswith("error: ")
    assert ran == []


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_helps(capsys, name):
    assert main([name, "--help"]) == 0
    assert f"main.py {name}" in capsys.readouterr().out


def test_the_help_of_what_has_overlays_names_them_all(capsys):
    from app.figure_runs import OVERLAYS
    from app.overlaying import OVERLAYS as WINDOW_OVERLAYS

    for command, names in (("figure", OVERLAYS), ("screenshot", [name for name, *_ in WINDOW_OVERLAYS])):
        assert main([command, "--help"]) == 0
        listed = capsys.readouterr().out.partition("overlays: ")[2].replace("\n", " ").split(",")
        assert {name.strip() for name in listed} == set(names)


def test_help_names_every_command(capsys):
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    assert all(f"  {name}" in text for name in COMMANDS)
    assert all(callable(getattr(terminal, name)) for name in COMMANDS)


def test_a_mistyped_command_is_suggested(capsys):
    assert main(["inof"]) == 1
    assert "info" in capsys.readouterr().err


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("cerebroscope ")


# How it ends


def test_a_sentence_without_a_traceback_and_with_one_on_request(fail, capsys):
    fail(AnalysisError("too short (a.edf): choose a longer span"))
    assert main(["info", "a.edf"]) == 1
    assert capsys.readouterr() == ("", "error: too short (a.edf): choose a longer span\n")
    assert main(["info", "a.edf", "--debug"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("Traceback")
    assert said.endswith("error: too short (a.edf): choose a longer span\n")


def test_the_unexpected_is_one_line_that_names_the_log(fail, capsys, own_folders):
    fail(ValueError("two\nlines"))
    assert main(["info", "a.edf"]) == 1
    log = own_folders / "data/log/cerebroscope.log"
    assert capsys.readouterr().err == f"error: unexpected ValueError: two lines; the details are in {log}\n"
    assert "Traceback" in log.read_text("utf-8")


def test_the_unexpected_is_told_whole_where_no_log_can_be_kept(fail, capsys, own_folders):
    (own_folders / "data").touch()
    fail(ValueError("odd"))
    assert main(["info", "a.edf"]) == 1
    assert capsys.readouterr().err.splitlines()[0].startswith("Traceback")


def test_the_log_of_a_command_does_not_name_its_recording(fail, capsys, own_folders):
    fail(RuntimeError("odd bytes in somewhere/Mueller_Anna.edf"))
    assert main(["info", "somewhere/Mueller_Anna.edf"]) == 1
    (log,) = own_folders.rglob("cerebroscope.log")
    assert "odd bytes in a recording" in log.read_text("utf-8")
    assert "Mueller" not in log.read_text("utf-8")


def test_an_interrupt_is_one_word(fail, capsys):
    fail(KeyboardInterrupt())
    assert main(["info", "a.edf"]) == 1
    assert capsys.readouterr() == ("", "cancelled\n")


def hear_interrupts():
    """A shell that starts tests in the background has them, and all that they start, ignore the signal."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_ctrl_c_in_the_midst_of_work(tmp_path):
    """The real signal in the real program."""
    code = f"""
import sys, time
sys.path.insert(0, {str(ROOT)!r})
from app import terminal
from app.cli import main
def info(options):
    print("working", flush=True)
    time.sleep(60)
terminal.info = info
sys.exit(main(["info", "a"]))
"""
    work = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hear_interrupts,
    )
    assert work.stdout.readline() == "working\n"
    work.send_signal(signal.SIGINT)
    _, errors = work.communicate(timeout=20)
    assert (work.returncode, errors) == (1, "cancelled\n")


def test_warnings_are_said_once_each(capsys):
    terminal.warn(["a\nb", "c", "a\nb"])
    assert capsys.readouterr() == ("", "warning: a b\nwarning: c\n")


def test_a_reader_that_has_enough_ends_it_silently(shared):
    work = program(["info", "--json", str(shared / "recordings/edf/test.edf")])
    work.stdout.close()
    assert work.stderr.read() == ""
    assert work.wait(30) == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="NOT TESTED: a full standard output needs /dev/full")
def test_a_full_standard_output_is_one_line(shared):
    with open("/dev/full", "w") as full:
        work = program(["info", str(shared / "recordings/edf/test.edf")], stdout=full)
        _, errors = work.communicate(timeout=30)
    assert errors == "error: the disk is full (standard output): free some space or choose another folder\n"
    assert work.returncode == 1


def test_names_that_the_terminal_cannot_show_do_not_end_it(shared, tmp_path):
    name = os.fsdecode("r\udce4t ☂.edf".encode("utf-8", "surrogateescape"))
    path = tmp_path / name
    path.write_bytes((shared / "recordings/edf/test.edf").read_bytes())
    for arguments in (["info", str(path)], ["info", "--json", str(path)], ["info", str(path) + "x"]):
        work = program(arguments, env={**os.environ, "PYTHONIOENCODING": "ascii"})
        _, errors = work.communicate(timeout=30)
        assert "Traceback" not in errors
        assert "unexpected" not in errors


# Commands on real files


def test_info_prints_the_contract(shared, capsys):
    assert main(["info", "--json", str(shared / "recordings/scalp-seizure-46ch/demo_edf.edf")]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert list(facts) == [
        *("path", "format", "duration", "start", "sfreq", "channels", "annotations", "gaps", "warnings"),
    ]
    assert (len(facts["channels"]), facts["sfreq"], facts["duration"], len(facts["annotations"])) == (46, 200, 45, 8)


def test_info_says_warnings_beside_what_it_prints(shared, capsys):
    path = str(shared / "recordings/broken/truncated_last_record.edf")
    assert main(["info", "--json", path]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["warnings"] == [line.removeprefix("warning: ") for line in said.err.splitlines()] != []


@pytest.mark.parametrize("arguments", [["--help"], ["info", "{edf}"], ["info", "--json", "{edf}"], ["nothing.edf"]])
def test_small_commands_load_nothing_heavy(shared, arguments):
    edf = str(shared / "recordings/scalp-seizure-46ch/demo_edf.edf")
    arguments = [argument.format(edf=edf) for argument in arguments]
    heavy = {"PyQt6", "torch", "mne", "scipy", "h5py", "sklearn", "matplotlib", "pandas", "edfio"}
    code = (
        f"import sys; from app.cli import main; main({arguments!r});"
        f"print(sorted({heavy!r} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.stderr.splitlines()[-1] == "[]"


@pytest.mark.parametrize("name", ["tiny_base.pt", "tiny_base.safetensors"])
def test_inspect(shared, capsys, name):
    parity = shared / "parity/mvpformer"
    assert main(["inspect", str(parity / name), "--head", str(parity / "tiny_head.pt"), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["family"] == "mvpformer"
    assert facts["keys"]["missing"] == []
    assert main(["inspect", str(parity / name)]) == 0
    assert "family: mvpformer" in capsys.readouterr().out


def test_inspect_of_the_packaged_detector(capsys):
    assert main(["inspect", "brainmaze", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["family"] == "brainmaze"


# Bad input of every kind


class Bomb:
    """A pickle that would make a file when it is loaded."""

    def __init__(self, target: Path) -> None:
        self._target = target

    def __reduce__(self):
        return os.mkdir, (str(self._target),)


def bad_recordings(shared: Path, folder: Path) -> dict[str, Path]:
    real = (shared / "recordings/scalp-seizure-46ch/demo_edf.edf").read_bytes()
    contents = {
        "empty.edf": b"",
        "header cut.edf": real[:500],
        "no records.edf": real[: 256 * 48],
        "text.edf": b"not a recording\n" * 100,
        "zeros.edf": bytes(5000),
        "picture.png": b"\x89PNG\r\n\x1a\n" + bytes(2000),
        "cut.set": b"MATLAB 5.0 MAT-file" + bytes(200),
        "cut.fif": bytes(64),
        "cut.h5": b"\x89HDF\r\n\x1a\n" + bytes(40),
    }
    paths = {"missing": folder / "missing.edf", "folder": folder / "nothing in it"}
    paths["folder"].mkdir()
    for name, content in contents.items():
        (folder / name).write_bytes(content)
        paths[name] = folder / name
    return paths


BAD_RECORDINGS = (
    *("missing", "folder", "empty.edf", "header cut.edf", "no records.edf", "text.edf", "zeros.edf", "picture.png"),
    *("cut.set", "cut.fif", "cut.h5"),
)


def one_line(capsys, arguments: list[str], code: int = 1) -> str:
    assert main(arguments) == code
    said = capsys.readouterr()
    errors = [line for line in said.err.splitlines() if not line.startswith("warning: ")]
    assert said.out == ""
    assert len(errors) == 1, said.err
    assert errors[0].startswith("error: ")
    assert "unexpected" not in errors[0]
    assert "Traceback" not in said.err
    return errors[0]


@pytest.mark.parametrize("kind", BAD_RECORDINGS)
@pytest.mark.parametrize("command", ["info", "predict", "convert", "screenshot", "window"])
def test_bad_recordings(shared, tmp_path, capsys, monkeypatch, command, kind):
    if command == "window" and kind in ("cut.set", "cut.fif", "cut.h5"):
        pytest.skip("these need a library, so the window opens first and says it there")
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    source, out = tmp_path / "in", tmp_path / "out"
    source.mkdir()
    out.mkdir()
    path = str(bad_recordings(shared, source)[kind])
    before = sorted(source.iterdir())
    arguments = {
        "info": ["info", path],
        "predict": ["predict", path, "--checkpoint", "brainmaze", "--out", str(out / "results")],
        "convert": ["convert", path, "--out", str(out / "copy.edf")],
        "screenshot": ["screenshot", path, "--out", str(out / "picture.png")],
        "window": [path],
    }[command]
    line = one_line(capsys, arguments)
    assert path in line
    assert list(out.rglob("*")) == []
    assert sorted(source.iterdir()) == before


def bad_checkpoints(shared: Path, folder: Path) -> dict[str, list[str]]:
    parity = shared / "parity"
    base, head = parity / "mvpformer/tiny_base.pt", parity / "mvpformer/tiny_head.pt"
    (folder / "empty.pt").touch()
    (folder / "cut.pt").write_bytes(base.read_bytes()[:1000])
    (folder / "text.pt").write_text("weights\n" * 100)
    (folder / "cut.safetensors").write_bytes((parity / "mvpformer/tiny_base.safetensors").read_bytes()[:1000])
    (folder / "bomb.pt").write_bytes(pickle.dumps({"a": Bomb(folder / "exploded")}))
    (folder / "config.json").write_text("{")
    save_file({"some.weight": torch.zeros(2)}, folder / "another.safetensors")
    (folder / "sub").mkdir()
    (folder / "sub/base.pt").write_bytes(base.read_bytes())
    return {
        "missing": [str(folder / "missing.pt")],
        "folder": [str(folder)],
        "empty": [str(folder / "empty.pt")],
        "cut": [str(folder / "cut.pt")],
        "cut safetensors": [str(folder / "cut.safetensors")],
        "text": [str(folder / "text.pt")],
        "bomb": [str(folder / "bomb.pt")],
        "a recording": [str(shared / "recordings/edf/test.edf")],
        "another family": [str(folder / "another.safetensors")],
        "head of another family": [str(parity / "neurduo/heads/tiny_heads.safetensors")],
        "head without base": [str(head)],
        "missing head": [str(base), "--head", str(folder / "missing.pt")],
        "base as head": [str(base), "--head", str(base)],
        "bomb as head": [str(base), "--head", str(folder / "bomb.pt")],
        "without config": [str(folder / "sub/base.pt")],
        "missing config": [str(base), "--config", str(folder / "missing.json")],
        "broken config": [str(base), "--config", str(folder / "config.json")],
        "unknown name": ["brainmaze-z"],
    }


BAD_CHECKPOINTS = (
    *("missing", "folder", "empty", "cut", "cut safetensors", "text", "bomb", "a recording", "another family"),
    *("head of another family", "head without base", "missing head", "base as head", "bomb as head"),
    *("without config", "missing config", "broken config", "unknown name"),
)


@pytest.mark.parametrize("kind", BAD_CHECKPOINTS)
@pytest.mark.parametrize("command", ["inspect", "predict"])
def test_bad_checkpoints(shared, tmp_path, capsys, command, kind):
    source, out = tmp_path / "in", tmp_path / "out"
    source.mkdir()
    out.mkdir()
    checkpoint = bad_checkpoints(shared, source)[kind]
    recording = str(shared / "recordings/scalp-seizure-46ch/demo_edf.edf")
    before = sorted(source.rglob("*"))
    arguments = {
        "inspect": ["inspect", *checkpoint],
        "predict": ["predict", recording, "--checkpoint", *checkpoint, "--out", str(out / "results")],
    }[command]
    line = one_line(capsys, arguments)
    assert any(Path(part).name in line for part in checkpoint if not part.startswith("--"))
    assert list(out.rglob("*")) == []
    assert sorted(source.rglob("*")) == before  # nothing in a pickle ran


def test_a_model_with_random_weights_is_inspected_as_a_file_is(capsys):
    assert main(["inspect", "random:axon", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["family"], facts["size"], facts["random_weights"]) == ("axon", "tiny", True)
    assert facts["config"]["depth"] == 6
    assert sum(facts["parameters"].values()) == facts["n_params"]
    assert main(["inspect", "random:axon:tiny:7"]) == 0
    assert "means nothing" in capsys.readouterr().out
    assert main(["inspect", "random:axxon"]) == 1
    assert "no family of models is called 'axxon'" in capsys.readouterr().err


def test_the_help_of_analyze_lists_every_kind_with_its_options_and_what_they_may_be(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    assert main(["analyze", "-h"]) == 0
    text = capsys.readouterr().out
    for kind in KINDS.values():
        begin = text.index(f"\n  {kind.name}\n")
        part = text[begin : text.find("\n\n", begin + 1)]
        assert kind.title in " ".join(part.split())
        for option in kind.options:
            (line,) = [line for line in part.splitlines() if line.startswith(f"      {option.name} ")]
            assert all(str(choice) in line for choice in option.choices)
            if isinstance(option.default, int | float) and not isinstance(option.default, bool):
                assert f"[{option.default:g}]" in line
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_kinds_are_listed_in_lines_that_fit(columns):
    lines = list_kinds(columns).splitlines()
    assert max(map(len, lines)) <= max(columns, 45)
    assert "KIND.npz" not in lines


@pytest.mark.parametrize("model", ["random:axon", "random:prise-eeg"])
def test_predict_says_which_channels_were_left_out(shared, capsys, tmp_path, model):
    path = str(shared / "recordings" / "scalp-seizure-46ch" / "demo_edf.edf")
    arguments = ["--checkpoint", model, "--stop", "20", "--bad", "Fpz", "--out", str(tmp_path / "out")]
    assert main(["predict", path, *arguments]) == 0
    text = capsys.readouterr().out
    assert "left out, marked bad: Fpz" in text
    assert "left out, at the ear, a place for references: A1, A2" in text
    assert "left out, not a brain signal (ecg): ECG" in text
    assert "X2, X3" in text
    run = json.loads((tmp_path / "out" / "run.json").read_text())
    assert run["bad_channels"] == ["Fpz"]
    assert len(run["scored_channels"]) + len(run["left_out"]) == 46
    assert main(["predict", path, "--checkpoint", model, "--bad", "Q9", "--out", str(tmp_path / "none")]) == 1
    assert "no channel is called 'Q9'" in capsys.readouterr().err
    assert not (tmp_path / "none").exists()

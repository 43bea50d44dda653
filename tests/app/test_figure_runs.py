"""`figure` on the command line: vectors with what rebuilds them, and errors in one line."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from analysis.analyses import Analysis, NamedArray
from analysis.errors import AnalysisError
from analysis.recording import Window
from analysis.results import AnalysisRequest
from app.cli import main
from app.figure_layers import lanes_of


@pytest.fixture(scope="module")
def scalp(shared: Path) -> str:
    return str(shared / "recordings" / "scalp-seizure-46ch" / "demo_edf.edf")


@pytest.mark.parametrize("form", ["svg", "pdf", "png"])
def test_a_page_is_small_and_told(form: str, scalp: str, tmp_path: Path) -> None:
    out = tmp_path / f"page.{form}"
    code = main(["figure", scalp, "--start", "10", "--duration", "10", "--overlay", "annotations", "--out", str(out)])
    assert code == 0
    assert 20_000 < out.stat().st_size < 5_000_000
    facts = json.loads(out.with_suffix(".json").read_text())
    assert facts["montage"] == "LB-18.1"
    assert facts["span"] == [10.0, 20.0]


def test_the_command_that_is_told_makes_the_same_figure(scalp: str, tmp_path: Path) -> None:
    out = tmp_path / "page.svg"
    main(["figure", scalp, "--start", "5", "--duration", "10", "--low", "1", "--high", "35", "--out", str(out)])
    before = out.read_bytes()
    words = shlex.split(json.loads(out.with_suffix(".json").read_text())["command"])
    assert words[:3] == ["python", "main.py", "figure"]
    out.unlink()
    assert main(words[2:]) == 0
    assert out.read_bytes() == before
    text = before.decode()
    assert "1–35 Hz" in text
    assert "SEIZURE#8" not in text


@pytest.mark.parametrize("overlay", ["gates", "grad-cam", "integrated-gradients"])
def test_heat_of_a_model_comes_with_its_numbers(overlay: str, scalp: str, tmp_path: Path) -> None:
    out = tmp_path / "page.svg"
    arguments = ["--checkpoint", "random:axon", "--overlay", overlay, "--out", str(out)]
    assert main(["figure", scalp, "--start", "20", "--duration", "10", *arguments]) == 0
    with np.load(out.with_suffix(".npz")) as numbers:
        assert numbers.files
    facts = json.loads(out.with_suffix(".json").read_text())
    assert facts["analysis"]["kind"] == overlay
    assert "Random weights" in out.read_text()


@pytest.mark.parametrize(
    ("overlay", "checkpoint", "words"),
    [
        ("integrated-gradients=absolute", "random:axon:tiny", ["size of the part of the score", "(score/s)"]),
        ("integrated-gradients", "random:mvpformer:tiny", ["part of the score of seizure, per second", "(score/s)"]),
        ("grad-cam", "random:axon:tiny", ["Grad-CAM for seizure, last layer", "no unit"]),
        ("occlusion", "random:axon:tiny", ["fall of the score of seizure without a channel", "(score/s)"]),
    ],
)
def test_the_colours_of_attribution_say_what_they_are(overlay, checkpoint, words, scalp: str, tmp_path: Path) -> None:
    out = tmp_path / "page.svg"
    arguments = ["--checkpoint", checkpoint, "--overlay", overlay.partition("=")[0], "--out", str(out)]
    arguments += ["--part", overlay] if "=" in overlay else []
    assert main(["figure", scalp, "--start", "20", "--duration", "10", *arguments]) == 0
    text = " ".join(re.findall(r"<text[^>]*>([^<]*)</text>", out.read_text()))
    assert all(word in text for word in words)
    notes = json.loads(out.with_suffix(".json").read_text())["analysis"]["notes"]
    assert any("against a common reference" in note for note in notes) == ("mvpformer" in checkpoint)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--out", "page.gif"], "svg, pdf, png"),
        (["--overlay", "gaits", "--out", "page.svg"], "choose from annotations, seizure"),
        (["--overlay", "gates", "--out", "page.svg"], "needs a checkpoint"),
        (["--montage", "LB-99", "--out", "page.svg"], "no montage is called 'LB-99'"),
    ],
)
def test_what_cannot_be_drawn_is_said(arguments, words, scalp: str, tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["figure", scalp, "--start", "0", "--duration", "10", *arguments]) == 1
    error = capsys.readouterr().err.strip().splitlines()[-1]
    assert error.startswith("error: ")
    assert words in error
    assert not list(tmp_path.iterdir())


def test_a_second_heat_is_refused(scalp: str, tmp_path: Path, capsys) -> None:
    arguments = ["--checkpoint", "random:axon", "--overlay", "gates", "--overlay", "grad-cam"]
    assert main(["figure", scalp, "--start", "0", "--duration", "5", *arguments, "--out", str(tmp_path / "a.svg")]) == 1
    assert "one analysis of a model" in capsys.readouterr().err


def test_bad_channels_stay_out_of_averages_and_models_and_are_told(scalp: str, tmp_path: Path, capsys) -> None:
    out = tmp_path / "page.svg"
    arguments = ["--checkpoint", "random:axon", "--overlay", "gates", "--bad", "Fpz", "--montage", "common average"]
    assert main(["figure", scalp, "--start", "20", "--duration", "12", *arguments, "--out", str(out)]) == 0
    facts = json.loads(out.with_suffix(".json").read_text())
    assert facts["bad_channels"] == ["Fpz"]
    assert "--bad Fpz" in facts["command"]
    assert ["Fpz", "marked bad"] in facts["analysis"]["provenance"]["preprocessing"]["channels_left_out"]
    assert facts["row_scales"]["ECG"] == {"units_per_mm": 70.0, "unit": "uV", "up": "negative"}
    text = out.read_text()
    assert "left out of averages and models: Fpz" in text
    assert "s in whole windows" in text
    assert main(["figure", scalp, "--start", "20", "--duration", "5", "--bad", "Q9", "--out", str(out)]) == 1
    assert "no channel is called 'Q9'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("overlay", "titles"), [("streams", ["fast (/s)", "slow (/s)"]), ("memory", ["share of the recall", "recall gate"])]
)
def test_what_a_neurduo_hears_is_drawn_under_the_page(overlay: str, titles, scalp: str, tmp_path: Path) -> None:
    out = tmp_path / "page.svg"
    arguments = ["--checkpoint", "random:neurduo", "--overlay", overlay, "--out", str(out)]
    assert main(["figure", scalp, "--start", "10", "--duration", "10", *arguments]) == 0
    assert json.loads(out.with_suffix(".json").read_text())["analysis"]["kind"] == overlay
    text = out.read_text()
    assert all(title in text for title in [*titles, "Random weights"])


def test_the_classes_of_a_head_are_named_beside_their_lane(shared: Path, scalp: str, tmp_path: Path) -> None:
    out, files = tmp_path / "page.svg", shared / "parity" / "neurduo"
    arguments = ["--checkpoint", str(files / "tiny" / "tiny_checkpoint.pt"), "--overlay", "stages", "--out", str(out)]
    head = ["--head", str(files / "heads" / "tiny_heads.safetensors")]
    assert main(["figure", scalp, "--start", "10", "--duration", "10", *arguments, *head]) == 0
    assert all(name in out.read_text() for name in ("background", "seizure"))


def test_without_a_head_the_model_that_was_asked_for_is_named(scalp: str, tmp_path: Path, capsys) -> None:
    assert main(["predict", scalp, "--checkpoint", "random:neurduo", "--out", str(tmp_path / "found")]) == 1
    error = capsys.readouterr().err
    assert "tells no classes (random:neurduo:tiny:0): give the head file trained for it with --head" in error
    assert "None" not in error


def test_the_share_of_each_expert_is_of_tokens_that_are_one_in_sum(make_experts) -> None:
    usage = np.array([[[2.0, 6.0, np.nan]], [[1.0, 1.0, 2.0]]])  # (block, second, expert): a shared one has no number
    (lane,) = lanes_of(make_experts(usage))
    np.testing.assert_allclose(lane.values, [[(0.25 + 0.25) / 2, (0.75 + 0.25) / 2, (0.0 + 0.5) / 2]])
    np.testing.assert_allclose(lane.values.sum(-1), 1.0)
    assert "mean over 2 blocks" in lane.title
    (one,) = lanes_of(make_experts(usage), "0")
    np.testing.assert_allclose(one.values, [[0.25, 0.75, 0.0]])
    with pytest.raises(AnalysisError, match="no block '2'"):
        lanes_of(make_experts(usage), "2")


@pytest.fixture
def make_experts():
    def make(usage: np.ndarray) -> Analysis:
        arrays = {
            "usage": NamedArray(usage, ("block", "second", "expert"), "1", "share"),
            "second_onset": NamedArray(np.zeros(1), ("second",), "s", "onset"),
        }
        request = AnalysisRequest("experts", "abc", ("d",), window=Window(0, 10))
        labels = {"block": tuple(f"time {i}" for i in range(len(usage)))}
        return Analysis(request, "now", "1.0", arrays=arrays, labels=labels, facts={"first_window": 0.0})

    return make


def test_a_kind_that_needs_more_than_the_page_is_asked_of_more(scalp: str, tmp_path: Path) -> None:
    out = tmp_path / "page.svg"
    arguments = ["--checkpoint", "random:mvpformer:tiny", "--panel", "channel-map", "--out", str(out)]
    assert main(["figure", scalp, "--start", "20", "--duration", "10", *arguments]) == 0
    assert "17.5 to 32.5 s" in out.read_text()


def test_arcs_and_panels_are_drawn_and_drawn_again_from_their_files(scalp: str, tmp_path: Path, capsys) -> None:
    out = tmp_path / "page.svg"
    arguments = ["--checkpoint", "random:prise-eeg:tiny", "--overlay", "dynamic-groups", "--panel", "dynamic-groups"]
    assert main(["figure", scalp, "--start", "10", "--duration", "10", *arguments, "--out", str(out)]) == 0
    assert "Arcs: Lag correlations" in out.read_text()
    again = tmp_path / "again.svg"
    assert main(["figure", scalp, "--like", str(out.with_suffix(".json")), "--out", str(again)]) == 0
    assert again.read_bytes() == out.read_bytes()
    out.with_suffix(".json").write_text("[]")
    assert main(["figure", scalp, "--like", str(out.with_suffix(".json")), "--out", str(again)]) == 1
    assert "not what lies beside a figure" in capsys.readouterr().err

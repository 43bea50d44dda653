"""`report` on the command line: a PDF and a web page of a real recording, and errors in one line."""

from __future__ import annotations

import base64
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from app.cli import main


@pytest.fixture(scope="module")
def scalp(shared: Path) -> str:
    return str(shared / "recordings" / "scalp-seizure-46ch" / "demo_edf.edf")


class Links(HTMLParser):
    """Every address that a page asks for, and its text."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_a_web_page_holds_all_it_needs(scalp: str, tmp_path: Path, capsys) -> None:
    out = tmp_path / "report.html"
    events = tmp_path / "marks.tsv"
    events.write_text(
        "onset\tduration\teventType\tconfidence\tchannels\tdateTime\trecordingDuration\n"
        "10.5\t20.0\tsz\t1.0\tall\t2020-01-01 00:00:00\t45\n"
    )
    said = ["report", scalp, "--events", str(events), "--checkpoint", "random:mvpformer", "--out", str(out)]
    assert main(said) == 0
    text = out.read_text("utf-8")
    links = Links()
    links.feed(text)
    assert len(links.addresses) >= 2
    assert all(address.startswith("data:image/svg+xml;base64,") for address in links.addresses)
    assert "http" not in re.sub(r'src="[^"]*"', "", text)
    traces = base64.b64decode(links.addresses[0].split(",")[1]).decode()
    assert "Fp1-F7" in traces
    said_words = "".join(links.texts)
    for words in ("Research use only", "Random weights", "Seizure", "LB-18.1", "event file", "kappa"):
        assert words in said_words
    assert "00:10.5" in said_words


def test_a_pdf_has_its_pages_and_is_small(scalp: str, tmp_path: Path, capsys) -> None:
    out = tmp_path / "report.pdf"
    assert main(["report", scalp, "--out", str(out)]) == 0
    data = out.read_bytes()
    assert data.startswith(b"%PDF")
    assert len(data) < 3_000_000
    assert len(re.findall(rb"/Type /Page\b", data)) == 2  # the text, and the seizure that the file marks
    assert "1 page of events" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--out", "report.doc"], "pdf or html"),
        (["--out", "no/such/folder/report.pdf"], "no/such/folder"),
        (["--events", "missing.tsv", "--out", "report.pdf"], "missing.tsv"),
        (["--montage", "sideways", "--out", "report.pdf"], "sideways"),
        (["--bad", "Nose", "--out", "report.pdf"], "Nose"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(arguments, words, scalp, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["report", scalp, *arguments]) == 1
    lines = [line for line in capsys.readouterr().err.splitlines() if not line.startswith("warning: ")]
    assert len(lines) == 1
    assert lines[0].startswith("error: ")
    assert "unexpected" not in lines[0]
    assert words in lines[0]
    assert not any(tmp_path.iterdir())

"""The gallery's pictures are commands that the program takes, each named once and there to be seen."""

import re
from pathlib import Path

import pytest
from PyQt6.QtGui import QImage

from app.cli import _parser_for
from app.gallery import PICTURES, Picture, page

DOCS = Path(__file__).resolve().parents[2] / "assets/docs"
PLACES = dict.fromkeys(("recordings", "made"), "x") | dict.fromkeys(("ictal", "ieeg_onset"), "1")


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.name)
def test_each_picture_is_a_command_with_its_image_and_its_place_on_the_page(picture: Picture) -> None:
    arguments = [argument.format(**PLACES) for argument in picture.arguments]
    whole = [*arguments, "--out", "x.png"]
    _parser_for(whole).parse_args(whole)
    image = QImage(str(DOCS / f"gallery/{picture.name}.webp"))
    assert image.width() >= 1000
    text = (DOCS / "gallery.md").read_text()
    assert f"(gallery/{picture.name}.webp)" in text


def test_the_page_is_of_these_pictures() -> None:
    """The page that lies there is what would be written, but for the moments that the truth of a simulation tells."""
    moment = r"--start [0-9.]+"
    now, there = (re.sub(moment, "", text) for text in (page(PLACES), (DOCS / "gallery.md").read_text()))
    assert now == there


def test_no_image_lies_there_unasked() -> None:
    assert {path.stem for path in (DOCS / "gallery").iterdir()} == {picture.name for picture in PICTURES}

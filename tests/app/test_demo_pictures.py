"""The README's pictures are those of the demonstration, one for each stop whose model is there."""

from __future__ import annotations

from PyQt6.QtGui import QImage

from app.demo_pictures import make_pictures, name_of
from app.tour_stops import STOPS


def test_pictures_have_names_of_their_own() -> None:
    assert len({name_of(stop) for stop in STOPS} | {"window"}) == len(STOPS) + 1


def test_a_stop_without_its_model_is_left_out_and_said_to_be(qapp, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setattr("app.commands.run_model", lambda _window: None)
    monkeypatch.setattr("app.demo.bundled_models", list)
    written = make_pictures(tmp_path / "made", ["dark"])
    assert [path.name for path in written] == ["seizure-dark.webp", "window-dark.webp"]
    pictures = [QImage(str(path)) for path in written]
    assert {(picture.width(), picture.height()) for picture in pictures} == {(1600, 1000)}
    assert pictures[0] != pictures[1]  # the note of the tour stands on the first alone
    assert pictures[0].pixelColor(5, 5).lightness() < 128
    assert capsys.readouterr().out.count("left out") == 5

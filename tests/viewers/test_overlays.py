"""Overlays: human marks neutral and dashed, a model's events violet and named so, any number of them fast."""

from __future__ import annotations

import numpy as np
import pytest
from PyQt6.QtGui import QImage, QPainter

from analysis.annotation import Annotation, Review
from analysis.marks import Marks
from analysis.montage import Derivation, Montage
from analysis.recording import Window
from analysis.results import AnalysisRequest, SeizurePrediction
from viewers.overlays import OVERLAYS
from viewers.overlays.annotations import AnnotationsOverlay
from viewers.overlays.base import OverlayState
from viewers.overlays.seizure_prediction import SeizurePredictionOverlay
from viewers.rows import Rows
from viewers.theme import theme
from viewers.time_scale import TimeScale
from viewers.trace_canvas import TraceCanvas

WIDTH, HEIGHT = 500, 200
PAGE = Window(100.0, 110.0)
EVENT = Annotation(104.0, 3.0, "seizure", confidence=0.94, author="model:m")


def painted(overlay, window: Window = PAGE, paint=None) -> QImage:
    image = QImage(WIDTH, HEIGHT, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(0xFFFFFFFF)
    painter = QPainter(image)
    (paint or overlay.paint)(painter, TimeScale(window, WIDTH), HEIGHT)
    painter.end()
    return image


def changed(image: QImage) -> np.ndarray:
    """Where something was painted (height, width)."""
    raw = np.frombuffer(image.constBits().asarray(image.sizeInBytes()), np.uint8).reshape(HEIGHT, WIDTH, 4)
    return (raw[..., :3] != 255).any(axis=2)


def predicted(*events: Annotation, **changes) -> SeizurePrediction:
    return SeizurePrediction(AnalysisRequest("seizure", "r", ("c",)), "t", "0", events=events, **changes)


@pytest.mark.parametrize("kind", OVERLAYS)
def test_attached_items_are_removed_again(qtbot, kind) -> None:
    canvas = TraceCanvas()
    qtbot.addWidget(canvas)
    before = len(canvas.scene().items())
    overlay = kind()
    overlay.attach(canvas)
    assert before < len(canvas.scene().items()) <= before + 2
    overlay.detach()
    assert len(canvas.scene().items()) == before
    overlay.detach()


@pytest.mark.parametrize("count", [1, 400])
def test_marks_lie_at_their_times_however_many_there_are(qapp, count: int) -> None:
    overlay = AnnotationsOverlay()
    overlay.set_result(Marks.of([Annotation(104.0, 2.0, "x")] * count))
    seen = changed(painted(overlay))
    columns = np.flatnonzero(seen.any(axis=0))
    assert columns[0] == pytest.approx(200, abs=1)
    assert columns[-1] == pytest.approx(300, abs=1)


def test_mark_of_a_channel_stays_on_its_rows(qapp, eeg_channels, single_montage, make_page) -> None:
    rows = Rows(single_montage("A", "B"), HEIGHT, 7, 4, eeg_channels("A", "B"))
    overlay = AnnotationsOverlay()
    overlay.show_page(make_page(np.zeros((10, 2)), ("A", "B")), rows)
    overlay.set_result(Marks.of([Annotation(104.0, 2.0, "x", ch_names=("B",))]))
    seen = changed(painted(overlay))
    assert not seen[:98].any()
    assert seen[105:195].any()


def test_a_seizure_told_by_two_marks_is_shaded_between_them(qapp) -> None:
    overlay = AnnotationsOverlay()
    overlay.set_result(Marks.of([Annotation(104.0, 0.0, "seizure starts"), Annotation(106.0, 0.0, "seizure ends")]))
    seen = changed(painted(overlay))
    assert seen[:, 205:295].all()
    assert not seen[:, :195].any()
    assert not seen[:, 305:].any()


def test_a_seizure_with_a_length_is_shaded_once(qapp) -> None:
    pictures = []
    for text in ("sz", "eyes open"):
        overlay = AnnotationsOverlay()
        overlay.set_result(Marks.of([Annotation(104.0, 2.0, text)]))
        pictures.append(painted(overlay))
    assert np.array_equal(*pictures)


def test_human_line_is_dashed_and_model_line_is_solid(qapp) -> None:
    human, model = AnnotationsOverlay(), SeizurePredictionOverlay()
    human.set_result(Marks.of([Annotation(104.0, 0.0, "x")]))
    model.set_result(predicted(Annotation(104.0, 0.0, "x", author="model:m")))
    dashes = changed(painted(human))[:, 198:203].any(axis=1)
    solid = changed(painted(model))[:, 198:203].any(axis=1)
    assert 0.3 < dashes.mean() < 0.8
    assert solid.all()


def test_model_is_violet_and_humans_are_not(qapp) -> None:
    model = SeizurePredictionOverlay()
    model.set_result(predicted(EVENT))
    colour = painted(model).pixelColor(250, 100)
    assert colour.blue() > colour.green() + 4
    assert colour.red() > colour.green() + 2
    human = AnnotationsOverlay()
    human.set_result(Marks.of([Annotation(104.0, 3.0, "x")]))
    grey = painted(human).pixelColor(250, 100)
    assert max(grey.red(), grey.green(), grey.blue()) - min(grey.red(), grey.green(), grey.blue()) < 4


def test_names_say_who(qapp) -> None:
    human, model = AnnotationsOverlay(), SeizurePredictionOverlay()
    human.set_result(Marks.of([Annotation(101, 0, "Seizure"), Annotation(102, 0, "mine", author="reader")]))
    model.set_result(predicted(EVENT))
    assert [label.text for label in human.labels(PAGE)[0]] == ["Seizure (file)", "mine (you)"]
    assert [label.text for label in model.labels(PAGE)[0]] == ["Seizure, model  p 0.94"]
    assert [label.colour for label in model.labels(PAGE)[0]] == ["accent"]
    model.set_result(predicted(EVENT, random_weights=True))
    assert "random weights" in model.labels(PAGE)[0][0].text
    assert "random weights" not in human.labels(PAGE)[0][0].text


def test_dense_pages_name_some_and_count_the_rest(qapp) -> None:
    human = AnnotationsOverlay()
    human.set_result(Marks.of([Annotation(100 + i / 100, 0, "x") for i in range(900)]))
    labels, more = human.labels(PAGE)
    assert len(labels) + more == 900
    assert len(labels) < 100


def test_hidden_overlays_name_nothing(qapp) -> None:
    human = AnnotationsOverlay()
    human.set_result(Marks.of([Annotation(101, 0, "x")]))
    human.set_state(OverlayState(visible=False))
    assert human.labels(PAGE) == ([], 0)


def test_hovering_tells_what_lies_there(qapp) -> None:
    human, model = AnnotationsOverlay(), SeizurePredictionOverlay()
    human.set_result(Marks.of([Annotation(101, 2, "eyes open")]))
    model.set_result(predicted(EVENT))
    assert human.describe(102, "A") == "eyes open"
    assert human.describe(104, "A") == ""
    assert model.describe(105, "A") == "Seizure, model  p 0.94"


def test_page_without_marks_is_left_alone(qapp) -> None:
    human = AnnotationsOverlay()
    human.set_theme(theme("dark"))
    human.set_result(Marks.of([Annotation(5, 1, "x")]))
    assert not changed(painted(human)).any()


def rows_and_page(montage, channels, make_page):
    names = montage.ch_names
    return make_page(np.zeros((10, len(names))), names), Rows(montage, HEIGHT, 7, 4, channels)


@pytest.mark.parametrize("count", [1, 400])
def test_a_mark_of_a_bipolar_row_stands_on_it_alone_however_many_there_are(
    qapp, eeg_channels, make_page, count: int
) -> None:
    channels = eeg_channels("A", "B", "C", "D")
    chain = Montage("pairs", tuple(Derivation(f"{a}-{b}", a, (b,)) for a, b in ("AB", "BC", "CD")))
    single = Montage("as recorded", tuple(Derivation(name, name) for name in "ABCD"))
    overlay = AnnotationsOverlay()
    overlay.set_result(Marks.of([Annotation(104.0, 2.0, "x", ch_names=("B", "C"))] * count))
    for montage, expected in ((chain, [1]), (single, [1, 2])):
        page, rows = rows_and_page(montage, channels, make_page)
        overlay.show_page(page, rows)
        seen = changed(painted(overlay)).any(axis=1)
        found = [i for i in range(len(rows)) if seen[round(float(rows.centre[i]))]]
        assert found == expected


def test_what_the_montage_does_not_show_is_not_drawn_but_named(qapp, eeg_channels, single_montage, make_page) -> None:
    overlay = AnnotationsOverlay()
    page, rows = rows_and_page(single_montage("A", "B"), eeg_channels("A", "B"), make_page)
    overlay.show_page(page, rows)
    overlay.set_result(Marks.of([Annotation(104.0, 2.0, "x", ch_names=("C",))]))
    assert not changed(painted(overlay)).any()
    labels, _ = overlay.labels(PAGE)
    assert labels[0].text == "x (file) [not in this montage]"


def test_authors_are_told_apart_by_colour_and_by_line(qapp) -> None:
    colours, lines = set(), []
    for author in ("file", "reader", "model:m"):
        overlay = AnnotationsOverlay()
        overlay.set_result(Marks.of([Annotation(104.0, 4.0, "x", author=author)]))
        image = painted(overlay)
        colours.add(image.pixelColor(300, 100).name())
        dark = (min(image.pixelColor(x, y).lightness() for x in (199, 200)) < 190 for y in range(60))
        lines.append("".join("#" if on else " " for on in dark).split())
        labels, _ = overlay.labels(PAGE)
        assert labels[0].colour == {"file": "human", "reader": "reader", "model:m": "accent"}[author]
    assert len(colours) == 3
    of_file, of_reader, of_model = lines
    assert of_model == ["#" * 60]
    assert {len(dash) for dash in of_file[1:-1]} <= {4, 5}
    assert {len(dash) for dash in of_reader[1:-1]} & {1, 2}
    assert {len(dash) for dash in of_reader[1:-1]} & {7, 8}


def test_what_was_rejected_is_fainter_and_has_no_shade(qapp) -> None:
    inks = []
    for decision in ("", "accepted", "rejected"):
        overlay = AnnotationsOverlay()
        overlay.set_result(Marks.of([Annotation(104.0, 4.0, "x", author="reader", review=Review(decision))]))
        image = painted(overlay)
        inks.append((changed(image)[:, 300].any(), sum(image.pixelColor(200, y).lightness() < 250 for y in range(200))))
    assert inks[0] == inks[1]
    assert inks[0][0]
    assert not inks[2][0]
    assert 0 < inks[2][1] < inks[0][1]


@pytest.mark.parametrize(("duration", "width"), [(0.0, 8), (2.0, 98)])
def test_a_mark_of_a_row_is_pointed_at_in_front_of_its_traces(
    qapp, eeg_channels, single_montage, make_page, duration: float, width: int
) -> None:
    overlay = AnnotationsOverlay()
    page, rows = rows_and_page(single_montage("A", "B"), eeg_channels("A", "B"), make_page)
    overlay.show_page(page, rows)
    overlay.set_result(Marks.of([Annotation(104.0, duration, "x", ch_names=("B",)), Annotation(101.0, 1.0, "all")]))
    front = changed(painted(overlay, paint=overlay._paint_front))
    top = round(rows.band(1)[0])
    assert front[top + 1].sum() >= width
    assert not front[: top - 1].any()
    assert not front[top + 12 :].any()  # it hides nothing of the traces


def test_a_page_beyond_telling_apart_still_tells_whose_marks_they_are(qapp) -> None:
    overlay = AnnotationsOverlay()
    of_file = [Annotation(104.0 + i / 5000, 0.0, "x") for i in range(5000)]
    of_reader = [Annotation(107.0 + i / 5000, 0.0, "x", author="reader") for i in range(5000)]
    overlay.set_result(Marks.of(of_file + of_reader))
    image = painted(overlay)
    assert image.pixelColor(225, 100) != image.pixelColor(375, 100)


def test_marks_are_found_where_they_are_drawn() -> None:
    overlay, events = AnnotationsOverlay(), SeizurePredictionOverlay()
    marks = [Annotation(104.0, 2.0, "x"), Annotation(105.0, 0.0, "y")]
    overlay.set_result(Marks.of(marks))
    events.set_result(predicted(EVENT))
    assert overlay.marks_within(104.9, 105.1) == marks
    assert events.marks_within(106.9, 107.5) == [EVENT]
    for each in (overlay, events):
        each.set_state(OverlayState(visible=False))
        assert each.marks_within(100.0, 110.0) == []


def test_own_marks_of_a_page_with_very_many_keep_their_names() -> None:
    many = [Annotation(10 + i / 1000, 0.0, f"+{i}") for i in range(500)]
    own = Annotation(10.9, 0.0, "Spike", author="reader")
    overlay = AnnotationsOverlay()
    overlay.set_result(Marks.of([*many, own]))
    labels, more = overlay.labels(Window(10.0, 20.0))
    assert len(labels) + more == 501
    assert "Spike (you)" in [label.text for label in labels]

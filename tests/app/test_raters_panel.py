"""Two raters in the real window: sources, figures, disputes and the way to them; and the panel by itself."""

from __future__ import annotations

import numpy as np
import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QLabel

from analysis.annotation import Annotation, Review
from analysis.recording import Window as Span
from analysis.results import AnalysisRequest, SeizurePrediction
from analysis.review.raters import SEIZURES
from analysis.time_words import elapsed
from app.comparing import compare, marks_of
from app.engine_process import EngineProcess
from app.raters_panel import Choice, RatersPanel
from app.settings import Settings
from app.synthetic_edf import SyntheticHeader, to_digital, write_synthetic_file
from app.testing import Window, open_window

SECONDS = 100
RATER_A = "onset\tduration\teventType\n10\t30\tsz\n60\t1\tspike\n"
RATER_B = "onset\tduration\teventType\n20\t25\tsz\n80\t5\tsz\n"


@pytest.fixture
def window(tmp_path, qtbot, monkeypatch):
    monkeypatch.setattr(EngineProcess, "start", lambda self: None)
    noise = to_digital(np.random.default_rng(0).normal(0, 20, (SECONDS, 2, 64)))
    header = SyntheticHeader(("F3", "F4"), 64, SECONDS, "SYNTHETIC_raters")
    path = write_synthetic_file(tmp_path / "raters.edf", header, [noise], [(12.0, 28.0, "Seizure")])
    for name, text in (("a.tsv", RATER_A), ("b.tsv", RATER_B)):
        (tmp_path / name).write_text(text)
    opened = open_window(path, (1300, 900), Settings(theme="light"))
    opened.wait()
    yield opened
    opened.close()


def open_files(window: Window) -> None:
    main = window.main
    for name in ("a.tsv", "b.tsv"):
        main.opener.read_events(main.session.recording.path.parent / name, main.session.recording)
        window.wait()
    QTest.keyClick(main, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
    main.raters_panel.choose("a.tsv", "b.tsv")
    window.wait()


def facts(panel: RatersPanel) -> dict[str, str]:
    return {row.left.text(): row.right.text() for row in (*panel._rows.values(), panel._count)}


def test_two_files_are_compared_side_by_side(window):
    open_files(window)
    main = window.main
    assert main.comparing.sources() == {"file": "The recording's file", "a.tsv": "a.tsv", "b.tsv": "b.tsv"}
    # Of 100 s both mark 20, A alone 10, B alone 10: observed 0.8, by chance 0.3 * 0.3 + 0.7 * 0.7 = 0.58.
    assert facts(main.raters_panel) == {
        "κ over seconds": f"{0.22 / 0.42:.2f}  moderate",
        "A's events that B has": "1 of 1",
        "B's events that A has": "1 of 2",
        "Event F1": "0.67",
        "Both / A only / B only": "20 / 10 / 10 s",
        "Disputed": "3",
    }
    lines = [main.raters_panel.model.index(i).data() for i in range(3)]
    assert lines == ["00:10.0   A's start, 10.0 s", "00:40.0   B's end, 5.0 s", "01:20.0   B only, 5.0 s"]
    assert main.comparing.lane.isVisibleTo(main.view)
    tip = main.raters_panel._rows["Cohen κ"].toolTip()
    assert "samples of 1 s" in tip


def test_keys_go_to_each_dispute_and_select_it(window):
    open_files(window)
    main = window.main
    window.show(0.0, 20.0)
    window.wait()
    places = []
    for key in ("D", "D", "D"):
        QTest.keyClick(main, getattr(Qt.Key, f"Key_{key}"))
        window.wait()
        places.append((main.session.window, main.view.trace_view.canvas.selection))
    assert places == [
        (Span(5.0, 25.0), Span(10.0, 20.0)),
        (Span(32.5, 52.5), Span(40.0, 45.0)),
        (Span(72.5, 92.5), Span(80.0, 85.0)),
    ]
    QTest.keyClick(main, Qt.Key.Key_D, Qt.KeyboardModifier.ShiftModifier)
    window.wait()
    assert main.raters_panel.current_row == 1
    assert main.comparing.lane._current == main.raters_panel.model.disputes[1]
    for _ in range(2):
        QTest.keyClick(main, Qt.Key.Key_D)
    window.wait()
    assert main.raters_panel.current_row == 2
    assert main.status._message.text() == "no disputed span after this one"
    main.docks["raters"].hide()
    QTest.keyClick(main, Qt.Key.Key_D)
    assert "Ctrl+R compares two raters" in main.status._message.text()


def test_a_dispute_is_clicked_in_list_and_lane(window, qtbot):
    open_files(window)
    main = window.main
    table = main.raters_panel.table
    qtbot.mouseClick(
        table.viewport(), Qt.MouseButton.LeftButton, pos=table.visualRect(main.raters_panel.model.index(2)).center()
    )
    window.wait()
    assert main.session.window.start <= 80.0 < main.session.window.stop
    main.comparing.lane.dispute_clicked.emit(main.raters_panel.model.disputes[0])
    assert main.raters_panel.current_row == 0


def test_own_marks_are_compared_as_they_are_made(window):
    main = window.main
    main.actions_by_id["raters"].trigger()
    main.session.add_annotations([Annotation(12.0, 28.0, "sz", author="reader")])
    window.wait()
    main.raters_panel.choose("file", "reader")
    window.wait()
    assert facts(main.raters_panel)["κ over seconds"].startswith("1.00")
    main.actions_by_id["undo_edit"].trigger()
    window.wait()
    assert "Choose two different raters" in "".join(w.text() for w in main.raters_panel.findChildren(QLabel))


def test_closing_the_panel_takes_the_lane_away(window):
    open_files(window)
    main = window.main
    main.docks["raters"].close()
    assert not main.comparing.lane.isVisibleTo(main.view)


def test_a_model_is_a_rater_as_found_and_as_reviewed(window):
    main = window.main
    main.actions_by_id["raters"].trigger()
    p = np.full(SECONDS, 0.1, np.float32)
    p[10:30], p[60:80] = 0.9, 0.9
    request = AnalysisRequest("seizure", main.session.recording.id, ("c",))
    main.runs._score = lambda: None
    main.runs._show(
        SeizurePrediction(
            request, "", "", times=np.arange(100.0), durations=np.ones(100), probability=p, model_title="M"
        )
    )
    main.queue.choose(main.queue.live[1])
    main.queue.reject()
    window.wait()
    sources = main.comparing.sources()
    assert sources["found:model:M"] == "M, as found"
    assert sources["reviewed:model:M"] == "M, reviewed"
    shown = {}
    for which in ("found:model:M", "reviewed:model:M"):
        main.raters_panel.choose("file", which)
        window.wait()
        shown[which] = facts(main.raters_panel)["B's events that A has"]
    assert shown == {"found:model:M": "1 of 2", "reviewed:model:M": "1 of 1"}


# Without a window


def test_what_each_source_says():
    live = Annotation(50, 5, "sz", author="model:M"), Annotation(70, 5, "sz", author="model:N")
    marks = [
        Annotation(1, 2, "sz", author="reader"),
        Annotation(5, 2, "sz", author="reader", review=Review("rejected")),
        Annotation(50, 5, "sz", author="model:M", review=Review("rejected")),
        Annotation(20, 5, "sz", author="model:M", review=Review("accepted")),
    ]
    assert marks_of("reader", marks, live) == [marks[0]]
    assert marks_of("found:model:M", marks, live) == [live[0]]
    assert marks_of("reviewed:model:M", marks, live) == [marks[3]]


def test_types_other_than_seizures_are_compared_by_title():
    marks = [Annotation(10, 1, "spike"), Annotation(10.5, 1, "spike", author="reader"), Annotation(50, 5, "sz")]
    found, types = compare(Choice("file", "reader", "spike", 0.1, 0.2), ("A", "B"), marks, (), 100.0)
    assert (found.overlap.a_found, found.overlap.b_found) == (1, 1)
    assert [d.kind for d in found.disputes] == ["start", "end"]
    assert set(types) == {"spike", SEIZURES}
    found, _ = compare(Choice("file", "reader", SEIZURES, 1.0, 0.2), ("A", "B"), marks, (), 100.0)
    assert (found.overlap.n_a, found.overlap.n_b) == (1, 0)


def test_the_choice_stays_while_sources_come_and_go(qtbot):
    panel = RatersPanel(elapsed)
    qtbot.addWidget(panel)
    assert panel.choice is None
    panel.set_sources({"file": "File", "reader": "You"}, ["spike"])
    assert (panel.choice.a, panel.choice.b, panel.choice.kind) == ("file", "reader", SEIZURES)
    panel.choose("reader", "file")
    panel.set_sources({"file": "File", "reader": "You", "c.tsv": "c.tsv"}, ["spike", "sz"])
    assert (panel.choice.a, panel.choice.b) == ("reader", "file")
    panel.choose("file", "file")
    assert panel.choice is None


def test_sources_that_come_one_after_another_are_compared_in_their_usual_order(qtbot):
    panel = RatersPanel(elapsed)
    qtbot.addWidget(panel)
    panel.set_sources({"file": "File"}, [])
    assert (panel.a.currentText(), panel.b.currentText()) == ("File", "")
    panel.set_sources({"reader": "You", "reviewed:model:M": "M, reviewed"}, [])
    panel.set_sources({"file": "File", "reader": "You", "reviewed:model:M": "M, reviewed"}, ["spike"])
    assert (panel.choice.a, panel.choice.b) == ("file", "reader")


def test_what_the_reader_chose_comes_back_with_its_sources(qtbot):
    panel = RatersPanel(elapsed)
    qtbot.addWidget(panel)
    everybody = {"file": "File", "reader": "You", "found:model:M": "M, as found"}
    panel.set_sources(everybody, ["spike"])
    panel.b.setCurrentIndex(2)
    panel.kind.setCurrentIndex(1)
    panel.b.activated.emit(2)
    for there in ({}, {"file": "File"}, {"reader": "You", "file": "File"}):  # the recording is opened again
        panel.set_sources(there, [])
        assert panel.choice is None or panel.choice.b != panel.choice.a
    panel.set_sources(everybody, ["spike"])
    assert (panel.choice.a, panel.choice.b, panel.choice.kind) == ("file", "found:model:M", "spike")


def test_types_stand_under_a_heading_and_agree_with_the_figures(qtbot):
    marks = [
        Annotation(15.2, 0, "SEIZURE#8 STARTS -XXX"),
        Annotation(26.8, 0, "XLSpike"),
        Annotation(44.1, 0, "seizure ends -XXX"),
        Annotation(16.0, 28.0, "Seizure", author="reader"),
    ]
    found, types = compare(Choice("file", "reader", SEIZURES, 1.0, 2.0), ("A", "B"), marks, (), 45.0)
    panel = RatersPanel(elapsed)
    qtbot.addWidget(panel)
    panel.show()
    panel.show_comparison(found, types)
    assert panel._types_heading.isVisible()
    rows = [(row.left.text(), row.right.text()) for row in panel._types if row.isVisible()]
    assert rows == [(SEIZURES, "A 1/1   B 1/1"), ("XLSpike", "A 0/1   B 0/0")]
    assert facts(panel)["A's events that B has"] == "1 of 1"
    panel.say("Nothing.")
    assert not panel._types_heading.isVisible()

"""The bar above the traces: the offer first, then what must be read, one at a time."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from analysis.annotation import Annotation
from analysis.review.history import Change
from app.dialogs.recovery import NoticeBar, recovered_words, when


@pytest.fixture
def bar(qtbot) -> NoticeBar:
    bar = NoticeBar()
    qtbot.addWidget(bar)
    return bar


def test_it_is_not_there_without_a_notice(bar: NoticeBar) -> None:
    assert bar.isHidden()
    bar.withdraw()
    assert bar.isHidden()


def test_an_offer_names_what_was_kept_and_what_can_be_done(bar: NoticeBar, qtbot) -> None:
    bar.offer("2 marks added", 5, "2001-02-03T04:05:06Z", True)
    assert not bar.isHidden()
    assert bar.text.text().startswith("The program ended before this recording was closed. 5 steps, the last of ")
    assert bar.text.text().endswith(" were kept: 2 marks added.")
    assert bar.leave_out.text() == "Start from the file"
    bar.offer("1 mark removed", 1, "", False)
    assert bar.text.text().endswith("closed. 1 step was kept: 1 mark removed.")
    assert bar.leave_out.text() == "Go back to before"
    for button, signal in ((bar.keep, bar.kept), (bar.leave_out, bar.left_out), (bar.save, bar.save_requested)):
        with qtbot.waitSignal(signal):
            button.click()


def test_sentences_wait_for_the_offer_and_for_each_other(bar: NoticeBar) -> None:
    bar.offer("1 mark added", 1, "", True)
    bar.say("a line was damaged")
    bar.say("something else")
    bar.say("something else")
    assert bar.dismiss.isHidden()
    bar.withdraw()
    assert bar.text.text() == "A line was damaged"
    assert bar.keep.isHidden()
    bar.dismiss.click()
    assert bar.text.text() == "Something else"
    bar.dismiss.click()
    assert bar.isHidden()


def test_another_recording_begins_without_notices(bar: NoticeBar) -> None:
    bar.say("something")
    bar.clear()
    assert bar.isHidden()


def test_what_became_of_the_marks_is_said_in_words() -> None:
    spike, moved = Annotation(1.0, 0.0, "spike", id=1), Annotation(2.0, 0.0, "spike", id=1)
    others = [Annotation(float(i), 0.0, "x", id=i) for i in (2, 3)]
    assert recovered_words([Change(spike, None)]) == "1 mark removed"
    assert recovered_words([Change(spike, moved), *(Change(None, o) for o in others)]) == "2 marks added, 1 changed"
    assert recovered_words([Change(None, spike)] * 6000) == "6,000 marks changed"


def test_times_are_those_of_the_clock_here() -> None:
    moment = datetime(2026, 7, 31, 12, 3, tzinfo=UTC)
    here = moment.astimezone()
    assert when("2026-07-31T12:03:00Z", here) == f"of {here:%H:%M}"
    assert when("2026-07-31T12:03:00Z", datetime(2026, 9, 1)) == f"of {here:%H:%M} on {here.day} {here:%B}"
    assert when("") == ""

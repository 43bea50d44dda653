"""Trends in the background: when they are computed, kept, stopped and gone on with."""

from __future__ import annotations

import numpy as np
import pytest
from PyQt6.QtCore import QObject, pyqtSignal
from PyQt6.QtWidgets import QWidget

from analysis.channel_quality import FLAT, ChannelQuality
from analysis.recording import Channel
from analysis.trends.computation import BLOCK_SECONDS, TrendPass
from app.jobs import JobRunner
from app.session import Session
from app.settings import Settings
from app.synthetic_edf import SyntheticHeader, to_digital, write_synthetic_file
from app.testing import open_window
from app.trending import Trending
from viewers.trends_view import TrendsView

SITES = "Fp1 F3 C3 P3 O1 F7 T7 P7 Fp2 F4 C4 P4 O2 F8 T8 P8".split()
SFREQ = 64.0


class Opener(QObject):
    """Tells what the real one tells of a recording once its first page is there."""

    quality_ready = pyqtSignal(object, object)
    overview_ready = pyqtSignal(object, object)


class Stage:
    """A session with a strip of trends and a runner, without the rest of a window."""

    def __init__(self, qtbot, array_recording, settings: Settings, folder=None) -> None:
        self.make = array_recording
        self.holder = QWidget()
        qtbot.addWidget(self.holder)
        self.view = TrendsView(self.holder)
        self.session, self.opener, self.settings = Session(), Opener(), settings
        self.runner = JobRunner({"io": 1})
        arguments = self.session, self.view, self.opener, self.runner, settings, folder, self.holder
        self.trending = Trending(*arguments)

    def open(self, seconds: float, sites=SITES, surveyed: bool = True):
        rng = np.random.default_rng(int(seconds))
        channels = [Channel(site, site, "eeg", "uV", SFREQ, site=site) for site in sites]
        data = rng.standard_normal((len(sites), int(seconds * SFREQ))).astype(np.float32) * 20
        recording = self.make(channels, data, SFREQ)
        recording.id = f"r{seconds}"
        self.session.open(recording)
        self.view.set_facts(recording.duration, None)
        if surveyed:
            self.opener.overview_ready.emit(recording, None)
        return recording


@pytest.fixture
def stage(qtbot, array_recording):
    made: list[Stage] = []

    def build(settings: Settings | None = None, folder=None) -> Stage:
        made.append(Stage(qtbot, array_recording, settings or Settings(), folder))
        return made[-1]

    yield build
    for one in made:
        one.runner.shutdown()


@pytest.fixture
def passes(monkeypatch) -> list[float]:
    """Where each pass began."""
    begun: list[float] = []
    run = TrendPass.run

    def watched(self, progress=None, start=0.0, rest=lambda: 0.0):
        begun.append(start)
        return run(self, progress, start, rest)

    monkeypatch.setattr(TrendPass, "run", watched)
    return begun


def finish(qtbot, stage: Stage) -> None:
    qtbot.waitUntil(lambda: stage.trending.trends is not None and stage.trending.trends.complete, timeout=20_000)


def test_long_recordings_have_trends_at_once_and_short_ones_on_request(stage, qtbot):
    one = stage()
    shown = []
    one.trending.shown_changed.connect(shown.append)
    one.open(120.0)
    assert shown == [False]
    assert not one.runner.jobs
    one.trending.toggle()
    finish(qtbot, one)
    one.open(400.0)
    assert shown == [False, True, True]
    finish(qtbot, one)
    assert one.view.lanes[0].trends is one.trending.trends


def test_nothing_is_computed_before_the_overview_or_while_hidden(stage, qtbot, passes):
    one = stage(Settings(trends_shown=False))
    recording = one.open(400.0)
    assert not one.runner.jobs
    one.trending.toggle()
    finish(qtbot, one)
    assert len(passes) == 1
    two = stage()
    two.open(400.0, surveyed=False)
    assert not two.runner.jobs
    two.opener.overview_ready.emit(recording, None)  # of another recording
    assert not two.runner.jobs


def test_what_the_reader_wants_to_see_is_remembered_by_the_length_of_the_recording(stage):
    settings = Settings()
    one = stage(settings)
    one.open(120.0)
    one.trending.toggle()
    assert (settings.trends_of_short, settings.trends_shown) == (True, True)
    one.open(400.0)
    one.trending.toggle()
    assert (settings.trends_of_short, settings.trends_shown) == (True, False)
    one.view.set_look(span="1 h", folded=["aEEG"])
    one.view.look_changed.emit()
    two = stage(settings)
    assert (two.view.span, two.view.folded) == ("1 h", ["aEEG"])


def test_trends_are_kept_from_one_opening_to_the_next(stage, qtbot, passes, tmp_path):
    one = stage(folder=tmp_path)
    one.open(400.0)
    finish(qtbot, one)
    first = one.trending.trends
    two = stage(folder=tmp_path)
    two.open(400.0)
    finish(qtbot, two)
    assert len(passes) == 1
    np.testing.assert_array_equal(two.trending.trends.powers, first.powers)
    two.open(500.0)
    finish(qtbot, two)
    assert len(passes) == 2


def test_kept_trends_are_there_before_the_overview(stage, qtbot, passes, tmp_path):
    first = stage(folder=tmp_path)
    first.open(400.0)
    finish(qtbot, first)
    two = stage(folder=tmp_path)
    recording = two.open(400.0, surveyed=False)
    two.opener.quality_ready.emit(recording, {})
    finish(qtbot, two)
    two.opener.overview_ready.emit(recording, None)
    assert not two.runner.jobs
    recording = two.open(500.0, surveyed=False)
    two.opener.quality_ready.emit(recording, {})
    qtbot.waitUntil(lambda: not two.runner.jobs)
    assert len(passes) == 1
    two.opener.overview_ready.emit(recording, None)
    finish(qtbot, two)
    assert len(passes) == 2


def test_the_pass_begins_at_the_page(stage, qtbot, passes):
    one = stage()
    recording = one.open(1000.0, surveyed=False)
    one.session.go_to(700.0)
    one.opener.overview_ready.emit(recording, None)
    finish(qtbot, one)
    assert passes == [700.0]


def test_a_stopped_pass_says_so_and_goes_on_where_it_was(stage, qtbot, monkeypatch):
    one = stage()
    compute, blocks = TrendPass._compute, []

    def slow(self, block):
        blocks.append(block)
        if len(blocks) == 2:
            one.runner.jobs[0].cancel()
        compute(self, block)

    monkeypatch.setattr(TrendPass, "_compute", slow)
    one.open(6.0 * BLOCK_SECONDS)
    qtbot.waitUntil(lambda: one.view.axis.state.startswith("stopped"), timeout=10_000)
    assert one.view.axis.resume.isVisibleTo(one.view)
    qtbot.waitUntil(lambda: len(blocks) == 2)
    one.view.resume_requested.emit()
    finish(qtbot, one)
    assert sorted(blocks) == list(range(6))
    assert one.view.axis.state == ""


def test_another_recording_takes_the_place_of_the_last_one(stage, qtbot):
    one = stage()
    one.open(3000.0)
    second = one.open(400.0)
    finish(qtbot, one)
    assert one.trending.trends.request.recording_id == second.id
    assert one.trending.trends.duration == 400.0


def test_bad_channels_of_the_reader_and_of_the_survey_take_no_part(stage, qtbot):
    one = stage()
    recording = one.open(400.0, surveyed=False)
    one.opener.quality_ready.emit(recording, {"F3": ChannelQuality(FLAT)})
    one.opener.overview_ready.emit(recording, None)
    finish(qtbot, one)
    assert one.trending.trends.left_out == (("F3", "flat"),)
    one.trending._bad_rest.setInterval(1)
    one.session.set_bad_channels(["O2"])
    qtbot.waitUntil(lambda: one.trending.trends is not None and len(one.trending.trends.left_out) == 2, timeout=10_000)
    assert ("O2", "marked bad") in one.trending.trends.left_out
    assert "P4-O2" not in one.trending.trends.sources[1]


def test_a_recording_without_brain_signal_says_that_there_are_none(stage, qtbot):
    one = stage()
    failures = []
    one.trending.failed.connect(failures.append)
    recording = one.open(400.0, surveyed=False)
    one.opener.quality_ready.emit(recording, {site: ChannelQuality(FLAT) for site in SITES})
    one.opener.overview_ready.emit(recording, None)
    qtbot.waitUntil(lambda: one.view.axis.state.startswith("no trends"), timeout=10_000)
    assert failures == []


def test_a_recording_that_cannot_be_read_is_an_error_and_may_be_tried_again(stage, qtbot):
    one = stage()
    failures = []
    one.trending.failed.connect(failures.append)
    recording = one.open(400.0, surveyed=False)
    read = recording.read

    def broken(*_args):
        raise OSError("the disk is gone")

    recording.read = broken
    one.opener.quality_ready.emit(recording, {})
    one.opener.overview_ready.emit(recording, None)
    qtbot.waitUntil(lambda: bool(failures), timeout=10_000)
    recording.read = read
    one.view.resume_requested.emit()
    finish(qtbot, one)


def test_only_long_passes_are_listed_among_the_jobs(stage, qtbot):
    one = stage()
    listed = []
    one.trending.long_work.connect(listed.append)
    one.open(400.0)
    finish(qtbot, one)
    assert listed == []
    one.open(2.5 * 3600, sites=["C3", "C4"])
    assert len(listed) == 1
    finish(qtbot, one)


def test_while_pages_are_turned_the_pass_rests_between_its_blocks(stage, monkeypatch):
    one = stage()
    one.open(400.0, surveyed=False)
    now = [100.0]
    monkeypatch.setattr("app.trending.time.monotonic", lambda: now[0])
    assert one.trending._rest() == 0.0
    one.session.go_to(100.0)
    assert one.trending._rest() > 0.1
    now[0] += 1.0
    assert one.trending._rest() == 0.0


def test_the_window_shows_trends_of_long_recordings_and_w_hides_them(qtbot, tmp_path):
    labels = tuple(SITES)
    header = SyntheticHeader(labels, 64, 400, "SYNTHETIC_test")
    rng = np.random.default_rng(7)
    blocks = [to_digital(20 * rng.standard_normal((400, len(labels), 64)))]
    path = write_synthetic_file(tmp_path / "long.edf", header, blocks, [(100.0, 20.0, "seizure")])
    handle = open_window(path, (1600, 960), Settings())
    try:
        handle.wait()
        main = handle.main
        assert main.trending.trends.complete
        assert main.view.trends.isVisible()
        assert main.actions_by_id["trends"].isChecked()
        assert main.view.trace_view.height() >= 480
        main.actions_by_id["trends"].trigger()
        assert not main.view.trends.isVisible()
        assert not main.actions_by_id["trends"].isChecked()
        main.actions_by_id["trends"].trigger()
        main.view.trends.go_to(300.0)
        assert main.session.window.start == 295.0
        main.actions_by_id["back"].trigger()
        assert main.session.window.start == 0.0
    finally:
        handle.close()

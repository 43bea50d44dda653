"""Jobs: the four ends, lanes, newest wins, equal requests once, and signals on the thread that asked."""

from __future__ import annotations

import threading

import pytest

from analysis.errors import AnalysisError
from analysis.progress import Cancelled
from app.jobs import Job, JobRunner, JobState


@pytest.fixture
def runner(qapp):
    runner = JobRunner()
    yield runner
    assert runner.shutdown(timeout=5)


class Log:
    """Every signal of a job in order, with the thread it arrived on."""

    def __init__(self, job: Job) -> None:
        self.events: list[tuple] = []
        self.threads: set[int] = set()
        for name in ("started", "progressed", "partial", "succeeded", "failed", "cancelled", "replaced", "finished"):
            getattr(job, name).connect(lambda *args, name=name: self._take(name, args))

    def _take(self, name, args):
        self.events.append((name, *args))
        self.threads.add(threading.get_ident())

    @property
    def names(self):
        return [event[0] for event in self.events]


def until_cancelled(progress, at=None):
    if at is not None:
        at.set()
    while True:
        progress.report(0, 1)
        threading.Event().wait(0.005)


def run(qtbot, runner, job):
    runner.submit(job)
    qtbot.waitUntil(lambda: job.ended, timeout=5000)
    return job


def test_result_progress_and_partials_arrive_in_order_on_the_asking_thread(qtbot, runner):
    def work(progress):
        assert threading.get_ident() != asking
        progress.report(1, 4, "a quarter")
        progress.partial("first")
        progress.partial("second")
        return 42

    asking = threading.get_ident()
    job = Job("work", work, lane="io")
    log = Log(job)
    run(qtbot, runner, job)
    assert job.state is JobState.DONE
    assert job.result == 42
    assert log.events == [
        ("started",),
        ("progressed", 1.0, 4.0, "a quarter"),
        ("partial", "first"),
        ("partial", "second"),
        ("succeeded", 42),
        ("finished",),
    ]
    assert log.threads == {asking}


def test_reports_that_nobody_has_seen_yet_become_one_event_with_the_newest_figures(qtbot, runner):
    reported, go = threading.Event(), threading.Event()

    def work(progress):
        for i in range(1000):
            progress.report(i + 1, 1000)
        reported.set()
        go.wait(5)
        progress.report(1000, 1000, "saved")

    job = Job("work", work)
    log = Log(job)
    runner.submit(job)
    assert reported.wait(5)  # the thread of the window has not looked at its events so far
    with qtbot.waitSignal(job.progressed):
        go.set()
    qtbot.waitUntil(lambda: job.ended, timeout=5000)
    reports = [event for event in log.events if event[0] == "progressed"]
    assert len(reports) <= 2
    assert reports[-1] == ("progressed", 1000.0, 1000.0, "saved")


def test_an_exception_arrives_whole(qtbot, runner):
    error = AnalysisError("too short (x.edf): choose a longer span")

    def work(_):
        raise error

    job = Job("work", work)
    log = Log(job)
    run(qtbot, runner, job)
    assert job.state is JobState.FAILED
    assert job.error is error
    assert log.names == ["started", "failed", "finished"]


def test_even_an_exit_in_a_job_leaves_the_lane_working(qtbot, runner):
    def leave(_):
        raise SystemExit(3)

    first = run(qtbot, runner, Job("leave", leave))
    assert isinstance(first.error, SystemExit)
    assert run(qtbot, runner, Job("next", lambda _: "works")).result == "works"


@pytest.mark.parametrize("when", ["waiting", "running"])
def test_cancel(qtbot, runner, when):
    running = threading.Event()
    blocker = Job("blocker", lambda p: until_cancelled(p, running))
    runner.submit(blocker)
    assert running.wait(5)
    ran = []
    waiting = runner.submit(Job("waiting", lambda _: ran.append(1)))
    job = {"waiting": waiting, "running": blocker}[when]
    log = Log(job)
    job.cancel()
    job.cancel()
    assert job.state is JobState.CANCELLED
    assert log.names == ["cancelled", "finished"]
    blocker.cancel()
    after = run(qtbot, runner, Job("after", lambda _: "after"))
    assert after.result == "after"
    assert ran == ([] if when == "waiting" else [1])


def test_work_that_stops_by_itself_counts_as_cancelled(qtbot, runner):
    def work(_):
        raise Cancelled

    assert run(qtbot, runner, Job("work", work)).state is JobState.CANCELLED


def test_newest_wins(qtbot, runner):
    running = threading.Event()
    jobs = [runner.submit(Job("page 0", lambda p: until_cancelled(p, running), replaces="page"))]
    assert running.wait(5)
    done = []
    for i in range(1, 6):
        jobs.append(runner.submit(Job(f"page {i}", lambda _, i=i: done.append(i), replaces="page")))
    elsewhere = runner.submit(Job("overview", lambda _: "kept", replaces="overview"))
    qtbot.waitUntil(lambda: jobs[-1].ended and elsewhere.ended, timeout=5000)
    assert [job.state for job in jobs] == [JobState.REPLACED] * 5 + [JobState.DONE]
    assert done == [5]
    assert elsewhere.result == "kept"


def test_equal_requests_are_computed_once_and_both_are_answered(qtbot, runner):
    go, calls = threading.Event(), []

    def work(_):
        calls.append(1)
        go.wait(5)
        return "answer"

    first = runner.submit(Job("first", work, key="same"))
    second = Job("second", work, key="same")
    log = Log(second)
    runner.submit(second)
    go.set()
    qtbot.waitUntil(lambda: first.ended and second.ended, timeout=5000)
    assert (first.result, second.result, len(calls)) == ("answer", "answer", 1)
    assert log.names == ["started", "succeeded", "finished"]


def test_shared_work_stops_only_when_nobody_wants_it(qtbot, runner):
    go, calls = threading.Event(), []

    def work(progress):
        calls.append(1)
        while not go.is_set():
            progress.report(0, 1)
            threading.Event().wait(0.005)
        return "answer"

    first = runner.submit(Job("first", work, key="same", replaces="view"))
    second = runner.submit(Job("second", work, key="same", replaces="view"))
    assert first.state is JobState.REPLACED
    go.set()
    qtbot.waitUntil(lambda: second.ended, timeout=5000)
    assert second.result == "answer"
    assert len(calls) == 1


def test_a_key_is_computed_again_once_its_work_has_ended(qtbot, runner):
    calls = []
    for _ in range(2):
        run(qtbot, runner, Job("work", lambda _: calls.append(1), key="same"))
    assert len(calls) == 2


def test_models_take_turns_and_readers_do_not(qtbot, runner):
    lock, now, most = threading.Lock(), {"gpu": 0, "io": 0}, {"gpu": 0, "io": 0}
    meet = threading.Barrier(2, timeout=5)

    def work(_, lane):
        with lock:
            now[lane] += 1
            most[lane] = max(most[lane], now[lane])
        if lane == "io":
            meet.wait()
        with lock:
            now[lane] -= 1

    jobs = [Job(lane, lambda p, lane=lane: work(p, lane), lane=lane) for lane in ("gpu", "io") for _ in range(4)]
    for job in jobs:
        runner.submit(job)
    qtbot.waitUntil(lambda: all(job.ended for job in jobs), timeout=5000)
    assert all(job.state is JobState.DONE for job in jobs)
    assert most["gpu"] == 1
    assert most["io"] >= 2


def test_the_most_urgent_waiting_job_runs_first(qtbot, runner):
    go, order = threading.Event(), []
    runner.submit(Job("first", lambda _: go.wait(5)))
    jobs = [runner.submit(Job(str(p), lambda _, p=p: order.append(p), priority=p)) for p in (3, 1, 2)]
    go.set()
    qtbot.waitUntil(lambda: all(job.ended for job in jobs), timeout=5000)
    assert order == [1, 2, 3]


def test_time_left_leaves_out_what_came_before_the_first_report(qtbot, runner, monkeypatch):
    clock = [100.0]
    monkeypatch.setattr("app.jobs.time.monotonic", lambda: clock[0])
    steps = [(0, 10, 130.0), (1, 10, 132.0), (5, 10, 140.0)]
    ready, told = threading.Semaphore(0), []

    def work(progress):
        for done, total, _ in steps:
            ready.acquire(timeout=5)
            progress.report(done, total)
        ready.acquire(timeout=5)

    job = Job("work", work)
    job.progressed.connect(lambda *_: told.append(job.time_left))
    runner.submit(job)
    for i, (_, _, at) in enumerate(steps):
        clock[0] = at
        ready.release()
        qtbot.waitUntil(lambda i=i: len(told) == i + 1, timeout=5000)
    ready.release()
    qtbot.waitUntil(lambda: job.ended, timeout=5000)
    # One step in 2 s, then five in 10 s: the 30 s of loading before the first report are no part of the speed.
    assert told == [None, 18.0, 10.0]


@pytest.mark.usefixtures("qapp")
def test_shutdown_cancels_waits_and_takes_no_more():
    runner = JobRunner()
    running = threading.Event()
    job = runner.submit(Job("work", lambda p: until_cancelled(p, running)))
    assert running.wait(5)
    assert runner.shutdown(timeout=5)
    assert job.state is JobState.CANCELLED
    assert runner.jobs == ()
    late = Job("late", lambda _: None)
    log = Log(late)
    assert runner.submit(late).state is JobState.CANCELLED
    assert log.names == ["cancelled", "finished"]


@pytest.mark.usefixtures("qapp")
def test_shutdown_says_when_a_thread_is_stuck():
    runner = JobRunner()
    go, running = threading.Event(), threading.Event()

    def stuck(_):
        running.set()
        go.wait(10)

    runner.submit(Job("stuck", stuck))
    assert running.wait(5)
    assert not runner.shutdown(timeout=0.05)
    go.set()


@pytest.mark.usefixtures("qapp")
def test_an_unknown_lane_is_refused():
    with pytest.raises(ValueError, match="lane"):
        Job("work", lambda _: None, lane="disk")

"""The engine process: answers, progress, the ways it can end, and that it leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from analysis.errors import AnalysisError, RecordingError
from analysis.progress import Cancelled, Progress
from app.engine_process import NICENESS, EngineProcess
from app.jobs import Job, JobRunner, JobState
from models.errors import CheckpointError

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


@pytest.fixture
def engine(monkeypatch):
    monkeypatch.syspath_prepend(str(HERE))
    with EngineProcess() as engine:
        yield engine


class Watch(Progress):
    """Notes what arrives, and is cancelled at a given report."""

    def __init__(self, cancel_at=None):
        self.reports, self.partials = [], []
        self.cancel_at = cancel_at
        self.unwanted = threading.Event()

    def check(self):
        if self.unwanted.is_set():
            raise Cancelled

    def report(self, done, total, message=""):
        self.reports.append((done, total, message))
        if self.cancel_at is not None and done >= self.cancel_at:
            self.unwanted.set()
        self.check()

    def partial(self, result):
        self.partials.append(result)


def gone(pid: int, orphan: bool = False) -> bool:
    """Whether the process ends in time and is not left as a zombie; orphans are buried by the system, when it likes."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        if orphan and Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.01)
    return False


def written(mark: Path) -> int:
    """The process number a task has left, once it is there."""
    deadline = time.monotonic() + 20
    while not (mark.exists() and mark.read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.005)
    return int(mark.read_text())


def sleep_until_stopped(engine: EngineProcess, mark: Path, ends: list, progress: Progress | None = None) -> None:
    try:
        engine.call("engine_tasks:sleep_deaf", {"seconds": 60, "mark": str(mark)}, progress)
    except BaseException as error:
        ends.append(error)


def test_nothing_is_started_before_it_is_needed(engine):
    assert engine.pid is None
    assert engine.call("engine_tasks:add", {"a": 2, "b": 3}) == 5
    assert engine.pid is not None


def test_progress_and_partial_results_arrive_in_order_before_the_result(engine):
    watch = Watch()
    assert engine.call("engine_tasks:count", {"n": 50}, watch) == "counted"
    assert watch.partials == list(range(50))
    assert watch.reports[0] == (1, 50, "step 1")
    assert watch.reports[-1] == (50, 50, "step 50")
    assert watch.reports == sorted(watch.reports)


def test_arrays_come_back_as_they_went(engine):
    array = np.random.default_rng(0).standard_normal((64, 5000)).astype(np.float32)
    back = engine.call("engine_tasks:double", {"array": array})
    assert back.dtype == np.float32
    np.testing.assert_array_equal(back, array * 2)
    assert back.flags.writeable
    array.flags.writeable = False
    kept = engine.call("engine_tasks:keep", {"value": {"a": array, "b": array[:, ::2], "c": ["text", array[:0]]}})
    np.testing.assert_array_equal(kept["b"], array[:, ::2])
    assert not kept["a"].flags.writeable
    assert kept["c"][1].shape == (0, 5000)
    assert engine.call("engine_tasks:large", {"megabytes": 40}).sum() == 10_000_000


@pytest.mark.parametrize(
    ("family", "kind"),
    [
        ("recording", RecordingError),
        ("checkpoint", CheckpointError),
        ("analysis", AnalysisError),
        ("value", ValueError),
    ],
)
def test_errors_travel_as_themselves_with_the_traceback_of_the_other_side(engine, family, kind):
    with pytest.raises(kind) as caught:
        engine.call("engine_tasks:fail", {"family": family, "message": "bad (x.edf): do this"})
    assert str(caught.value) == "bad (x.edf): do this"
    assert "engine_tasks.py" in str(caught.value.__cause__)
    assert engine.call("engine_tasks:add", {"a": 1, "b": 1}) == 2


@pytest.mark.parametrize(
    ("function", "kind", "words"),
    [
        ("engine_tasks:fail_oddly", RuntimeError, "Odd: odd 1 2"),
        ("engine_tasks:unpicklable", Exception, "pickle"),
        ("engine_tasks:missing", AttributeError, "missing"),
        ("no_such_module:f", ModuleNotFoundError, "no_such_module"),
    ],
)
def test_what_cannot_be_sent_or_found_is_a_failure_and_the_engine_goes_on(engine, function, kind, words):
    with pytest.raises(kind, match=words):
        engine.call(function)
    pid = engine.pid
    assert engine.call("engine_tasks:add", {"a": 1, "b": 1}) == 2
    assert engine.pid == pid


def test_arguments_that_cannot_be_sent_leave_the_engine_as_it_was(engine):
    with pytest.raises(Exception, match="pickle"):
        engine.call("engine_tasks:add", {"a": lambda: None, "b": 1})
    assert engine.call("engine_tasks:add", {"a": 1, "b": 1}) == 2


def test_it_stands_behind_the_window(monkeypatch):
    monkeypatch.setattr("app.engine_process.NICENESS", NICENESS)
    monkeypatch.syspath_prepend(str(HERE))
    with EngineProcess() as engine:
        seen = engine.call("engine_tasks:circumstances")
    assert seen["nice"] == os.nice(0) + 10
    assert seen["sigint"]
    assert int(seen["threads"]) >= 1
    assert not {"PyQt6", "torch", "mne"} & set(seen["modules"])


def test_modules_are_loaded_ahead_and_missing_ones_do_not_matter(monkeypatch):
    monkeypatch.syspath_prepend(str(HERE))
    with EngineProcess(preload=("colorsys", "no_such_module")) as engine:
        assert "colorsys" in engine.call("engine_tasks:circumstances")["modules"]


def test_a_function_that_reports_is_asked_to_stop_and_the_process_stays(engine):
    watch = Watch(cancel_at=3)
    with pytest.raises(Cancelled):
        engine.call("engine_tasks:count", {"n": 10_000, "pause": 0.01}, watch)
    pid = engine.pid
    assert engine.call("engine_tasks:add", {"a": 1, "b": 1}) == 2
    assert engine.pid == pid
    assert len(watch.reports) < 1000


def test_a_function_that_is_deaf_is_killed_and_the_next_call_works(engine, tmp_path):
    watch, mark = Watch(), tmp_path / "mark"
    threading.Thread(target=lambda: (written(mark), watch.unwanted.set())).start()
    with pytest.raises(Cancelled):
        engine.call("engine_tasks:sleep_deaf", {"seconds": 60, "mark": str(mark)}, watch)
    assert gone(int(mark.read_text()))
    assert engine.pid is not None  # a new one gets ready at once
    assert engine.call("engine_tasks:add", {"a": 1, "b": 1}) == 2


@pytest.mark.parametrize(
    ("how", "words"),
    [("SIGKILL", "signal 9, which often means that memory ran out"), ("SIGSEGV", "signal 11"), ("exit", "exit code 7")],
)
def test_death_at_work_is_an_analysis_error_and_the_next_call_works(engine, tmp_path, how, words):
    mark = tmp_path / "mark"
    with pytest.raises(AnalysisError, match=words) as caught:
        engine.call("engine_tasks:die", {"mark": str(mark), "how": how})
    assert "\n" not in str(caught.value)
    assert gone(int(mark.read_text()))
    assert engine.call("engine_tasks:add", {"a": 1, "b": 1}) == 2


@pytest.mark.parametrize("pause", [0, 0.2])
def test_death_while_idle_goes_unnoticed(engine, pause):
    pid = engine.call("engine_tasks:circumstances")["pid"]
    os.kill(pid, signal.SIGKILL)
    time.sleep(pause)
    assert engine.call("engine_tasks:add", {"a": 1, "b": 1}) == 2
    assert gone(pid)


def test_an_engine_killed_in_mid_work_is_a_failed_job_and_the_next_job_works(qtbot, engine, tmp_path):
    runner, mark = JobRunner(), tmp_path / "mark"
    arguments = {"seconds": 60, "mark": str(mark)}
    job = runner.submit(Job("doomed", lambda p: engine.call("engine_tasks:sleep_deaf", arguments, p)))
    os.kill(written(mark), signal.SIGKILL)
    qtbot.waitUntil(lambda: job.ended, timeout=10_000)
    assert job.state is JobState.FAILED
    assert isinstance(job.error, AnalysisError)
    assert "the engine stopped" in str(job.error)
    after = runner.submit(Job("next", lambda p: engine.call("engine_tasks:add", {"a": 1, "b": 1}, p)))
    qtbot.waitUntil(lambda: after.ended, timeout=20_000)
    assert after.result == 2
    assert runner.shutdown()


def test_calls_of_several_threads_take_turns(engine):
    results = []
    threads = [
        threading.Thread(target=lambda i=i: results.append(engine.call("engine_tasks:add", {"a": i, "b": i})))
        for i in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert sorted(results) == [2 * i for i in range(8)]


def test_a_call_that_waits_for_its_turn_can_be_cancelled(engine, tmp_path):
    mark, first, second, ends = tmp_path / "mark", Watch(), Watch(), []
    busy = threading.Thread(target=lambda: sleep_until_stopped(engine, mark, ends, first))
    busy.start()
    written(mark)
    second.unwanted.set()
    with pytest.raises(Cancelled):
        engine.call("engine_tasks:add", {"a": 1, "b": 1}, second)
    first.unwanted.set()
    busy.join(10)
    assert [type(end) for end in ends] == [Cancelled]


def test_closing_cancels_what_runs_and_what_comes_later(engine, tmp_path):
    mark, ends = tmp_path / "mark", []
    busy = threading.Thread(target=lambda: sleep_until_stopped(engine, mark, ends))
    busy.start()
    pid = written(mark)
    engine.close()
    busy.join(5)
    assert [type(end) for end in ends] == [Cancelled]
    assert gone(pid)
    assert engine.pid is None
    with pytest.raises(Cancelled):
        engine.call("engine_tasks:add", {"a": 1, "b": 1})
    engine.close()


def script(body: str, **options) -> subprocess.Popen:
    path = os.pathsep.join([str(ROOT), str(HERE)])
    code = "from app.engine_process import EngineProcess\n" + textwrap.dedent(body)
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def test_it_ends_with_a_program_that_is_killed_in_mid_work(tmp_path):
    mark = tmp_path / "mark"
    program = script(f"EngineProcess().call('engine_tasks:sleep_deaf', {{'seconds': 60, 'mark': {str(mark)!r}}})")
    pid = written(mark)
    program.kill()
    program.communicate()
    assert gone(pid, orphan=True)


def test_it_ends_with_a_program_that_forgets_to_close_it():
    program = script("print(EngineProcess().call('engine_tasks:circumstances')['pid'])")
    out, errors = program.communicate(timeout=60)
    assert errors == ""
    assert gone(int(out), orphan=True)


def test_it_never_writes_on_stdout(tmp_path):
    log = tmp_path / "log" / "engine.log"
    program = script(
        f"""
        from pathlib import Path
        with EngineProcess(log=Path({str(log)!r})) as engine:
            print(engine.call('engine_tasks:write', {{'text': 'noise'}}))
        """
    )
    out, errors = program.communicate(timeout=60)
    assert (out, errors) == ("written\n", "")
    assert log.read_text().count("noise") == 2


def test_it_works_from_a_program_without_a_guard(tmp_path):
    """A spawned process that imported the main module again would run this again, and again."""
    main = tmp_path / "unguarded.py"
    call = "print(EngineProcess().call('engine_tasks:add', {'a': 1, 'b': 1}))\n"
    main.write_text("from app.engine_process import EngineProcess\n" + call)
    path = os.pathsep.join([str(ROOT), str(HERE)])
    done = subprocess.run(
        [sys.executable, str(main)],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=60,
        cwd=tmp_path,
    )
    assert (done.stdout, done.stderr) == ("2\n", "")


def test_starting_after_the_end_starts_nothing():
    engine = EngineProcess()
    engine.close()
    engine.start()
    assert engine.pid is None

"""A corpus on a cluster of two workers, one of which is killed in mid-run: nothing lost, nothing done twice."""

from __future__ import annotations

import json
import os
import shutil
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from analysis.corpus_table import DONE, FAILED, TABLE, read_table
from analysis.errors import AnalysisError
from app.corpus import Asked, predict_corpus
from app.corpus_cluster import Cluster

distributed = pytest.importorskip("distributed")
ASKED = Asked("random:axon:tiny", device="cpu", batch_size=1)
SCALP = ("recordings/scalp-seizure-42ch/scalp_seizure.edf", "recordings/scalp-seizure-46ch/demo_edf.edf")


@pytest.fixture(scope="module")
def cluster() -> Iterator[object]:
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
    ) as made:
        yield made


def _kill_when(condition: object, pid: int) -> threading.Thread:
    def watch() -> None:
        until = time.monotonic() + 60
        while not condition() and time.monotonic() < until:
            time.sleep(0.02)
        os.kill(pid, signal.SIGKILL)

    thread = threading.Thread(target=watch)
    thread.start()
    return thread


def test_a_killed_worker_loses_nothing_and_nothing_is_done_twice(shared: Path, tmp_path: Path, cluster: object) -> None:
    sources = []
    for i in range(4):
        sources.append(Path(shutil.copy(shared / SCALP[i % 2], tmp_path / f"rec{i}.edf")))
    broken = tmp_path / "broken.edf"
    broken.write_bytes(b"")
    out = tmp_path / "out"
    with distributed.Client(cluster) as client:
        pids = list(client.run(os.getpid).values())
    runs: dict[str, set[str]] = {}

    def one_is_done() -> bool:
        for path in out.rglob("run.json"):
            runs.setdefault(path.parent.name, set()).add(json.loads(path.read_text())["created"])
        return bool(runs)

    killer = _kill_when(one_is_done, pids[0])
    outcome = predict_corpus([*sources, broken], ASKED, out, Cluster(cluster.scheduler_address, 100 / 3600))
    killer.join()
    rows = {row.folder: row for row in read_table(out / TABLE)}
    assert {row.folder for row in rows.values() if row.state == DONE} == {f"rec{i}" for i in range(4)}
    assert rows["broken"].state == FAILED
    assert outcome.facts["event"]["sensitivity"] is not None
    for name, before in runs.items():  # what was complete when the worker died is as it was
        assert json.loads((out / name / "run.json").read_text())["created"] in before
    assert json.loads((out / "rec0" / "run.json").read_text())["parts"] == 3
    with distributed.Client(cluster) as client:
        assert pids[0] not in client.run(os.getpid).values()

    created = {path.parent.name: path.stat().st_mtime_ns for path in out.rglob("run.json")}
    predict_corpus(sources, ASKED, out, Cluster(cluster.scheduler_address))
    assert {path.parent.name: path.stat().st_mtime_ns for path in out.rglob("run.json")} == created


def test_a_cut_recording_has_the_numbers_of_a_whole_one(shared: Path, tmp_path: Path, cluster: object) -> None:
    source = shared / SCALP[0]
    predict_corpus([source], ASKED, tmp_path / "here")
    predict_corpus([source], ASKED, tmp_path / "there", Cluster(cluster.scheduler_address, 60 / 3600))
    for name in ("events.tsv", "probabilities.tsv"):
        texts = [(tmp_path / side / "scalp_seizure" / name).read_text() for side in ("here", "there")]
        assert texts[0] == texts[1]


def test_a_model_that_cannot_be_loaded_is_said_at_once(shared: Path, tmp_path: Path, cluster: object) -> None:
    with pytest.raises(AnalysisError, match="has no number of segments"):
        predict_corpus(
            [shared / SCALP[0]], Asked("random:axon:tiny", segments=3), tmp_path, Cluster(cluster.scheduler_address)
        )


def test_an_address_where_nothing_answers_is_one_sentence(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.corpus_cluster._CONNECT_SECONDS", 1)
    with pytest.raises(AnalysisError, match="no scheduler answers there"):
        predict_corpus([shared / SCALP[0]], ASKED, tmp_path, Cluster("tcp://127.0.0.1:1"))

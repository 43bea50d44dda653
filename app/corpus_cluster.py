"""A corpus on a dask.distributed cluster: a task for each recording, or for each span of a long one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from analysis.corpus_table import Row
from analysis.errors import AnalysisError
from analysis.progress import Progress
from analysis.provenance import software_version
from app.corpus import Task, cut, failed_row, join_task, load, run_part, run_task
from app.errors import EXPECTED

if TYPE_CHECKING:
    from distributed import Client, Future

SPAN_HOURS = 4.0
_RETRIES = 3
_ENDED = frozenset({"finished", "error", "cancelled"})  # else it is done again: whoever held its result has died
_CONNECT_SECONDS = 10
_LOOK_SECONDS = 0.5  # between two looks at whether the work is still wanted


class Cluster:
    """Runs the tasks of `app.corpus.predict_corpus` on the workers of a scheduler.

    Workers need this program installed in the same version, and the same paths to recordings and results. A task whose
    worker dies is done again by another; what lies complete in its folder by then is not.
    """

    def __init__(self, address: str, span_hours: float = SPAN_HOURS) -> None:
        self._address, self._span = address, span_hours * 3600

    def __call__(self, tasks: Sequence[Task], progress: Progress) -> Iterator[Row]:
        """Rows as they come."""
        with self._connect() as client:
            self._check(client, tasks[0])
            progress.report(0, len(tasks), "handing out")
            pieces = [piece for task in tasks for piece in cut(task, self._span)]
            futures = {_submit(client, piece): piece for piece in pieces}
            try:
                yield from _rows(client, futures, progress)
            finally:
                client.cancel(list(futures))

    def _connect(self) -> Client:
        try:
            from distributed import Client
        except ImportError as error:
            raise AnalysisError("a cluster takes the extra cluster: pip install -e .[cluster]") from error
        try:
            return Client(self._address, timeout=_CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError) as error:
            raise AnalysisError(
                f"no scheduler answers there ({self._address}): start one with dask scheduler and name its address"
            ) from error

    def _check(self, client: Client, task: Task) -> None:
        """Refuse a cluster of another version, and a model that cannot be loaded, before any work is handed out."""
        if not client.scheduler_info()["workers"]:
            raise AnalysisError(f"the scheduler has no workers ({self._address}): start some with dask worker")
        versions = {*client.run(software_version).values()}
        if versions != {software_version()}:
            raise AnalysisError(
                f"the workers run another version of this program ({', '.join(sorted(versions))} in place of "
                f"{software_version()}): install the same everywhere"
            )
        client.submit(load, task.asked, pure=False).result()


def _submit(client: Client, task: Task) -> Future:
    return client.submit(run_task if task.parts == 1 else run_part, task, pure=False, retries=_RETRIES)


def _rows(client: Client, futures: dict[Any, Task], progress: Progress) -> Iterator[Row]:
    """Wait for the tasks, and join a long recording when its last part is there."""
    from distributed import wait

    waiting, parts = set(futures), dict[str, list[Any]]()
    while waiting:
        progress.report(len(futures) - len(waiting), len(futures), "on the cluster")
        try:
            with client.as_current():
                done = wait(waiting, timeout=_LOOK_SECONDS, return_when="FIRST_COMPLETED").done
        except TimeoutError:
            continue
        waiting -= done
        for future in done:
            task = futures[future]
            parts.setdefault(task.entry.folder, []).append(future)
            if len(parts[task.entry.folder]) < task.parts:
                continue
            ended = parts.pop(task.entry.folder)
            lost = {part for part in ended if part.status not in _ENDED}
            if lost:
                waiting |= lost
                parts[task.entry.folder] = [part for part in ended if part not in lost]
            else:
                yield _row(task, ended)
    progress.report(len(futures), len(futures), "on the cluster")


def _row(task: Task, done: Sequence[Future]) -> Row:
    """One recording of which every part has ended, well or not."""
    failed = next((future for future in done if future.status != "finished"), None)
    whole = replace(task, number=0)
    if failed is not None:
        return failed_row(whole, _why(failed))
    if task.parts == 1:
        row: Row = done[0].result()
        return row
    try:
        return join_task(whole, [future.result() for future in done])
    except EXPECTED as error:
        return failed_row(whole, error)


def _why(future: Future) -> BaseException:
    error = future.exception()
    if type(error).__name__ == "KilledWorker":
        return AnalysisError(
            "every worker that took this recording ended before it was done: give workers more memory, or cut it with "
            "--span-hours"
        )
    return error if isinstance(error, BaseException) else AnalysisError("the cluster gave this work up: predict again")

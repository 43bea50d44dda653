"""NeurDuo listening on: what its streams do and its bank recalls from one moment to the next, told as it is heard."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from analysis.analyses import Analysis
from analysis.engine.analyze import as_analysis, prepared
from analysis.engine.inputs import Inputs
from analysis.engine.neurduo_heard import Rates, Recall, rate_findings, recall_findings
from analysis.engine.neurduo_stream import RecordingStream, StreamPart, StreamSettings, recording_stream
from analysis.kinds import find_kind
from analysis.progress import Progress

TOLD_SECONDS = 0.25


def listen(
    path: str | Path,
    checkpoints: Sequence[str | Path | Mapping[str, Any]],
    start: float,
    duration: float,
    options: Mapping[str, Any],
    device: str = "auto",
    bad_channels: Sequence[str] = (),
    progress: Progress | None = None,
) -> dict[str, Analysis]:
    """Hear the steps that begin in [start, start + duration): analyses of kinds `streams` and `memory` in one pass.

    Four times a second `progress.partial` gets both of the steps heard since the last time; what is left is returned,
    nothing where no step begins in the span. A start that continues an earlier call takes up the state it left.
    """
    progress = progress or Progress()
    given = path, checkpoints, start, duration, options, device, progress, bad_channels
    with prepared("streams", *given) as (_, inputs):
        settings = StreamSettings.chosen(inputs.options)
        stream = recording_stream(inputs.recording, inputs.model.network, settings, progress)
        ear = _Ear(inputs, stream)
        first, stop = stream.first_from(start), stream.first_from(start + duration)
        for part in stream.run(first, stop, progress) if first < stop else ():
            ear.take(part)
            if time.monotonic() - ear.began >= TOLD_SECONDS:
                progress.partial(ear.told())
        return ear.told()


class _Ear:
    """What was heard since it was last told."""

    def __init__(self, inputs: Inputs, stream: RecordingStream) -> None:
        self._inputs, self._stream = inputs, stream
        self._forget()

    def _forget(self) -> None:
        self.began = time.monotonic()
        self._first: int | None = None
        self._rates, self._recall = Rates(self._stream), Recall(self._stream)

    def take(self, part: StreamPart) -> None:
        """Note one part."""
        if self._first is None:
            self._first = part.first
        self._rates.take(part)
        self._recall.take(part)

    def told(self) -> dict[str, Analysis]:
        """Both analyses of what was heard since the last time; nothing where nothing was."""
        if self._first is None:
            return {}
        inputs, stream, seconds = self._inputs, self._stream, time.monotonic() - self.began
        found = {
            "streams": rate_findings(inputs, stream, self._rates, self._first),
            "memory": recall_findings(inputs, stream, self._recall, self._first),
        }
        self._forget()
        return {name: as_analysis(find_kind(name), inputs, findings, seconds) for name, findings in found.items()}

"""Other recordings that an analysis is asked to look at beside its own, over spans of the same length."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from analysis.engine.inputs import Inputs
from analysis.readers import open_recording
from analysis.recording import Window


def named_paths(text: str) -> list[str]:
    """Paths with commas between; one that exists as it is may have a comma in its name."""
    if text and Path(text).exists():
        return [text]
    return [part.strip() for part in text.split(",") if part.strip()]


@contextmanager
def beside(inputs: Inputs, text: str) -> Iterator[list[Inputs]]:
    """The inputs of the recordings named in `text`, each over a span as long as the first one's, from its beginning.

    RecordingError for one that cannot be opened.
    """
    with ExitStack() as stack:
        found = []
        for path in named_paths(text):
            recording = stack.enter_context(open_recording(path))
            length = min(inputs.window.duration, recording.duration)
            found.append(replace(inputs, recording=recording, window=Window(0.0, length)))
        yield found


def short_names(inputs: list[Inputs]) -> tuple[str, ...]:
    """Names of recordings for axes: the files', told apart by numbers where they are equal."""
    names = [Path(one.recording.path).name for one in inputs]
    return tuple(
        name if names.count(name) == 1 else f"{name} ({names[: i + 1].count(name)})" for i, name in enumerate(names)
    )

"""What a simulated recording really holds (seizures and their foci, states, artefacts, spikes), as JSON beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from analysis.errors import RecordingError
from models.whole_files import whole_file

TRUTH_SUFFIX = ".truth.json"
VERSION = 1  # of the file's layout
_LARGEST = 256_000_000  # bytes; a day with every artefact takes three million

Position = tuple[float, float, float]
T = TypeVar("T")


@dataclass(frozen=True)
class State:
    """A span in seconds in which the brain was in a state: `drowsy`."""

    kind: str
    onset: float
    duration: float


@dataclass(frozen=True)
class Source:
    """One generator of a seizure: focus, neighbour, contralateral or generalised.

    It joins `delay` seconds after the onset, `channel` sees it best (average reference), and `size` is its amplitude
    there as a share of the focus's.
    """

    kind: str
    delay: float
    channel: str
    size: float


@dataclass(frozen=True)
class Seizure:
    """One seizure: times in seconds, `focus_xyz` in metres in the head frame, `peak_uv` in microvolts.

    `focus_channel` has the largest |field of the focus - its mean over the channels|, the first of `focus_rank`'s
    three. `topography` is the field of the focus itself at every channel, without a reference and 1 at `focus_channel`
    in the average reference, so that any reference can be scored. There `peak_uv` is the peak of the focus's own rhythm
    when full-grown, without what spreads to it, and `contrast` that over the background's SD. `f_start` and `f_end`
    are in hertz, `fast_s` is how long the fast part at the beginning lasts, `postictal_s` how long the slowing lasts
    after the end.
    """

    onset: float
    duration: float
    region: str
    focus_xyz: Position
    focus_channel: str
    focus_rank: tuple[str, ...]
    topography: dict[str, float]
    peak_uv: float
    contrast: float
    fast_s: float
    f_start: float
    f_end: float
    sources: tuple[Source, ...]
    postictal_s: float

    @property
    def stop(self) -> float:
        """End in seconds."""
        return self.onset + self.duration


@dataclass(frozen=True)
class Artefact:
    """Anything in the signal that is no background, spike or seizure: span in seconds, `channels` where it is seen.

    `peak_uv` is the largest value at the channel that sees it best, before the reference.
    """

    kind: str
    onset: float
    duration: float
    channels: tuple[str, ...]
    peak_uv: float


@dataclass(frozen=True)
class Truth:
    """All that is known of a simulated recording; every time in seconds from its first sample.

    `simulator` is the version of the simulator, `electrodes` the set of sensors (`10-20`, `64`, `ieeg`), `positions`
    those of the channels in metres in the head frame, `spikes` the times of interictal spikes, and `parameters`
    whatever else was drawn, by part.
    """

    seed: int
    fs: float
    duration_s: float
    reference: str
    electrodes: str
    channels: tuple[str, ...]
    positions: dict[str, Position]
    state: tuple[State, ...]
    events: tuple[Seizure, ...]
    artefacts: tuple[Artefact, ...]
    spikes: tuple[float, ...]
    parameters: dict[str, Any]
    simulator: str
    version: int = VERSION


def truth_path(recording: str | Path) -> Path:
    """Where the truth of a recording lies: beside it, with its stem."""
    path = Path(recording)
    return path if path.name.endswith(TRUTH_SUFFIX) else path.with_name(f"{path.stem}{TRUTH_SUFFIX}")


def read_truth(path: str | Path) -> Truth | None:
    """The truth of a recording, given its path or that of the truth file; None where there is no such file.

    RecordingError when there is one that cannot be read.
    """
    file = truth_path(path)
    try:
        if not file.is_file():
            return None
        if file.stat().st_size > _LARGEST:
            raise RecordingError(f"the truth file is too large to be one of ours ({file}): simulate the recording anew")
        document = json.loads(file.read_text("utf-8"))
        if document["version"] != VERSION:
            raise RecordingError(
                f"the truth file has layout {document['version']}, and this program reads {VERSION} ({file}): "
                "simulate the recording anew"
            )
        return _truth(document)
    except OSError as error:
        reason = error.strerror or str(error)
        raise RecordingError(f"the truth file cannot be read ({file}): {reason}; check its permissions") from error
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise RecordingError(f"the truth file is damaged ({file}): simulate the recording anew") from error


def write_truth(path: str | Path, truth: Truth) -> None:
    """Write the truth as JSON, whole or not at all; OSError when the place cannot be written."""
    with whole_file(Path(path)) as file:
        file.write(format_truth(truth).encode())


def format_truth(truth: Truth) -> str:
    """The text of a truth file; equal truths give equal bytes."""
    return json.dumps(asdict(truth), indent=1, allow_nan=False, ensure_ascii=False) + "\n"


def _truth(document: Mapping[str, Any]) -> Truth:
    values = dict(document)
    values["channels"] = tuple(values["channels"])
    values["positions"] = {name: _position(place) for name, place in values["positions"].items()}
    values["state"] = tuple(_made(State, one) for one in values["state"])
    values["events"] = tuple(_seizure(one) for one in values["events"])
    values["artefacts"] = tuple(
        _made(Artefact, {**one, "channels": tuple(one["channels"])}) for one in values["artefacts"]
    )
    values["spikes"] = tuple(float(time) for time in values["spikes"])
    return _made(Truth, values)


def _seizure(values: Mapping[str, Any]) -> Seizure:
    return _made(
        Seizure,
        {
            **values,
            "focus_xyz": _position(values["focus_xyz"]),
            "focus_rank": tuple(values["focus_rank"]),
            "sources": tuple(_made(Source, one) for one in values["sources"]),
        },
    )


def _position(values: Any) -> Position:
    x, y, z = map(float, values)
    return x, y, z


def _made(kind: type[T], values: Mapping[str, Any]) -> T:
    """A dataclass from the fields it knows; what a newer program has added is left out."""
    return kind(**{one.name: values[one.name] for one in fields(kind)})  # type: ignore[arg-type]

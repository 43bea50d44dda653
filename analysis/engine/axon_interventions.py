"""What an AXON says when its gates may not choose: on a span, and by what a linear probe loses on labelled windows.

Spec section 8.4. Means of gates, and what the probe says, do not depend on the span: both are kept, so that the next
page costs only the passes over it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor

from analysis.analyses import Findings, NamedArray
from analysis.engine.axon_gates import AxonWindows, axon_findings, axon_windows, or_refuse
from analysis.engine.axon_probe import SEEDS, LabelledPart, accuracies, opened, probe_facts, read_labelled
from analysis.engine.inputs import Inputs
from analysis.engine.other_recordings import named_paths
from analysis.errors import AnalysisError
from analysis.progress import Progress
from analysis.recording import Window
from models.axon.config import TINY_WIDTH
from models.axon.interventions import INTERVENTIONS, Calibration, calibrate, force, gates_of, intervene
from models.axon.model import Axon, mean_over_tokens

LEARNED, BY_HAND = "learned", "by_hand"
# Table 14 of the paper: change of balanced accuracy in %, mean of six tasks, in the order of INTERVENTIONS.
PUBLISHED_CHANGE = (-17.5, -22.0, -12.2, -5.6, -2.1, -0.8, -1.3)
_KEPT = 8
_kept: OrderedDict[tuple[Any, ...], Any] = OrderedDict()
Made = TypeVar("Made")


@dataclass(frozen=True)
class _Setup:
    """One run: the model with its windows, means to replace gates by, and what is done in turn, by name."""

    inputs: Inputs
    windows: AxonWindows
    calibration: Calibration

    @property
    def names(self) -> tuple[str, ...]:
        """The seven of the paper, and the reader's own where there is one."""
        return (*INTERVENTIONS, *((BY_HAND,) if self.inputs.options["set"] else ()))

    @contextmanager
    def applied(self, name: str) -> Iterator[None]:
        """Within the block the gates answer as the intervention says."""
        model, options = self.inputs.model.network, self.inputs.options
        if name == BY_HAND:
            with force(model, gate=options["gate"], **_by_hand(self.inputs, self.windows)):
                yield
        else:
            with intervene(model, name, self.calibration, options["seed"], options["gate"]):  # type: ignore[arg-type]
                yield


def gate_interventions(inputs: Inputs, progress: Progress) -> Findings:
    """How class probabilities and the mean token move when the gates are replaced.

    With `labels`, also the balanced accuracy of a linear probe, as learned and with each replacement.
    """
    or_refuse(inputs, lambda: gates_of(inputs.model.network, inputs.options["gate"]))
    windows = axon_windows(inputs, progress, inputs.options["windows"])
    if inputs.options["set"]:
        _by_hand(inputs, windows)  # says at once what cannot be
    key = (*_stamp(inputs), inputs.options["calibration"], windows.plan.seconds, windows.plan.ch_names)
    setup = _Setup(inputs, windows, _remembered(("means", *key), lambda: _calibrated(inputs, windows, progress)))
    batches = list(windows.batches(progress, "reading"))
    learned = _answers(inputs.model.network, batches, windows.positions)
    answers = []
    for i, name in enumerate(setup.names):
        progress.report(i, len(setup.names), name.replace("_", " "))
        with setup.applied(name):
            answers.append(_answers(inputs.model.network, batches, windows.positions))
    arrays = _moved(windows, learned, answers)
    facts: dict[str, object] = {
        "gate": inputs.options["gate"],
        "n_windows": len(windows.plan.onsets),
        "calibration_windows": setup.calibration.n_windows,
        "calibration_recordings": [str(path) for path in _chosen(inputs)],
    }
    labels = {"intervention": setup.names, "class": tuple(inputs.model.facts.labels)}
    if inputs.options["labels"]:
        chosen = tuple(inputs.options[name] for name in ("labels", "events", "probe_windows", "window", "set"))
        key = (*key, *chosen, inputs.options["seed"], *(inputs.options[name] for name in _WHERE))
        accuracy, probed = _remembered(("probe", *key), lambda: _probed(setup, progress))
        arrays.update(_accuracy_arrays(accuracy, inputs.options["gate"] == "axis"))
        facts["probe"] = probed
        labels |= {"gates": (LEARNED, *setup.names), "seed": tuple(map(str, SEEDS))}
    return axon_findings(windows, arrays, list(windows.plan.notes), facts, labels)


def _answers(model: Axon, batches: Sequence[Tensor], positions: Tensor) -> tuple[np.ndarray, np.ndarray | None]:
    """Mean tokens (windows, D) and, with a head, class probabilities (windows, K)."""
    with torch.inference_mode(), _threads_for(model):
        tokens = [model.tokens(batch, positions) for batch in batches]
        pooled = torch.cat([mean_over_tokens(part, None) for part in tokens])
        scores = None
        if model.config.n_outputs:
            scores = torch.cat([model.scores(part) for part in tokens]).softmax(-1).cpu().numpy()
    return pooled.cpu().numpy(), scores


@contextmanager
def _threads_for(model: Axon) -> Iterator[None]:
    """One thread for a small model: several only wait for each other, the longer the busier the machine is."""
    before = torch.get_num_threads()
    torch.set_num_threads(1 if model.config.embed_dim <= TINY_WIDTH else before)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _moved(
    windows: AxonWindows,
    learned: tuple[np.ndarray, np.ndarray | None],
    answers: Sequence[tuple[np.ndarray, np.ndarray | None]],
) -> dict[str, NamedArray]:
    """Cosine of mean tokens, and change of class probabilities."""
    pooled = np.stack([answer[0] for answer in answers])  # (interventions, windows, D)
    own = learned[0]
    cosine = (pooled * own).sum(-1) / (np.linalg.norm(pooled, axis=-1) * np.linalg.norm(own, axis=-1))
    arrays = {
        "cosine": NamedArray(
            cosine, ("intervention", "window"), "1", "cosine of the mean token with that of the learned gates",
            "our definition",
        ),
        "window_onset": NamedArray(
            windows.source.window_onsets(), ("window",), "s", "begin of a window, after the first one's"
        ),
    }  # fmt: skip
    if learned[1] is not None:
        scores = np.stack([answer[1] for answer in answers if answer[1] is not None])
        arrays["probability"] = NamedArray(
            learned[1], ("window", "class"), "1", "class probabilities with the learned gates", "paper"
        )
        arrays["probability_change"] = NamedArray(
            scores - learned[1], ("intervention", "window", "class"), "1", "change of the class probabilities", "paper"
        )
    return arrays


# Means of gates


def _chosen(inputs: Inputs) -> list[str]:
    """The recordings that means and probe are taken over."""
    return named_paths(inputs.options["recordings"]) or [str(inputs.recording.path)]


@contextmanager
def _over(inputs: Inputs, seconds: float) -> Iterator[list[Inputs]]:
    """The same, open, each whole, in windows of `seconds`."""
    alike = replace(inputs, options={**inputs.options, "window": seconds})
    with opened(alike) as found:
        yield found or [replace(alike, window=Window(0.0, inputs.recording.duration))]


def _calibrated(inputs: Inputs, windows: AxonWindows, progress: Progress) -> Calibration:
    """Mean gates over windows spread over the chosen recordings, on the grid of the span's windows."""
    gate, most, plan = inputs.options["gate"], inputs.options["calibration"], windows.plan
    batches: list[dict[str, Tensor]] = []
    with _over(inputs, plan.seconds) as found:
        for one in found:
            other = axon_windows(one, progress, max(1, most // len(found)))
            rows = _rows_of(other, windows)
            positions = other.positions[rows]
            text = "averaging gates"
            batches += [{"signal": b[:, rows], "positions": positions} for b in other.batches(progress, text)]
    made: Calibration = or_refuse(inputs, lambda: calibrate(inputs.model.network, batches, gate, most))
    return made


def _rows_of(other: AxonWindows, windows: AxonWindows) -> list[int]:
    """Where the channels of one recording's grid are in another's, by site or name; AnalysisError without one."""
    plan = other.plan
    place = {site or name: i for i, (site, name) in enumerate(zip(plan.sites, plan.ch_names, strict=True))}
    wanted = [site or name for site, name in zip(windows.plan.sites, windows.plan.ch_names, strict=True)]
    lacking = [name for name in wanted if name not in place]
    if lacking or other.n_patches != windows.n_patches:
        what = f"it lacks {', '.join(lacking[:6])}" if lacking else "its windows are of another length"
        raise AnalysisError(
            f"gates cannot be averaged by position on another grid ({other.recording}): {what}; "
            "choose recordings with the same electrodes, as long as a window"
        )
    return [place[name] for name in wanted]


# The reader's own

_WHERE = ("layers", "channels", "patches")


def _by_hand(inputs: Inputs, windows: AxonWindows) -> dict[str, Any]:
    """Arguments of `force` from the options; AnalysisError names what an option may be."""
    options, model = inputs.options, inputs.model.network
    paths = model.config.n_paths if options["gate"] == "axis" else len(model.config.scales)
    try:
        weight = float(options["set"])
    except ValueError:
        weight = -1.0
    if not 0 <= weight <= 1:
        raise AnalysisError(f"the option set cannot be {options['set']!r}: give a weight from 0 to 1")
    names = [word.strip() for word in options["channels"].split(",") if word.strip()]
    unknown = [name for name in names if name not in windows.plan.ch_names]
    if unknown:
        raise AnalysisError(f"no channel is called {unknown[0]!r}: choose from {', '.join(windows.plan.ch_names)}")
    patches = _numbers("patches", options["patches"], windows.n_patches)
    return {
        "weights": [weight, *[(1 - weight) / (paths - 1)] * (paths - 1)],
        "layers": _numbers("layers", options["layers"], model.config.depth),
        "channels": [windows.plan.ch_names.index(name) for name in names] or None,
        "patches": slice(patches[0], patches[-1] + 1) if patches else None,
    }


def _numbers(name: str, text: str, count: int) -> list[int] | None:
    """A number or a range such as 3-5, below `count`; None for an empty text."""
    if not text:
        return None
    first, _, last = text.partition("-")
    if not first.strip().isdecimal() or not (last or first).strip().isdecimal():
        low = high = -1
    else:
        low, high = int(first), int(last or first)
    if not 0 <= low <= high < count:
        raise AnalysisError(f"the option {name} cannot be {text!r}: give a number, or a range, of 0-{count - 1}")
    return list(range(low, high + 1))


# The probe


def _probed(setup: _Setup, progress: Progress) -> tuple[np.ndarray, dict[str, object]]:
    """Balanced accuracy (interventions + 1, seeds), the learned gates first, and what it was made from."""
    with _over(setup.inputs, setup.windows.plan.seconds) as found:
        data = read_labelled(found, progress, setup.inputs.options["probe_windows"])
    data = replace(data, parts=[_on_grid(part, setup.windows) for part in data.parts])
    learned = data.features()
    table = [accuracies(learned, learned, data.labels)]
    for i, name in enumerate(setup.names):
        progress.report(i, len(setup.names), f"probing, {name.replace('_', ' ')}")
        with setup.applied(name):
            table.append(accuracies(learned, data.features(), data.labels))
    return np.array(table), probe_facts(data)


def _on_grid(part: LabelledPart, windows: AxonWindows) -> LabelledPart:
    rows = _rows_of(part.windows, windows)
    return replace(part, batches=[batch[:, rows] for batch in part.batches], positions=part.positions[rows])


def _accuracy_arrays(accuracy: np.ndarray, of_axes: bool) -> dict[str, NamedArray]:
    """Of accuracies (interventions + 1, seeds), the learned gates first."""
    mean = accuracy.mean(1)
    arrays = {
        "balanced_accuracy": NamedArray(
            accuracy, ("gates", "seed"), "1", "balanced accuracy of a linear probe on the frozen encoder", "paper"
        ),
        "accuracy_change": NamedArray(
            100 * (accuracy / accuracy[:1] - 1)[1:], ("intervention", "seed"), "%",
            "change of the balanced accuracy from the learned gates", "paper",
        ),
        "mean_change": NamedArray(
            100 * (mean / mean[0] - 1)[1:], ("intervention",), "%", "change of the mean over seeds", "paper"
        ),
    }  # fmt: skip
    if of_axes:
        published = np.full(len(mean) - 1, np.nan)
        published[: len(PUBLISHED_CHANGE)] = PUBLISHED_CHANGE
        arrays["published_change"] = NamedArray(
            published, ("intervention",), "%", "the paper's own change, mean of its six tasks: not of this model",
            "paper",
        )  # fmt: skip
    return arrays


# What is kept


def _stamp(inputs: Inputs) -> tuple[Any, ...]:
    """What decides the means of gates, beside grid and number: weights, recordings, gate, and where it is computed."""
    facts = inputs.model.facts
    bad = tuple(sorted(inputs.recording.bad_channels))
    files = tuple(_file_stamp(path) for path in [*_chosen(inputs), inputs.options.get("events", "")] if path)
    return (*facts.digests, inputs.recording.id, *files, bad, inputs.options["gate"], str(inputs.device))


def _file_stamp(path: str) -> tuple[str, int, int]:
    try:
        status = Path(path).stat()
    except OSError:
        return (path, 0, 0)  # whoever reads it says what is wrong
    return (path, status.st_size, status.st_mtime_ns)


def _remembered(key: tuple[Any, ...], make: Callable[[], Made]) -> Made:
    if key not in _kept:
        _kept[key] = make()
        while len(_kept) > _KEPT:
            _kept.popitem(last=False)
    _kept.move_to_end(key)
    found: Made = _kept[key]
    return found

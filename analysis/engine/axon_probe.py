"""What an AXON's windows are worth to a linear probe, and what it loses without some electrodes.

The probe is logistic regression on the mean token of a window (the encoder is frozen), trained on half of the labelled
windows as they are and tested on the other half as they are changed; three seeds draw the halves. Paper: appendix I.2
and I.3; spec section 8.7.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from analysis.analyses import Findings, NamedArray
from analysis.engine.axon_gates import AxonWindows, axon_windows
from analysis.engine.inputs import Inputs
from analysis.engine.other_recordings import named_paths
from analysis.engine.window_labels import label_windows
from analysis.errors import AnalysisError
from analysis.event_tables import read_events
from analysis.progress import Progress
from analysis.readers import open_recording
from analysis.recording import Window
from models.axon.model import Axon, mean_over_tokens

SEEDS = (0, 1, 2)
LEFT_STRIP = ("FC5", "FC3", "FC1", "C5", "C3", "C1", "CP3")
RIGHT_STRIP = ("FC6", "FC4", "FC2", "C6", "C4", "C2", "CP4")
SHARES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9)
PROBE = "logistic regression on the mean token, trained on half of the windows, classes weighed alike"
_LEAST = 4  # windows of each class
_LISTED = 8


@dataclass(frozen=True)
class Recall:
    """Share of each class's windows that a probe finds, (classes,)."""

    by_class: np.ndarray

    @property
    def balanced_accuracy(self) -> float:
        """Mean over the classes."""
        return float(self.by_class.mean())


def probe(train: np.ndarray, test: np.ndarray, labels: np.ndarray, seed: int) -> Recall:
    """Train on half of `train` (windows, D) and test on the other half of `test`, whose rows are the same windows."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    chosen = _half(labels, seed)
    model = make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced", max_iter=1000))
    model.fit(train[chosen], labels[chosen])
    said, truth = model.predict(test[~chosen]), labels[~chosen]
    return Recall(np.array([(said[truth == c] == c).mean() for c in np.unique(labels)]))


def _half(labels: np.ndarray, seed: int) -> np.ndarray:
    """Half of the windows of each class, bool (windows,)."""
    rng = np.random.default_rng(seed)
    chosen = np.zeros(len(labels), bool)
    for label in np.unique(labels):
        rows = rng.permutation(np.flatnonzero(labels == label))
        chosen[rows[: (len(rows) + 1) // 2]] = True
    return chosen


@dataclass(frozen=True)
class LabelledPart:
    """The windows of one recording: signals (B, C, samples), positions (C, 3), and each window's class, -1 for none."""

    windows: AxonWindows
    batches: Sequence[Tensor]
    positions: Tensor
    labels: np.ndarray


@dataclass(frozen=True)
class Labelled:
    """The labelled windows of some recordings, for one model."""

    model: Axon
    parts: Sequence[LabelledPart]
    classes: tuple[str, ...]

    @property
    def labels(self) -> np.ndarray:
        """The class of each labelled window (windows,)."""
        labels = np.concatenate([part.labels for part in self.parts])
        return labels[labels >= 0]

    @property
    def counts(self) -> dict[str, int]:
        """Windows of each class."""
        return {name: int((self.labels == i).sum()) for i, name in enumerate(self.classes)}

    @torch.inference_mode()
    def features(self, cover: Callable[[AxonWindows], np.ndarray] | None = None) -> np.ndarray:
        """Mean tokens (labelled windows, D); `cover` tells which channels of a recording are missing, bool (C,)."""
        rows = []
        for part in self.parts:
            covered = torch.from_numpy(cover(part.windows)) if cover is not None else None
            found = []
            for batch in part.batches:
                missing = covered.to(batch.device).expand(len(batch), -1) if covered is not None else None
                tokens = self.model.tokens(batch, part.positions, missing)
                found.append(mean_over_tokens(tokens, missing))
            rows.append(torch.cat(found).double().cpu().numpy()[part.labels >= 0])
        return np.concatenate(rows)


def read_labelled(recordings: Sequence[Inputs], progress: Progress, most: int) -> Labelled:
    """At most `most` windows with their labels, of the spans of some recordings.

    The labels of the first come from the option `events`, where it names a table, instead of from the recording.
    AnalysisError where a class has too few windows.
    """
    parts: list[LabelledPart] = []
    names: tuple[str, ...] = ()
    texts: Counter[str] = Counter()
    for i, one in enumerate(recordings):
        windows = axon_windows(one, progress, max(1, most // len(recordings)))
        table = one.options["events"] if i == 0 else ""
        marks = read_events(table, duration=one.recording.duration).events if table else one.recording.annotations
        labels = label_windows(windows.plan.onsets, windows.plan.seconds, marks, one.options["labels"])
        names = labels.names
        texts.update(mark.description for mark in marks)
        batches = list(windows.batches(progress, f"reading {Path(one.recording.path).name}"))
        parts.append(LabelledPart(windows, batches, windows.positions, labels.index))
    data = Labelled(recordings[0].model.network, parts, names)
    if len(names) < 2 or min(data.counts.values()) < _LEAST:
        told = ", ".join(f"{count} of {name}" for name, count in data.counts.items())
        raise AnalysisError(
            f"there are too few windows for a probe ({recordings[0].recording.path}; {told}): give shorter windows, "
            f"or a longer span or other labels with at least {_LEAST} windows each; {_marks_there(texts)}"
        )
    return data


def _marks_there(texts: Counter[str]) -> str:
    """Which marks there are, the commonest first."""
    shown = [text for text, _ in texts.most_common(_LISTED)]
    more = ", …" if len(texts) > _LISTED else ""
    return f"marked are {', '.join(shown)}{more}" if shown else "nothing is marked"


@contextmanager
def _beside(inputs: Inputs) -> Iterator[list[Inputs]]:
    """The recording of an analysis, and those named in its option `recordings`, whole."""
    with opened(inputs) as others:
        yield [inputs, *others]


@contextmanager
def opened(inputs: Inputs) -> Iterator[list[Inputs]]:
    """The recordings named in the option `recordings`, whole."""
    with ExitStack() as stack:
        found = []
        for path in named_paths(inputs.options["recordings"]):
            recording = stack.enter_context(open_recording(path))
            found.append(replace(inputs, recording=recording, window=Window(0.0, recording.duration)))
        yield found


def lesion(inputs: Inputs, progress: Progress) -> Findings:
    """Recall of each class with electrodes covered (I.2), and balanced accuracy as ever more are deleted (I.3)."""
    with _beside(inputs) as found:
        data = read_labelled(found, progress, inputs.options["windows"])
    covers = _covers(inputs, data)
    steps = len(covers) + len(SHARES)
    learned = data.features()
    recall = [_recalls(learned, learned, data.labels)]
    for i, cover in enumerate(covers.values()):
        progress.report(i, steps, "covering electrodes")
        recall.append(_recalls(learned, data.features(cover), data.labels))
    deletion = []
    for i, share in enumerate(SHARES):
        progress.report(len(covers) + i, steps, f"deleting {share:.0%}")
        deletion.append([_deleted(data, learned, share, seed) for seed in SEEDS])
    windows = data.parts[0].windows
    covered = np.array([np.zeros(len(windows.plan.ch_names)), *(cover(windows) for cover in covers.values())], float)
    labels = {
        "cover": ("none", *covers),
        "class": data.classes,
        "channel": windows.plan.ch_names,
        "share": tuple(f"{share:.0%}" for share in SHARES),
        "seed": tuple(map(str, SEEDS)),
    }
    bare = [name for name, row in zip(covers, covered[1:], strict=True) if not row.any()]
    notes = [
        *windows.plan.notes,
        *windows.notes,
        *(f"No electrode of the {n} strip is in the recording." for n in bare),
    ]
    return Findings(
        _lesion_arrays(np.array(recall), covered, np.array(deletion)),
        probe_facts(data),
        labels,
        tuple(notes),
        windows.source.describe(),
    )


def _lesion_arrays(recall: np.ndarray, covered: np.ndarray, deletion: np.ndarray) -> dict[str, NamedArray]:
    """Of recalls (covers, seeds, classes), covered channels (covers, channels), and accuracies (shares, seeds)."""
    change = (recall - recall[:1]).mean(1)
    meaning = "balanced accuracy of the probe with electrodes deleted at random"
    return {
        "recall": NamedArray(recall, ("cover", "seed", "class"), "1", "recall of a linear probe", "paper"),
        "recall_change": NamedArray(
            change, ("cover", "class"), "1", "change of recall from no electrode covered, mean over seeds", "paper"
        ),
        "covered": NamedArray(
            covered, ("cover", "channel"), "1", "1 for a channel that is covered (left out of the grid)",
            "our definition",
        ),
        "deletion": NamedArray(deletion, ("share", "seed"), "1", meaning, "paper"),
    }  # fmt: skip


def _deleted(data: Labelled, learned: np.ndarray, share: float, seed: int) -> float:
    """Balanced accuracy without a share of the electrodes: the first ones of a seed's order."""

    def cover(windows: AxonWindows) -> np.ndarray:
        n = len(windows.plan.ch_names)
        gone = np.zeros(n, bool)
        gone[np.random.default_rng(seed).permutation(n)[: min(round(share * n), n - 1)]] = True
        return gone

    changed = data.features(cover) if share else learned
    return probe(learned, changed, data.labels, seed).balanced_accuracy


def accuracies(learned: np.ndarray, changed: np.ndarray, labels: np.ndarray) -> list[float]:
    """Balanced accuracy by seed."""
    return [probe(learned, changed, labels, seed).balanced_accuracy for seed in SEEDS]


def _recalls(learned: np.ndarray, changed: np.ndarray, labels: np.ndarray) -> list[np.ndarray]:
    return [probe(learned, changed, labels, seed).by_class for seed in SEEDS]


def _covers(inputs: Inputs, data: Labelled) -> dict[str, Callable[[AxonWindows], np.ndarray]]:
    """Both motor strips, and what the reader has chosen."""
    covers = {"left": _at(LEFT_STRIP), "right": _at(RIGHT_STRIP)}
    if inputs.options["cover"]:
        names = data.parts[0].windows.plan.ch_names
        wanted = [word.strip() for word in inputs.options["cover"].split(",") if word.strip()]
        unknown = [word for word in wanted if word not in names]
        if unknown:
            raise AnalysisError(f"no channel is called {unknown[0]!r}: choose from {', '.join(names)}")
        covers["chosen"] = _at(wanted)
    return covers


def _at(places: Sequence[str]) -> Callable[[AxonWindows], np.ndarray]:
    """Which channels of a recording lie at some sites, or are called so."""

    def cover(windows: AxonWindows) -> np.ndarray:
        pairs = zip(windows.plan.sites, windows.plan.ch_names, strict=True)
        return np.array([site in places or name in places for site, name in pairs])

    return cover


def probe_facts(data: Labelled) -> dict[str, object]:
    """What the probe was made from."""
    windows = data.parts[0].windows
    return {
        "n_windows": len(data.labels),
        "n_of_class": data.counts,
        "probe_recordings": [str(part.windows.recording) for part in data.parts],
        "first_window": float(windows.plan.onsets[0]),
        "window_seconds": windows.plan.seconds,
        "probe": PROBE,
        "seeds": list(SEEDS),
    }

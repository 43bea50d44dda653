"""What an AXON's windows are worth to a linear probe: with its gates replaced, with electrodes covered or deleted.

The probe is logistic regression on the mean token of a window (the encoder is frozen), trained on half of the labelled
windows as they are and tested on the other half as they are changed; three seeds draw the halves. Windows are labelled
by the marked seizures that overlap them, or by the mark of a named text over their middle. Paper: gate interventions,
appendix I.2 and I.3; spec sections 8.4 and 8.7.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from analysis.analyses import Findings, NamedArray
from analysis.engine.axon_gates import AxonWindows, axon_windows
from analysis.engine.inputs import Inputs
from analysis.errors import AnalysisError
from analysis.progress import Progress
from analysis.seizure_marks import seizures
from models.axon.interventions import INTERVENTIONS, calibrate, intervene
from models.axon.model import Axon, mean_over_tokens

SEEDS = (0, 1, 2)
LEFT_STRIP = ("FC5", "FC3", "FC1", "C5", "C3", "C1", "CP3")
RIGHT_STRIP = ("FC6", "FC4", "FC2", "C6", "C4", "C2", "CP4")
SHARES = (0.0, 0.1, 0.25, 0.5, 0.75)
SEIZURE = "seizure"
CLASSES = ("background", SEIZURE)
_LEAST = 4  # windows of each class


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


def probe_interventions(inputs: Inputs, progress: Progress) -> Findings:
    """Balanced accuracy of a probe with the gates as learned and with each of the seven interventions."""
    data = _labelled(inputs, progress)
    learned = data.features()
    given = [{"signal": batch, "positions": data.windows.positions} for batch in data.batches]
    calibration = calibrate(data.model, given, "axis")
    tables = [_accuracies(learned, learned, data.labels)]
    for i, kind in enumerate(INTERVENTIONS):
        progress.report(i, len(INTERVENTIONS), kind.replace("_", " "))
        with intervene(data.model, kind, calibration, inputs.options["seed"]):
            tables.append(_accuracies(learned, data.features(), data.labels))
    accuracy = np.array(tables)  # (interventions + 1, seeds)
    arrays = {
        "balanced_accuracy": NamedArray(
            accuracy, ("intervention", "seed"), "1", "balanced accuracy of a linear probe", "paper"
        ),
        "change": NamedArray(accuracy[1:].mean(1) - accuracy[0].mean(), ("change_of",), "1", "change, mean over seeds"),
    }
    names = {"intervention": ("learned", *INTERVENTIONS), "change_of": tuple(INTERVENTIONS), "seed": _seeds()}
    return Findings(arrays, _facts(data), names, data.windows.plan.notes, data.windows.source.describe())


def lesion(inputs: Inputs, progress: Progress) -> Findings:
    """Recall of each class with electrodes covered (I.2), and balanced accuracy as ever more are deleted (I.3)."""
    data = _labelled(inputs, progress)
    windows, names = data.windows, data.windows.plan.ch_names
    learned = data.features()
    covers = {name: _cover(names, windows, name) for name in ("left", "right")}
    if inputs.options["cover"]:
        covers["chosen"] = _chosen(names, inputs.options["cover"])
    rows = [_recalls(learned, learned, data.labels)]
    for i, covered in enumerate(covers.values()):
        progress.report(i, len(covers) + len(SHARES), "covering electrodes")
        rows.append(_recalls(learned, data.features(covered), data.labels))
    deletion = []
    for i, share in enumerate(SHARES):
        progress.report(len(covers) + i, len(covers) + len(SHARES), f"deleting {share:.0%}")
        deletion.append(_deleted(data, learned, share))
    arrays = {
        "recall": NamedArray(np.array(rows), ("cover", "seed", "class"), "1", "recall of a linear probe", "paper"),
        "covered": NamedArray(
            np.array([np.zeros(len(names)), *covers.values()], float),
            ("cover", "channel"),
            "1",
            "1 for what is covered",
        ),
        "deletion": NamedArray(
            np.array(deletion), ("share", "seed"), "1", "balanced accuracy with electrodes deleted at random", "paper"
        ),
    }
    labels_of = {
        "cover": ("none", *covers),
        "class": data.classes,
        "channel": names,
        "share": tuple(f"{share:.0%}" for share in SHARES),
        "seed": _seeds(),
    }
    missing = [name for name, covered in covers.items() if not covered.any()]
    notes = [*windows.plan.notes, *(f"No electrode of the {name} strip is in the recording." for name in missing)]
    return Findings(arrays, _facts(data), labels_of, tuple(notes), windows.source.describe())


def _deleted(data: Labelled, learned: np.ndarray, share: float) -> list[float]:
    n = len(data.windows.plan.ch_names)
    accuracies = []
    for seed in SEEDS:
        gone = np.zeros(n, bool)
        gone[np.random.default_rng(seed).permutation(n)[: round(share * n)]] = True
        accuracies.append(probe(learned, data.features(gone), data.labels, seed).balanced_accuracy)
    return accuracies


def _accuracies(learned: np.ndarray, changed: np.ndarray, labels: np.ndarray) -> list[float]:
    return [probe(learned, changed, labels, seed).balanced_accuracy for seed in SEEDS]


def _recalls(learned: np.ndarray, changed: np.ndarray, labels: np.ndarray) -> list[np.ndarray]:
    return [probe(learned, changed, labels, seed).by_class for seed in SEEDS]


@dataclass(frozen=True)
class Labelled:
    """The windows that have a label: the model, the signals of all windows, which of these count, and their labels."""

    model: Axon
    windows: AxonWindows
    batches: Sequence[Tensor]
    chosen: np.ndarray
    labels: np.ndarray
    classes: tuple[str, ...]

    @torch.inference_mode()
    def features(self, covered: np.ndarray | None = None) -> np.ndarray:
        """Mean tokens (labelled windows, D), with some channels missing."""
        rows = []
        for batch in self.batches:
            missing = None
            if covered is not None and covered.any():
                missing = torch.from_numpy(covered).to(batch.device).expand(len(batch), -1)
            rows.append(mean_over_tokens(self.model.tokens(batch, self.windows.positions, missing), missing))
        features: np.ndarray = torch.cat(rows).double().cpu().numpy()[self.chosen]
        return features


def _labelled(inputs: Inputs, progress: Progress) -> Labelled:
    """The windows and their labels; AnalysisError where a class has too few."""
    windows = axon_windows(inputs, progress, inputs.options["windows"])
    found, classes = _labels_of(inputs, windows)
    chosen = found >= 0
    counts = [int((found == c).sum()) for c in range(len(classes))]
    if min(counts) < _LEAST:
        told = ", ".join(f"{count} of {name}" for count, name in zip(counts, classes, strict=True))
        raise AnalysisError(
            f"there are too few windows for a probe ({inputs.recording.path}; {told}): "
            f"give shorter windows, or a recording with at least {_LEAST} of each"
        )
    batches = list(windows.batches(progress, "reading"))
    return Labelled(inputs.model.network, windows, batches, chosen, found[chosen], classes)


def _labels_of(inputs: Inputs, windows: AxonWindows) -> tuple[np.ndarray, tuple[str, ...]]:
    """Each window's class, -1 for none, and the names of the classes."""
    seconds, onsets = windows.plan.seconds, windows.plan.onsets
    if inputs.options["labels"] == SEIZURE:
        marked = seizures(inputs.recording.annotations)
        return np.array([int(any(a < t + seconds and z > t for a, z in marked)) for t in onsets]), CLASSES
    texts = tuple(text.strip() for text in inputs.options["labels"].split(",") if text.strip())
    if len(texts) < 2:
        raise AnalysisError(
            f"the option labels needs {SEIZURE}, or texts of at least two marks with commas between"
        )
    found = np.full(len(onsets), -1)
    for mark in inputs.recording.annotations:
        if mark.description in texts:
            middle = onsets + seconds / 2
            found[(middle >= mark.onset) & (middle < mark.stop)] = texts.index(mark.description)
    return found, texts


def _cover(names: Sequence[str], windows: AxonWindows, side: str) -> np.ndarray:
    strip = LEFT_STRIP if side == "left" else RIGHT_STRIP
    sites = [site or name for site, name in zip(windows.plan.sites, names, strict=True)]
    return np.array([site in strip for site in sites])


def _chosen(names: Sequence[str], text: str) -> np.ndarray:
    wanted = [word.strip() for word in text.split(",") if word.strip()]
    unknown = [word for word in wanted if word not in names]
    if unknown:
        raise AnalysisError(f"no channel is called {unknown[0]!r}: choose from {', '.join(names)}")
    return np.array([name in wanted for name in names])


def _facts(data: Labelled) -> dict[str, object]:
    plan = data.windows.plan
    return {
        "n_windows": len(data.labels),
        "n_of_class": {name: int((data.labels == i).sum()) for i, name in enumerate(data.classes)},
        "first_window": float(plan.onsets[0]),
        "window_seconds": plan.seconds,
        "probe": "logistic regression on the mean token, half of the windows, balanced classes",
    }


def _seeds() -> tuple[str, ...]:
    return tuple(str(seed) for seed in SEEDS)

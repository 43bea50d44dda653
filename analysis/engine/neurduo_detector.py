"""A fine-tuned NeurDuo as a seizure detector."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import torch

from analysis.engine.detector import Chunk, Detector, DetectorRun, seizure_class
from analysis.engine.neurduo_units import MOST_SEQUENCES, UnitClassifier, UnitPlan, plan_units, score_units
from analysis.engine.serving import USUAL, Precision, Serving
from analysis.engine.session import BatchSize, describe_device
from analysis.postprocessing import Rule, stated_rule
from analysis.progress import Progress
from analysis.recording import Recording, Window
from models.neurduo.model import NeurDuo

_SEIZURES = "fine-tuned on units of scalp EEG; see the checkpoint's card for what it was tested on"
_RANDOM = "random weights: the curve shows how the program works and says nothing about the recording"


class NeurDuoDetector(Detector):
    """A NeurDuo that was fine-tuned to tell seizures, unit by unit."""

    family = "neurduo"
    libraries = ("torch", "numpy", "scipy", "mne")
    # Of units longer than its window it makes one event of each run of positive ones, as published.
    event_rule: str | Rule | None = "E.2"

    def __init__(self, model: NeurDuo, device: torch.device) -> None:
        facts: Any = model.checkpoint
        self._classifier = UnitClassifier(model, device)
        self._class = seizure_class(facts.labels, facts.path)
        self.default_threshold = float(facts.card.get("threshold", 0.5))
        self.event_rule = stated_rule(facts.card) or self.event_rule
        self._stated: Mapping[str, Any] = facts.preprocessing
        head = self._classifier.head
        self.title = "NeurDuo-EEG" if facts.size == "other" else f"NeurDuo-EEG-{facts.size}"
        self.digests = facts.digests
        self.configuration = {
            "config": asdict(model.config),
            "labels": list(facts.labels),
            "preprocessing": dict(facts.preprocessing),
        }
        self.random_weights = facts.random_weights
        self.caveat = _RANDOM if facts.random_weights else str(facts.card.get("limits") or _SEIZURES)
        self.notes = tuple(facts.notes)
        self.device = describe_device(device)
        self.checkpoint = {
            "path": str(facts.path),
            "sha256": facts.sha256,
            "head_path": str(facts.head_path) if facts.head_path else None,
            "head_sha256": facts.head_sha256,
            "family": self.family,
            "size": facts.size,
            "n_params": facts.n_params,
        }
        seconds = self._classifier.unit_seconds
        self.input_description = (
            f"sequences of {head.context_units} units of {seconds:g} s at {model.config.sampling_rate_hz:g} Hz, "
            f"channels {', '.join(head.channels)}"
        )

    def begin(
        self,
        recording: Recording,
        window: Window,
        batch_size: int | None = None,
        progress: Progress | None = None,
        serving: Serving = USUAL,
    ) -> DetectorRun:
        """Find the head's channels and lay sequences of its units over the window."""
        serving = serving.chosen(batch_size)
        classifier, head = self._classifier, self._classifier.head
        plan = plan_units(recording, classifier, self._stated, window, progress)
        missing = [site for site, absent in zip(head.channels, plan.missing, strict=True) if absent]
        what = f"one sequence of {head.context_units} units and {len(head.channels)} channels"
        precision = serving.number_format(classifier.device, classifier.rounded)
        length = classifier.unit_seconds
        return _Run(
            left_out=plan.electrodes.left_out,
            not_scored=list(plan.not_scored),
            scored=tuple(
                name for name, absent in zip(plan.electrodes.ch_names, plan.missing, strict=True) if not absent
            ),
            preprocessing={**plan.settings.describe(recording.sfreq), "normalisation": head.normalisation},
            options={
                "units": head.context_units,
                "unit_seconds": length,
                "stride_seconds": length,
                **precision.options,
            },
            caveat=self.caveat,
            facts={"units_scored": 0, "missing_channels": missing},
            classifier=classifier,
            class_index=self._class,
            plan=plan,
            batch=serving.batch(classifier.device, self.device, what, MOST_SEQUENCES),
            precision=precision,
            overlap=serving.reads_ahead(classifier.device),
        )


@dataclass
class _Run(DetectorRun):
    """The probability of the seizure class of every unit."""

    classifier: UnitClassifier = field(kw_only=True)
    class_index: int = field(kw_only=True)
    plan: UnitPlan = field(kw_only=True)
    batch: BatchSize = field(kw_only=True)
    precision: Precision = field(kw_only=True)
    overlap: bool = field(kw_only=True)

    def keep(self, part: Window) -> None:
        kept = {run.within(part): signal for run, signal in self.plan.signals.items()}
        self.plan = replace(self.plan, signals={run: signal for run, signal in kept.items() if run.n_wanted})

    def served(self) -> dict[str, Any]:
        return {"batch_size": self.batch.size, **self.precision.facts}

    def chunks(self, progress: Progress, first_time: float | None) -> Generator[Chunk, None, None]:
        how = (self.precision, self.overlap)
        with closing(score_units(self.plan, self.classifier, self.batch, progress, first_time, *how)) as scored:
            for units in scored:
                values = units.probabilities[:, self.class_index]
                self.facts["units_scored"] += len(values)
                yield Chunk(units.onsets, np.full(len(values), units.run.length), values)

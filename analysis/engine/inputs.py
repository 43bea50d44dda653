"""What an analysis works on: a recording, a span of it, the models and what was chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from analysis.recording import Recording, Window
from analysis.seizure_marks import SeizureMarks, find_seizures
from models.families import MODELS, Checkpoint


@dataclass(frozen=True)
class LoadedModel:
    """A model on its device, with the facts of its checkpoint."""

    network: Any  # a module with the methods of its family
    facts: Checkpoint

    @property
    def family(self) -> str:
        """The name of its family."""
        return self.facts.model_name

    @property
    def title(self) -> str:
        """What a person calls it."""
        title = MODELS[self.family].title
        return title if self.facts.size in ("other", "published") else f"{title}-{self.facts.size}"


@dataclass(frozen=True)
class Inputs:
    """What an analysis works on; `options` are complete and checked, `seizures` those that whoever asks knows of."""

    recording: Recording
    window: Window
    models: tuple[LoadedModel, ...]
    options: Mapping[str, Any]
    device: torch.device
    seizures: SeizureMarks | None = None

    @property
    def model(self) -> LoadedModel:
        """The first model."""
        return self.models[0]

    @property
    def marked(self) -> SeizureMarks:
        """Marked seizures; where nothing else is said, those of the recording's own annotations."""
        return self.seizures if self.seizures is not None else find_seizures(self.recording.annotations)

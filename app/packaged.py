"""The trained models that come with a fresh install, by the names they are asked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class PackagedModel:
    """A model whose weights lie in an installed package: its name, what a person calls it, and its stated limits."""

    name: str
    title: str
    limits: str


_LIMITS = (
    "Packaged detector, trained by others on intracranial EEG. Looks at 300 s windows, smears onsets by up to a "
    "minute, fires on muscle. Suggestions to review, not findings."
)
PACKAGED = (
    PackagedModel("brainmaze", "brainmaze A", _LIMITS),
    PackagedModel("brainmaze-b", "brainmaze B", _LIMITS + " Much slower than A."),
)
_OTHER_NAMES = {"brainmaze-a": "brainmaze"}


def packaged_model(checkpoint: str) -> PackagedModel | None:
    """The packaged model of that name, in any case; None for a file, also one that is called like a packaged model."""
    if Path(checkpoint).exists():
        return None
    name = _OTHER_NAMES.get(checkpoint.lower(), checkpoint.lower())
    return next((model for model in PACKAGED if model.name == name), None)

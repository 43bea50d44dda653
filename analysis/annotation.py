"""What a person, a file or a model says about a span of a recording."""

from __future__ import annotations

from dataclasses import dataclass, field

# SzCORE codes that a reader should not have to know.
_CODES = {"sz": "Seizure", "bckg": "Background"}
RANDOM_WEIGHTS = "random weights"


def model_author(title: str, random_weights: bool = False) -> str:
    """The author of what a model found; random weights are named, so that it is said wherever the event goes."""
    return f"model:{title} ({RANDOM_WEIGHTS})" if random_weights else f"model:{title}"


@dataclass(frozen=True)
class Annotation:
    """A named span in seconds from the first sample; a mark of zero duration is a moment.

    `ch_names` empty means all channels. `author` says where it comes from: "file", "sidecar", "reader", or
    "model:<name>" for what a model found. `confidence` is a probability in 0..1 where one was given.
    """

    onset: float
    duration: float
    description: str
    ch_names: tuple[str, ...] = ()
    confidence: float | None = None
    author: str = "file"
    extras: tuple[tuple[str, str], ...] = field(default=())

    @property
    def stop(self) -> float:
        """End in seconds."""
        return self.onset + self.duration

    @property
    def title(self) -> str:
        """What a person calls it: codes of event tables in words, anything else as it is written."""
        text = self.description.strip()
        return _CODES.get(text, text)

    @property
    def is_model(self) -> bool:
        """Whether a model said it, which must never look like a human's marking."""
        return self.author.startswith("model:")

    @property
    def is_random(self) -> bool:
        """Whether a model of random weights said it, which means nothing."""
        return self.is_model and RANDOM_WEIGHTS in self.author

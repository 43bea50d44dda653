"""What a person, a file or a model says about a span of a recording."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Literal

# SzCORE codes that a reader should not have to know.
_CODES = {"sz": "Seizure", "bckg": "Background"}
RANDOM_WEIGHTS = "random weights"


def model_author(title: str, random_weights: bool = False) -> str:
    """The author of what a model found; random weights are named, so that it is said wherever the event goes."""
    return f"model:{title} ({RANDOM_WEIGHTS})" if random_weights else f"model:{title}"


State = Literal["new", "accepted", "rejected", "edited"]


@dataclass(frozen=True)
class Review:
    """What readers did with a mark: the decision on it, who took it and when, a comment, and when it was changed.

    `tag` is the term of a vocabulary, `by` the name of who decided. Times are ISO 8601 in UTC, empty where there is
    none.
    """

    decision: Literal["", "accepted", "rejected"] = ""
    by: str = ""
    at: str = ""
    comment: str = ""
    tag: str = ""
    created: str = ""
    changed: str = ""


UNREVIEWED = Review()


@dataclass(frozen=True)
class Annotation:
    """A named span in seconds from the first sample; a mark of zero duration is a moment.

    `ch_names` empty means all channels. `author` says where it comes from: "file", "sidecar", "reader", or
    "model:<name>" for what a model found. `confidence` is a probability in 0..1 where one was given. `extras` are the
    further columns of the table it comes from. `id` tells marks of one recording apart, however alike they are; 0
    where nobody has counted them.
    """

    onset: float
    duration: float
    description: str
    ch_names: tuple[str, ...] = ()
    confidence: float | None = None
    author: str = "file"
    extras: tuple[tuple[str, str], ...] = field(default=())
    id: int = field(default=0, compare=False)
    review: Review = UNREVIEWED

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
    def signed_text(self) -> str:
        """What is said, with the model's name behind what a model says, for where nothing else tells who says it.

        A model's event that a person has changed says so: the model never said it like that.
        """
        changed = ", changed by a person" if self.review.changed else ""
        return f"{self.description} [{self.author}{changed}]".lstrip() if self.is_model else self.description

    @property
    def is_model(self) -> bool:
        """Whether a model said it, which must never look like a human's marking."""
        return self.author.startswith("model:")

    @property
    def is_random(self) -> bool:
        """Whether a model of random weights said it, which means nothing."""
        return self.is_model and RANDOM_WEIGHTS in self.author

    @property
    def state(self) -> State:
        """What a review queue says of it: the decision, else whether a reader has changed it."""
        return self.review.decision or ("edited" if self.review.changed else "new")


def plain_annotations(
    onsets: Sequence[float], durations: Sequence[float], descriptions: Sequence[str]
) -> list[Annotation]:
    """Annotations of a file that speak of all channels; a third of the time that calling Annotation for each takes.

    Each holds these three fields alone, and what they are by default stays with the class.
    """
    made = list(map(object.__new__, repeat(Annotation, len(onsets))))
    for name, values in (("onset", onsets), ("duration", durations), ("description", descriptions)):
        deque(map(object.__setattr__, made, repeat(name), values), maxlen=0)
    return made


def number_annotations(annotations: Iterable[Annotation], first: int = 1) -> None:
    """Give annotations that nobody else holds yet the ids `first`, `first` + 1, … in their order."""
    # In place: a hundred thousand copies would hold up whoever draws meanwhile for most of a second.
    for number, annotation in enumerate(annotations, first):
        object.__setattr__(annotation, "id", number)

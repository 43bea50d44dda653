"""All that people and files say of a recording, sorted once: the marks, and the seizures they tell of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from analysis.annotation import Annotation
from analysis.annotation_index import AnnotationIndex
from analysis.seizure_marks import seizures


@dataclass(frozen=True)
class Marks:
    """An index of annotations with the seizure spans, (onset, stop) in seconds, that they tell of in any wording."""

    index: AnnotationIndex = field(default_factory=AnnotationIndex)
    seizures: tuple[tuple[float, float], ...] = ()

    @classmethod
    def of(cls, annotations: Iterable[Annotation]) -> Marks:
        """Sort annotations and find their seizures; a hundred thousand take a tenth of a second."""
        index = AnnotationIndex(annotations)
        return cls(index, tuple(seizures(index.items)))

    @property
    def items(self) -> tuple[Annotation, ...]:
        """The annotations in order of their onsets."""
        return self.index.items

    def __len__(self) -> int:
        return len(self.index)

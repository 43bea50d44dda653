"""All that people and files say of a recording, sorted once: the marks, and the seizures they tell of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from analysis.annotation import Annotation
from analysis.annotation_index import AnnotationIndex
from analysis.seizure_marks import seizures, tells_of_seizure


@dataclass(frozen=True)
class Marks:
    """An index of annotations with the seizure spans, (onset, stop) in seconds, that people tell of in any wording.

    What a reader has rejected tells of no seizure, and neither does what a model found, accepted or not: a model is
    compared with these spans, and must not be compared with itself.
    """

    index: AnnotationIndex = field(default_factory=AnnotationIndex)
    seizures: tuple[tuple[float, float], ...] = ()
    _telling: tuple[Annotation, ...] = ()

    @classmethod
    def of(cls, annotations: Iterable[Annotation]) -> Marks:
        """Sort annotations and find their seizures; a hundred thousand take a tenth of a second."""
        index = AnnotationIndex(annotations)
        telling = tuple(filter(_tells, index.items))
        return cls(index, tuple(seizures(telling)), telling)

    @property
    def items(self) -> tuple[Annotation, ...]:
        """The annotations in order of their onsets."""
        return self.index.items

    def __len__(self) -> int:
        return len(self.index)

    def changed(self, removed: Sequence[Annotation], added: Sequence[Annotation]) -> Marks:
        """The marks without some and with others; KeyError when one of `removed` is not there."""
        index = self.index.changed(removed, added)
        if not any(map(_tells, (*removed, *added))):
            return Marks(index, self.seizures, self._telling)
        gone = {id(self.items[self.index.position(annotation)]) for annotation in removed}
        telling = (*(a for a in self._telling if id(a) not in gone), *filter(_tells, added))
        return Marks(index, tuple(seizures(telling)), telling)


def _tells(annotation: Annotation) -> bool:
    told = not annotation.is_model and annotation.review.decision != "rejected"
    return told and tells_of_seizure(annotation)

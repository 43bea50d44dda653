"""What every reader does with a file's annotations: those outside the recorded time are set apart, and told of."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter

from analysis.annotation import Annotation


def split_by_time(
    found: Iterable[Annotation], duration: float, warnings: list[str]
) -> tuple[tuple[Annotation, ...], tuple[Annotation, ...]]:
    """Annotations within the recorded time, sorted by onset, and those that begin after it or end before it."""
    inside: list[Annotation] = []
    outside: list[Annotation] = []
    for annotation in found:
        meets = annotation.onset <= duration and annotation.stop >= 0
        (inside if meets else outside).append(annotation)
    if outside:
        total = len(inside) + len(outside)
        warnings.append(f"{len(outside)} of {total} annotations lie outside the recorded time and are left out")
    inside.sort(key=attrgetter("onset"))
    return tuple(inside), tuple(outside)

"""Which texts count as seizures, on the wording of real recordings and of the published codes."""

from __future__ import annotations

import pytest

from analysis.annotation import Annotation
from analysis.seizure_marks import find_seizures, join_spans, seizures


def marks(*rows: tuple[float, float, str]) -> list[Annotation]:
    return [Annotation(onset, duration, text) for onset, duration, text in rows]


SCALP_42 = marks(
    (0, 0, "+0.000000"),
    (0, 0, "Segment: REC START LTM+6 EEG"),
    (0, 0, "A1+A2 OFF"),
    (0, 0, "onset"),
    (2, 0, "starts turning head"),
    (7, 0, "@SeizureDetected(Per"),
    (85, 0, "offset"),
    (113, 0, "pt pushes button"),
)
SCALP_46 = marks(
    (15.1523, 0, "SEIZURE#8 STARTS -XXX"),
    (17.3477, 0, "diffuse attenuation"),
    (20.7656, 0, "Persyst SeizureDetection"),
    (44.1211, 0, "seizure ends -XXX"),
)


@pytest.mark.parametrize(
    ("annotations", "expected"),
    [
        (SCALP_42, [(0, 85)]),
        (SCALP_46, [(15.1523, 44.1211)]),
        (marks((0, 0.5, "seizure"), (0, 3.234, "CLip2"), (1, 0.5, "seizure1,2")), [(0, 0.5), (1, 1.5)]),
        (marks((5, 10, "Sz_foc_ia"), (12, 8, "fnsz"), (90, 5, "SEIZ ")), [(5, 20), (90, 95)]),
        (marks((5, 10, "Focal-onset-epileptic-seizure")), [(5, 15)]),
        (marks((5, 60, "seizure onset")), [(5, 65)]),
        (marks((5, 1, "seizure onset"), (70, 1, "seizure offset")), [(5, 70)]),
        (marks((10, 0, "EEG onset"), (12, 0, "clinical onset"), (50, 0, "EEG offset")), [(10, 50)]),
        (marks((3.5, 3, "sz")), [(3.5, 6.5)]),
        (marks((0, 100, "bckg"), (0, 5, "interictal"), (5, 5, "preictal"), (9, 5, "post-ictal slowing")), []),
        (marks((0, 9, "no seizure"), (0, 9, "nesz"), (0, 9, "non-epileptic seizure"), (0, 9, "seizure?")), []),
        (marks((0, 0, "seizure"), (4, 0, "sz")), []),
        (
            marks((0, 9, "seizure-like artefact"), (0, 9, "Ictal like pattern"), (0, 9, "sz-like"), (20, 1, "sz")),
            [(20, 21)],
        ),
        (marks((0, 4.1, "T1"), (5, 2, "square"), (9, 1, "onset of sleep"), (20, 1, "offset")), []),
    ],
)
def test_what_counts_as_a_seizure(annotations: list[Annotation], expected: list[tuple[float, float]]) -> None:
    assert seizures(annotations) == expected


def test_detections_of_other_programs_count_only_when_asked_for() -> None:
    found = marks((10, 20, "Persyst SeizureDetected"), (50, 5, "Persyst Spike"))
    assert seizures(found) == []
    assert seizures(found, detections=True) == [(10, 30)]


def test_a_start_without_an_end_is_told_and_not_guessed() -> None:
    found = find_seizures(marks((10, 0, "seizure starts"), (5000, 0, "seizure starts"), (5060, 0, "seizure ends")))
    assert found.spans == ((5000, 5060),)
    assert found.unended == (10,)


def test_a_seizure_without_a_length_is_told_and_not_dropped() -> None:
    found = find_seizures(marks((100, 0, "seizure"), (10, 20, "sz"), (15, 0, "sz"), (30, 0, "sz"), (40, 0, "fnsz")))
    assert found.spans == ((10, 30),)
    assert found.unended == (40, 100), "marks inside a seizure that has a length need none of their own"
    assert find_seizures(marks((5, 0, "artefact"), (6, 0, "seizure-like"))).unended == ()


def test_joined_spans_are_sorted_and_disjoint() -> None:
    assert join_spans([(5, 9), (0, 2), (1, 3), (6, 7), (9, 10)]) == [(0, 3), (5, 10)]

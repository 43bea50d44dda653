"""Annotation lists of EDF+: every legal form, and gaps found by looking at few records."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.annotation import Annotation
from analysis.readers.edf_annotations import Segment, find_segments, parse_annotations, record_onset

NAMES = {"EEG T3-Ref": "T7", "Fz": "Fz"}


def parsed(data: bytes, origin: float = 0.0) -> list[tuple[float, float, str]]:
    return [(a.onset, a.duration, a.description) for a in parse_annotations(data, origin, {})]


def test_all_forms_of_lists() -> None:
    assert parsed(b"+0\x14\x14\0\0\0") == []
    assert parsed(b"+3.5\x14sz\x14\0") == [(3.5, 0.0, "sz")]
    assert parsed(b"+3.5\x152.25\x14sz\x14\0") == [(3.5, 2.25, "sz")]
    assert parsed(b"+1\x14\x14with the record's own time\x14\0") == [(1.0, 0.0, "with the record's own time")]
    assert parsed(b"+1\x14two\x14texts\x14\0") == [(1.0, 0.0, "two"), (1.0, 0.0, "texts")]
    assert parsed(b"-0.5\x14before\x14\0") == [(-0.5, 0.0, "before")]
    assert parsed(b"+2\x15\x14empty duration\x14\0") == [(2.0, 0.0, "empty duration")]
    assert parsed(b"+5\x14later\x14\0\0+4\x14sooner\x14\0") == [(4.0, 0.0, "sooner"), (5.0, 0.0, "later")]
    assert parsed("+1\x14début\x14\0".encode("latin-1") + "+2\x14éveil\x14\0".encode()) == [
        (1.0, 0.0, "début"),
        (2.0, 0.0, "éveil"),
    ]


def test_onsets_count_from_the_first_sample() -> None:
    assert parsed(b"+0.5\x14\x14\0+4\x14sz\x14\0", origin=0.5) == [(3.5, 0.0, "sz")]


def test_a_hundred_thousand_annotations_are_all_found() -> None:
    data = b"".join(b"+%d\x14\x14\0+%d.25\x150.5\x14spike %d\x14\0\0\0" % (i, i, i) for i in range(100_000))
    found = parsed(data)
    assert len(found) == 100_000
    assert found[-1] == (99_999.25, 0.5, "spike 99999")


LISTS = st.builds(
    lambda onset, length, texts: b"%+.3f%s\x14%s\x14\0" % (onset, length, b"\x14".join(texts)),
    st.floats(-9, 99),
    st.sampled_from([b"", b"\x15", b"\x150.5", b"\x1512"]),
    st.lists(st.sampled_from([b"", b"sz", b"d\xc3\xa9but", b"d\xe9but", b"a@@Fz", b"a@@", b"x [model:A]"]), min_size=1),
)


@given(st.lists(LISTS, max_size=8))
def test_a_list_says_the_same_whatever_stands_beside_it(lists: list[bytes]) -> None:
    """Texts of channels and models, and several texts in a list, change how all lists near them are read."""
    alone = [mark for one in lists for mark in parse_annotations(one, 0.5, NAMES)]
    beside = [parse_annotations(b"".join(lists) + more, 0.5, NAMES) for more in (b"", b"+999\x14a@@Fz\x14\0")]
    assert list(beside[0]) == sorted(alone, key=lambda mark: mark.onset)
    assert beside[1][:-1] == beside[0]


def test_more_texts_than_are_remembered() -> None:
    data = b"".join(b"+%d\x14spike %d\x14\0" % (i, i % 5000) for i in range(10_000))
    assert parsed(data) == [(float(i), 0.0, f"spike {i % 5000}") for i in range(10_000)]


def test_record_onset() -> None:
    assert record_onset(b"+12.5\x14\x14\0+12\x14a\x14\0") == 12.5
    assert record_onset(b"\0\0\0") is None


@given(st.lists(st.tuples(st.integers(1, 40), st.sampled_from([0.0, 0.5, 3.0, 1000.0])), min_size=1, max_size=8))
def test_gaps_are_found_wherever_they_are(pieces: list[tuple[int, float]]) -> None:
    onsets: list[float] = []
    expected: list[Segment] = []
    time = 0.25
    for count, pause in pieces:
        time += pause
        if expected and pause == 0.0:
            expected[-1] = Segment(expected[-1].first_record, expected[-1].n_records + count, expected[-1].onset)
        else:
            expected.append(Segment(len(onsets), count, time))
        onsets += [time + i for i in range(count)]
        time += count
    assert find_segments(lambda record: onsets[record], len(onsets), 1.0, 0.01) == expected


def test_few_records_are_looked_at() -> None:
    asked: set[int] = set()

    def onset_of(record: int) -> float:
        asked.add(record)
        return float(record + (500 if record >= 70_000 else 0))

    assert find_segments(onset_of, 86_400, 1.0, 0.01) == [Segment(0, 70_000, 0.0), Segment(70_000, 16_400, 70_500.0)]
    assert len(asked) < 100


def test_records_without_a_time_follow_the_one_before() -> None:
    onsets = [0.0, None, None, 10.0, None]
    assert find_segments(lambda i: onsets[i], 5, 1.0, 0.01) == [Segment(0, 3, 0.0), Segment(3, 2, 10.0)]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"+1\x14spike@@EEG T3-Ref\x14\0", [Annotation(1.0, 0.0, "spike", ("T7",))]),
        (b"+1\x14spike@@EEG T3-Ref\x14spike@@Fz\x14\0", [Annotation(1.0, 0.0, "spike", ("T7", "Fz"))]),
        (
            b"+1\x14spike@@Fz\x14wave@@Fz\x14spike\x14\0",
            [Annotation(1.0, 0.0, t, on) for t, on in (("spike", ("Fz",)), ("wave", ("Fz",)), ("spike", ()))],
        ),
        (
            b"+1\x14spike@@Fz\x14\0+1\x14spike@@Fz\x14\0",
            [Annotation(1.0, 0.0, "spike", ("Fz",)), Annotation(1.0, 0.0, "spike", ("Fz",))],
        ),
        (b"+1\x14a@@elsewhere\x14\0", [Annotation(1.0, 0.0, "a@@elsewhere")]),
        (b"+1\x14a@@Fz@@\x14\0", [Annotation(1.0, 0.0, "a@@Fz")]),
        (b"+1\x14a@@\x14\0", [Annotation(1.0, 0.0, "a@@")]),
        (b"+1\x14sz [model:A (x)]\x14\0", [Annotation(1.0, 0.0, "sz", author="model:A (x)")]),
        (b"+1\x14[model:A]@@Fz\x14\0", [Annotation(1.0, 0.0, "", ("Fz",), author="model:A")]),
        (b"+1\x14 \x14\0", [Annotation(1.0, 0.0, "")]),
    ],
)
def test_texts_of_channels_and_models(data: bytes, expected: list[Annotation]) -> None:
    assert list(parse_annotations(data, 0.0, NAMES)) == expected

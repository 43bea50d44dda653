"""Numbers in the eight characters of an EDF header, digital values as bytes, and texts as EDF+ has them."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.annotation import Annotation, Review
from analysis.edf_writing import (
    DIGITAL_RANGE,
    ascii_bytes,
    eight,
    enclosing,
    exact_range,
    file_annotations,
    recording_field,
    stored,
)
from analysis.errors import RecordingError

VALUES = st.floats(-9_999_999, 99_999_999)


@given(VALUES)
def test_a_number_in_eight_characters_is_as_exact_as_they_allow(value: float) -> None:
    text = eight(value)
    assert len(text) <= 8
    assert re.fullmatch(r"-?\d+(\.\d+)?", text)
    whole = len(str(int(abs(value)))) + (value < 0)
    decimals = max(0, 7 - whole)
    assert abs(float(text) - value) <= 0.5000001 * 10.0**-decimals


@pytest.mark.parametrize("value", [-10_000_000, 100_000_000, 1e300])
def test_a_number_that_does_not_fit_is_refused(value: float) -> None:
    with pytest.raises(RecordingError, match="does not fit"):
        eight(value)
    with pytest.raises(RecordingError, match="does not fit"):
        enclosing(min(value, 0), max(value, 0))


@given(st.tuples(st.floats(-999_999, 9_999_999), st.floats(-999_999, 9_999_999)).map(sorted))
def test_an_enclosing_range_holds_the_values_and_can_be_written(ends: list[float]) -> None:
    low, high = enclosing(*ends)
    assert low <= ends[0] <= ends[1] <= high
    assert (float(eight(low)), float(eight(high))) == (low, high)
    assert max(ends[0] - low, high - ends[1]) <= 1


@given(st.tuples(st.integers(-32767, 32767), st.integers(-32767, 32767)).map(sorted), st.floats(0.001, 10))
def test_an_exact_range_holds_the_used_values_within_what_is_allowed(used: list[int], gain: float) -> None:
    first, last = used
    (low, high), physical = exact_range((first, last), DIGITAL_RANGE[2], gain, 0.0)
    assert low <= first <= last <= high
    assert low < high
    assert low >= -32768
    assert high <= 32767
    assert physical == (low * gain, high * gain)


def test_an_exact_range_prefers_bounds_that_eight_characters_hold() -> None:
    _, (bottom, top) = exact_range((-100, 100), DIGITAL_RANGE[2], 0.0488281, 0.0)
    assert float(eight(bottom)) == pytest.approx(bottom, abs=1e-9)
    assert float(eight(top)) == pytest.approx(top, abs=1e-9)


@pytest.mark.parametrize("sample_bytes", [2, 3])
def test_digital_values_are_stored_little_endian(sample_bytes: int) -> None:
    low, high = DIGITAL_RANGE[sample_bytes]
    values = np.array([[low, -1, 0], [1, 256, high]], np.int32)
    rows = stored(values, sample_bytes)
    expected = [b"".join(int(v).to_bytes(sample_bytes, "little", signed=True) for v in row) for row in values]
    assert [row.tobytes() for row in rows] == expected


def test_texts_of_channels_name_them_and_come_in_the_order_of_time() -> None:
    notes = [
        Annotation(5.0, 1.0, "spike", ("T7", "Fz")),
        Annotation(2.0, 0.0, "eyes open"),
        Annotation(7.0, 0.0, "sz", author="model:A"),
        Annotation(8.0, 0.0, "sz", author="model:A", review=Review("accepted", changed="2026-03-04T09:00:00Z")),
        Annotation(8.0, 0.0, "not one of @@EEG T3-Ref"),
        Annotation(9.0, 0.0, ""),
    ]
    assert file_annotations(notes, 0.25, {"T7": "EEG T3-Ref"}) == [
        (2.25, 0.0, ("eyes open",)),
        (5.25, 1.0, ("spike@@EEG T3-Ref", "spike@@Fz")),
        (7.25, 0.0, ("sz [model:A]",)),
        (8.25, 0.0, ("sz [model:A, changed by a person]",)),
        (8.25, 0.0, ("not one of @@EEG T3-Ref@@",)),
        (9.25, 0.0, (" ",)),
    ]


def test_header_texts_are_printable_ascii_of_eighty_characters_at_most() -> None:
    assert ascii_bytes("Müller\t\0") == b"M?ller??"
    assert recording_field(None) == b"Startdate X X X X"
    assert len(recording_field(None, "x" * 200)) == 80

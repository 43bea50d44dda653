"""Samples as integers: exact where they were integers once, and never further off than is said."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from analysis.edf_writing import DIGITAL_RANGE
from analysis.errors import RecordingError
from analysis.progress import Progress
from analysis.quantisation import Scaling, choose_scaling, refuse_loss, survey
from analysis.recording import Channel


def channel(name: str = "Cz", unit: str = "uV") -> Channel:
    return Channel(name, name, "eeg", unit, 100.0)


def written(scaling: Scaling, samples: np.ndarray) -> np.ndarray:
    """What a reader of the file makes of the digital values, in the unit of the recording."""
    (low, high), (first, last) = scaling.physical, scaling.digital
    digital = scaling.digital_values(samples).astype(np.float64)
    return ((digital - first) * (high - low) / (last - first) + low) / scaling.factor


@pytest.mark.parametrize(("sample_bytes", "step"), [(2, 0.1), (2, 0.0488281), (2, 1.0), (3, 0.03125), (3, 0.001)])
def test_multiples_of_a_step_are_kept_exactly(array_recording, sample_bytes: int, step: float) -> None:
    counts = np.random.default_rng(0).integers(-9000, 9000, 5000)
    samples = (counts * step).astype(np.float32)
    recording = array_recording([channel()], samples[None], 100.0)
    (found,) = survey(recording, Progress())
    assert found.step == pytest.approx(step, rel=1e-4)
    scaling = choose_scaling(found, "uV", sample_bytes)
    assert np.abs(written(scaling, samples) - samples).max() <= scaling.error + 2e-7 * np.abs(samples).max()
    assert len(np.unique(scaling.digital_values(samples))) == len(np.unique(counts))
    assert scaling.error <= step / 100


@example([50001.0, 0.5], 2, "uV")
@given(
    st.lists(st.floats(-1e5, 1e5, width=32), min_size=2, max_size=50),
    st.sampled_from([2, 3]),
    st.sampled_from(["uV", "T", "mmHg"]),
)
def test_no_sample_is_further_off_than_is_said(
    array_recording, values: list[float], sample_bytes: int, unit: str
) -> None:
    samples = np.array(values, np.float32)
    (found,) = survey(array_recording([channel()], samples[None], 100.0), Progress())
    scaling = choose_scaling(found, unit, sample_bytes)
    digital = scaling.digital_values(samples)
    assert digital.min() >= DIGITAL_RANGE[sample_bytes][0]
    assert digital.max() <= DIGITAL_RANGE[sample_bytes][1]
    slack = 1e-6 * max(1e-9, float(np.abs(samples).max())) + 1e-12
    assert np.abs(written(scaling, samples) - samples).max() <= scaling.error + slack


def test_missing_samples_are_told_and_stored_near_zero(array_recording) -> None:
    data = np.array([[5.0, np.nan, np.nan, 7.0, 9.0, np.nan], [np.nan] * 6], np.float32)
    recording = array_recording([channel("Cz"), channel("Pz")], data, 100.0)
    first, empty = survey(recording, Progress())
    assert first.missing == [(1, 3), (5, 6)]
    assert empty.missing == [(0, 6)]
    assert (first.low, first.high) == (5.0, 9.0)
    nearest = written(choose_scaling(first, "uV", 2), data[0])
    assert nearest[[1, 2, 5]].tolist() == [5.0] * 3  # zero lies outside what this channel's range can hold
    assert written(choose_scaling(empty, "uV", 2), data[1]) == pytest.approx(0, abs=1e-4)


def test_missing_samples_across_blocks_are_one_span(array_recording, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analysis.quantisation._BLOCK_SAMPLES", 4)
    data = np.array([[1.0, 2.0, np.nan, np.nan, np.nan, np.nan, 3.0, 4.0]], np.float32)
    (found,) = survey(array_recording([channel()], data, 100.0), Progress())
    assert found.missing == [(2, 6)]
    assert found.step == 1.0


@pytest.mark.parametrize(("unit", "prefix"), [("T", "f"), ("uV", ""), ("", ""), ("m/s", "")])
def test_small_values_of_other_units_get_a_prefix(array_recording, unit: str, prefix: str) -> None:
    data = (np.arange(100, dtype=np.float32) * 1e-14)[None]
    (found,) = survey(array_recording([channel(unit=unit)], data, 100.0), Progress())
    assert choose_scaling(found, unit, 3).prefix == prefix


def test_sixteen_bits_that_would_lose_are_refused_for_voltages_only(array_recording) -> None:
    data = np.stack([np.linspace(-1e5, 1e5, 100), np.linspace(-1e5, 1e5, 100)]).astype(np.float32)
    coarse = Scaling((-1e5, 1e5), DIGITAL_RANGE[2], "", 1.0, 1.5)
    with pytest.raises(RecordingError, match=r"round Cz by up to 1\.5 µV \(a\.edf\)"):
        refuse_loss([coarse], array_recording([channel()], data[:1], 100.0), "a.edf")
    refuse_loss([coarse], array_recording([channel("Pulse", "bpm")], data[:1], 100.0), "a.edf")

"""The model's input against closed forms, against whole-span processing, and against the published loader."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import h5py
import hdf5plugin  # noqa: F401  (registers the compression of the golden files)
import numpy as np
import pytest
from scipy.signal import butter, sosfreqz

from analysis.errors import AnalysisError
from analysis.preprocessing import OFFICIAL_RESAMPLING, Preprocessing, SpanSignal, median_of_channels
from analysis.survey import ScorableSpan

Make = Callable[..., object]
PLAIN = Preprocessing(highpass=None, lowpass=None, reference="none")


def sines(frequencies: list[float], amplitude: float, seconds: float, sfreq: float) -> np.ndarray:
    t = np.arange(round(seconds * sfreq)) / sfreq
    return amplitude * np.stack([np.sin(2 * np.pi * f * t) for f in frequencies])


def drifting(n_channels: int, seconds: float, sfreq: float) -> np.ndarray:
    """Noise on slow drifts and offsets of thousands of microvolts, as electrodes give them."""
    rng = np.random.default_rng(5)
    n = round(seconds * sfreq)
    walk = np.cumsum(rng.normal(0, 2, (n_channels, n)), axis=1)
    return rng.normal(0, 30, (n_channels, n)) + walk + 3000 * np.arange(1, n_channels + 1)[:, None]


@pytest.mark.parametrize("sfreq", [200.0, 256.0, 250.0, 199.9, 512.0, 1024.0, 2048.0])
def test_resampling_keeps_the_signal_and_its_times(make_recording: Make, sfreq: float) -> None:
    recording = make_recording(sines([3.0, 40.0], 50.0, 60, sfreq), sfreq)
    signal = SpanSignal(recording, ScorableSpan(0, recording.duration, 0), [0, 1], PLAIN)
    assert signal.first == 0
    assert signal.stop == int(recording.duration * 512 + 1e-6)
    inner = slice(2 * 512, 58 * 512)
    assert np.abs(signal.read(0, signal.stop) - sines([3.0, 40.0], 50.0, signal.stop / 512, 512))[:, inner].max() < 0.2


def test_frequencies_the_model_cannot_hold_are_removed_and_not_folded(make_recording: Make) -> None:
    recording = make_recording(sines([10.0, 400.0], 50.0, 20, 2048), 2048.0)
    data = SpanSignal(recording, ScorableSpan(0, 20, 0), [0, 1], PLAIN).read(512, 9728)
    assert np.abs(data[0]).max() == pytest.approx(50, abs=0.1)
    assert np.abs(data[1]).max() < 0.5


@pytest.mark.parametrize(("sfreq", "lowpass"), [(200.0, None), (240.0, None), (256.0, 120.0), (1024.0, 120.0)])
def test_the_band_is_a_butterworth_applied_twice(make_recording: Make, sfreq: float, lowpass: float | None) -> None:
    settings = Preprocessing(reference="none")
    assert settings.describe(sfreq)["lowpass"] == lowpass
    frequencies = [0.3, 0.5, 1.0, 30.0, 80.0]
    recording = make_recording(sines(frequencies, 100.0, 200, sfreq), sfreq)
    data = SpanSignal(recording, ScorableSpan(0, 200, 0), range(5), settings).read(60 * 512, 140 * 512)
    band = ([0.5, lowpass], "bandpass") if lowpass else (0.5, "highpass")
    _, response = sosfreqz(butter(4, *band, fs=512, output="sos"), worN=frequencies, fs=512)
    assert np.sqrt(2) * data.std(axis=1) == pytest.approx(100 * np.abs(response) ** 2, rel=0.005, abs=0.02)
    t = np.arange(60 * 512, 140 * 512) / 512
    in_phase = (data * np.sin(2 * np.pi * np.array(frequencies)[:, None] * t)).mean(axis=1) * 2
    assert in_phase == pytest.approx(100 * np.abs(response) ** 2, rel=0.005, abs=0.02)


@pytest.mark.parametrize("channels", [1, 2, 19, 46])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_median_is_that_of_numpy_to_the_last_bit(channels: int, dtype: type) -> None:
    data = np.random.default_rng(channels).normal(size=(channels, 500)).astype(dtype)
    data[0, 7], data[-1, 9], data[0, 11] = np.nan, np.inf, -np.inf
    np.testing.assert_array_equal(median_of_channels(data), np.median(data, axis=0), strict=True)


def test_the_reference_is_the_median_of_the_scored_channels(make_recording: Make) -> None:
    data = np.random.default_rng(0).normal(0, 20, (5, 5120))
    settings = Preprocessing(highpass=None, lowpass=None)
    got = SpanSignal(make_recording(data, 512.0), ScorableSpan(0, 10, 0), [0, 1, 3, 4], settings).read(0, 5120)
    kept = data[[0, 1, 3, 4]]
    assert got == pytest.approx(kept - np.median(kept, axis=0), abs=1e-4)


@pytest.mark.parametrize("sfreq", [200.0, 250.0, 512.0, 1000.0])
def test_blocks_give_what_the_whole_span_gives(
    make_recording: Make, monkeypatch: pytest.MonkeyPatch, sfreq: float
) -> None:
    recording = make_recording(drifting(5, 400, sfreq), sfreq)
    span = ScorableSpan(0, 400, 0)
    monkeypatch.setattr("analysis.preprocessing.BLOCK_SECONDS", 1e9)
    monkeypatch.setattr("analysis.preprocessing.BLOCK_VALUES", 1e12)
    whole = SpanSignal(recording, span, range(5), Preprocessing()).read(0, 400 * 512)
    monkeypatch.setattr("analysis.preprocessing.BLOCK_SECONDS", 60.0)
    recording.most_read = 0
    pieces = SpanSignal(recording, span, range(5), Preprocessing())
    assert np.abs(pieces.read(0, 400 * 512) - whole).max() < 0.01
    assert recording.most_read <= 101 * sfreq + 2000  # one block with its margins, whatever the length
    assert np.abs(pieces.read(77_777, 99_999) - whole[:, 77_777:99_999]).max() < 0.01


def test_nothing_beyond_the_span_is_looked_at(make_recording: Make) -> None:
    data = drifting(3, 100, 200.0)
    data[:, : 20 * 200] = np.nan
    data[:, 80 * 200 :] = np.nan
    inside = SpanSignal(make_recording(data, 200.0), ScorableSpan(20, 80, 0), range(3), Preprocessing())
    assert (inside.first, inside.stop) == (20 * 512, 80 * 512)
    alone = SpanSignal(make_recording(data[:, 4000:16000], 200.0), ScorableSpan(0, 60, 0), range(3), Preprocessing())
    assert inside.read(20 * 512, 80 * 512) == pytest.approx(alone.read(0, 60 * 512), abs=1e-3)


def test_a_span_shorter_than_the_margins_is_continued_by_what_there_is(make_recording: Make) -> None:
    recording = make_recording(500 + sines([10.0], 50.0, 5, 200), 200.0)
    settings = Preprocessing(reference="none")
    data = SpanSignal(recording, ScorableSpan(0, 5, 0), [0], settings).read(0, 2560)
    middle = slice(512, 2048)
    assert data[0, middle] == pytest.approx(sines([10.0], 50.0, 5, 512)[0, middle], abs=3)


def test_the_published_resampling_reproduces_the_published_windows(make_recording: Make, shared: Path) -> None:
    folder = shared / "parity/mvpformer/swec_like"
    parts = [h5py.File(folder / f"ID01/ID01_part_{i}.h5") for i in (1, 2)]
    recording = make_recording(np.concatenate([part["data/ieeg"][:] for part in parts], axis=1), 1024.0)
    signal = SpanSignal(recording, ScorableSpan(0, recording.duration, 0), range(3), OFFICIAL_RESAMPLING)
    expected = np.load(folder / "expected.npz")
    for window, index in zip(expected["windows"], expected["window_index"], strict=True):
        first = int(expected["window_begin_seconds"][index] * 512)
        got = signal.read(first, first + 3 * 2560).reshape(3, 3, 2560).transpose(1, 0, 2)  # (T, C, L)
        assert np.abs(got - window).max() < 1e-4


@pytest.mark.parametrize("reference", ["median", "average"])
def test_the_parts_of_the_reference_add_up_to_what_it_took_off(make_recording: Make, reference: str) -> None:
    recording, span = make_recording(drifting(6, 60, 256.0), 256.0), ScorableSpan(0, 60, 0)
    referenced = SpanSignal(recording, span, range(6), Preprocessing(reference=reference))
    bare = SpanSignal(recording, span, range(6), Preprocessing(reference="none"))
    parts = referenced.reference_parts(10 * 512, 15 * 512)
    took_off = bare.read(10 * 512, 15 * 512) - referenced.read(10 * 512, 15 * 512)
    assert np.abs(parts).max() > 1
    np.testing.assert_allclose(np.broadcast_to(parts.sum(0), took_off.shape), took_off, atol=0.002)
    assert not bare.reference_parts(0, 512).any()


def test_a_checkpoint_may_state_its_own_settings() -> None:
    stated = {"sampling_rate": 256, "highpass": 1.0, "lowpass": None, "order": 2, "reference": "none", "unit": "uV"}
    assert Preprocessing.from_checkpoint(stated) == Preprocessing(256.0, 1.0, None, 2, "none")
    assert Preprocessing.from_checkpoint({}) == Preprocessing()


@pytest.mark.parametrize(
    "stated", [{"reference": "earlobes"}, {"unit": "V"}, {"normalisation": "z-score"}, {"resampling": "nearest"}]
)
def test_settings_that_are_not_known_are_refused(stated: dict[str, str]) -> None:
    with pytest.raises(AnalysisError, match=next(iter(stated.values()))):
        Preprocessing.from_checkpoint(stated)


def test_notches_take_the_mains_out_and_leave_the_rest(make_recording: Make) -> None:
    settings = Preprocessing(200.0, 0.5, 99.5, 4, "none", "polyphase", (50.0, 60.0))
    recording = make_recording(sines([50.0, 60.0, 40.0, 75.0], 100.0, 120, 256.0), 256.0)
    data = SpanSignal(recording, ScorableSpan(0, 120, 0), range(4), settings).read(20 * 200, 100 * 200)
    amplitude = np.sqrt(2) * data.std(axis=1)
    assert (amplitude[:2] < 0.05).all()
    assert amplitude[2:] == pytest.approx([100, 100], rel=0.02)
    assert settings.describe(100.0)["notch"] == []


def test_a_linear_phase_band_passes_and_stops_as_firwin_says(make_recording: Make) -> None:
    from scipy.signal import firwin, freqz

    settings = Preprocessing(256.0, 1.0, 100.0, reference="none", method="fir")
    frequencies = [0.2, 3.0, 40.0, 95.0, 110.0]
    recording = make_recording(sines(frequencies, 100.0, 60, 256.0), 256.0)
    data = SpanSignal(recording, ScorableSpan(0, 60, 0), range(5), settings).read(20 * 256, 40 * 256)
    taps = firwin(int(3.3 * 256) // 2 * 2 + 1, [1.0, 100.0], pass_zero="bandpass", fs=256)
    response = np.abs(freqz(taps, worN=frequencies, fs=256)[1])
    assert np.sqrt(2) * data.std(axis=1) == pytest.approx(100 * response, rel=0.002, abs=0.3)
    t = np.arange(20 * 256, 40 * 256) / 256
    in_phase = (data * np.sin(2 * np.pi * np.array(frequencies)[:, None] * t)).mean(axis=1) * 2
    assert in_phase[1:4] == pytest.approx(100 * response[1:4], rel=0.002)

"""Attribution on the recording: completeness through bins and references, against closed forms in float64."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.analyses import Analysis, NamedArray
from analysis.attribution_maps import ABSOLUTE, SIGNED, attribution_map, binned, gradient_of, ordered, unreferenced
from analysis.preprocessing import median_parts
from analysis.results import AnalysisRequest


def made(kind: str, facts: dict, arrays: dict, count: int) -> Analysis:
    labels = {"channel": ("Fp1", "C3", "O1")}
    onsets = NamedArray(2.0 * np.arange(count), ("window",), "s", "onset")
    request = AnalysisRequest(kind, "id", ("digest",))
    facts = {"first_window": 10.0, "window_seconds": 2.0, **facts}
    return Analysis(request, "", "1", arrays={"window_onset": onsets, **arrays}, facts=facts, labels=labels)


def attributed(windows: int = 1, recorded: bool = False) -> Analysis:
    """Windows of 2 s at 100 Hz from 10 s on."""
    values = np.random.default_rng(8).normal(size=(2, windows, 3, 200))
    axes = ("window", "channel", "sample")
    arrays = {"attribution": NamedArray(values[0], axes, "score", "part")}
    if recorded:
        arrays["recorded"] = NamedArray(values[1], axes, "score", "part")
    return made("integrated-gradients", {"sfreq": 100.0}, arrays, windows)


def evidence(windows: int) -> Analysis:
    """Two tokens of 1 s a window."""
    values = np.random.default_rng(9).uniform(size=(windows, 3, 2))
    onsets = 2.0 * np.arange(windows)[:, None] + [0.0, 1.0]
    arrays = {
        "evidence": NamedArray(values, ("window", "channel", "patch"), "1", "evidence"),
        "patch_onset": NamedArray(onsets, ("window", "patch"), "s", "begin"),
    }
    return made("grad-cam", {"patch_seconds": 1.0}, arrays, windows)


@pytest.mark.parametrize(("n", "sfreq", "seconds"), [(1000, 200.0, 0.05), (2560, 512.0, 0.05), (77, 7.3, 0.4)])
def test_bins_lose_nothing(n: int, sfreq: float, seconds: float) -> None:
    values = np.random.default_rng(1).normal(size=(2, 3, n))
    sums, starts, widths = binned(values, sfreq, seconds)
    np.testing.assert_allclose(sums.sum(-1), values.sum(-1), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(starts[1:], (starts + widths)[:-1], rtol=1e-12)
    assert starts[0] == 0
    assert starts[-1] + widths[-1] == pytest.approx(n / sfreq, rel=1e-12)
    assert np.abs(widths[:-1] - seconds).max() <= 1 / sfreq


def test_bins_finer_than_a_sample_are_samples() -> None:
    sums, starts, widths = binned(np.arange(4.0), 10.0, 0.01)
    np.testing.assert_array_equal(sums, [0, 1, 2, 3])
    np.testing.assert_allclose(starts, [0, 0.1, 0.2, 0.3])
    np.testing.assert_allclose(widths, 0.1)


@pytest.mark.parametrize("channels", [1, 2, 5, 8])
def test_parts_of_the_median_are_of_the_middle_channels_and_add_up(channels: int) -> None:
    data = np.random.default_rng(channels).normal(size=(channels, 50))
    parts = median_parts(data)
    np.testing.assert_allclose(parts.sum(0), np.median(data, axis=0), rtol=1e-12, atol=1e-15)
    assert (np.count_nonzero(parts, axis=0) == (1 if channels % 2 else 2)).all()


def test_a_linear_model_behind_a_mean_reference_is_attributed_in_closed_form() -> None:
    """f(x) = sum w (x - mean x) has the gradient w - mean w with respect to x."""
    rng = np.random.default_rng(3)
    weights, x = rng.normal(size=(6, 40)), rng.normal(size=(6, 40))
    parts = x / 6
    found = unreferenced(weights, weights * (x - x.mean(0)), parts)
    np.testing.assert_allclose(found, (weights - weights.mean(0)) * x, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(found.sum(), (weights * (x - x.mean(0))).sum(), rtol=1e-12)


def test_a_linear_model_behind_a_median_reference_is_attributed_as_finite_differences_say() -> None:
    rng = np.random.default_rng(4)
    weights, x = rng.normal(size=(5, 12)), rng.normal(size=(5, 12))

    def score(signal: np.ndarray) -> float:
        return float((weights * (signal - np.median(signal, axis=0))).sum())

    found = unreferenced(weights, weights * (x - np.median(x, axis=0)), median_parts(x))
    assert found.sum() == pytest.approx(score(x), rel=1e-12)
    step = 1e-6
    for place in [(0, 0), (3, 7), (4, 11)]:
        more = x.copy()
        more[place] += step
        assert found[place] == pytest.approx((score(more) - score(x)) / step * x[place], rel=1e-6, abs=1e-8)


def test_a_filter_after_the_reference_keeps_the_sum() -> None:
    """The parts go through the filter one by one, which is why their sum is the filtered reference."""
    rng = np.random.default_rng(5)
    x, weights = rng.normal(size=(7, 64)), rng.normal(size=(7, 64))
    kernel = rng.normal(size=5)

    def filtered(signal: np.ndarray) -> np.ndarray:
        return np.stack([np.convolve(row, kernel, "same") for row in signal])

    seen = filtered(x - np.median(x, axis=0))
    found = unreferenced(weights, weights * seen, filtered(median_parts(x)))
    assert found.sum() == pytest.approx((weights * seen).sum(), rel=1e-12)
    # And what was attributed to single samples stays there, but for the reference.
    own = weights * filtered(x)
    assert (found + filtered(median_parts(x)) * weights.sum(0)) == pytest.approx(own, rel=1e-10, abs=1e-12)


def test_the_gradient_comes_back_from_its_product() -> None:
    rng = np.random.default_rng(6)
    gradient, difference = rng.normal(size=(2, 3, 9))
    difference[1, 4] = 0
    found = gradient_of(gradient * difference, difference)
    expected = gradient.copy()
    expected[1, 4] = 0
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_a_map_of_an_analysis_adds_up_to_the_change_of_the_score() -> None:
    result = attributed(windows=2)
    values = result.values("attribution").astype(np.float64)
    found = attribution_map(result)
    assert found.is_signed
    assert (found.unit, found.sum_unit) == ("score/s", "score")
    np.testing.assert_allclose((found.values * found.widths).sum(), values.sum(), rtol=1e-5)
    np.testing.assert_allclose(found.over(10, 14), values.sum((0, 2)), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found.over(12, 14), values[1].sum(-1), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found.over(10.5, 11), values[0, :, 50:100].sum(-1), rtol=1e-4, atol=1e-5)
    assert np.isnan(found.over(20, 30)).all()
    np.testing.assert_allclose(found.at(12.07), values[1, :, 5:10].sum(-1) / 0.05, rtol=1e-4, atol=1e-5)
    assert found.at(9.9) is None
    assert found.at(14.0) is None


def test_a_map_on_the_channels_as_recorded_goes_first() -> None:
    result = attributed(recorded=True)
    found = attribution_map(result)
    np.testing.assert_allclose(found.over(0, 99), result.values("recorded").sum((0, 2)), rtol=1e-5, atol=1e-6)


def test_evidence_of_tokens_is_averaged() -> None:
    result = evidence(windows=2)
    found = attribution_map(result)
    values = result.values("evidence")
    assert not found.is_signed
    np.testing.assert_allclose(found.times, [10, 11, 12, 13])
    np.testing.assert_allclose(found.over(10, 14), values.mean((0, 2)), rtol=1e-6)
    np.testing.assert_allclose(found.over(11.5, 12.5), (values[0, :, 1] + values[1, :, 0]) / 2, rtol=1e-6)
    np.testing.assert_allclose(found.at(13.2), values[1, :, 1])


def occluded(by: str) -> Analysis:
    """Two windows of 1.5 s, whose second second is half as long."""
    rng = np.random.default_rng(10)
    arrays = {
        "both": ("by_second", NamedArray(rng.normal(size=(2, 3, 2)), ("window", "channel", "second"), "score", "fall")),
        "channel": ("by_channel", NamedArray(rng.normal(size=(2, 3)), ("window", "channel"), "score", "fall")),
        "second": ("whole_second", NamedArray(rng.normal(size=(2, 2)), ("window", "second"), "score", "fall")),
    }
    return made("occlusion", {"window_seconds": 1.5}, dict([arrays[by]]), 2)


def test_falls_of_seconds_and_of_channels_are_sums_too() -> None:
    result = occluded("both")
    found, values = attribution_map(result), result.values("by_second")
    np.testing.assert_allclose(found.times, [10, 11, 12, 13])
    np.testing.assert_allclose(found.widths, [1, 0.5, 1, 0.5])
    np.testing.assert_allclose(found.over(10, 14), values.sum((0, 2)), rtol=1e-6)
    np.testing.assert_allclose(found.over(11.25, 12), values[0, :, 1] / 2, rtol=1e-6)
    result = occluded("channel")
    np.testing.assert_allclose(attribution_map(result).over(12, 13.5), result.values("by_channel")[1], rtol=1e-6)
    assert attribution_map(occluded("second")) is None


def test_a_part_has_its_sign_or_its_size() -> None:
    found = attribution_map(attributed())
    signed, has_sign = found.shown(SIGNED)
    size, size_has_sign = found.shown(ABSOLUTE)
    np.testing.assert_array_equal(size, np.abs(signed))
    assert (has_sign, size_has_sign) == (True, False)
    assert attribution_map(evidence(1)).shown(SIGNED)[1] is False


def test_the_largest_amounts_come_first_and_the_unknown_not() -> None:
    assert ordered("abcd", np.array([0.5, -2.0, np.nan, 1.0])) == [1, 3, 0]

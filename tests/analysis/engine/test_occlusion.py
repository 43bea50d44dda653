"""Occlusion against captum's ablation of the same parts, and what is told of it."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest
import torch
from captum.attr import FeatureAblation
from torch import Tensor

from analysis.engine import occlusion
from analysis.engine.explained import Explained
from analysis.engine.occlusion import keep_one, occlude, occlude_parts, occlude_seconds, parts_by
from analysis.progress import Cancelled, Progress

SFREQ = 10.0


def score(x: Tensor) -> Tensor:
    """Channels meet, and times too, so that no part stands for itself."""
    value = torch.tanh(x[:, 0] * x[:, 1]).sum(-1) + x[:, 2].cumsum(-1).sin().mean(-1) * x[:, 3].square().mean(-1)
    return torch.stack([-value, value], 1)


@pytest.fixture
def window() -> Explained:
    signal = torch.randn(1, 4, 34, generator=torch.Generator().manual_seed(0))  # the last second is short
    one = torch.ones(4, 1)
    return Explained(signal, one, torch.zeros_like(one), score, nullcontext, SFREQ, 0.0)


@pytest.fixture
def baseline() -> Tensor:
    return torch.randn(1, 4, 34, generator=torch.Generator().manual_seed(1))


def mask_of(by: str) -> Tensor:
    channels, seconds = torch.arange(4)[:, None].expand(4, 34), (torch.arange(34) // 10).expand(4, 34)
    return {"channel": channels, "second": seconds, "both": channels * 4 + seconds}[by][None]


@pytest.mark.parametrize("by", ["channel", "second", "both"])
@pytest.mark.parametrize("together", [1, 10_000])
def test_parts_are_replaced_as_captum_does(
    window: Explained, baseline: Tensor, by: str, together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(occlusion, "_ON_PROCESSOR", together)
    found = occlude_parts(window, baseline, 1, parts_by(window, by))
    mask = mask_of(by)
    theirs = FeatureAblation(score).attribute(window.signal, baseline, target=1, feature_mask=mask)
    expected = [float(theirs[mask == part][0]) for part in range(int(mask.max()) + 1)]
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-5)
    assert len(found) == {"channel": 4, "second": 4, "both": 16}[by]


def test_channels_and_seconds_by_name(window: Explained, baseline: Tensor) -> None:
    assert torch.equal(occlude(window, baseline, 1), occlude_parts(window, baseline, 1, parts_by(window, "channel")))
    by_second = occlude_parts(window, baseline, 1, parts_by(window, "second"))
    assert torch.equal(occlude_seconds(window, baseline, 1), by_second)


def test_one_channel_kept_is_the_rest_replaced(window: Explained, baseline: Tensor) -> None:
    found = keep_one(window, baseline, 1)
    for channel in range(4):
        mixed = baseline.clone()
        mixed[:, channel] = window.signal[:, channel]
        assert float(found[channel]) == pytest.approx(float(score(mixed)[0, 1] - score(baseline)[0, 1]), abs=1e-5)


def test_a_part_that_is_the_baselines_changes_nothing(window: Explained, baseline: Tensor) -> None:
    baseline[:, 2, 10:20] = window.signal[:, 2, 10:20]
    found = occlude_parts(window, baseline, 1, parts_by(window, "both")).view(4, 4)
    assert found[2, 1] == 0
    assert (found != 0).sum() == 15


def test_work_is_told_and_can_be_cancelled(
    window: Explained, baseline: Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(occlusion, "_ON_PROCESSOR", 3 * window.signal.numel())
    told: list[tuple[float, float]] = []

    class Impatient(Progress):
        def report(self, done: float, total: float, message: str = "") -> None:
            told.append((done, total))
            if done >= 6:
                raise Cancelled

    with pytest.raises(Cancelled):
        occlude_parts(window, baseline, 1, parts_by(window, "both"), Impatient())
    assert told == [(0, 16), (3, 16), (6, 16)]

"""The window rule in closed cases, and the causal rule against the window rule over the same samples."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from models.neurduo.normalisation import TrailingNormaliser, common_scale, normalise_window


def draw(steps: int, channels: int = 4) -> Tensor:
    generator = torch.Generator().manual_seed(steps)
    offsets = torch.tensor([0.0, 500.0, -2000.0, 3.0])[:channels, None]
    scales = torch.tensor([1.0, 20.0, 5.0, 300.0])[:channels, None]
    return torch.randn(steps, channels, 128, generator=generator) * scales + offsets


@pytest.mark.parametrize(
    ("deviations", "scale"),
    [
        ([3.0, 1.0, 2.0], 2.0),
        ([4.0, 1.0, 2.0, 3.0], 2.0),  # of an even count the smaller of the middle two
        ([0.0, 0.0, 5.0, 1.0], 1.0),  # flat channels do not count
        ([0.0, 0.0], 1.0),  # nothing but flat channels: centre only
        ([1e-20, 0.0], 1e-12),
    ],
)
def test_the_common_scale(deviations: list[float], scale: float) -> None:
    assert common_scale(torch.tensor(deviations)).item() == pytest.approx(scale)


def test_relative_amplitudes_survive_the_window_rule() -> None:
    signal = draw(10)[:, :3].transpose(0, 1).reshape(3, -1)
    made = normalise_window(signal)
    torch.testing.assert_close(made.mean(-1), torch.zeros(3), rtol=0, atol=1e-3)
    torch.testing.assert_close(made.std(-1) * 5.0, signal.std(-1), rtol=0.1, atol=0)
    assert made.std(-1).sort().values[1] == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("step", [0, 1, 30, 63, 64, 100])
def test_the_causal_rule_is_the_window_rule_of_the_last_chunks(step: int) -> None:
    chunks = draw(101)
    made = TrailingNormaliser(4, 128).run(chunks)[step]
    window = chunks[max(0, step - 63) : step + 1].transpose(0, 1).reshape(4, -1).double()
    torch.testing.assert_close(made, normalise_window(window)[:, -128:].float(), rtol=1e-5, atol=1e-5)


def test_the_future_changes_nothing() -> None:
    chunks = draw(50)
    other = chunks.clone()
    other[30:] *= 100
    first, second = (TrailingNormaliser(4, 128).run(c) for c in (chunks, other))
    assert torch.equal(first[:30], second[:30])
    assert not torch.equal(first[30], second[30])


@pytest.mark.parametrize("cuts", [(1,) * 90, (64, 26), (10, 70, 10)])
def test_it_may_be_fed_in_any_pieces_and_saved_in_between(cuts: tuple[int, ...]) -> None:
    chunks = draw(90)
    expected = TrailingNormaliser(4, 128).run(chunks)
    normaliser, parts, sizes = TrailingNormaliser(4, 128), [], set()
    for part in chunks.split(list(cuts)):
        saved = normaliser.state_dict()
        sizes.add(sum(tensor.numel() for tensor in saved.values()))
        normaliser = TrailingNormaliser(4, 128)
        normaliser.load_state_dict(saved)
        parts.append(normaliser.run(part))
    torch.testing.assert_close(torch.cat(parts), expected, rtol=1e-6, atol=1e-6)
    assert len(sizes) == 1
    normaliser.reset()
    torch.testing.assert_close(normaliser.run(chunks), expected, rtol=0, atol=0)


def test_a_flat_channel_far_from_zero_stays_at_zero() -> None:
    chunks = draw(5, 2)
    chunks[:, 1] = 1234.5678
    made = TrailingNormaliser(2, 128).run(chunks)
    assert (made[:, 1] == 0).all()
    assert made[-1, 0].std() == pytest.approx(1.0, rel=0.2)

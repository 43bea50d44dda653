"""MVPA: the split form and the plain form against the formulas, their cost, and dropout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from models.mvpformer import attention
from models.mvpformer.attention import (
    HeadInputs,
    MVPAttention,
    PlainAttention,
    factorised_attention,
    structured_dropout,
)
from models.mvpformer.config import MVPFormerConfig

# (segments, channels, window): one of each, below, at and beyond the window, and more channels than segments.
SHAPES = [
    (1, 1, 10),
    (1, 4, 10),
    (30, 1, 10),
    (11, 3, 10),
    (12, 3, 10),
    (14, 7, 10),
    (25, 5, 10),
    (9, 12, 3),
    (5, 2, 0),
]


def random_layer(window: int, dropout: float = 0.0) -> MVPAttention:
    """A layer of 6 query heads over 2 key/value heads, width 4 each, every weight large enough to matter."""
    sizes = {"n_embd": 24, "n_layer": 1, "n_head": 6, "n_head_kv": 2, "n_inner": 8}
    layer = MVPAttention(MVPFormerConfig(**sizes, window_segments=window, dropout=dropout)).double()
    generator = torch.Generator().manual_seed(11)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator, dtype=torch.float64) * 0.4)
    return layer


def random_heads(n_segments: int, n_channels: int, size: float = 1.0, n_queries: int | None = None) -> HeadInputs:
    """Heads of batch 2, 2 key/value heads of 3 query heads each, width 8."""
    generator = torch.Generator().manual_seed(7)

    def draw(*shape: int) -> Tensor:
        return size * torch.randn(*shape, generator=generator, dtype=torch.float64)

    query = draw(2, 2, n_segments, 3, n_channels, 8)
    rest = (draw(2, 2, n_segments, n_channels, 8), draw(2, 2, n_segments, n_channels, 8))
    tables = (draw(2, n_segments, 8), draw(2, n_channels, 8), draw(3, 2, 8))
    return HeadInputs(query[:, :, -(n_queries or n_segments) :], *rest, *tables)


def plain_values(heads: HeadInputs, window: int) -> Tensor:
    """Attended values from the plain form's probabilities."""
    batch, n_kv, n_queries, n_group, n_channels, _ = heads.query.shape
    weights = PlainAttention(window)(heads).probabilities.view(batch, n_kv, n_group, n_queries, n_channels, -1)
    return torch.einsum("bkgrcn,bknd->bkrgcd", weights, heads.value.flatten(2, 3))


@pytest.mark.parametrize(("n_segments", "n_channels", "window"), SHAPES)
def test_both_forms_follow_the_formulas(
    n_segments: int, n_channels: int, window: int, direct_attention: Callable[..., Tensor]
) -> None:
    layer = random_layer(window).eval()
    x = torch.randn(2, n_segments, n_channels, 24, dtype=torch.float64)
    rows = torch.randn(n_segments, 24, dtype=torch.float64), torch.randn(n_channels, 24, dtype=torch.float64)
    with torch.no_grad():
        expected = direct_attention(layer, x, *rows, window)
        torch.testing.assert_close(layer(x, *rows, plain=True), expected, rtol=0, atol=1e-12)
        torch.testing.assert_close(layer(x, *rows), expected, rtol=0, atol=1e-12)
        torch.testing.assert_close(layer(x, *rows, last_only=True), expected[:, -1:], rtol=0, atol=1e-12)


@pytest.mark.parametrize(("n_segments", "n_channels", "window"), SHAPES)
@pytest.mark.parametrize("size", [1.0, 12.0])
def test_split_form_equals_plain_form(n_segments: int, n_channels: int, window: int, size: float) -> None:
    """At size 12 the scores spread over thousands: nothing may overflow, and all weight may lie outside the window."""
    heads = random_heads(n_segments, n_channels, size)
    split = factorised_attention(heads, window)
    torch.testing.assert_close(split, plain_values(heads, window), rtol=0, atol=1e-12 * size)


@pytest.mark.parametrize("summed_first", [1, 5, 100])
@pytest.mark.parametrize("room", [1, 2, 3, 1000])
def test_blocks_of_any_size_give_values_and_gradients_of_the_plain_form(
    monkeypatch: pytest.MonkeyPatch, room: int, summed_first: int
) -> None:
    """Blocks of 1, 2 and 3 segments, and as many as the window has; outside it, both ways and one after the other."""
    monkeypatch.setattr(attention, "BLOCK_ELEMENTS", room * 3 * 4 * 4 * 8)  # 3 queries of each of 4 channels, width 8
    monkeypatch.setattr(attention, "SUMMED_FIRST", summed_first)
    found = []
    for form in (factorised_attention, plain_values):
        heads = HeadInputs(*(part.clone().requires_grad_() for part in random_heads(18, 4)))
        out = form(heads, 3)
        out.sin().sum().backward()
        found.append([out.detach(), *(part.grad for part in heads)])
    for split, plain in zip(*found, strict=True):
        torch.testing.assert_close(split, plain, rtol=0, atol=1e-11)


def test_float32_agrees_with_float64() -> None:
    heads = random_heads(25, 6)
    single = HeadInputs(*(part.float() for part in heads))
    torch.testing.assert_close(factorised_attention(single, 10).double(), plain_values(heads, 10), rtol=0, atol=2e-6)


def test_gradients_of_both_forms_agree() -> None:
    grads = []
    for form in (factorised_attention, plain_values):
        heads = HeadInputs(*(part.clone().requires_grad_() for part in random_heads(8, 3)))
        form(heads, 2).square().sum().backward()
        grads.append([part.grad for part in heads])
    for split, plain in zip(*grads, strict=True):
        torch.testing.assert_close(split, plain, rtol=0, atol=1e-10)


def test_parts_add_up_to_the_probabilities() -> None:
    heads = random_heads(14, 4)
    parts = PlainAttention(10)(heads)
    segment, channel = torch.arange(56) // 4, torch.arange(56) % 4
    score = (parts.content + parts.time[..., segment] + parts.channel[..., channel]) / 8**0.5
    score = score.masked_fill(segment[None, :] > segment[:, None], -torch.inf)
    torch.testing.assert_close(score.softmax(-1), parts.probabilities, rtol=0, atol=1e-14)
    outside = (segment[:, None] - segment[None, :] > 10) & (segment[:, None] < 13)
    assert (parts.content[..., outside] == 0).all()
    assert (parts.content[..., 52:, :4] != 0).all(), "the last segment is exempt from the window"


class LargestTensor(TorchDispatchMode):
    """Notes the most elements that any operation gives out."""

    def __init__(self) -> None:
        super().__init__()
        self.numel = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        self.numel = max([self.numel, *(leaf.numel() for leaf in tree_leaves(out) if isinstance(leaf, Tensor))])
        return out


def largest_tensor(form: Callable[[HeadInputs, int], Any], n_segments: int) -> int:
    with LargestTensor() as largest:
        form(random_heads(n_segments, 6), 10)
    return largest.numel


def test_memory_grows_with_the_window_not_with_its_square() -> None:
    sizes = [largest_tensor(factorised_attention, n_segments) for n_segments in (20, 40, 80)]
    assert sizes[1] <= 2.2 * sizes[0]
    assert sizes[2] <= 2.2 * sizes[1]
    scores = 2 * 6 * (80 * 6) ** 2
    assert sizes[2] < scores / 25
    assert largest_tensor(lambda heads, window: PlainAttention(window)(heads), 80) >= scores, "the measure sees scores"


def test_dropout_drops_whole_segments_and_channels() -> None:
    torch.manual_seed(0)
    factors = torch.stack([structured_dropout(40, 30, 0.19, torch.device("cpu")) for _ in range(400)])
    kept = factors > 0
    assert torch.equal(kept, kept.any(2, keepdim=True) & kept.any(1, keepdim=True))
    assert torch.allclose(factors[kept], torch.tensor(1 / 0.81))
    # Each axis drops 1 - sqrt(0.81) = 0.1; 16000 and 12000 draws, so four standard errors are 0.0095 and 0.011.
    assert kept.any(2).float().mean().item() == pytest.approx(0.9, abs=0.0095)
    assert kept.any(1).float().mean().item() == pytest.approx(0.9, abs=0.011)


def test_training_drops_the_same_keys_in_both_forms() -> None:
    layer = random_layer(window=3, dropout=0.5).train()
    x = torch.randn(1, 9, 5, 24, dtype=torch.float64)
    rows = torch.randn(9, 24, dtype=torch.float64), torch.randn(5, 24, dtype=torch.float64)

    def run(**options: Any) -> Tensor:
        torch.manual_seed(3)
        return layer(x, *rows, **options)

    with torch.no_grad():
        dropped = run()
        torch.testing.assert_close(dropped, run(plain=True), rtol=0, atol=1e-12)
        # The factors multiply the probabilities after the softmax.
        torch.manual_seed(3)
        factors = structured_dropout(9, 5, 0.5, x.device).double().flatten()
        weights = layer.plain_form(layer.split_heads(x, *rows)).probabilities * factors
        value = layer.key_value(x)[..., -8:].unflatten(-1, (2, 4)).repeat_interleave(3, dim=-2).flatten(1, 2)
        expected = layer.output(torch.einsum("bhqn,bnhd->bqhd", weights, value).flatten(2)).view(x.shape)
        torch.testing.assert_close(dropped, expected, rtol=0, atol=1e-12)
        assert not torch.allclose(dropped, layer.eval()(x, *rows))

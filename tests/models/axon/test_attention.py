"""What axis attention may and may not see (spec section 9), and that its fast form gives the plain form's numbers."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from models.axon.attention import Attend, window_bias
from models.axon.config import VARIANTS
from models.axon.interventions import force

ONLY_TIME, ONLY_SPACE = [1.0, 0.0], [0.0, 1.0]


def _naive(y: Tensor, attn: Any, channels_seen: str, radius: int | None = None) -> Tensor:
    """Attention token by token, in loops, in float64, straight from its definition."""
    qkv, out = (
        (attn.temporal_qkv, attn.temporal_out) if channels_seen == "own" else (attn.spatial_qkv, attn.spatial_out)
    )
    q, k, v = (part.double() for part in qkv(y).chunk(3, -1))
    batch, n_channels, n_patches, width = y.shape
    heads = attn.config.num_heads
    size = width // heads
    result = torch.zeros_like(q)
    for b in range(batch):
        for c in range(n_channels):
            for t in range(n_patches):
                if channels_seen == "own":
                    seen = [(c, u) for u in range(n_patches) if radius is None or abs(u - t) <= radius]
                else:
                    seen = [(e, t) for e in range(n_channels)]
                for h in range(heads):
                    part = slice(h * size, (h + 1) * size)
                    keys = torch.stack([k[b, e, u, part] for e, u in seen])
                    values = torch.stack([v[b, e, u, part] for e, u in seen])
                    weights = (keys @ q[b, c, t, part] / size**0.5).softmax(0)
                    result[b, c, t, part] = weights @ values
    return out(result.float())


@pytest.mark.parametrize("plain", [False, True])
def test_both_paths_are_what_their_definition_says(model: Any, plain: bool) -> None:
    attn = model.encoder.blocks[0].attn
    y = torch.randn(1, 3, 9, 32, generator=torch.Generator().manual_seed(4))
    with torch.no_grad():
        scale = attn.scale_gate(y)
        time = scale[..., :1] * _naive(y, attn, "own", 5) + scale[..., 1:] * _naive(y, attn, "own")
        space = _naive(y, attn, "all")
        torch.testing.assert_close(attn.over_time(y, None, plain), time, rtol=0, atol=1e-5)
        torch.testing.assert_close(attn.over_space(y, None, None, plain), space, rtol=0, atol=1e-5)
        gate = attn.axis_gate(y)
        mixed = gate[..., :1] * time + gate[..., 1:] * space
        torch.testing.assert_close(attn(y, plain=plain), mixed, rtol=0, atol=1e-5)
        torch.testing.assert_close(gate.sum(-1), torch.ones(1, 3, 9), rtol=0, atol=1e-6)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_fused_form_gives_the_plain_form(make: Any, signal: Tensor, positions: Tensor, variant: str) -> None:
    model = make(variant=variant)
    missing = torch.zeros(2, 5, dtype=torch.bool)
    missing[0, 2] = True
    with torch.no_grad():
        for absent in (None, missing):
            fused = model.tokens(signal, positions, absent)
            plain = model.tokens(signal, positions, absent, plain=True)
            torch.testing.assert_close(fused, plain, rtol=0, atol=2e-5)


@pytest.mark.parametrize("weights", [ONLY_TIME, ONLY_SPACE])
def test_a_forced_gate_leaves_the_single_path(model: Any, weights: list[float]) -> None:
    attn = model.encoder.blocks[0].attn
    y = torch.randn(2, 4, 8, 32)
    with torch.no_grad(), force(model, weights):
        expected = attn.over_time(y, None) if weights == ONLY_TIME else attn.over_space(y, None, None)
        torch.testing.assert_close(attn(y), expected, rtol=0, atol=1e-6)


def _reach(model: Any, layers: int) -> Tensor:
    """Which tokens of the grid (C T, C T) influence which after so many blocks, by the gradient."""
    x = torch.randn(1, 3, 9, 32, requires_grad=True)
    out = x
    for block in model.encoder.blocks[:layers]:
        out = block(out, None, None, False)
    rows = [torch.autograd.grad(out[0, c, t].sum(), x, retain_graph=True)[0] for c in range(3) for t in range(9)]
    return torch.stack([row[0].abs().sum(-1).flatten() for row in rows])


def test_two_layers_reach_every_token_and_one_does_not(model: Any) -> None:
    token = torch.arange(27)
    on_axis = (token[:, None] // 9 == token[None] // 9) | (token[:, None] % 9 == token[None] % 9)
    one, two = _reach(model, 1), _reach(model, 2)
    assert ((one > 0) == on_axis).all()
    assert (one[~on_axis] == 0).all()
    assert (two > 0).all()


def test_only_time_hears_no_other_channel_and_only_space_no_other_moment(
    model: Any, signal: Tensor, positions: Tensor
) -> None:
    changed = signal.clone()
    changed[:, 2] += torch.randn(2, 6000)
    later = signal.clone()
    later[..., 3800:4200] += torch.randn(2, 5, 400)
    with torch.no_grad(), force(model, ONLY_TIME):
        before, after = model.tokens(signal, positions), model.tokens(changed, positions)
    assert torch.equal(before[:, [0, 1, 3, 4]], after[:, [0, 1, 3, 4]])
    assert not torch.equal(before[:, 2], after[:, 2])
    with torch.no_grad(), force(model, ONLY_SPACE):
        # After the z-score, which looks at the whole window.
        embed, go = model.encoder.embed, model.encoder.contextualise
        x, z = embed(signal, positions.expand(2, -1, -1)), embed(later, positions.expand(2, -1, -1))
        x_with_z = x.clone()
        x_with_z[:, :, 22] = z[:, :, 22]
        places = positions.expand(2, -1, -1)
        before, after = go(x, places), go(x_with_z, places)
    same = [t for t in range(33) if t != 22]
    assert torch.equal(before[:, :, same], after[:, :, same])
    assert not torch.equal(before[:, :, 22], after[:, :, 22])


@pytest.mark.parametrize("variant", VARIANTS)
def test_permuting_channels_with_their_positions_permutes_the_tokens(
    make: Any, signal: Tensor, positions: Tensor, variant: str
) -> None:
    model = make(variant=variant)
    order = torch.tensor([3, 0, 4, 1, 2])
    with torch.no_grad():
        straight = model.tokens(signal, positions)[:, order]
        permuted = model.tokens(signal[:, order], positions[order])
    torch.testing.assert_close(permuted, straight, rtol=0, atol=2e-5)


@pytest.mark.parametrize("variant", [v for v in VARIANTS if v != "knn"])
def test_a_missing_channel_influences_nothing_and_is_as_good_as_removed(
    make: Any, signal: Tensor, positions: Tensor, variant: str
) -> None:
    model = make(variant=variant)
    missing = torch.zeros(2, 5, dtype=torch.bool)
    missing[:, 1] = True
    left = [0, 2, 3, 4]
    noisy = signal.clone()
    noisy[:, 1] = float("nan")
    with torch.no_grad():
        masked = model.tokens(noisy, positions, missing)
        removed = model.tokens(signal[:, left], positions[left])
        torch.testing.assert_close(masked[:, left], removed, rtol=0, atol=2e-5)
        assert (masked[:, 1] == 0).all()
        torch.testing.assert_close(
            model.logits(noisy, positions, missing), model.logits(signal[:, left], positions[left]), rtol=0, atol=2e-5
        )


def test_short_windows_have_one_scale(model: Any) -> None:
    assert window_bias(6, 5) is None
    assert window_bias(7, 5) is not None
    attn = model.encoder.blocks[0].attn
    y = torch.randn(1, 3, 6, 32)
    with torch.no_grad():
        qkv = attn.temporal_qkv(y).flatten(0, 1)
        assert torch.equal(attn.branches[0](qkv, window_bias(6, 5)), attn.branches[1](qkv, None))


def test_attention_agrees_with_the_library(model: Any) -> None:
    qkv = torch.randn(3, 40, 96)
    q, k, v = (part.unflatten(-1, (4, 8)).transpose(1, 2) for part in qkv.chunk(3, -1))
    expected = torch.nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(-2)
    attend = Attend(4)
    for plain in (False, True):
        torch.testing.assert_close(attend(qkv, None, plain), expected, rtol=0, atol=1e-5)


def test_neighbours_limit_space_to_the_nearest_electrodes(make: Any) -> None:
    model = make(variant="knn", n_neighbours=2, depth=1)
    places = torch.tensor([[[0.0, 0, 0], [0.01, 0, 0], [0.02, 0, 0], [0.3, 0, 0], [0.31, 0, 0]]])
    x = torch.randn(1, 5, 4, 32, requires_grad=True)
    out = model.encoder.contextualise(x, places)
    gradient = torch.autograd.grad(out[0, 0].sum(), x)[0][0].abs().sum((1, 2))
    assert (gradient[:3] > 0).all()
    assert (gradient[3:] == 0).all()

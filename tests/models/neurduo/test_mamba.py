"""One Mamba block: its formula, its parameters by mamba-ssm's names, its time constants, its single steps."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from models.neurduo.mamba import Mamba, MambaStep, StepState


@pytest.fixture
def block() -> Mamba:
    torch.manual_seed(1)
    return Mamba(10, n_states=4, conv_width=3, expand=2).double()


def formula(block: Mamba, x: Tensor) -> np.ndarray:
    """(R, T, D) -> (R, T, D) in numpy, written from the description of the block."""
    w = {name: tensor.numpy() for name, tensor in block.state_dict().items()}
    silu = lambda v: v / (1 + np.exp(-v))  # noqa: E731 - three letters, used three times
    out = np.zeros(x.shape)
    inner, states, rank, k = w["D"].size, w["A_log"].shape[1], w["dt_proj.weight"].shape[1], w["conv1d.weight"].shape[2]
    for r, row in enumerate(x.numpy()):
        both = row @ w["in_proj.weight"].T
        u, gate = both[:, :inner], both[:, inner:]
        padded = np.vstack([np.zeros((k - 1, inner)), u])
        state = np.zeros((inner, states))
        for t in range(len(row)):
            v = silu(sum(padded[t + j] * w["conv1d.weight"][:, 0, j] for j in range(k)) + w["conv1d.bias"])
            low = w["x_proj.weight"] @ v
            delta = np.log1p(np.exp(w["dt_proj.weight"] @ low[:rank] + w["dt_proj.bias"]))
            b, c = low[rank : rank + states], low[rank + states :]
            state = np.exp(-delta[:, None] * np.exp(w["A_log"])) * state + (delta * v)[:, None] * b
            y = state @ c + w["D"] * v
            out[r, t] = w["out_proj.weight"] @ (y * silu(gate[t]))
    return out


def test_the_block_is_its_formula(block: Mamba) -> None:
    x = torch.randn(2, 9, 10, dtype=torch.float64)
    with torch.no_grad():
        np.testing.assert_allclose(block(x)[0].numpy(), formula(block, x), rtol=0, atol=1e-12)


def test_parameters_are_named_and_shaped_as_in_mamba_ssm() -> None:
    shapes = {name: tuple(p.shape) for name, p in Mamba(256, 16, 4, 2).named_parameters()}
    assert shapes == {
        "A_log": (512, 16),
        "D": (512,),
        "in_proj.weight": (1024, 256),
        "conv1d.weight": (512, 1, 4),
        "conv1d.bias": (512,),
        "x_proj.weight": (48, 512),
        "dt_proj.weight": (512, 16),
        "dt_proj.bias": (512,),
        "out_proj.weight": (256, 512),
    }


@pytest.mark.parametrize("scan", ["plain", "block", None])
def test_every_scan_and_the_single_steps_agree(block: Mamba, scan: str | None) -> None:
    x = torch.randn(3, 11, 10, dtype=torch.float64)
    with torch.inference_mode():
        block.scan = scan
        whole, after = block(x)
        step, state = MambaStep(block, 3), StepState.of(block.zero_state(3))
        residual = torch.randn(3, 10, dtype=torch.float64)
        room = torch.empty(state.ssm.numel(), dtype=torch.float64)
        steps = [step(residual, x[:, t], state, room) - residual for t in range(11)]
    torch.testing.assert_close(torch.stack(steps, 1), whole, rtol=0, atol=1e-12)
    end = state.gather()
    torch.testing.assert_close(end.ssm, after.ssm, rtol=0, atol=1e-12)
    torch.testing.assert_close(end.conv, after.conv, rtol=0, atol=1e-12)


@pytest.mark.parametrize("cut", [1, 2, 7])
def test_a_block_goes_on_from_its_state(block: Mamba, cut: int) -> None:
    x = torch.randn(2, 8, 10, dtype=torch.float64)
    with torch.inference_mode():
        whole, end = block(x)
        first, middle = block(x[:, :cut])
        kept = middle.clone()
        second, last = block(x[:, cut:], middle)
    torch.testing.assert_close(torch.cat([first, second], 1), whole, rtol=0, atol=1e-12)
    torch.testing.assert_close(last.ssm, end.ssm, rtol=0, atol=1e-12)
    torch.testing.assert_close(last.conv, end.conv, rtol=0, atol=1e-12)
    assert torch.equal(middle.ssm, kept.ssm), "the state that is given is left alone"
    assert torch.equal(middle.conv, kept.conv)


def test_gradients_reach_every_parameter(block: Mamba) -> None:
    block(torch.randn(2, 5, 10, dtype=torch.float64))[0].square().sum().backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in block.parameters())


def test_time_constants_of_a_block_that_was_never_trained() -> None:
    """Steps are drawn log-uniform between 1/1000 and 1/10, so the longest time is 1000 steps, the median about 15."""
    torch.manual_seed(0)
    constants = Mamba(1024).nominal_time_constants(1.0).detach()
    assert constants.max() == pytest.approx(1000, rel=0.02)
    assert constants.min() == pytest.approx(1 / (0.1 * 16), rel=0.02)
    assert np.median(constants.numpy()) == pytest.approx(14.7, rel=0.05)


def test_a_time_constant_is_how_fast_a_state_decays() -> None:
    block = Mamba(8, n_states=3).double()
    with torch.no_grad():
        block.x_proj.weight.zero_()  # delta stays at its bias, B and C are zero
        block.conv1d.bias.zero_()
        _, state = block(torch.zeros(1, 1, 8, dtype=torch.float64))
        state.ssm.fill_(1.0)
        _, after = block(torch.zeros(1, 20, 8, dtype=torch.float64), state)
    expected = torch.exp(-20 * 0.5 / block.nominal_time_constants(0.5))
    torch.testing.assert_close(after.ssm[0].T, expected.detach(), rtol=1e-10, atol=0)

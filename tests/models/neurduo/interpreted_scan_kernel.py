"""The Triton kernel of the selective scan against the plain scan; run by test_scans.py in Triton's interpreter."""

from __future__ import annotations

import os

import pytest
import torch
from torch import Tensor

from models.neurduo.scan_kernel import triton_scan
from models.neurduo.scans import SCANS, plain_scan

# Rows, steps, inner width, states: single ones, no power of two, more than one program a row, sizes of the models.
SHAPES = [
    (1, 1, 1, 1),
    (2, 7, 5, 4),
    (2, 12, 33, 3),
    (1, 5, 64, 16),
    (2, 9, 70, 16),
    (1, 3, 130, 17),
    (1, 40, 32, 16),
]


def problem(rows: int, steps: int, width: int, states: int, dtype: torch.dtype = torch.float32) -> tuple[Tensor, ...]:
    generator = torch.Generator().manual_seed(rows + steps)

    def draw(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator)

    delta, a = draw(rows, steps, width).exp() * 0.1, -draw(width, states).exp()
    b_and_c = draw(rows, steps, 3 + 2 * states)[..., 3:].split(states, dim=-1)  # parts of a wider array, as the block's
    given = (draw(rows, steps, width), delta, a, *b_and_c, draw(rows, states, width))
    return tuple(tensor.to(dtype) for tensor in given)


@pytest.fixture(autouse=True)
def is_interpreted() -> None:
    assert os.environ.get("TRITON_INTERPRET") == "1", "run by test_scans.py"


@pytest.mark.parametrize("shape", SHAPES)
def test_the_kernel_is_the_plain_scan(shape: tuple[int, ...]) -> None:
    given = problem(*shape)
    copies = [tensor.clone() for tensor in given]
    for kernel, plain in zip(triton_scan(*given), plain_scan(*given), strict=True):
        assert (kernel.shape, kernel.dtype) == (plain.shape, plain.dtype)
        torch.testing.assert_close(kernel, plain, rtol=1e-5, atol=1e-5)
    assert all(torch.equal(tensor, copy) for tensor, copy in zip(given, copies, strict=True)), "inputs are left alone"


def test_it_takes_rows_that_lie_in_any_order() -> None:
    given = [tensor.transpose(0, 1).contiguous().transpose(0, 1) for tensor in problem(3, 4, 12, 4)]
    given[0] = given[0].transpose(1, 2).contiguous().transpose(1, 2)
    for kernel, plain in zip(triton_scan(*given), plain_scan(*given), strict=True):
        torch.testing.assert_close(kernel, plain, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("cut", [0, 9])
def test_it_goes_on_from_its_own_state(cut: int) -> None:
    x, delta, a, b, c, state = problem(1, 12, 40, 5)
    whole, last = SCANS["triton"](x, delta, a, b, c, state)
    first, middle = triton_scan(x[:, :cut], delta[:, :cut], a, b[:, :cut], c[:, :cut], state)
    second, end = triton_scan(x[:, cut:], delta[:, cut:], a, b[:, cut:], c[:, cut:], middle)
    assert torch.equal(torch.cat([first, second], 1), whole)
    assert torch.equal(end, last)


def test_half_precision_is_computed_in_single() -> None:
    *given, state = problem(1, 12, 40, 5, torch.bfloat16)
    y, last = triton_scan(*given, state.float())
    exact, end = plain_scan(*(tensor.float() for tensor in given), state.float())
    assert (y.dtype, last.dtype) == (torch.bfloat16, torch.float32)
    torch.testing.assert_close(last, end, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(y.float(), exact, rtol=2**-7, atol=1e-5)  # the interpreter cuts digits off


def test_no_rows_give_nothing() -> None:
    *given, state = problem(1, 4, 6, 2)
    x, delta, a, b, c = given
    y, last = triton_scan(x[:0], delta[:0], a, b[:0], c[:0], state[:0])
    assert (y.shape, last.shape) == ((0, 4, 6), (0, 2, 6))


def test_the_published_reference_agrees() -> None:
    """mamba-ssm's own plain function, where somebody installed the package, also without its kernels."""
    pytest.importorskip("mamba_ssm", reason="NOT TESTED: mamba-ssm is not installed", exc_type=ImportError)
    from mamba_ssm.ops.selective_scan_interface import selective_scan_ref

    x, delta, a, b, c, state = problem(3, 10, 33, 3)
    turned = [tensor.transpose(1, 2).contiguous() for tensor in (x, delta, b, c)]
    y, last = selective_scan_ref(turned[0], turned[1], a, turned[2], turned[3], return_last_state=True)
    mine, end = triton_scan(x, delta, a, b, c, torch.zeros_like(state))
    torch.testing.assert_close(mine, y.transpose(1, 2), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(end, last.transpose(1, 2), rtol=1e-5, atol=1e-5)

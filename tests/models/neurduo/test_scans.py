"""The forms of the selective scan agree with each other and with the formula, whatever they start from."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import Tensor

from models.neurduo import scans
from models.neurduo.scans import (
    SCANS,
    Scan,
    block_scan,
    choose_scan,
    has_triton,
    kept_scan,
    mamba_ssm_scan,
    plain_scan,
)

SHAPES = [(1, 1, 3, 2), (2, 7, 5, 4), (3, 100, 16, 3), (40, 9, 640, 16)]  # rows, steps, inner width, states


def problem(rows: int, steps: int, width: int, states: int, dtype: torch.dtype = torch.float64) -> tuple[Tensor, ...]:
    generator = torch.Generator().manual_seed(rows + steps)

    def draw(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=dtype)

    delta, a = draw(rows, steps, width).exp() * 0.1, -draw(width, states).exp()
    return (
        draw(rows, steps, width),
        delta,
        a,
        draw(rows, steps, states),
        draw(rows, steps, states),
        draw(rows, states, width),
    )


def direct(x: Tensor, delta: Tensor, a: Tensor, b: Tensor, c: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
    """Number by number, as the formula says."""
    s = state.clone()
    y = torch.zeros_like(x)
    for r in range(x.shape[0]):
        for t in range(x.shape[1]):
            for e in range(x.shape[2]):
                for n in range(a.shape[1]):
                    s[r, n, e] = (
                        torch.exp(delta[r, t, e] * a[e, n]) * s[r, n, e] + delta[r, t, e] * x[r, t, e] * b[r, t, n]
                    )
                    y[r, t, e] += s[r, n, e] * c[r, t, n]
    return y, s


def test_the_plain_form_is_the_formula() -> None:
    given = problem(2, 7, 5, 4)
    for mine, formula in zip(plain_scan(*given), direct(*given), strict=True):
        torch.testing.assert_close(mine, formula, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_the_block_form_is_the_plain_one(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    given = problem(*shape, dtype=dtype)
    copies = [tensor.clone() for tensor in given]
    tolerance = 1e-10 if dtype == torch.float64 else 2e-4
    for fast, plain in zip(block_scan(*given), plain_scan(*given), strict=True):
        assert fast.dtype == dtype
        torch.testing.assert_close(fast, plain, rtol=tolerance, atol=tolerance)
    assert all(torch.equal(tensor, copy) for tensor, copy in zip(given, copies, strict=True)), "inputs are left alone"


@pytest.mark.parametrize("name", ["plain", "block", "kept"])
@pytest.mark.parametrize("cut", [1, 33, 64, 99])
def test_a_scan_goes_on_from_its_own_state(name: str, cut: int) -> None:
    x, delta, a, b, c, state = problem(*SHAPES[2])
    scan = SCANS[name]
    whole, last = scan(x, delta, a, b, c, state)
    first, middle = scan(x[:, :cut], delta[:, :cut], a, b[:, :cut], c[:, :cut], state)
    second, end = scan(x[:, cut:], delta[:, cut:], a, b[:, cut:], c[:, cut:], middle)
    torch.testing.assert_close(torch.cat([first, second], 1), whole, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(end, last, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("scan", [plain_scan, kept_scan])
def test_gradients_are_those_of_differences(scan: Scan) -> None:
    given = tuple(tensor.requires_grad_() for tensor in problem(2, 4, 3, 2))
    assert torch.autograd.gradcheck(scan, given)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_form_that_keeps_its_states_is_the_plain_one(shape: tuple[int, ...]) -> None:
    given = tuple(tensor.requires_grad_() for tensor in problem(*shape))
    found = []
    for scan in (kept_scan, plain_scan):
        y, last = scan(*given)
        gradients = torch.autograd.grad(y.sin().sum() + last.square().sum(), given)
        found.append((y.detach(), last.detach(), *gradients))
    for mine, plain in zip(*found, strict=True):
        torch.testing.assert_close(mine, plain, rtol=1e-10, atol=1e-10)


def test_a_signal_alone_may_ask_for_its_gradient() -> None:
    x, *rest = problem(*SHAPES[2])
    x.requires_grad_()
    found = [torch.autograd.grad(scan(x, *rest)[0].sin().sum(), x)[0] for scan in (kept_scan, plain_scan)]
    torch.testing.assert_close(*found, rtol=1e-10, atol=1e-10)


def stand_in(
    u: Tensor, delta: Tensor, a: Tensor, b: Tensor, c: Tensor, return_last_state: bool
) -> tuple[Tensor, Tensor]:
    """What mamba-ssm's function does: (R, E, T) and (R, N, T), from zero, last state (R, E, N)."""
    assert return_last_state
    assert all(tensor.is_contiguous() for tensor in (u, delta, a, b, c))
    zero = torch.zeros(u.shape[0], a.shape[1], u.shape[1], dtype=u.dtype)
    turned = [tensor.transpose(1, 2) for tensor in (u, delta, b, c)]
    y, last = plain_scan(turned[0], turned[1], a, turned[2], turned[3], zero)
    return y.transpose(1, 2).contiguous(), last.transpose(1, 2).contiguous()


@pytest.mark.parametrize("starts_from_zero", [True, False])
def test_the_kernels_of_mamba_ssm_are_asked_in_their_layout(
    starts_from_zero: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    interface: Any = ModuleType("mamba_ssm.ops.selective_scan_interface")
    interface.selective_scan_fn = stand_in
    for name in ("mamba_ssm", "mamba_ssm.ops"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, interface.__name__, interface)
    *given, state = problem(*SHAPES[2])
    state = torch.zeros_like(state) if starts_from_zero else state
    monkeypatch.setattr(scans, "_BLOCK_VALUES", 20)  # so that the carried state is added in several parts
    for kernel, plain in zip(mamba_ssm_scan(*given, state), plain_scan(*given, state), strict=True):
        torch.testing.assert_close(kernel, plain, rtol=1e-10, atol=1e-10)


@pytest.mark.gpu
@pytest.mark.parametrize("shape", SHAPES[1:])
def test_the_real_kernels_agree(shape: tuple[int, ...]) -> None:
    pytest.importorskip("mamba_ssm")
    if not torch.cuda.is_available():
        pytest.skip("NOT TESTED: no CUDA device")
    given = [tensor.cuda() for tensor in problem(*shape, dtype=torch.float32)]
    for kernel, plain in zip(mamba_ssm_scan(*given), plain_scan(*given), strict=True):
        torch.testing.assert_close(kernel, plain, rtol=1e-3, atol=1e-3)


def test_the_published_reference_agrees() -> None:
    """mamba-ssm's own plain function, where somebody installed the package, also without its kernels."""
    pytest.importorskip("mamba_ssm", reason="NOT TESTED: mamba-ssm is not installed", exc_type=ImportError)
    from mamba_ssm.ops.selective_scan_interface import selective_scan_ref

    x, delta, a, b, c, state = problem(*SHAPES[2], dtype=torch.float32)
    turned = [tensor.transpose(1, 2).contiguous() for tensor in (x, delta, b, c)]
    y, last = selective_scan_ref(turned[0], turned[1], a, turned[2], turned[3], return_last_state=True)
    mine, end = block_scan(x, delta, a, b, c, torch.zeros_like(state))
    torch.testing.assert_close(mine, y.transpose(1, 2), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(end, last.transpose(1, 2), rtol=1e-4, atol=1e-4)


def test_the_form_is_chosen_by_what_can_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.zeros(1)
    assert choose_scan(x, keeps_gradients=False) == "block"
    assert choose_scan(x, keeps_gradients=True) == "kept"

    class OnGPU:
        is_cuda, dtype = True, torch.float32

    monkeypatch.setattr(scans, "has_mamba_ssm", lambda: True)
    assert choose_scan(OnGPU(), keeps_gradients=True) == "mamba-ssm"  # type: ignore[arg-type]
    monkeypatch.setattr(scans, "has_mamba_ssm", lambda: False)
    monkeypatch.setattr(scans, "has_triton", lambda: True)
    assert choose_scan(OnGPU(), keeps_gradients=True) == "plain"  # type: ignore[arg-type]
    assert choose_scan(OnGPU(), keeps_gradients=False) == "triton"  # type: ignore[arg-type]
    monkeypatch.setattr(OnGPU, "dtype", torch.float64)  # which the kernel would compute in single precision
    assert choose_scan(OnGPU(), keeps_gradients=False) == "block"  # type: ignore[arg-type]


def test_without_triton_the_log_tells_why(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    class OnGPU:
        is_cuda, dtype = True, torch.float32

    has_triton.cache_clear()
    monkeypatch.setattr(scans, "has_mamba_ssm", lambda: False)
    monkeypatch.setattr(scans.importlib.util, "find_spec", lambda _: None)
    with caplog.at_level("INFO", scans.__name__):
        chosen = [choose_scan(OnGPU(), keeps_gradients=False) for _ in range(2)]  # type: ignore[arg-type]
    has_triton.cache_clear()
    assert chosen == ["block", "block"]
    assert [record.message for record in caplog.records] == [
        "the selective scan runs as single operations on the GPU, since triton is not installed"
    ]


def test_the_kernel_in_the_interpreter(run_interpreted: Any) -> None:
    run_interpreted(Path(__file__).with_name("interpreted_scan_kernel.py"))


@pytest.mark.gpu
@pytest.mark.parametrize("shape", SHAPES)
def test_the_kernel_on_a_gpu(shape: tuple[int, ...]) -> None:
    pytest.importorskip("triton")
    if not torch.cuda.is_available():
        pytest.skip("NOT TESTED: no CUDA device")
    given = [tensor.cuda() for tensor in problem(*shape, dtype=torch.float32)]
    for kernel, plain in zip(SCANS["triton"](*given), plain_scan(*given), strict=True):
        torch.testing.assert_close(kernel, plain, rtol=1e-4, atol=1e-4)

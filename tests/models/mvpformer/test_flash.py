"""FlashMVPA in Triton's interpreter (set in tests/conftest.py) against the plain form, and when it is chosen."""

from __future__ import annotations

import logging
import subprocess
import sys
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from models.mvpformer import flash
from models.mvpformer.attention import HeadInputs, MVPAttention, PlainAttention, attend, factorised_attention
from models.mvpformer.config import MVPFormerConfig

needs_triton = pytest.mark.skipif(find_spec("triton") is None, reason="NOT TESTED: triton is not installed")
FIELDS = HeadInputs._fields

# Segments, channels, key/value heads, query heads to each, head width, window. The interpreter's tiles have 16 rows and
# 16 channels, so there are shapes with one tile and with several of either, the last of them partly filled.
SHAPES = [
    (1, 1, 1, 1, 16, 10),
    (2, 5, 2, 1, 16, 10),
    (13, 2, 1, 2, 16, 10),
    (4, 18, 1, 1, 32, 1),
    (5, 3, 2, 3, 64, 2),
    (4, 3, 1, 2, 128, 0),
    (4, 2, 1, 1, 20, 1),
]
GRADIENT_SHAPES = [(6, 3, 2, 2, 8, 2), (4, 18, 1, 1, 16, 1)]


@pytest.fixture(autouse=True)
def nothing_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """No reason that an earlier test has had logged."""
    monkeypatch.setattr(flash, "_failures", [])
    flash._report.cache_clear()
    flash._device_hindrance.cache_clear()


def random_heads(
    shape: tuple[int, ...], dtype: torch.dtype, n_items: int = 1, n_queries: int | None = None, size: float = 1.0
) -> HeadInputs:
    """Heads with values that `dtype` can hold; shape as in SHAPES, without the window."""
    n_segments, n_channels, n_kv, n_group, width = shape[:5]
    generator = torch.Generator().manual_seed(7)
    keys = (n_items, n_kv, n_segments, n_channels, width)
    query = (n_items, n_kv, n_queries or n_segments, n_group, n_channels, width)
    shapes = (query, keys, keys, (n_kv, n_segments, width), (n_kv, n_channels, width), (3, n_kv, width))
    return HeadInputs(*(size * torch.randn(s, generator=generator).to(dtype) for s in shapes))


def plain_values(heads: HeadInputs, window: int) -> Tensor:
    """Attended values from the plain form's probabilities, in float64."""
    heads = HeadInputs(*(part.double() for part in heads))
    batch, n_kv, n_queries, n_group, n_channels, _ = heads.query.shape
    weights = PlainAttention(window)(heads).probabilities.view(batch, n_kv, n_group, n_queries, n_channels, -1)
    return torch.einsum("bkgrcn,bknd->bkrgcd", weights, heads.value.flatten(2, 3))


def difference(found: Tensor, expected: Tensor) -> float:
    """The difference's length as a share of the expected one's."""
    return ((found.double() - expected).norm() / expected.norm()).item()


@needs_triton
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.bfloat16, 1e-2)])
def test_kernel_equals_plain_form(shape: tuple[int, ...], dtype: torch.dtype, tolerance: float) -> None:
    heads = random_heads(shape, dtype)
    found = flash.flash_attention(*heads, shape[-1])
    assert found.dtype == dtype
    assert difference(found, plain_values(heads, shape[-1])) < tolerance


@needs_triton
def test_large_scores_do_not_overflow() -> None:
    """At size 12 they spread over thousands, and all weight may lie outside the window."""
    heads = random_heads((6, 3, 1, 2, 16), torch.float64, size=12.0)
    assert difference(flash.flash_attention(*heads, 1), plain_values(heads, 1)) < 1e-12


@needs_triton
def test_last_segment_alone_sees_everything() -> None:
    heads = random_heads((13, 3, 1, 2, 16), torch.float64, n_queries=1)
    whole = plain_values(random_heads((13, 3, 1, 2, 16), torch.float64, n_queries=1), 10)
    assert difference(flash.flash_attention(*heads, 10), whole) < 1e-12


def gradients(form: Any, heads: HeadInputs, window: int, dtype: torch.dtype) -> list[Tensor]:
    """Of a random weighting of the attended values, by each part of the heads."""
    heads = HeadInputs(*(part.to(dtype).clone().requires_grad_() for part in heads))
    attended = form(heads, window)
    generator = torch.Generator().manual_seed(2)
    attended.backward(torch.randn(attended.shape, generator=generator).bfloat16().to(attended.dtype))
    return [part.grad for part in heads]


def kernel(heads: HeadInputs, window: int) -> Tensor:
    return flash.flash_attention(*heads, window)


@needs_triton
@pytest.mark.parametrize(
    ("shape", "dtype", "tolerance"),
    [
        *((shape, torch.float64, 1e-12) for shape in GRADIENT_SHAPES),
        (GRADIENT_SHAPES[0], torch.float32, 1e-5),
        (GRADIENT_SHAPES[0], torch.bfloat16, 2e-2),
    ],
)
def test_gradients_equal_those_of_the_plain_form(shape: tuple[int, ...], dtype: torch.dtype, tolerance: float) -> None:
    heads = random_heads(shape, torch.bfloat16)
    found = gradients(kernel, heads, shape[-1], dtype)
    expected = gradients(plain_values, heads, shape[-1], torch.float64)
    for name, one, other in zip(FIELDS, found, expected, strict=True):
        assert difference(one, other) < tolerance, name


@needs_triton
def test_gradients_of_the_last_segment_alone_in_parts_of_one_item(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flash, "TABLE_BYTES", 1)
    heads = random_heads((5, 2, 1, 2, 16), torch.float64, n_items=2, n_queries=1)
    found, expected = gradients(kernel, heads, 1, torch.float64), gradients(plain_values, heads, 1, torch.float64)
    for name, one, other in zip(FIELDS, found, expected, strict=True):
        assert difference(one, other) < 1e-12, name


@needs_triton
def test_a_layer_in_training_drops_what_the_plain_form_drops(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = {"n_embd": 32, "n_layer": 1, "n_head": 4, "n_head_kv": 2, "n_inner": 8, "window_segments": 1}
    layer = MVPAttention(MVPFormerConfig(**sizes, dropout=0.4)).double().train()
    for parameter in layer.parameters():
        torch.nn.init.normal_(parameter, 0.0, 0.4)
    x, *rows = (torch.randn(*shape, 32, dtype=torch.float64) for shape in ((1, 4, 3), (4,), (3,)))

    def run(plain: bool) -> Tensor:
        torch.manual_seed(3)
        return layer(x, *rows, plain=plain)

    calls = []
    monkeypatch.setattr(flash, "hindrance", calls.append)
    with torch.no_grad():
        torch.testing.assert_close(run(plain=False), run(plain=True), rtol=0, atol=1e-12)
    assert len(calls) == 1


class LargestTensor(TorchDispatchMode):
    """Notes the most elements that any operation gives out."""

    def __init__(self) -> None:
        super().__init__()
        self.numel = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        self.numel = max([self.numel, *(leaf.numel() for leaf in tree_leaves(out) if isinstance(leaf, Tensor))])
        return out


@needs_triton
def test_nothing_in_memory_is_larger_than_the_input_or_the_tables_of_one_item(monkeypatch: pytest.MonkeyPatch) -> None:
    from models.mvpformer import flash_backward, flash_forward

    for module in (flash_forward, flash_backward):
        monkeypatch.setattr(module, "start", lambda *_, **__: None)
    monkeypatch.setattr(flash, "TABLE_BYTES", 1)
    for n_segments, n_channels in ((40, 30), (80, 30), (40, 60)):
        heads = random_heads((n_segments, n_channels, 1, 2, 16), torch.float32, n_items=4)
        with LargestTensor() as largest:
            gradients(kernel, heads, 10, torch.float32)
        rows = n_segments * n_channels * 2
        assert largest.numel == max(heads.query.numel(), rows * max(n_segments, n_channels))
        assert largest.numel < rows * n_segments * n_channels / 15, "far below one item's scores"


# The choice


GPU = {"is_cuda": True, "dtype": torch.bfloat16, "shape": (64,), "get_device": lambda: 0}


@pytest.mark.parametrize(
    ("changes", "spec", "capability", "reason"),
    [
        ({}, "found", (9, 0), None),
        ({"is_cuda": False, "device": torch.device("cpu")}, "found", (9, 0), "on cpu"),
        ({"dtype": torch.float64}, "found", (9, 0), "not float64"),
        ({"shape": (256,)}, "found", (9, 0), "up to 128, not 256"),
        ({}, None, (9, 0), "triton is not installed"),
        ({}, "found", (7, 5), "7.5 is below 8.0"),
    ],
)
def test_why_the_kernel_is_not_taken(
    changes: dict, spec: str | None, capability: tuple, reason: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flash.importlib.util, "find_spec", lambda _: spec)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: capability)
    found = flash.hindrance(SimpleNamespace(**(GPU | changes)))
    assert found == reason or (reason is not None and found is not None and reason in found)


def test_on_a_cpu_the_split_form_is_taken_and_the_reason_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    heads = random_heads((3, 2, 1, 1, 16), torch.float32)
    with caplog.at_level(logging.DEBUG, logger=flash.__name__):
        for _ in range(2):
            assert torch.equal(attend(heads, 1), factorised_attention(heads, 1))
    assert [record.getMessage() for record in caplog.records] == [
        "FlashMVPA is not used: the tensors are on cpu, not on a GPU"
    ]


@needs_triton
def test_a_kernel_that_fails_is_not_tried_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    tries = []

    def fail(*arguments: Any) -> Tensor:
        tries.append(arguments)
        raise RuntimeError("no C compiler")

    monkeypatch.setattr(flash, "hindrance", lambda _: None)
    monkeypatch.setattr(flash, "flash_attention", fail)
    heads = random_heads((3, 2, 1, 1, 16), torch.float32)
    with caplog.at_level(logging.DEBUG, logger=flash.__name__):
        for _ in range(2):
            assert torch.equal(attend(heads, 1), factorised_attention(heads, 1))
    assert len(tries) == 1
    assert [record.getMessage() for record in caplog.records] == [
        "FlashMVPA is not used: the kernel failed: no C compiler"
    ]


def test_triton_is_not_imported_where_it_is_not_used() -> None:
    code = (
        "import sys, torch; from models.mvpformer.attention import HeadInputs, attend; "
        "shapes = (1, 1, 2, 1, 2), (1, 1, 2, 2), (1, 1, 2, 2), (1, 2), (1, 2), (3, 1); "
        "attend(HeadInputs(*(torch.ones(*shape, 4) for shape in shapes)), 1); print('triton' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"

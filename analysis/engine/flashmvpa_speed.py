"""MVPA over the grid of the paper's tables S3 and S4: plain, by FlashMVPA's kernels, and by compiled flex attention.

`python -m analysis.engine.flashmvpa_speed ROUNDS SIZES…` prints what it found as JSON; `main.py bench flashmvpa` makes
the table of it. Without a GPU only a small input is compared with the plain form, in Triton's interpreter. What is
timed is the attention of one layer of size S in bfloat16, forward, without projections: each way makes its own table
scores. Letters as in `models.mvpformer.attention`.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from models.mvpformer.attention import HeadInputs, PlainAttention
from models.mvpformer.config import MVPFORMER_S

BATCH = 64
WINDOW = MVPFORMER_S.window_segments
TYPE = torch.bfloat16
Attention = Callable[[HeadInputs], Tensor]
# Of the comparison: items, T, C, K, G, d; larger where a GPU computes it.
SMALL_CHECK, LARGE_CHECK = (1, 5, 3, 1, 2, 16), (2, 25, 19, 4, 3, 64)


def operations(n_segments: int, n_channels: int, window: int = WINDOW) -> int:
    """Multiplications and additions of one head and item that the split form needs, table scores included.

    A key inside the window takes 2 d for its score and 2 d for its value, one outside only the latter.
    """
    inside = sum(n_segments if i == n_segments - 1 else min(i, window) + 1 for i in range(n_segments))
    outside = sum(max(0, i - window) for i in range(n_segments - 1))
    pairs = n_channels**2 * (2 * inside + outside) + n_segments * n_channels * (n_segments + n_channels)
    return 2 * MVPFORMER_S.head_dim * pairs


def least_bytes(n_segments: int, n_channels: int) -> int:
    """Bytes of a batch's queries, keys and values read once and outputs written once."""
    widths = 2 * MVPFORMER_S.n_embd + 2 * MVPFORMER_S.kv_width
    return BATCH * n_segments * n_channels * widths * TYPE.itemsize


def random_heads(sizes: Sequence[int], dtype: torch.dtype, device: str) -> HeadInputs:
    """Heads of (items, T, C, K, G, d), laid out as a layer gives them."""
    n_items, n_segments, n_channels, n_kv, n_group, width = sizes
    torch.manual_seed(0)
    query = torch.randn(n_items, n_segments, n_channels, n_kv, n_group, width, device=device)
    keys = (n_items, n_kv, n_segments, n_channels, width)
    rest = (keys, keys, (n_kv, n_segments, width), (n_kv, n_channels, width), (3, n_kv, width))
    parts = (query.permute(0, 3, 1, 4, 2, 5), *(torch.randn(shape, device=device) for shape in rest))
    return HeadInputs(*(part.to(dtype) for part in parts))


def plain(heads: HeadInputs) -> Tensor:
    """Attended values by the direct form."""
    n_items, n_kv, n_queries, n_group, n_channels, _ = heads.query.shape
    weights = PlainAttention(WINDOW)(heads).probabilities.view(n_items, n_kv, n_group * n_queries * n_channels, -1)
    attended = weights @ heads.value.flatten(2, 3)
    return attended.view(n_items, n_kv, n_group, n_queries, n_channels, -1).transpose(2, 3)


def by_kernel(heads: HeadInputs) -> Tensor:
    """Attended values by FlashMVPA."""
    from models.mvpformer.flash import flash_attention

    return flash_attention(*heads, WINDOW)


def by_flex(heads: HeadInputs, compiled: bool = True) -> Attention:
    """Attended values by torch's flex attention with the same score: its function for heads of these sizes."""
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    n_kv, n_segments, n_channels, width = heads.key.shape[1:]
    n_tokens = n_segments * n_channels

    def is_seen(_item: Tensor, _head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        return key // n_channels <= query // n_channels

    seen = create_block_mask(is_seen, None, None, n_tokens, n_tokens, device=str(heads.key.device))
    torch.compiler.reset()
    attention: Any = torch.compile(flex_attention, dynamic=False) if compiled else flex_attention

    def attend(heads: HeadInputs) -> Tensor:
        u, v, w = (part[None, :, None, None, None, :] for part in heads.bias)

        def by_token(query: Tensor) -> Tensor:
            return query.transpose(2, 3).flatten(3, 4).flatten(1, 2)  # (B, H, N, ...)

        time = by_token((heads.query + v) @ heads.time_key[:, None, None].mT) * width**-0.5
        channel = by_token((heads.query + w) @ heads.channel_key[:, None, None].mT) * width**-0.5

        def score(content: Tensor, item: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
            segment = query // n_channels
            distance = segment - key // n_channels
            near = (distance <= WINDOW) | (segment == n_segments - 1)
            row = n_segments - 1 - distance.clamp(min=0)
            apart = n_channels - 1 - (query % n_channels - key % n_channels).abs()
            return torch.where(near, content, 0.0) + time[item, head, query, row] + channel[item, head, query, apart]

        content_query = by_token(heads.query + u)
        keys, values = heads.key.flatten(2, 3), heads.value.flatten(2, 3)
        attended = attention(content_query, keys, values, score_mod=score, block_mask=seen, enable_gqa=True)
        return attended.unflatten(1, (n_kv, -1)).unflatten(3, (n_segments, n_channels)).transpose(2, 3)

    return attend


def compare(device: str) -> dict[str, float]:
    """Length of the kernel's difference from the plain form in float64, as a share of the whole, by case."""
    found: dict[str, float] = {}
    sizes = LARGE_CHECK if device == "cuda" else SMALL_CHECK
    for dtype in (torch.float32, torch.bfloat16):
        heads = random_heads(sizes, dtype, device)
        weight = torch.randn(heads.query.shape, device=device)
        results = []
        for form, wide in ((by_kernel, dtype), (plain, torch.float64)):
            parts = HeadInputs(*(part.to(wide).requires_grad_() for part in map(torch.clone, heads)))
            attended = form(parts)
            attended.backward(weight.to(dtype).to(wide))
            results.append([attended.detach(), *(part.grad for part in parts)])
        shares = [_share(one, other) for one, other in zip(*results, strict=True)]
        name = str(dtype).removeprefix("torch.")
        found |= {f"forward {name}": shares[0], f"gradients {name}": max(shares[1:])}
    return found


def _share(found: Tensor | None, expected: Tensor | None) -> float:
    assert found is not None
    assert expected is not None
    return ((found.double() - expected).norm() / expected.norm()).item()


@torch.inference_mode()
def measure_cell(n_segments: int, n_channels: int, rounds: int) -> dict[str, Any]:
    """Milliseconds and gigabytes of each way at one place of the grid, or why there are none, and what must be done."""
    groups = MVPFORMER_S.n_head // MVPFORMER_S.n_head_kv
    sizes = (BATCH, n_segments, n_channels, MVPFORMER_S.n_head_kv, groups, MVPFORMER_S.head_dim)
    heads = random_heads(sizes, TYPE, "cuda")
    ways: dict[str, Callable[[], Attention]] = {
        "flash": lambda: by_kernel,
        "plain": lambda: plain,
        "flex": lambda: by_flex(heads),
    }
    cell: dict[str, Any] = {
        "operations": BATCH * MVPFORMER_S.n_head * operations(n_segments, n_channels),
        "bytes": least_bytes(n_segments, n_channels),
    }
    for name, make in ways.items():
        try:
            attention = make()
            for _ in range(3):  # compiles, tunes and warms
                attention(heads)
            gigabytes = _memory(attention, heads)
            cell[name] = {"GB": gigabytes, "ms": [_time(lambda: attention(heads)) for _ in range(rounds)]}  # noqa: B023
        except torch.OutOfMemoryError:
            cell[name] = "out of memory"
        except Exception as error:  # a rival that does not compile must not take the table with it
            cell[name] = f"failed: {str(error).splitlines()[0]}"
        torch.cuda.empty_cache()
    return cell


def _time(work: Callable[[], object]) -> float:
    """Milliseconds on the GPU."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    work()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end)


def _memory(attention: Attention, heads: HeadInputs) -> float:
    """Gigabytes that a call takes at most, its inputs included."""
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    attention(heads)
    torch.cuda.synchronize()
    return torch.cuda.max_memory_allocated() / 1e9


def ceilings() -> dict[str, float]:
    """What this GPU reaches: GB/s of a copy, TFLOP/s of a bfloat16 matrix product; the floors are counted with them."""
    source = torch.empty(2**30, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    left, right = (torch.randn(8192, 8192, dtype=TYPE, device="cuda") for _ in range(2))
    copying = sorted(_time(lambda: target.copy_(source)) for _ in range(12))[3]
    multiplying = sorted(_time(lambda: left @ right) for _ in range(12))[3]
    return {"GB/s": 2 * source.numel() / copying / 1e6, "TFLOP/s": 2 * 8192**3 / multiplying / 1e9}


def main(arguments: list[str]) -> None:
    """Print the comparison and, on a GPU, the grid as JSON."""
    rounds, *sizes = (int(argument) for argument in arguments)
    has_gpu = torch.cuda.is_available()
    if not has_gpu:
        os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    has_triton = importlib.util.find_spec("triton") is not None
    found: dict[str, Any] = {"difference": compare("cuda" if has_gpu else "cpu") if has_triton else None}
    if has_gpu and has_triton:
        found |= {"gpu": torch.cuda.get_device_name(), "ceilings": ceilings()}
        found["cells"] = {f"{t} x {c}": measure_cell(t, c, rounds) for t in sizes for c in sizes}
    found["reason"] = None if has_gpu and has_triton else "triton is not installed" if has_gpu else "no GPU"
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1:])

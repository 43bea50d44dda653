"""FlashMVPA: MVPA in memory that grows with the number of tokens, by our own Triton kernels (paper appendix A.4).

`fused_attention` is what models call: it takes the kernels where they can be used and says in the log why not where
they cannot. The kernels' modules import triton, so they are imported on first use.
"""

from __future__ import annotations

import importlib.util
import logging
import subprocess
from collections.abc import Iterator
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

WIDEST_HEAD = 128
OLDEST_CAPABILITY = (8, 0)
TYPES = (torch.float32, torch.bfloat16, torch.float16)
# The tables of this many bytes at once, or of one batch item: memory must not grow with batch * T^2 C + T C^2.
TABLE_BYTES = 2**28
MOST_PROGRAMS = 65535  # along the second axis of a grid

_log = logging.getLogger(__name__)
_failures: list[str] = []


def fused_attention(
    query: Tensor, key: Tensor, value: Tensor, time_key: Tensor, channel_key: Tensor, bias: Tensor, window: int
) -> Tensor | None:
    """Attended values (B, K, R, G, C, d) by the kernels, or None where they cannot be used, with the reason in the log.

    Arguments are the parts of HeadInputs.
    """
    reason = _failures[0] if _failures else hindrance(query)
    if reason is None:
        try:
            return flash_attention(query, key, value, time_key, channel_key, bias, window)
        except torch.OutOfMemoryError:
            raise
        except _kernel_errors() as error:
            # Such as no C compiler for triton's launcher, or a GPU whose tiles are all too small.
            reason = f"the kernel failed: {error}"
            _failures.append(reason)
    _report(reason, query.is_cuda)
    return None


def hindrance(query: Tensor) -> str | None:
    """Why the kernels cannot take these queries, or None."""
    if not query.is_cuda:
        return f"the tensors are on {query.device.type}, not on a GPU"
    if query.dtype not in TYPES:
        return f"the kernel takes float32, bfloat16 and float16, not {str(query.dtype).removeprefix('torch.')}"
    if query.shape[-1] > WIDEST_HEAD:
        return f"the kernel takes heads of a width up to {WIDEST_HEAD}, not {query.shape[-1]}"
    return _device_hindrance(query.get_device())


@cache
def _device_hindrance(index: int) -> str | None:
    if importlib.util.find_spec("triton") is None:
        return "triton is not installed"
    capability = torch.cuda.get_device_capability(index)
    if capability < OLDEST_CAPABILITY:
        return f"the GPU's compute capability {capability[0]}.{capability[1]} is below 8.0"
    return None


def _kernel_errors() -> tuple[type[Exception], ...]:
    from triton.errors import TritonError

    return TritonError, RuntimeError, OSError, subprocess.SubprocessError


@cache
def _report(reason: str, on_gpu: bool) -> None:
    """Log once why the split form is taken; on a CPU that is as it should be."""
    _log.log(logging.WARNING if on_gpu else logging.DEBUG, "FlashMVPA is not used: %s", reason)


def flash_attention(
    query: Tensor, key: Tensor, value: Tensor, time_key: Tensor, channel_key: Tensor, bias: Tensor, window: int
) -> Tensor:
    """Attended values (B, K, R, G, C, d), equal to the plain form's up to rounding, with gradients for all tensors.

    Arguments are the parts of HeadInputs. Table scores, maxima and sums are float32 where queries are narrower.
    """
    attended: Tensor = _FlashAttention.apply(query, key, value, time_key, channel_key, bias, window)
    return attended


class _FlashAttention(torch.autograd.Function):
    """Takes as many batch items at once as their tables have room for; the backward pass makes these anew."""

    @staticmethod
    def forward(ctx: Any, query: Tensor, *rest: Any) -> Tensor:
        from models.mvpformer.flash_forward import attend, make_tables
        from models.mvpformer.flash_tiles import Sizes

        *tensors, window = rest
        tokens = _by_token(query)
        key, value, time_key, channel_key, bias = (part.to(query.dtype).contiguous() for part in tensors)
        sizes = Sizes(query.shape[1], query.shape[3], query.shape[2], key.shape[2], key.shape[3], window)
        out, log_sums = torch.empty_like(tokens), []
        for part in _parts(tokens, key.shape[2]):
            tables = make_tables(tokens[part], time_key, channel_key, bias, sizes)
            log_sums.append(attend(tokens[part], key[part], value[part], bias, tables, sizes, out[part]))
        ctx.save_for_backward(tokens, key, value, time_key, channel_key, bias, out, torch.cat(log_sums))
        ctx.sizes = sizes
        return _by_head(out)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_out: Tensor) -> tuple[Tensor | None, ...]:
        from models.mvpformer.flash_backward import differentiate
        from models.mvpformer.flash_forward import make_tables

        tokens, key, value, time_key, channel_key, bias, out, log_sum = ctx.saved_tensors
        grad_out = _by_token(grad_out)
        grads = [torch.empty_like(tensor) for tensor in (tokens, key, value)]
        wide = torch.promote_types(tokens.dtype, torch.float32)
        shared = [torch.zeros_like(tensor, dtype=wide) for tensor in (time_key, channel_key, bias)]
        n_kv = key.shape[1]
        for part in _parts(tokens, key.shape[2]):
            tables = make_tables(tokens[part], time_key, channel_key, bias, ctx.sizes)
            several = tables, log_sum[part.start * n_kv : part.stop * n_kv], out[part], grad_out[part]
            found = differentiate(tokens[part], key[part], value[part], bias, *several, ctx.sizes)
            grads[1][part], grads[2][part] = found.key, found.value
            shared[2][0] += found.query.sum((0, 1, 2, 4), dtype=wide)
            for index, scores, table in ((0, found.time, time_key), (1, found.channel, channel_key)):
                added, of_table = _through_table(scores, tokens[part], table, bias[1 + index])
                found.query.add_(added)
                shared[index] += of_table
                shared[2][1 + index] += added.sum((0, 1, 2, 4), dtype=wide)
            grads[0][part] = found.query
        tables_and_bias = (total.to(tokens.dtype) for total in shared)
        return _by_head(grads[0]), grads[1], grads[2], *tables_and_bias, None


def _through_table(scores: Tensor, tokens: Tensor, table: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
    """Gradients of queries (b, R, C, K, G, d) and of a table (K, n, d) by their products' gradients (b K, rows, n)."""
    n_items, n_queries, n_channels, n_kv, n_group, _ = tokens.shape
    scores = scores.unflatten(0, (n_items, n_kv)).to(tokens.dtype)
    rows = tokens.permute(0, 3, 1, 2, 4, 5).flatten(2, 4) + bias[:, None]  # (b, K, rows, d)
    of_rows = (scores @ table).unflatten(2, (n_queries, n_channels, n_group))
    wide = torch.promote_types(tokens.dtype, torch.float32)
    return of_rows.permute(0, 2, 3, 1, 4, 5), (scores.mT @ rows).sum(0, dtype=wide)


def _parts(tokens: Tensor, n_segments: int) -> Iterator[slice]:
    """Batch items that are taken together."""
    n_items, n_queries, n_channels, n_kv, n_group, _ = tokens.shape
    wide = max(4, tokens.element_size())
    one = n_queries * n_channels * n_kv * n_group * (n_segments + n_channels) * wide
    together = max(1, min(TABLE_BYTES // one, MOST_PROGRAMS // n_kv))
    for begin in range(0, n_items, together):
        yield slice(begin, min(begin + together, n_items))


def _by_token(x: Tensor) -> Tensor:
    """(B, K, R, G, C, d) -> (B, R, C, K, G, d), contiguous; what a model's query layer gives lies so already."""
    return x.permute(0, 2, 4, 1, 3, 5).contiguous()


def _by_head(x: Tensor) -> Tensor:
    """(B, R, C, K, G, d) -> (B, K, R, G, C, d), a view."""
    return x.permute(0, 3, 1, 4, 2, 5)

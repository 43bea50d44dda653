"""How fast this machine multiplies large matrices: what floors of arithmetic are told by."""

from __future__ import annotations

import time

import torch

_SIZE = 2048


@torch.inference_mode()
def product_rate(size: int = _SIZE) -> float:
    """Billions of operations a second (a product and a sum are two) of a float32 product here: the best of five."""
    a, b = torch.randn(size, size), torch.randn(size, size)
    best = float("inf")
    for _ in range(5):
        began = time.perf_counter()
        torch.mm(a, b)
        best = min(best, time.perf_counter() - began)
    return 2e-9 * size**3 / best

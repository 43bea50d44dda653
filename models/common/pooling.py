"""From scores of single channels to scores of all of them by a smooth maximum."""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor

ChannelPool = Literal["mean", "channel"]


def smooth_maximum(scores: Tensor, sharpness: float, missing: Tensor | None = None) -> Tensor:
    """Class scores (B, …, K) of the class scores (B, C, …, K) of channels; the first class is the reference, at 0.

    With l_c a class's score less the reference's, logsumexp_c(a l_c) / a - log(C) / a (our definition), a the
    `sharpness`: between mean and maximum, so that one channel may decide. `missing` (B, C) channels are left out.
    """
    relative = (scores - scores[..., :1]) * sharpness
    count = torch.full((len(scores),), scores.shape[1], dtype=scores.dtype, device=scores.device)
    if missing is not None:
        absent = missing.bool()
        absent = absent & ~absent.all(1, keepdim=True)
        relative = relative.masked_fill(absent.view(*absent.shape, *(1,) * (scores.ndim - 2)), -math.inf)
        count = (~absent).sum(1).to(scores.dtype)
    pooled = relative.logsumexp(1) - count.log().view(-1, *(1,) * (scores.ndim - 2))
    return pooled / sharpness

"""Prediction of the next segment's embedding: its similarities and its contrastive loss (paper section 3.2, eq. 4).

Letters: B batch, T segments, C channels, E embedding width, n confounders. A prediction at segment t is compared with
the encoder's embedding at t + 1; only directions count.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

# A confounder this close to the target, relative to the target's length, is the target.
SAME = 1e-5


class NextSegmentSimilarity(NamedTuple):
    """Cosines of the predictions with three references (paper appendix C.2).

    `true` (B, T-1, C) with the next segment, `two_step` (B, T-2, C) with the one after it, `random` (B, T-1, C) with
    a segment drawn from the window.
    """

    true: Tensor
    two_step: Tensor
    random: Tensor


def similarity(predicted: Tensor, embeddings: Tensor, random_segment: Tensor) -> NextSegmentSimilarity:
    """Cosines of predictions (B, T, C, E) with embeddings (B, T, C, E).

    `random_segment` (T-1) is the reference segment of each t, as `draw_random_segments` gives it.
    """
    cosine = functional.cosine_similarity
    return NextSegmentSimilarity(
        cosine(predicted[:, :-1], embeddings[:, 1:], dim=-1),
        cosine(predicted[:, :-2], embeddings[:, 2:], dim=-1),
        cosine(predicted[:, :-1], embeddings[:, random_segment], dim=-1),
    )


def draw_random_segments(n_segments: int, generator: torch.Generator | None = None) -> Tensor:
    """One segment of the window for each t < T-1, (T-1): any but t and the true target t+1.

    The published code draws from the whole window too, but by a slip leaves out t-1 and not the target.
    """
    steps = torch.arange(n_segments - 1)
    if n_segments < 3:
        raise ValueError("a random reference needs a window of at least 3 segments")
    drawn = torch.randint(n_segments - 2, (n_segments - 1,), generator=generator)
    return drawn + 2 * (drawn >= steps)


def contrastive_logits(predicted: Tensor, embeddings: Tensor, confounders: Tensor, temperature: float) -> Tensor:
    """Cosine over temperature of each prediction with its target, then its confounders: (B, T-1, C, 1 + n).

    `confounders` (B, T, C, n) are flat token indices (b * T + t) * C + c; entry t belongs to the target at t, so
    t = 0 is unused. They get no gradient, and one that equals the target is minus infinity.
    """
    target = embeddings[:, 1:]
    tokens = embeddings.detach().flatten(0, 2)
    columns = [functional.cosine_similarity(predicted[:, :-1], target, dim=-1)]
    # One confounder of every token at a time: all at once would be n times the size of the embeddings.
    for index in confounders[:, 1:].long().unbind(-1):
        other = tokens[index]
        cosine = functional.cosine_similarity(predicted[:, :-1], other, dim=-1)
        is_target = (other - target).norm(dim=-1) <= SAME * target.norm(dim=-1)
        columns.append(cosine.masked_fill(is_target, -torch.inf))
    return torch.stack(columns, dim=-1) / temperature


def contrastive_loss(logits: Tensor) -> Tensor:
    """Mean cross-entropy of the target, entry 0, against all entries (eq. 4 with the target in the denominator)."""
    return (logits.logsumexp(-1) - logits[..., 0]).mean()


def draw_confounders(
    shape: tuple[int, int, int], n_confounders: int, generator: torch.Generator | None = None
) -> Tensor:
    """Flat indices (B, T, C, n) of tokens, drawn uniformly from all of the batch but the target itself.

    The published code draws from the same set but, by a slip in the range, almost never from the last item.
    """
    n_tokens = shape[0] * shape[1] * shape[2]
    if n_tokens < 2:
        raise ValueError("confounders need a batch of at least 2 tokens")
    target = torch.arange(n_tokens).view(*shape, 1)
    drawn = torch.randint(n_tokens - 1, (*shape, n_confounders), generator=generator)
    return drawn + (drawn >= target)

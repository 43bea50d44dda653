"""Training of NeurDuo's tokenizer and backbone: quantised spectra (paper eqs. 1 and 2), then the next code (eq. 12).

Letters: B items, S steps, C channels, L samples of a chunk, K code width, V codes, M chunks that are there.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from models.neurduo.model import NeurDuo
from models.neurduo.tokenizer import LENGTH_FLOOR, Codebook, SpectralTokenizer


def tokenizer_loss(model: SpectralTokenizer, chunks: Tensor, missing: Tensor | None, seed: int) -> dict[str, Tensor]:
    """The terms of eq. 2 and their `total` on normalised chunks (B, S, C, L); the codebook learns on the way.

    The decoder is given the code, and the gradient goes past the choice of it to the encoder (straight through). In
    training mode the codebook moves by its moving average, after the first batch gave it its vectors.
    """
    config = model.config
    phi = model.features(chunks, missing)
    there = torch.ones(chunks.shape[:3], dtype=torch.bool, device=chunks.device)
    if missing is not None:
        there = there & ~missing[:, None, :].bool()
    phi = phi[there]  # (M, 2 F)
    encoded = F.normalize(model.encode(phi), dim=-1, eps=LENGTH_FLOOR)
    if model.training and not bool(model.vq.initted):
        begin_codebook(model.vq, encoded.detach(), seed)
    codes = model.vq.similarity(encoded.detach()).argmax(-1)
    chosen = F.embedding(codes, model.vq.unit_vectors())
    made = model.decoder(model.code_proj(encoded + (chosen - encoded).detach()))
    error = (made - phi).square()
    magnitude, phase = error[:, : config.n_bins].mean(), error[:, config.n_bins :].mean()
    commitment = (chosen.detach() - encoded).square().mean()
    total = config.amp_weight * magnitude + config.phase_weight * phase + config.commitment_beta * commitment
    if model.training:
        move_codebook(model, encoded.detach(), codes, seed)
    share = torch.bincount(codes, minlength=config.codebook_size).to(phi.dtype) / max(1, len(codes))
    perplexity = torch.exp(-torch.special.xlogy(share, share).sum())
    return {
        "total": total,
        "magnitude": magnitude,
        "phase": phase,
        "commitment": commitment,
        "perplexity": perplexity,
    }


@torch.no_grad()
def begin_codebook(book: Codebook, encoded: Tensor, seed: int) -> None:
    """Take vectors of the first batch, (M, K) of length one, for the codes; some twice where M is below V."""
    vectors = _drawn(encoded, len(book.embedding), seed)
    book.embedding.copy_(vectors)
    book.embed_avg.copy_(vectors)
    book.cluster_size.fill_(1.0)
    book.initted.fill_(True)


@torch.no_grad()
def move_codebook(model: SpectralTokenizer, encoded: Tensor, codes: Tensor, seed: int) -> None:
    """Moving averages of how often each code is used and of what it stands for; codes out of use begin anew."""
    config, book = model.config, model.vq
    count = torch.bincount(codes, minlength=config.codebook_size).to(encoded.dtype)
    total = torch.zeros_like(book.embedding).index_add_(0, codes, encoded)
    book.cluster_size.lerp_(count, 1 - config.ema_decay)
    book.embed_avg.lerp_(total, 1 - config.ema_decay)
    size = book.cluster_size.sum()
    smoothed = (book.cluster_size + config.codebook_eps) / (size + config.codebook_size * config.codebook_eps) * size
    book.embedding.copy_(F.normalize(book.embed_avg / smoothed[:, None], dim=-1, eps=LENGTH_FLOOR))
    dead = book.cluster_size < config.dead_code_threshold
    if bool(dead.any()):
        fresh = _drawn(encoded, int(dead.sum()), seed)
        book.embedding[dead] = fresh
        book.embed_avg[dead] = fresh
        book.cluster_size[dead] = 1.0


def next_code_loss(
    model: NeurDuo,
    tokenizer: SpectralTokenizer,
    chunks: Tensor,
    positions: Tensor,
    reference_ids: Tensor,
    missing: Tensor | None,
) -> tuple[Tensor, Tensor]:
    """Cross-entropy of each chunk's code given what came before (eq. 12), and how often it was the likeliest."""
    with torch.no_grad():
        codes = tokenizer.codes(chunks, missing)  # (B, S, C), -100 where a channel is missing
    z = model.tokens(chunks, positions, reference_ids, missing)  # (B, C, S, D + E)
    scores = model.code_logits(z[:, :, :-1])
    wanted = codes[:, 1:].transpose(1, 2)  # (B, C, S - 1)
    loss = F.cross_entropy(scores.flatten(0, 2), wanted.flatten())
    there = wanted >= 0
    return loss, (scores.detach().argmax(-1)[there] == wanted[there]).float().mean()


def _drawn(vectors: Tensor, count: int, seed: int) -> Tensor:
    """`count` of the vectors (M, K), each once while there are enough."""
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(vectors), generator=generator)
    repeats = -(-count // len(vectors))
    return vectors[order.repeat(repeats)[:count].to(vectors.device)]

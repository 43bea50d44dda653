"""The spectral tokenizer: spectra of single chunks to codes and back to spectra (paper section 3.1).

Letters: F bins of the one-sided spectrum, K code width, V codes; ".." stands for any leading dimensions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models.neurduo.config import TokenizerConfig

SPREAD_FLOOR = 1e-5
LENGTH_FLOOR = 1e-12
NO_CODE = -100


@dataclass(frozen=True)
class TokenizerLosses:
    """Terms of eq. 2 over the chunks that are there, and how the codes are used (scalars).

    `unused_codes` counts those whose moving average of uses is below the threshold, `perplexity` is of this batch.
    """

    total: Tensor
    magnitude: Tensor
    phase: Tensor
    commitment: Tensor
    unused_codes: Tensor
    perplexity: Tensor


def spectral_features(chunks: Tensor) -> Tensor:
    """phi (.., 2 F) of normalised chunks (.., L): magnitude, then phase in (-pi, pi], each z-scored over its bins."""
    spectrum = torch.fft.rfft(chunks)
    return torch.cat([_standardise(spectrum.abs()), _standardise(spectrum.angle())], dim=-1)


def _standardise(values: Tensor) -> Tensor:
    centred = values - values.mean(dim=-1, keepdim=True)
    return centred / values.std(dim=-1, keepdim=True).clamp(min=SPREAD_FLOOR)


class Codebook(nn.Module):
    """The vectors of the codes and what their moving average is kept by; buffers, not parameters."""

    embedding: Tensor
    cluster_size: Tensor
    embed_avg: Tensor
    initted: Tensor

    def __init__(self, n_codes: int, width: int) -> None:
        super().__init__()
        vectors = F.normalize(torch.randn(n_codes, width), dim=-1)
        self.register_buffer("embedding", vectors)
        self.register_buffer("cluster_size", torch.zeros(n_codes))
        self.register_buffer("embed_avg", vectors.clone())
        self.register_buffer("initted", torch.tensor(False))

    def similarity(self, encoded: Tensor) -> Tensor:
        """Cosine (.., V) of each code with vectors (.., K)."""
        return torch.matmul(F.normalize(encoded, dim=-1, eps=LENGTH_FLOOR), self.unit_vectors().T)

    def unit_vectors(self) -> Tensor:
        """The codes' vectors (V, K) at length one; stored ones need not have it."""
        return F.normalize(self.embedding, dim=-1, eps=LENGTH_FLOOR)


class SpectralTokenizer(nn.Module):
    """Encoder, codebook and decoder; every chunk of every channel on its own."""

    family = "neurduo-tokenizer"

    def __init__(self, config: TokenizerConfig) -> None:
        super().__init__()
        self.config = config
        self.checkpoint: Any = None  # a models.families.Checkpoint once weights were loaded
        width, features = config.enc_dim, 2 * config.n_bins
        self.input_proj = nn.Linear(features, width)
        self.per_channel_blocks = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
            for _ in range(config.enc_layers)
        )
        self.enc_norm = nn.LayerNorm(width)
        self.to_code = nn.Linear(width, config.code_dim)
        self.vq = Codebook(config.codebook_size, config.code_dim)
        self.code_proj = nn.Linear(config.code_dim, width)
        self.decoder = nn.Sequential(
            nn.Linear(width, config.dec_hidden_dim), nn.GELU(), nn.Linear(config.dec_hidden_dim, features)
        )

    def forward(self, chunks: Tensor, missing: Tensor | None = None) -> Tensor:
        """Codes, see `codes`."""
        return self.codes(chunks, missing)

    def features(self, chunks: Tensor, missing: Tensor | None = None) -> Tensor:
        """phi (B, S, C, 2 F) of chunks (B, S, C, L), 0 for channels missing (B, C)."""
        phi = spectral_features(chunks)
        return phi if missing is None else phi.masked_fill(_absent(missing), 0.0)

    def tokens(self, chunks: Tensor, missing: Tensor | None = None) -> Tensor:
        """(B, S, C, L) -> the encoder's output (B, S, C, K), before it is brought to length one."""
        return self.encode(self.features(chunks, missing))

    def codes(self, chunks: Tensor, missing: Tensor | None = None) -> Tensor:
        """(B, S, C, L) -> code numbers (B, S, C) int64 from 0, -100 for channels missing (B, C)."""
        codes = self.vq.similarity(self.tokens(chunks, missing)).argmax(dim=-1)
        return codes if missing is None else codes.masked_fill(_absent(missing)[..., 0], NO_CODE)

    def encode(self, phi: Tensor) -> Tensor:
        """Spectra (.., 2 F) -> (.., K)."""
        x = self.input_proj(phi)
        for block in self.per_channel_blocks:
            x = x + block(x)
        return self.to_code(self.enc_norm(x))

    def decode(self, codes: Tensor) -> Tensor:
        """Code numbers (..) -> spectra (.., 2 F) in z-scores; -100 gives the decoder's answer to a zero vector."""
        vectors = F.embedding(codes.clamp(min=0), self.vq.unit_vectors())
        vectors = vectors * (codes != NO_CODE)[..., None]
        return self.decoder(self.code_proj(vectors))

    def losses(self, chunks: Tensor, missing: Tensor | None = None) -> TokenizerLosses:
        """The training losses on (B, S, C, L), without the straight-through gradient."""
        config = self.config
        phi, codes = self.features(chunks, missing), self.codes(chunks, missing)
        there = codes != NO_CODE
        error = (self.decode(codes) - phi)[there] ** 2
        chosen = F.embedding(codes[there], self.vq.unit_vectors())
        distance = (chosen - F.normalize(self.encode(phi[there]), dim=-1, eps=LENGTH_FLOOR)) ** 2
        magnitude, phase = error[:, : config.n_bins].mean(), error[:, config.n_bins :].mean()
        commitment = distance.mean()
        used = torch.bincount(codes[there], minlength=config.codebook_size).to(phi.dtype)
        share = used / used.sum()
        return TokenizerLosses(
            config.amp_weight * magnitude + config.phase_weight * phase + config.commitment_beta * commitment,
            magnitude,
            phase,
            commitment,
            (self.vq.cluster_size < config.dead_code_threshold).sum(),
            torch.exp(-(share * torch.log(share.clamp(min=1e-10))).sum()),
        )


def _absent(missing: Tensor) -> Tensor:
    """(B, C) -> (B, 1, C, 1), true where a channel is missing."""
    return (missing > 0.5)[:, None, :, None]

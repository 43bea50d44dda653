"""MVPFormer: wavelet encoder, MVPA decoder, one linear head (paper figure 2, algorithm 3).

Letters: B batch, T segments, C channels, L samples of a segment, E embedding width.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from models.errors import CheckpointError
from models.mvpformer.config import MVPFormerConfig
from models.mvpformer.layers import Block, WaveletEncoder
from models.mvpformer.lora import LoRALinear

if TYPE_CHECKING:
    from models.families import Checkpoint


class MVPFormer(nn.Module):
    """The whole network; `checkpoint` says where its weights come from, None before any were loaded."""

    family = "mvpformer"

    def __init__(self, config: MVPFormerConfig) -> None:
        super().__init__()
        self.config = config
        self.checkpoint: Checkpoint | None = None
        self.encoder = WaveletEncoder(config)
        self.encoder_dropout = nn.Dropout(config.dropout)
        self.time_table = nn.Parameter(torch.empty(config.n_positions, config.n_embd))
        self.channel_table = nn.Parameter(torch.empty(config.n_channels, config.n_embd))
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.n_layer))
        self.final_norm = nn.RMSNorm(config.n_embd, eps=config.layer_norm_epsilon)
        self.head = nn.Linear(config.n_embd, config.head_outputs, bias=False)
        self.reset_parameters()

    def forward(self, signal: Tensor) -> Tensor:
        """Logits (B, classes) of a classification model, predicted next embeddings (B, T, C, E) of a generative one."""
        return self.logits(signal) if self.has_classifier else self.predictions_from_embeddings(self.embed(signal))

    @property
    def has_classifier(self) -> bool:
        """Whether the head gives classes."""
        return self.config.task == "classification"

    def tokens(self, signal: Tensor) -> Tensor:
        """(B, T, C, L) microvolts at the model's rate -> (B, T, C, E) after the final norm."""
        return self.tokens_from_embeddings(self.embed(signal))

    def logits(self, signal: Tensor) -> Tensor:
        """(B, T, C, L) microvolts at the model's rate -> (B, classes); class 1 is seizure in the published heads."""
        return self.logits_from_embeddings(self.embed(signal))

    def embed(self, signal: Tensor) -> Tensor:
        """(B, T, C, L) microvolts -> (B, T, C, E); each segment on its own, so sliding windows may share the result."""
        if signal.ndim != 4 or signal.shape[-1] != self.config.size_input or 0 in signal.shape:
            raise ValueError(
                f"the signal must have the shape (batch, segments, channels, {self.config.size_input}), "
                f"not {tuple(signal.shape)}"
            )
        return self.encoder(signal)

    def tokens_from_embeddings(self, embeddings: Tensor, context: int | None = None, *, plain: bool = False) -> Tensor:
        """(B, T, C, E) from `embed` -> (B, T, C, E) after the final norm.

        `context` is the number of segments whose time rows are used: the row of distance D is context - 1 - D, as if
        the window had been that long and its earlier segments were masked ([our definition], for the first windows
        of a recording). It is T unless given, as in the published code. `plain` takes the attention's direct form.
        """
        return self._decode(embeddings, context, plain=plain)

    def logits_from_embeddings(self, embeddings: Tensor, context: int | None = None) -> Tensor:
        """(B, T, C, E) from `embed` -> (B, classes): the head on the channel mean of the last segment."""
        self._require("classification", "classification head", "give a head file trained for it with --head")
        last = self._decode(embeddings, context, last_only=True)[:, -1]  # (B, C, E)
        return self.head(last.mean(dim=1))

    def predictions_from_embeddings(self, embeddings: Tensor, context: int | None = None) -> Tensor:
        """(B, T, C, E) from `embed` -> (B, T, C, E): at each segment the predicted embedding of the next one.

        Only the direction was trained, by cosine with the true embedding; the length means nothing.
        """
        self._require("generation", "generative head", "use the base file without a head file")
        return self.head(self._decode(embeddings, context))

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """Draw all weights as the published training starts: matrices and tables from normal(0, 0.02), norms at one.

        Biases and LoRA's B start at zero, so that a fresh update changes nothing.
        """
        for name, parameter in self.named_parameters():
            if "norm" in name:
                parameter.fill_(1.0)
            elif name.endswith(("bias", "lora_B")):
                parameter.zero_()
            else:
                parameter.normal_(0.0, 0.02)

    def fold_lora(self) -> None:
        """Make low-rank updates part of the weights, for good; the configuration then has none."""
        for module in self.modules():
            if isinstance(module, LoRALinear):
                module.fold()
        self.config = replace(self.config, lora_rank=0)

    def _decode(
        self, embeddings: Tensor, context: int | None, *, last_only: bool = False, plain: bool = False
    ) -> Tensor:
        """Blocks and final norm; `last_only` leaves out what only the earlier segments' outputs would need."""
        n_segments, n_channels = embeddings.shape[1:3]
        context = n_segments if context is None else context
        self._check_rows(n_segments, n_channels, context)
        time_rows = self.time_table[context - n_segments : context]
        channel_rows = self.channel_table[:n_channels]
        x = self.encoder_dropout(embeddings)
        for index, block in enumerate(self.blocks):
            is_last = index == len(self.blocks) - 1
            x = block(x, time_rows, channel_rows, last_only=last_only and is_last, plain=plain)
        return self.final_norm(x)

    def _check_rows(self, n_segments: int, n_channels: int, context: int) -> None:
        """Refuse input that the position tables have no rows for."""
        if context < n_segments:
            raise ValueError(f"context ({context}) must not be below the number of segments ({n_segments})")
        if context > self.config.n_positions:
            raise CheckpointError(
                f"this MVPFormer can look at {self.config.n_positions} segments at once, not at {context} "
                f"({self._source()}): use a shorter window"
            )
        if n_channels > self.config.n_channels:
            raise CheckpointError(
                f"this MVPFormer can read {self.config.n_channels} channels at once, not {n_channels} "
                f"({self._source()}): choose fewer channels"
            )

    def _require(self, task: str, part: str, what_to_do: str) -> None:
        """Refuse a use for which the model has no head."""
        if self.config.task != task:
            raise CheckpointError(f"this MVPFormer has no {part} ({self._source()}): {what_to_do}")

    def _source(self) -> str:
        """The file the weights come from, for messages."""
        return str(self.checkpoint.path) if self.checkpoint and self.checkpoint.path else "no checkpoint"

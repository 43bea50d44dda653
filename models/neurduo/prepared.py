"""What is the same at every step of a stream, worked out once: what `streaming` and `static_step` are made of.

Letters: R rows, L samples of a chunk, D fast width, E slow width, K slots of the bank.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor, nn

from models.neurduo.encoder import FastSignalEncoder
from models.neurduo.mamba import StepState, transposed
from models.neurduo.model import Montage, NeurDuo
from models.neurduo.stacks import StackStep, norm_arguments


class Prepared:
    """A model made ready for single steps of a montage's rows; later changes of its weights are not seen.

    `front_end` is the number format of the signal encoder's products, None that of its weights.
    """

    @torch.inference_mode()
    def __init__(self, model: NeurDuo, montage: Montage, front_end: torch.dtype | None = None) -> None:
        self.model, self.montage = model, montage
        n_rows = montage.n_items * montage.n_channels
        self._encode = FastSignalEncoder(model.signal_encoder, front_end)
        self._token = None if montage.token is None else montage.token.reshape(-1, montage.token.shape[-1])
        self._fast, self._slow = StackStep(model.fast, n_rows), StackStep(model.slow, n_rows)
        self._input_norm = norm_arguments(model.input_norm)
        query, gate = model.retrieval.query, cast(nn.Linear, model.retrieval.gate[0])
        scale = model.retrieval.scale
        self._query = transposed(query.weight * scale, n_rows), query.bias * scale
        self._gate = transposed(gate.weight, n_rows), gate.bias

    def encode(self, chunk: Tensor) -> Tensor:
        """Normalised samples (R, L) -> what the signal encoder makes of them (R, width)."""
        return self._encode(chunk)

    def fast(self, chunk: Tensor, states: Sequence[StepState]) -> Tensor:
        """Normalised samples (R, L) -> h (R, D); `states` move on by one step."""
        x = self.encode(chunk)
        x = torch.layer_norm(x if self._token is None else x.add_(self._token), *self._input_norm)
        return self._fast(x, states, self.montage.n_channels, self.montage.bias)

    def slow(self, token: Tensor, states: Sequence[StepState]) -> Tensor:
        """A memory token (R, E) -> the slow state (R, E); `states` move on by one step."""
        return self._slow(token, states, 1, None)

    def scores(self, h: Tensor, keys: Tensor) -> Tensor:
        """h (R, D) and keys (R, K, E) -> how well each fits (R, K)."""
        query = torch.addmm(self._query[1], h, self._query[0])
        return torch.bmm(keys, query[:, :, None])[:, :, 0]

    def recall(self, h: Tensor, weights: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """h (R, D), weights (R, K) and values (R, K, E) -> their mixture and the gate it passes, (R, E) each."""
        mixture = torch.bmm(weights[:, None], values)[:, 0]
        return mixture, torch.addmm(self._gate[1], torch.cat([h, mixture], dim=1), self._gate[0]).sigmoid_()

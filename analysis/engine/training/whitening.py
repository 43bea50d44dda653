"""Where the first layers of a model begin, by what the data look like: with nothing learned yet, all of it counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from analysis.engine.training.drawing import Batch
from analysis.engine.training.feeding import Feeder
from models.mvpformer import wavelet

_LEAST = 1e-6
_REFERENCE_SCALE = 0.02  # of the table of references, which is the same for all chunks and says nothing at first


def whiten(model: Any, batch: Batch, feeder: Feeder) -> None:
    """Start a model's first layer at the scale of one batch; only families of WHITENED can."""
    given = feeder.arguments(torch.from_numpy(batch.signal), torch.from_numpy(batch.missing), batch.sites)
    with torch.no_grad():
        WHITENED[model.family](model, given)


def _whiten_mvpformer(model: Any, given: Mapping[str, Any]) -> None:
    """The encoder norm's weight at the inverse RMS of each wavelet coefficient.

    The coefficients of an EEG fall by decades with frequency; without this the fast ones take long to count.
    """
    coefficients = wavelet.decompose(given["signal"])
    normed = coefficients / coefficients.square().mean(-1, keepdim=True).sqrt().clamp_min(_LEAST)
    weight = model.encoder.norm.weight
    weight.copy_((1 / normed.square().mean((0, 1, 2)).sqrt().clamp_min(1e-3)).to(weight))


def _whiten_neurduo(model: Any, given: Mapping[str, Any]) -> None:
    """The projection of the signal encoder such that each feature has mean 0 and deviation 1 over the chunks.

    As drawn, the constants of electrode and reference are twenty times what differs from chunk to chunk, and the norm
    after them keeps it so: the model hardly sees the signal.
    """
    tokens = model.signal_tokens(given["chunks"].to(model.input_norm.weight.device))  # (B, S, C, D)
    if given["missing"] is not None:
        tokens = tokens.transpose(1, 2)[given["missing"] == 0]
    tokens = tokens.flatten(0, -2)
    mean, spread = tokens.mean(0), tokens.std(0).clamp_min(_LEAST)
    projection = model.signal_encoder.proj
    projection.weight.div_(spread[:, None])
    projection.bias.sub_(mean).div_(spread)
    model.metadata_encoder.reference_embed.weight.mul_(_REFERENCE_SCALE)


WHITENED: Mapping[str, Callable[[Any, Mapping[str, Any]], None]] = {
    "mvpformer": _whiten_mvpformer,
    "neurduo": _whiten_neurduo,
}

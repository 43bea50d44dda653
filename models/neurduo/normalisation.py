"""How NeurDuo's input is scaled: the published rule over a window, and ours for live use, which needs no future.

The published rule takes from each channel its mean over the window and divides all channels by one number, the lower
median of their standard deviations, so relative amplitudes survive and the unit does not matter. The causal rule is
the same over the chunks of the last 32 s, the present one included, or over all since the reset while there are
fewer: at the last chunk of a pre-training window both have seen the same samples.

Letters: S steps, C channels, L samples of a chunk, W chunks of the window.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

SCALE_FLOOR = 1e-12
TRAILING_CHUNKS = 64  # 32 s, the window of pre-training


def normalise_window(signal: Tensor) -> Tensor:
    """One window (.., C, samples) of each item by the published rule, in the signal's precision."""
    centred = signal - signal.mean(dim=-1, keepdim=True)
    return centred / common_scale(signal.std(dim=-1))[..., None, None]


def common_scale(deviations: Tensor) -> Tensor:
    """The lower median over channels (.., C) of the deviations above zero, at least 1e-12; 1 where none is."""
    positive = deviations > 0
    count = positive.sum(dim=-1, keepdim=True)
    ordered = deviations.masked_fill(~positive, float("inf")).sort(dim=-1).values
    middle = ordered.gather(-1, ((count - 1) // 2).clamp(min=0))[..., 0].clamp(min=SCALE_FLOOR)
    return torch.where(count[..., 0] > 0, middle, torch.ones_like(middle))


class TrailingNormaliser:
    """The causal rule, chunk by chunk or many at once; `chunks` (W) of history decide, and nothing after the chunk."""

    def __init__(self, n_channels: int, chunk_samples: int, chunks: int = TRAILING_CHUNKS) -> None:
        self._length, self._chunks, self._n_channels = chunk_samples, chunks, n_channels
        self.reset()

    def reset(self) -> None:
        """Forget everything, as at the beginning of a recording."""
        # Mean and sum of squared deviations of each chunk in memory, newest last.
        self._means = torch.zeros(self._chunks - 1, self._n_channels, dtype=torch.float64)
        self._squares = torch.zeros_like(self._means)
        self._filled = 0

    def run(self, chunks: Tensor) -> Tensor:
        """Chunks (S, C, L) that follow what came before -> the same, normalised, in their own precision."""
        exact = chunks.to(torch.float64)
        means = exact.mean(dim=-1)  # (S, C)
        squares = ((exact - means[..., None]) ** 2).sum(dim=-1)
        all_means, all_squares = torch.cat([self._means, means]), torch.cat([self._squares, squares])
        known = torch.arange(1, len(chunks) + 1) + self._filled
        count = known.clamp(max=self._chunks)[:, None]  # chunks that count at each step, (S, 1)
        age = torch.arange(self._chunks - 1, -1, -1)
        there = (age < count)[:, None]  # (S, 1, W)
        windows = all_means.unfold(0, self._chunks, 1)  # (S, C, W)
        mean = (windows * there).sum(dim=-1) / count
        spread = ((windows - mean[..., None]) ** 2 * there).sum(dim=-1) * self._length
        spread = spread + (all_squares.unfold(0, self._chunks, 1) * there).sum(dim=-1)
        scale = common_scale((spread / (count * self._length - 1)).sqrt())  # (S,)
        self._remember(all_means, all_squares, int(known[-1]) if len(chunks) else self._filled)
        return ((exact - mean[..., None]) / scale[:, None, None]).to(chunks.dtype)

    def state_dict(self) -> dict[str, Tensor]:
        """A copy of the memory, always of the same size."""
        filled = torch.tensor(self._filled, dtype=torch.int64)
        return {"means": self._means.clone(), "squares": self._squares.clone(), "filled": filled}

    def load_state_dict(self, saved: Mapping[str, Tensor]) -> None:
        """Go on from what `state_dict` gave."""
        self._means, self._squares = saved["means"].clone(), saved["squares"].clone()
        self._filled = int(saved["filled"])

    def _remember(self, means: Tensor, squares: Tensor, known: int) -> None:
        keep = self._chunks - 1
        self._means, self._squares = means[len(means) - keep :].clone(), squares[len(squares) - keep :].clone()
        self._filled = min(known, keep)

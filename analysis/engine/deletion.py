"""Deletion and insertion: how fast the score goes as parts of the signal are taken out, or put in, in an order.

After Petsiuk et al. 2018 (RISE), with the explained baseline in place of a blurred picture. A part is a channel, or a
second of a channel. Letters: C channels, S seconds, K parts, F fractions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from analysis.engine.explained import Explained
from analysis.progress import Progress

STEPS = 10


@dataclass(frozen=True)
class Curves:
    """Scores (orders, F) as parts are taken out and put in, at the fractions (F,) of all parts."""

    fractions: np.ndarray
    deletion: np.ndarray
    insertion: np.ndarray


def curves_of(
    window: Explained, baseline: Tensor, target: int, orders: Sequence[np.ndarray], by_second: bool, progress: Progress
) -> Curves:
    """Both curves for each order of the parts (K,): of channels, or of seconds of channels, channel by channel."""
    step = round(window.sfreq) if by_second else window.signal.shape[-1]
    n_parts = len(orders[0])
    counts = np.unique(np.linspace(0, n_parts, min(STEPS, n_parts) + 1).round().astype(int))
    with torch.no_grad():
        whole, none = (float(window.score(signal)[0, target]) for signal in (window.signal, baseline))
    deletion, insertion = (np.empty((len(orders), len(counts))) for _ in range(2))
    deletion[:, 0] = insertion[:, -1] = whole
    deletion[:, -1] = insertion[:, 0] = none
    for number, order in enumerate(orders):
        for place, count in enumerate(counts[1:-1], 1):
            progress.report(number + place / len(counts), len(orders))
            taken = order[:count]
            deletion[number, place] = _score(window, _mixed(window.signal, baseline, taken, step), target)
            insertion[number, place] = _score(window, _mixed(baseline, window.signal, taken, step), target)
    return Curves(counts / n_parts, deletion, insertion)


def _score(window: Explained, signal: Tensor, target: int) -> float:
    with torch.no_grad():
        return float(window.score(signal)[0, target])


def _mixed(signal: Tensor, other: Tensor, parts: np.ndarray, step: int) -> Tensor:
    """The signal (1, C, N) with some of its parts from the other one."""
    channels, samples = signal.shape[1:]
    taken = torch.zeros(channels * -(-samples // step), dtype=torch.bool, device=signal.device)
    taken[torch.from_numpy(np.asarray(parts, np.int64)).to(signal.device)] = True
    mask = taken.view(channels, -1).repeat_interleave(step, -1)[:, :samples]
    return torch.where(mask[None], other, signal)


def order_of(values: np.ndarray) -> np.ndarray:
    """Parts from the highest value down; equal ones in their own order."""
    return np.argsort(-values.ravel(), kind="stable")


def random_orders(count: int, n_parts: int, seed: int) -> list[np.ndarray]:
    """Seeded orders to compare with."""
    rng = np.random.default_rng(seed)
    return [rng.permutation(n_parts) for _ in range(count)]


def area(scores: np.ndarray, fractions: np.ndarray) -> np.ndarray:
    """The mean score along curves (…, F), by trapezes."""
    found: np.ndarray = np.trapezoid(scores, fractions, axis=-1)
    return found

"""Changes of windows that leave their labels true: mirrored heads, turned signs, other gains, silent channels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from analysis.engine.training.drawing import Batch
from analysis.engine.training.recipe import AugmentRecipe


def augment(batch: Batch, recipe: AugmentRecipe, rng: np.random.Generator) -> Batch:
    """Change each window on its own by the recipe's chances; the batch that is given stays as it is."""
    n, channels = batch.signal.shape[:2]
    signal, missing = batch.signal, batch.missing
    order = mirrored(batch.sites)
    turn = np.less(rng.random(n), recipe.mirror)
    if order is not None and turn.any():
        rows = np.where(turn[:, None], order, np.arange(channels))
        signal = np.take_along_axis(signal, rows[:, :, None], 1)
        missing = np.take_along_axis(missing, rows, 1)
    sign = np.where(rng.random(n) < recipe.sign, -1.0, 1.0)
    gain = np.exp(rng.normal(0.0, recipe.gain, n)) if recipe.gain > 0 else np.ones(n)
    signal = signal * (sign * gain).astype(np.float32)[:, None, None]
    silent = silenced(n, channels, recipe, rng)
    signal[silent] = 0.0
    return replace(batch, signal=signal, missing=missing)


def silenced(n: int, channels: int, recipe: AugmentRecipe, rng: np.random.Generator) -> np.ndarray:
    """Which channels of which windows become zeros, bool (n, channels); at least one channel is left."""
    most = min(recipe.most, channels - 1)
    if recipe.silence <= 0 or most < 1:
        return np.zeros((n, channels), bool)
    count = rng.integers(min(recipe.fewest, most), most + 1, n) * (rng.random(n) < recipe.silence)
    rank = rng.random((n, channels)).argsort(1).argsort(1)
    return rank < count[:, None]


def mirrored(sites: Sequence[str]) -> np.ndarray | None:
    """For each channel the one at the same place of the other side; None where one of them has no partner."""
    place = {site.upper(): i for i, site in enumerate(sites)}
    partners = [place.get(_other_side(site.upper())) for site in sites]
    known = [partner for partner in partners if partner is not None]
    return np.array(known) if len(known) == len(sites) else None


def _other_side(site: str) -> str:
    match = re.fullmatch(r"([A-Z]+)(\d+)", site)
    if match is None:
        return site  # on the midline, or no electrode of the head
    number = int(match.group(2))
    return f"{match.group(1)}{number + 1 if number % 2 else number - 1}"

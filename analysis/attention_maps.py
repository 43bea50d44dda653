"""Maps between channels that come from attention, and what is read off them: strength, entropy, asymmetry, distance.

A map M (..., C, C) has the querying channel in its rows and the one that is attended to in its columns. Everything
here is our definition (completion of the paper's appendix G.10), for the engine, the panels and the overlays alike.
"""

from __future__ import annotations

import numpy as np

PRIOR, TERM, FLOW, CODE = "prior", "term", "flow", "implied"
OWN, RANDOM, DIFFERENCE = "own", "random", "difference"
RELATIONS = ("itself", "own past", "others now", "others' past")


def strength_in(maps: np.ndarray) -> np.ndarray:
    """What each channel receives from the others, (..., C), over the share that even attention would give it.

    1 is as much as even attention gives; NaN for a single channel.
    """
    return _from_others(maps, -2)


def strength_out(maps: np.ndarray) -> np.ndarray:
    """What each channel gives to the others, (..., C), over the share that even attention would give them."""
    return _from_others(maps, -1)


def _from_others(maps: np.ndarray, axis: int) -> np.ndarray:
    n = maps.shape[-1]
    own = np.diagonal(maps, axis1=-2, axis2=-1)
    # C - 1 others with 1 / C each.
    return (maps.sum(axis) - own) * (n / (n - 1)) if n > 1 else np.full(own.shape, np.nan)


def row_entropy(maps: np.ndarray) -> np.ndarray:
    """Entropy of rows that sum to one, over log C, mean over the rows, (...); NaN for a single channel."""
    n = maps.shape[-1]
    if n < 2:
        return np.full(maps.shape[:-2], np.nan)
    logs = np.log(np.where(maps > 0, maps, 1.0))
    return -(maps * logs).sum(-1).mean(-1) / np.log(n)


def softmax_rows(scores: np.ndarray) -> np.ndarray:
    """Rows of scores as shares that sum to one."""
    raised = np.exp(scores - scores.max(-1, keepdims=True))
    return raised / raised.sum(-1, keepdims=True)


def asymmetry(maps: np.ndarray) -> np.ndarray:
    """|M - M^T| / |M|, Frobenius, (...); NaN for a map of nothing but zeros."""
    size = _norm(maps)
    difference = _norm(maps - np.swapaxes(maps, -1, -2))
    return np.divide(difference, size, out=np.full(size.shape, np.nan), where=size > 0)


def distance(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """|M - N|, Frobenius, (...)."""
    return _norm(first - second)


def _norm(maps: np.ndarray) -> np.ndarray:
    return np.asarray(np.sqrt((np.asarray(maps, np.float64) ** 2).sum((-2, -1))))


def code_distances(codes: np.ndarray) -> np.ndarray:
    """Euclidean distance between the codes of two separations, (C, C), of codes (C, E) by separation."""
    return np.asarray(np.linalg.norm(codes[:, None] - codes[None], axis=-1))


def implied_map(between_codes: np.ndarray) -> np.ndarray:
    """Distance of the code of |c - c'| from that of 0, (C, C), of distances between the codes of separations (C, C)."""
    place = np.arange(between_codes.shape[0])
    return np.asarray(between_codes[0][np.abs(place[:, None] - place[None])])


def physical_distances(positions: np.ndarray) -> np.ndarray:
    """Distances (C, C) in the unit of positions (C, 3); NaN where either is not known."""
    return np.asarray(np.linalg.norm(positions[:, None] - positions[None], axis=-1))


def strongest_targets(row: np.ndarray, channel: int, most: int) -> list[int]:
    """Channels that a channel attends to more than evenly, the strongest first, itself left out."""
    order = np.argsort(-row, kind="stable")
    return [int(i) for i in order if i != channel and row[i] > 1 / row.size][:most]


def spearman(x: np.ndarray, y: np.ndarray) -> tuple[float, int]:
    """Rank correlation of the pairs of which both are known, and how many they are; NaN below 3 or without spread."""
    known = np.isfinite(x) & np.isfinite(y)
    n = int(known.sum())
    if n < 3:
        return float("nan"), n
    a, b = average_ranks(x[known]), average_ranks(y[known])
    a, b = a - a.mean(), b - b.mean()
    size = float(np.sqrt((a**2).sum() * (b**2).sum()))
    return (float((a * b).sum() / size) if size > 0 else float("nan")), n


def average_ranks(values: np.ndarray) -> np.ndarray:
    """Ranks (n,) from 1 on; equal values share the mean of theirs."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[place])


def pairs_of(maps: np.ndarray) -> np.ndarray:
    """Each pair of channels once, (C * (C - 1) / 2,), the mean of both directions."""
    first, second = np.triu_indices(maps.shape[-1], 1)
    return np.asarray((maps[first, second] + maps[second, first]) / 2)


def even_lags(n_segments: int) -> np.ndarray:
    """What even attention gives to each lag, (T,), mean over the segments; sums to one."""
    seen = 1 / np.arange(1, n_segments + 1)
    return np.asarray(np.cumsum(seen[::-1])[::-1] / n_segments)


def against_even(maps: np.ndarray) -> np.ndarray:
    """Shares (..., C, C) as per cent above (below, where negative) those of even attention."""
    return np.asarray(100 * (maps * maps.shape[-1] - 1))


def even_flow(n_segments: int, n_channels: int) -> np.ndarray:
    """What even attention over all that a token may see gives to each of RELATIONS, (4,), mean over the segments."""
    seen = np.arange(1, n_segments + 1)
    itself = (1 / (seen * n_channels)).mean()
    past = ((seen - 1) / (seen * n_channels)).mean()
    return np.array([itself, past, (n_channels - 1) * itself, (n_channels - 1) * past])

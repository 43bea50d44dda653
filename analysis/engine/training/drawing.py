"""Which windows a step of training sees: a pure function of the seed and the step, so that a run can be taken up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.engine.training.recipe import DrawRecipe
from analysis.engine.training.stretches import Source, Span, Stretch
from analysis.errors import AnalysisError

LEAST_TOUCH = 1.0  # seconds of the event that a window drawn for it holds at least
_ORDER, _DRAWS = 1, 2  # streams of random numbers


@dataclass(frozen=True)
class Batch:
    """Windows of one montage: `signal` float32 (B, C, N) microvolts, `missing` (B, C), `labels` float32 (B, L).

    A label is the share of its span that lies in a seizure.
    """

    signal: np.ndarray
    missing: np.ndarray
    labels: np.ndarray
    sites: tuple[str, ...]
    subjects: tuple[str, ...]


class Pool:
    """The few stretches that windows are drawn from at a step; one leaves and another comes as the draws go on."""

    def __init__(self, source: Source, recipe: DrawRecipe, batch: int, seed: int) -> None:
        self._source, self._recipe, self._batch, self._seed = source, recipe, batch, seed
        self._held: dict[int, Stretch] = {}
        self._orders: dict[int, np.ndarray] = {}

    def at(self, step: int) -> list[Stretch]:
        """The stretches of a step."""
        first = step * self._batch // self._recipe.windows_per_stretch
        places = range(first, first + min(self._recipe.pool, len(self._source)))
        self._held = {place: stretch for place, stretch in self._held.items() if place in places}
        for place in places:
            if place not in self._held:
                self._held[place] = self._source.load(self._number(place))
        return [self._held[place] for place in places]

    def _number(self, place: int) -> int:
        """The stretch at a place of the endless order: all in turn, anew in each round.

        Where it is known which stretches hold a seizure, these come at every other place.
        """
        ictal = self._source.ictal
        if not ictal or len(ictal) == len(self._source):
            return self._turn(place, np.arange(len(self._source)), 0)
        rest = np.setdiff1d(np.arange(len(self._source)), ictal)
        return self._turn(place // 2, np.array(ictal) if place % 2 == 0 else rest, 1 + place % 2)

    def _turn(self, place: int, numbers: np.ndarray, kind: int) -> int:
        round_, at = divmod(place, len(numbers))
        order = np.random.default_rng([self._seed, _ORDER, kind, round_]).permutation(numbers)
        return int(order[at])


def step_generator(seed: int, step: int) -> np.random.Generator:
    """The random numbers of one step."""
    return np.random.default_rng([seed, _DRAWS, step])


def draw_batch(
    stretches: Sequence[Stretch], recipe: DrawRecipe, spans: np.ndarray, size: int, rng: np.random.Generator
) -> Batch:
    """Draw windows; `spans` (L, 2) are what labels speak of, in seconds from a window's beginning.

    AnalysisError where no stretch is as long as a window.
    """
    long = [s for s in stretches if s.seconds >= recipe.window_seconds]
    if not long:
        raise AnalysisError(
            f"no stretch of the training data holds a window of {recipe.window_seconds:g} s (the recipe): "
            "use longer recordings or shorter windows"
        )
    if len({s.sites for s in long}) > 1:  # montages differ, so a batch comes from one
        chosen = long[rng.integers(len(long))]
        long = [s for s in long if s.sites == chosen.sites]
    seizures = [(s, span) for s in long for span in s.seizures]
    artefacts = [(s, span) for s in long for span in s.artefacts]
    places = [_draw_place(long, seizures, artefacts, recipe, rng) for _ in range(size)]
    return cut_windows(places, recipe.window_seconds, spans)


def _draw_place(
    stretches: Sequence[Stretch],
    seizures: Sequence[tuple[Stretch, Span]],
    artefacts: Sequence[tuple[Stretch, Span]],
    recipe: DrawRecipe,
    rng: np.random.Generator,
) -> tuple[Stretch, float]:
    """One stretch and where in it a window begins."""
    kind, which, where = rng.random(3)
    among = artefacts if recipe.seizure <= kind < recipe.seizure + recipe.artefact else ()
    among = seizures if kind < recipe.seizure else among
    if not among:
        stretch = stretches[int(which * len(stretches))]
        return stretch, where * (stretch.seconds - recipe.window_seconds)
    stretch, (onset, stop) = among[int(which * len(among))]
    touch = min(LEAST_TOUCH, stop - onset)
    low = max(0.0, onset + touch - recipe.window_seconds)
    high = min(stretch.seconds - recipe.window_seconds, stop - touch)
    return stretch, low + where * max(0.0, high - low)


def cut_windows(places: Sequence[tuple[Stretch, float]], seconds: float, spans: np.ndarray) -> Batch:
    """Windows that begin at these seconds of these stretches, which share their channels."""
    signal, labels = [], []
    for stretch, onset in places:
        n = round(seconds * stretch.sfreq)
        first = min(max(round(onset * stretch.sfreq), 0), stretch.data.shape[1] - n)
        signal.append(stretch.data[:, first : first + n])
        labels.append(seizure_shares(stretch.seizures, first / stretch.sfreq + spans))
    return Batch(
        np.stack(signal),
        np.stack([stretch.missing for stretch, _ in places]),
        np.stack(labels),
        places[0][0].sites,
        tuple(stretch.subject for stretch, _ in places),
    )


def seizure_shares(seizures: Sequence[Span], spans: np.ndarray) -> np.ndarray:
    """How much of each span (L, 2) lies in seizures that do not overlap, float32 (L,) from 0 to 1."""
    share = np.zeros(len(spans))
    for onset, stop in seizures:
        share += np.clip(np.minimum(spans[:, 1], stop) - np.maximum(spans[:, 0], onset), 0.0, None)
    return np.clip(share / (spans[:, 1] - spans[:, 0]), 0.0, 1.0).astype(np.float32)

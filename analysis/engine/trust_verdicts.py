"""What sanity checks show and what they do not, in one sentence each, with the limit that decided it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

AGREES = 0.5  # Spearman's rho of two methods' channels
DECORRELATED = 0.3  # mean |rho| of the map and those of models with re-drawn weights
MOSTLY_KEPT = 0.5  # the same, from where on most of the map is there without the weights
AMPLITUDE = 0.8  # rho with the plain RMS
MODEL_AGNOSTIC = ("occlusion", "keep one")  # Grad-CAM has no sign and is told beside them
TOP = 3  # ranks of the focus
BAND = (2.5, 97.5)  # percentiles of random orders


@dataclass(frozen=True)
class Verdict:
    """A check, whether it holds (None: not decided), and what it says; `limit` is what had to be met."""

    check: str
    holds: bool | None
    sentence: str
    limit: str

    def plain(self) -> dict[str, Any]:
        """Ready for JSON."""
        return asdict(self)


def of_completeness(gap: float, nodes: int, limit: float) -> Verdict:
    """Whether the parts of Integrated Gradients add up."""
    holds = gap < limit
    ending = (
        "the integral is accurate, which says nothing about whether the model is right"
        if holds
        else "the values of the map are not exact parts of the score: choose another baseline"
    )
    share = f"{gap:.2%}" if gap >= 1e-4 else "less than 0.01%"
    sentence = f"The map adds up to the change of the score but for {share} of it, with {nodes} points: {ending}."
    return Verdict("completeness", holds, sentence, f"gap below {limit:.0%}")


def of_agreement(signed: Mapping[str, float], unsigned_with_rms: float) -> Verdict:
    """Whether other methods rank the channels as signed Integrated Gradients do; rho by method, and with the RMS."""
    known = {name: value for name, value in signed.items() if name != "RMS" and math.isfinite(value)}
    limit = f"rho of at least {AGREES:g} with {' and '.join(MODEL_AGNOSTIC)}"
    decisive = [known[name] for name in MODEL_AGNOSTIC if name in known]
    if not decisive:
        return Verdict("agreement", None, "No other method gave a map that tells channels apart.", limit)
    holds = min(decisive) >= AGREES
    listed = ", ".join(f"{_number(value)} with {name}" for name, value in known.items())
    rival = signed.get("RMS", math.nan)
    like = ", so that it mostly shows amplitude" if abs(rival) >= AMPLITUDE else ""
    sentence = (
        f"The ranks of channels by signed IG have rho {listed}; {_number(rival)} with the plain RMS{like}. Unsigned IG "
        f"has {_number(unsigned_with_rms)} with the RMS. Methods that agree tell the same about the model, and may all "
        "be misled by it."
    )
    return Verdict("agreement", holds, sentence, limit)


def of_randomisation(last: Mapping[str, np.ndarray], cells: int) -> Verdict:
    """Whether the map changes when all weights are re-drawn; Spearman's rho with the map by name, of every draw."""
    limit = f"mean |rho| of signed IG below {DECORRELATED:g} with all weights re-drawn"
    sizes = {name: _mean(np.abs(values)) for name, values in last.items()}
    signed = sizes["IG signed"]
    if not math.isfinite(signed):
        return Verdict("randomisation", None, "The map is the same everywhere, so nothing can be compared.", limit)
    holds = signed < DECORRELATED
    if holds:
        meaning = "the map depends on the weights"
    elif signed < MOSTLY_KEPT:
        meaning = "a part of the map may be there whatever the weights are"
    else:
        meaning = "most of the map is there whatever the weights are: it shows the signal, not the model"
    others = "; ".join(f"{name} {_number(value)}" for name, value in sizes.items() if name != "IG signed")
    draws = last["IG signed"].size
    sentence = (
        f"With all weights re-drawn, signed IG keeps a mean |rho| of {_number(signed)} to its map over {draws} "
        f"draw{'s' if draws != 1 else ''} and {cells} cells ({others}): {meaning}. That they were learned well is not "
        "shown."
    )
    return Verdict("randomisation", holds, sentence, limit)


def of_orders(deletion: float, insertion: float, by_chance: tuple[np.ndarray, np.ndarray], parts: str) -> Verdict:
    """Whether the map's order takes the score away, and gives it back, faster than random orders; by areas."""
    limit = f"below the middle 95 % of {len(by_chance[0])} random orders in deletion, above it in insertion"
    low, high = float(np.percentile(by_chance[0], BAND[0])), float(np.percentile(by_chance[1], BAND[1]))
    down, up = deletion < low, insertion > high
    what = {
        (True, True): "the score hangs on what the map names first",
        (True, False): "what it names first is needed, but does not make the score by itself",
        (False, True): "what it names first makes the score, but other parts make it as well",
        (False, False): "the score hangs on what the map names first no more than on any other part",
    }[down, up]
    sentence = (
        f"In the map's order of {parts} the mean score is {_score(deletion)} in deletion (random: "
        f"{_band(by_chance[0])}) and {_score(insertion)} in insertion (random: {_band(by_chance[1])}): {what}. "
        "Signals with replaced parts are none that the model was made for."
    )
    return Verdict("deletion and insertion", down and up, sentence, limit)


def of_truth(rank: float, rival: float, redrawn: np.ndarray, channels: int, foci: Sequence[str]) -> Verdict:
    """Whether the map finds the simulated focus; ranks of the focus by the map, by RMS, and of re-drawn models."""
    limit = f"rank of the focus at most {TOP}, and before the mean of models with re-drawn weights"
    chance = _mean(redrawn)
    holds = rank <= TOP and not rank >= chance
    beside = "the plain RMS finds it as well" if rival <= TOP else "the plain RMS does not find it"
    sentence = (
        f"Signed IG ranks the focus ({', '.join(dict.fromkeys(foci))}) at {rank:.3g} of {channels} channels, where "
        f"chance puts it in the top {TOP} in {min(1.0, TOP / channels):.0%} of cases; models with re-drawn "
        f"weights put it at {chance:.3g} on average, the plain RMS at {rival:.3g}: "
        f"{'found' if holds else 'not found'}; {beside}. One seizure is one case, and it was simulated."
    )
    return Verdict("truth", holds, sentence, limit)


def without_truth(why: str) -> Verdict:
    """There is nothing to compare the map with."""
    return Verdict("truth", None, f"Not available: {why}.", "")


def _number(value: float) -> str:
    return f"{value:.2f}".replace("-", "−") if math.isfinite(value) else "not defined"


def _score(value: float) -> str:
    return f"{value:.3g}".replace("-", "−")


def _band(areas: np.ndarray) -> str:
    return " to ".join(_score(float(np.percentile(areas, at))) for at in BAND)


def _mean(values: np.ndarray) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if known.size else math.nan

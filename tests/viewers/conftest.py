"""What tests of the drawing share: channels, montages, pages and analyses made by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from analysis.analyses import Analysis, NamedArray
from analysis.montage import Derivation, Montage
from analysis.recording import Channel, Page, Window
from analysis.results import AnalysisRequest

SFREQ = 200.0


@pytest.fixture(scope="session")
def eeg_channels() -> Callable[..., tuple[Channel, ...]]:
    """Makes calibrated EEG channels of these names."""

    def make(*names: str, **changes: object) -> tuple[Channel, ...]:
        given = {"type": "eeg", "unit": "uV", "sfreq": SFREQ, **changes}
        return tuple(Channel(name, name, **given) for name in names)  # type: ignore[arg-type]

    return make


@pytest.fixture(scope="session")
def single_montage() -> Callable[..., Montage]:
    """Makes a montage of single channels, each on a side and in a block."""

    def make(*names: str, sides: str = "", blocks: str = "") -> Montage:
        words = {"l": "left", "r": "right", "m": "midline", "o": "other"}
        return Montage(
            "as recorded",
            tuple(
                Derivation(name, name, (), words[sides[i]] if sides else "left", int(blocks[i]) if blocks else 0)
                for i, name in enumerate(names)
            ),
        )

    return make


@pytest.fixture(scope="session")
def make_page() -> Callable[..., Page]:
    """Makes a page of samples (samples, rows) that begins at `start` seconds."""

    def make(data: np.ndarray, names: tuple[str, ...], start: float = 0.0, stop: float | None = None) -> Page:
        end = start + (data.shape[0] - 1) / SFREQ if stop is None else stop
        return Page(Window(start, end), names, SFREQ, data.astype(np.float32), start)

    return make


@pytest.fixture(scope="session")
def make_analysis() -> Callable[..., Analysis]:
    """Makes an analysis of arrays given as (values, axes) or (values, axes, unit, meaning, source)."""

    def make(
        kind: str,
        arrays: Mapping[str, tuple[Any, ...]],
        labels: Mapping[str, tuple[str, ...]] | None = None,
        facts: Mapping[str, Any] | None = None,
        models: tuple[str, ...] = ("AXON-tiny",),
        options: Mapping[str, Any] | None = None,
        span: tuple[float, float] = (10.0, 20.0),
        notes: tuple[str, ...] = (),
        random_weights: bool = False,
    ) -> Analysis:
        usual = ("1", "what it is", "")
        made = {n: NamedArray(np.asarray(a[0]), a[1], *(*a[2:], *usual[len(a) - 2 :])) for n, a in arrays.items()}
        request = AnalysisRequest(kind, "abc123", ("digest",), window=Window(*span), options=dict(options or {}))
        return Analysis(
            request,
            "2026-01-01T00:00:00",
            "1.0",
            {"recording": {"path": "/somewhere/night.edf"}, "span": list(span)},
            title=kind,
            models=models,
            arrays=made,
            facts=dict(facts or {}),
            labels=dict(labels or {}),
            notes=notes,
            random_weights=random_weights,
        )

    return make


@pytest.fixture(scope="session")
def gates(make_analysis) -> Callable[..., Analysis]:
    """Makes an analysis of gates of three layers, `windows` windows of 2 s, two channels, two patches."""

    def make(windows: int = 2, two_scales: bool = True, **changes: Any) -> Analysis:
        rng = np.random.default_rng(3)
        temporal = rng.uniform(0.1, 0.9, (3, windows, 2, 2))
        layer, tokens = ("layer",), ("layer", "window", "channel", "patch")
        content = [0.1, 0.2, 0.3] if windows > 1 else [np.nan] * 3
        arrays = {
            "temporal": (temporal, tokens, "1", "weight of the temporal path", "paper"),
            "patch_onset": (2.0 * np.arange(windows)[:, None] + [0.0, 0.9], ("window", "patch"), "s", "begin", ""),
            "mean": (temporal.mean((1, 2, 3)), layer, "1", "mean temporal weight", "paper"),
            "sd": (temporal.std((1, 2, 3)), layer, "1", "standard deviation", "paper"),
            "entropy_ratio": ([0.9, 0.5, 0.3], layer, "1", "mean entropy", "paper"),
            "d_token": ([0.2, 0.3, 0.4], layer, "1", "D_token: spread over all tokens", "our definition"),
            "d_position": ([0.1, 0.1, 0.2], layer, "1", "spread of the means", "our definition"),
            "place": ([[-0.4, 0.1], [0.4, 0.1]], ("channel", "coordinate"), "1", "place on the head"),
            "d_content": (content, layer, "1", "D_content: spread within positions", "our definition"),
        }
        if two_scales:
            arrays["short"] = (temporal, tokens, "1", "weight of the short window", "reference")
            arrays["short_mean"] = ([0.3, 0.6, 0.2], layer, "1", "mean weight of the short window", "reference")
            arrays["short_sd"] = ([0.1, 0.2, 0.1], layer, "1", "standard deviation", "reference")
        facts = {"n_windows": windows, "collapse": 0.4, "first_window": 10.0, "window_seconds": 2.0}
        facts["patch_seconds"] = 1.0
        labels = {"channel": ("C3", "C4"), "layer": ("0", "1", "2")}
        return make_analysis("gates", arrays, labels, facts, options={"window": 2.0, "code": ["1", 1]}, **changes)

    return make


@pytest.fixture(scope="session")
def streams(make_analysis) -> Callable[..., Analysis]:
    """Makes an analysis of NeurDuo's rates: 16 steps of 0.5 s from 100 s on, two channels, a write every 4 steps."""

    def make(steps: int = 16, **changes: Any) -> Analysis:
        rng = np.random.default_rng(5)
        fast, slow = rng.uniform(0.02, 0.5, (steps, 2)), rng.uniform(0.002, 0.01, (steps // 4, 2))
        time = 0.5 * np.arange(steps)
        arrays = {
            "time": (time, ("step",), "s"),
            "fast": (fast.mean(1), ("step",), "1/s", "change of the fast state", "paper"),
            "fast_by_channel": (fast, ("step", "channel"), "1/s"),
            "slow_time": (time[3::4], ("write",), "s"),
            "slow": (slow.mean(1), ("write",), "1/s", "change of the slow state", "paper"),
            "slow_by_channel": (slow, ("write", "channel"), "1/s"),
            "fast_at_writes": (fast.mean(1).reshape(-1, 4).mean(1), ("write",), "1/s", "", "our definition"),
        }
        facts = {"first_time": 100.0, "step_seconds": 0.5, "write_seconds": 2.0, "n_steps": steps, "resets": [100.0]}
        facts |= {"begins_at": 100.0, "fast_median": float(np.median(fast.mean(1)))}
        facts |= {"slow_median": float(np.median(slow.mean(1))), "fast_above_slow": 4, "compared_writes": 4}
        labels = {"channel": ("C3", "C4")}
        return make_analysis("streams", arrays, labels, facts, ("NeurDuo-EEG-S",), span=(100.0, 108.0), **changes)

    return make


@pytest.fixture(scope="session")
def memory(make_analysis) -> Callable[..., Analysis]:
    """Makes an analysis of NeurDuo's recall: 16 steps from 100 s on, two channels, a bank of three slots."""

    def make(**changes: Any) -> Analysis:
        rng = np.random.default_rng(6)
        slot_time = np.full((16, 3), np.nan)
        weights = np.zeros((16, 2, 3))
        for step in range(16):
            writes = [0.5 * at for at in range(3, step + 1, 4)][-3:]
            if writes:
                slot_time[step, 3 - len(writes) :] = writes
                weights[step, :, 3 - len(writes) :] = rng.dirichlet(np.ones(len(writes)), 2)
        arrays = {
            "time": (0.5 * np.arange(16), ("step",), "s"),
            "weights": (weights, ("step", "channel", "slot"), "1", "share of each slot", "paper"),
            "slot_time": (slot_time, ("step", "slot"), "s"),
            "gate": (rng.uniform(0.2, 0.8, (16, 2)), ("step", "channel"), "1", "gate", "our definition"),
            "share": (rng.uniform(0.1, 0.5, (16, 2)), ("step", "channel"), "1", "length", "our definition"),
        }
        facts = {"first_time": 100.0, "step_seconds": 0.5, "write_seconds": 2.0, "n_steps": 16, "resets": [100.0]}
        labels = {"channel": ("C3", "C4"), "slot": ("oldest", "middle", "newest")}
        return make_analysis("memory", arrays, labels, facts, ("NeurDuo-EEG-S",), span=(100.0, 108.0), **changes)

    return make


@pytest.fixture(scope="session")
def attribution(make_analysis) -> Callable[..., Analysis]:
    """Makes Integrated Gradients of `windows` windows of 2 s from 10 s on at 100 Hz, of three channels."""

    def make(windows: int = 2, checks: bool = False, size: float = 1.0, seed: int = 8, **changes: Any) -> Analysis:
        rng = np.random.default_rng(seed)
        values = size * rng.normal(size=(windows, 3, 200))
        arrays = {
            "attribution": (values, ("window", "channel", "sample"), "score", "part of the score's change"),
            "window_onset": (2.0 * np.arange(windows), ("window",), "s", "onset"),
        }
        told = {
            "baseline": "the 10 s from 300.00 s on, in which no seizure is marked",
            "change": 0.5,
            "gap": 0.002,
            "nodes": 32,
        }
        facts_of = [{**told, "gap": 0.002 * (i + 1), "change": 0.5 + i} for i in range(windows)]
        if checks:
            each = ("window", "channel")
            arrays["occlusion"] = (rng.normal(size=(windows, 3)), each, "score", "fall of the score without a channel")
            arrays["keep_one"] = (rng.normal(size=(windows, 3)), each, "score", "rise of the score by a channel alone")
            for name in ("deletion_by_map", "deletion_at_random", "insertion_by_map", "insertion_at_random"):
                arrays[name] = (rng.normal(size=(windows, 4)), ("window", "step"), "score", f"score, {name}")
            for i, facts in enumerate(facts_of):
                facts |= {"agreement_with_occlusion": 0.5 + i / 10, "agreement_with_keep_one": -0.5}
        facts = {"method": "Integrated Gradients, signed", "target": "seizure", "sfreq": 100.0, "first_window": 10.0}
        facts |= {"window_seconds": 2.0, "completeness_gap": 0.002 * windows, "windows": facts_of}
        notes = ("Baseline: the 10 s from 300.00 s on, in which no seizure is marked.",)
        labels = {"channel": ("Fp1", "C3", "O1")}
        options = {"baseline": "interictal", "checks": checks, "code": ["1", 1]}
        return make_analysis("integrated-gradients", arrays, labels, facts, options=options, notes=notes, **changes)

    return make


@pytest.fixture(scope="session")
def evidence(make_analysis) -> Callable[..., Analysis]:
    """Makes Grad-CAM of `windows` windows of 2 s from 10 s on, of three channels and tokens of 1 s."""

    def make(windows: int = 2, size: float = 1.0, **changes: Any) -> Analysis:
        values = size * np.random.default_rng(9).uniform(size=(windows, 3, 2))
        onsets = 2.0 * np.arange(windows)[:, None] + [0.0, 1.0]
        arrays = {
            "evidence": (values, ("window", "channel", "patch"), "1", "gradient-weighted tokens, ReLU", "paper"),
            "patch_onset": (onsets, ("window", "patch"), "s", "begin"),
        }
        facts = {"method": "Grad-CAM", "target": "seizure", "layer": "last", "patch_seconds": 1.0, "first_window": 10.0}
        labels = {"channel": ("Fp1", "C3", "O1")}
        return make_analysis("grad-cam", arrays, labels, facts, options={"layer": -1, "code": ["1", 1]}, **changes)

    return make


@pytest.fixture(scope="session")
def occlusion(make_analysis) -> Callable[..., Analysis]:
    """Makes an occlusion of two windows of 2 s from 10 s on, `by` both or second."""

    def make(by: str = "both", **changes: Any) -> Analysis:
        rng = np.random.default_rng(10)
        arrays = {"window_onset": ([0.0, 2.0], ("window",), "s", "onset")}
        if by == "both":
            axes = ("window", "channel", "second")
            arrays["by_second"] = (rng.normal(size=(2, 3, 2)), axes, "score", "fall of the score")
            arrays["keep_one"] = (rng.normal(size=(2, 3)), axes[:2], "score", "rise of the score by a channel alone")
        else:
            arrays["whole_second"] = (rng.normal(size=(2, 2)), ("window", "second"), "score", "fall of the score")
        facts = {"method": "Occlusion", "target": "seizure", "by": by, "first_window": 10.0, "window_seconds": 2.0}
        facts["baselines"] = ["the 10 s from 300.00 s on, in which no seizure is marked"] * 2
        labels = {"channel": ("Fp1", "C3", "O1")}
        return make_analysis("occlusion", arrays, labels, facts, options={"by": by, "code": ["1", 1]}, **changes)

    return make

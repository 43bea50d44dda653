"""Grad-CAM of a known convolution, against captum's, and the layers of each family."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from captum.attr import LayerGradCam
from torch import Tensor, nn

from analysis.engine.analyze import analyze
from analysis.engine.grad_cam import chosen_layer, layer_gradient, layer_names, weighted_map
from analysis.engine.inputs import LoadedModel
from analysis.errors import AnalysisError
from models.random_checkpoints import random_model

FILTERS = torch.tensor([[1.0, 0.0, -1.0], [0.25, 0.5, 0.25]])  # a slope and a mean
READ = torch.tensor([2.0, -3.0])


class Convolution(nn.Module):
    """One convolution with known filters; the class score is READ times the mean of what each of them gives."""

    def __init__(self) -> None:
        super().__init__()
        self.filters = nn.Conv1d(1, 2, 3, bias=False)
        self.filters.weight.data = FILTERS[:, None]
        self.tokens = nn.Identity()

    def forward(self, signal: Tensor) -> Tensor:
        tokens = self.tokens(self.filters(signal).transpose(1, 2))  # (B, T, D)
        value = tokens.mean(1) @ READ
        return torch.stack([-value, value], 1)


@pytest.fixture
def signal() -> Tensor:
    return torch.randn(1, 1, 20, generator=torch.Generator().manual_seed(3))


def test_the_map_of_a_known_convolution(signal: Tensor) -> None:
    model = Convolution()
    ((tokens, gradient),) = layer_gradient(model.tokens, lambda: model(signal), 1)
    found = weighted_map(tokens, gradient, (1,))[0]
    # Each filter's gradient is READ / T at every time, so the map is ReLU of the filtered signal by hand.
    x = signal[0, 0].double().numpy()
    slope, mean = x[:-2] - x[2:], 0.25 * x[:-2] + 0.5 * x[1:-1] + 0.25 * x[2:]
    expected = np.maximum(0, (2 * slope - 3 * mean) / 18)
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-6)
    assert (expected > 0).any()
    assert (expected == 0).any()
    theirs = LayerGradCam(model, model.filters).attribute(signal, target=1, relu_attributions=True)
    torch.testing.assert_close(found, theirs[0, 0], rtol=1e-4, atol=1e-6)


def test_a_module_that_runs_in_parts_is_one_layer(signal: Tensor) -> None:
    tap = nn.Identity()

    def run() -> Tensor:
        first = tap(signal[0, 0, :8])
        second = tap(signal[0, 0, 8:])
        carried = first.sum()  # what comes first leads into what comes later
        return (first.square().sum() + (second * carried).sum())[None, None]

    (first, to_first), (second, to_second) = layer_gradient(tap, run, 0)
    torch.testing.assert_close(first, signal[0, 0, :8])
    torch.testing.assert_close(to_second, first.sum().expand(12))
    torch.testing.assert_close(to_first, 2 * first + second.sum())
    assert not second.requires_grad


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("random:axon", [*(f"block {i}" for i in range(6)), "final norm"]),
        ("random:mvpformer", ["block 0", "block 1", "block 2"]),
        ("random:prise-eeg", ["tokenizer 1", "tokenizer 2", "time 1", "group 1", "time 2", "group 2", "final norm"]),
        ("random:neurduo:tiny-chbmit", [*(f"fast {i}" for i in range(6)), "output"]),
    ],
)
def test_layers_have_names_and_numbers(name: str, expected: list[str]) -> None:
    network: Any = random_model(name)
    model = LoadedModel(network, network.checkpoint)
    assert layer_names(model) == expected
    assert chosen_layer(model, -1) == chosen_layer(model, len(expected) - 1) == expected[-1]
    assert chosen_layer(model, 0) == expected[0]
    listed = ", ".join(f"{i} ({layer})" for i, layer in enumerate(expected))
    with pytest.raises(AnalysisError) as caught:
        chosen_layer(model, len(expected))
    assert str(caught.value).endswith(f": choose {listed}, or -1 for the last")


@pytest.mark.parametrize(
    ("name", "seconds"),
    [("random:axon", 3), ("random:mvpformer", 10), ("random:prise-eeg", 10), ("random:neurduo:tiny-chbmit", 3)],
)
def test_the_layer_decides(shared: Path, name: str, seconds: float) -> None:
    scalp = shared / "recordings" / "scalp-seizure-46ch" / "demo_edf.edf"
    network: Any = random_model(name)
    model = LoadedModel(network, network.checkpoint)
    maps = []
    for number in (-1, *range(len(layer_names(model)))):
        found = analyze("grad-cam", scalp, [name], 20, seconds, {"windows": 1, "window": seconds, "layer": number})
        maps.append(found.values("evidence"))
        assert found.facts["layer_name"] == chosen_layer(model, number)
        assert maps[-1].shape == maps[0].shape
        assert np.isfinite(maps[-1]).all()
    np.testing.assert_array_equal(maps[0], maps[-1])
    assert not np.allclose(maps[1], maps[-1])

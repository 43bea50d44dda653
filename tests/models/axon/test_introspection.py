"""Gate statistics against their definitions, attention maps and relation masses against closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from models.axon.introspection import (
    attention_maps,
    collect_gates,
    dense_relation_mass,
    dispersion,
    effective_weights,
    entropy_ratio,
    layer_outputs,
    relation_mass,
    uniform_mass,
)


def test_gates_of_every_layer_are_kept(model: Any, signal: Tensor, positions: Tensor) -> None:
    gates = collect_gates(model, signal, positions)
    assert sorted(gates.axis) == sorted(gates.scale) == [0, 1]
    assert gates.axis[1].shape == (2, 5, 33, 2)


@pytest.mark.parametrize(("weights", "ratio"), [([0.5, 0.5], 1.0), ([1.0, 0.0], 0.0), ([0.9, 0.1], 0.468996)])
def test_entropy_ratio(weights: list[float], ratio: float) -> None:
    assert entropy_ratio(torch.tensor(weights).expand(4, 3, 2)) == pytest.approx(ratio, abs=1e-5)


def test_dispersion_splits_into_content_and_position() -> None:
    alpha = torch.rand(7, 4, 9, generator=torch.Generator().manual_seed(0))
    found = dispersion(alpha)
    a = alpha.double().numpy().reshape(7, -1)
    assert found.token == pytest.approx(a.std(), abs=1e-12)
    assert found.position == pytest.approx(a.mean(0).std(), abs=1e-12)
    assert found.content_biased == pytest.approx(np.sqrt(a.var(0).mean()), abs=1e-12)
    assert found.token**2 == pytest.approx(found.content_biased**2 + found.position**2, abs=1e-12)
    assert found.content == pytest.approx(np.sqrt(a.var(0, ddof=1).mean()), abs=1e-12)


def test_one_window_tells_nothing_of_content() -> None:
    assert dispersion(torch.rand(1, 4, 9)).content is None


def test_attention_maps_and_gates_make_rows_that_sum_to_one_on_the_axes(
    model: Any, signal: Tensor, positions: Tensor
) -> None:
    x = signal[:, :, :1640]  # 9 patches
    maps = attention_maps(model, x, positions, 0)
    gates = collect_gates(model, x, positions)
    assert [tuple(part.shape) for part in maps.temporal] == [(2, 5, 4, 9, 9)] * 2
    assert maps.spatial.shape == (2, 9, 4, 5, 5)
    weights = effective_weights(maps, gates.axis[0], gates.scale[0])
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 45), rtol=0, atol=1e-5)
    mass = relation_mass(weights, 5, 9)
    assert mass.off_axis == 0.0
    assert mass.itself + mass.channel + mass.time == pytest.approx(1.0, abs=1e-5)
    far = (torch.arange(9)[:, None] - torch.arange(9)[None]).abs() > 5
    assert (maps.temporal[0][..., far] == 0).all()
    second = effective_weights(attention_maps(model, x, positions, 1), gates.axis[1], gates.scale[1])
    assert ((weights @ second) > 0).all(), "two layers reach every token"


def test_relation_masses_of_equal_attention() -> None:
    n = 64 * 4
    mass = relation_mass(torch.full((n, n), 1 / n), 64, 4)
    expected = uniform_mass(64, 4)
    for name in ("itself", "channel", "time", "off_axis"):
        assert getattr(mass, name) == pytest.approx(getattr(expected, name), abs=1e-6)
    # The paper's uniform values for C = 64, T = 4, in per cent.
    shown = [round(100 * v, 2) for v in (expected.itself, expected.channel, expected.time, expected.off_axis)]
    assert shown == [0.39, 1.17, 24.61, 73.83]


def test_relation_masses_of_a_dense_model(make: Any, signal: Tensor, positions: Tensor) -> None:
    masses = dense_relation_mass(make(variant="dense"), signal[..., :800], positions)
    assert sorted(masses) == [0, 1]
    for mass in masses.values():
        assert mass.itself + mass.channel + mass.time + mass.off_axis == pytest.approx(1.0, abs=1e-5)
        assert mass.off_axis > 0
    with pytest.raises(ValueError, match="variant axon"):
        dense_relation_mass(make(), signal, positions)


def test_outputs_by_layer_end_with_the_tokens(model: Any, signal: Tensor, positions: Tensor) -> None:
    stages = layer_outputs(model, signal, positions)
    assert list(stages) == ["block 0", "block 1", "final norm"]
    with torch.no_grad():
        assert torch.equal(stages["final norm"], model.tokens(signal, positions))


def test_layers_that_are_not_there_are_refused(make: Any, signal: Tensor, positions: Tensor) -> None:
    with pytest.raises(ValueError, match="no layer 9"):
        attention_maps(make(), signal, positions, 9)
    with pytest.raises(ValueError, match="dense"):
        attention_maps(make(variant="dense"), signal, positions, 0)

"""The interventions do what they are called, and always put the gates back."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
import torch
from torch import Tensor

from models.axon.interventions import INTERVENTIONS, calibrate, differentiable_gates, force, gates_of, intervene
from models.axon.introspection import collect_gates


@pytest.fixture
def calibration(model: Any, signal: Tensor, positions: Tensor) -> Any:
    return calibrate(model, [{"signal": signal, "positions": positions}])


def _first(model: Any, signal: Tensor, positions: Tensor) -> Tensor:
    return collect_gates(model, signal, positions).axis[0]


def test_each_gives_the_gates_of_its_name(model: Any, signal: Tensor, positions: Tensor, calibration: Any) -> None:
    learned = _first(model, signal, positions)
    gate = gates_of(model)[0]
    found = {}
    for kind in INTERVENTIONS:
        with intervene(model, kind, calibration, seed=3):
            seen = []
            handle = gate.register_forward_hook(lambda _m, _i, out, seen=seen: seen.append(out))
            with torch.no_grad():
                model.tokens(signal, positions)
            handle.remove()
        found[kind] = seen[0]
    assert (found["temporal_only"][..., 0] == 1).all()
    assert (found["spatial_only"][..., 1] == 1).all()
    assert (found["uniform"] == 0.5).all()
    assert torch.equal(found["hard_argmax"][..., 0], (learned[..., 0] >= 0.5).float())
    assert torch.allclose(found["layer_mean"], learned.mean((0, 1, 2)).expand_as(learned), atol=1e-6)
    assert torch.allclose(found["position_mean"], learned.mean(0).expand_as(learned), atol=1e-6)
    for window in range(2):
        assert torch.equal(
            found["shuffled"][window, ..., 0].flatten().sort().values, learned[window, ..., 0].flatten().sort().values
        )
    assert not torch.equal(found["shuffled"], learned)


def test_ties_go_to_time(model: Any, signal: Tensor, positions: Tensor) -> None:
    with torch.no_grad():
        for gate in gates_of(model).values():
            gate.mlp[2].weight.zero_()
            gate.mlp[2].bias.zero_()
        with intervene(model, "hard_argmax"):
            forced = model.tokens(signal, positions)
        with intervene(model, "temporal_only"):
            assert torch.equal(forced, model.tokens(signal, positions))


@pytest.mark.parametrize("kind", INTERVENTIONS)
def test_the_gates_come_back_also_after_an_error(
    model: Any, signal: Tensor, positions: Tensor, calibration: Any, kind: Any
) -> None:
    with torch.no_grad():
        before = model.tokens(signal, positions)
        with intervene(model, kind, calibration):
            assert not torch.equal(model.tokens(signal, positions), before)
        assert torch.equal(model.tokens(signal, positions), before)
        with contextlib.suppress(RuntimeError), intervene(model, kind, calibration):
            raise RuntimeError
        assert torch.equal(model.tokens(signal, positions), before)


def test_shuffling_follows_its_seed(model: Any, signal: Tensor, positions: Tensor) -> None:
    def run(seed: int) -> Tensor:
        with torch.no_grad(), intervene(model, "shuffled", seed=seed):
            return model.tokens(signal, positions)

    assert torch.equal(run(1), run(1))
    assert not torch.equal(run(1), run(2))


def test_means_are_over_at_most_fifty_windows_of_one_grid(model: Any, positions: Tensor) -> None:
    windows = torch.randn(30, 5, 800)
    found = calibrate(model, [{"signal": windows, "positions": positions}] * 2)
    assert found.n_windows == 50
    with pytest.raises(ValueError, match="different grids"):
        calibrate(model, [{"signal": torch.randn(1, 5, n), "positions": positions} for n in (800, 2000)])
    with pytest.raises(ValueError, match="no window"):
        calibrate(model, [])
    with pytest.raises(ValueError, match="5 x 4"), intervene(model, "position_mean", found):
        model.tokens(torch.randn(1, 5, 2000), positions)


def test_a_part_of_the_gates_can_be_forced(model: Any, signal: Tensor, positions: Tensor) -> None:
    learned = _first(model, signal, positions)
    gate = gates_of(model)[0]
    seen: list[Tensor] = []
    with torch.no_grad(), force(model, [0.25, 0.75], layers=[0], channels=[1, 3], patches=slice(2, 4)):
        handle = gate.register_forward_hook(lambda _m, _i, out: seen.append(out))
        model.tokens(signal, positions)
        handle.remove()
    forced = torch.zeros(5, 33, dtype=torch.bool)
    forced[[1, 3], 2:4] = True
    assert (seen[0][:, forced] == torch.tensor([0.25, 0.75])).all()
    assert torch.equal(seen[0][:, ~forced], learned[:, ~forced])


def test_scale_gates_take_the_same_interventions(model: Any, signal: Tensor, positions: Tensor) -> None:
    with torch.no_grad():
        before = model.tokens(signal, positions)
        with intervene(model, "temporal_only", gate="scale"):  # the first path: the short window
            short = model.tokens(signal, positions)
    assert not torch.equal(before, short)


def test_what_cannot_be_done_is_said(make: Any) -> None:
    with pytest.raises(ValueError, match="needs gates that were averaged"), intervene(make(), "layer_mean"):
        pass
    with pytest.raises(ValueError, match="no intervention is called"), intervene(make(), "sideways"):  # type: ignore[arg-type]
        pass
    with pytest.raises(ValueError, match="dense has no axis gate"), intervene(make(variant="dense"), "uniform"):
        pass


def test_gates_send_gradients_only_where_the_answer_is_to_be_explained(
    model: Any, signal: Tensor, positions: Tensor
) -> None:
    model.draw_gates(0)
    direction = torch.randn(signal.shape, generator=torch.Generator().manual_seed(1))

    def answer(step: float) -> Tensor:
        return model.tokens(signal + step * direction, positions)[..., :4].double().pow(3).mean()

    def slope() -> float:
        step = torch.zeros((), requires_grad=True)
        return float(torch.autograd.grad(answer(step), step)[0])

    with torch.no_grad():
        expected = float(answer(5e-3) - answer(-5e-3)) / 1e-2
    cut = slope()
    with differentiable_gates(model):
        assert slope() == pytest.approx(expected, rel=2e-3)  # of a step in single precision
    assert abs(cut / expected - 1) > 1e-2
    assert slope() == cut  # put back

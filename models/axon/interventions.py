"""What a model says when its gates may not choose: the seven interventions of the paper, and ours on a part of them.

Every one is a context manager that puts the gates back, also after an error. Spec section 8.4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn

from models.axon.layers import TokenGate
from models.axon.model import Axon
from models.recorder import record

Intervention = Literal[
    "temporal_only", "spatial_only", "hard_argmax", "uniform", "layer_mean", "position_mean", "shuffled"
]
INTERVENTIONS: tuple[Intervention, ...] = (
    *("temporal_only", "spatial_only", "hard_argmax", "uniform", "layer_mean", "position_mean", "shuffled"),
)
CALIBRATED = ("layer_mean", "position_mean")
Gate = Literal["axis", "scale"]
CALIBRATION_WINDOWS = 50


@dataclass(frozen=True)
class Calibration:
    """Mean weights of each layer's gate over windows of one grid: (C, T, paths) by layer, and how many windows."""

    position_mean: Mapping[int, Tensor]
    n_windows: int

    def layer_mean(self, layer: int) -> Tensor:
        """Mean weights (paths,) of a layer over all tokens."""
        return self.position_mean[layer].mean((0, 1))


def gates_of(model: Axon, gate: Gate = "axis") -> dict[int, nn.Module]:
    """The gates of each layer; ValueError for a variant without them."""
    name = f"{gate}_gate"
    found = {i: getattr(attn, name, None) for i, attn in enumerate(model.encoder.attentions)}
    gates = {i: module for i, module in found.items() if module is not None}
    if not gates:
        raise ValueError(f"the variant {model.config.variant} has no {gate} gate")
    return gates


def calibrate(
    model: Axon, batches: Sequence[Mapping[str, Tensor]], gate: Gate = "axis", limit: int = CALIBRATION_WINDOWS
) -> Calibration:
    """Mean gates over up to `limit` windows; each batch holds the arguments of `model.tokens`, all on one grid."""
    sums: dict[int, Tensor] = {}
    count = 0
    for batch in batches:
        room = limit - count
        if room <= 0:
            break
        part: dict[str, Any] = {
            name: value[:room] if name != "positions" or value.ndim == 3 else value for name, value in batch.items()
        }
        with torch.no_grad(), record({str(i): m for i, m in gates_of(model, gate).items()}) as records:
            model.tokens(**part)
        for name, values in records.items():
            total = values[-1].sum(0)
            if int(name) in sums and sums[int(name)].shape != total.shape:
                raise ValueError("windows of different grids have no common mean: give windows of one length")
            sums[int(name)] = sums.get(int(name), torch.zeros_like(total)) + total
        count += len(part["signal"])
    if not count:
        raise ValueError("there is no window to calibrate on")
    return Calibration({layer: total / count for layer, total in sums.items()}, count)


@contextmanager
def differentiable_gates(model: Axon) -> Iterator[None]:
    """Within the block gates send gradients back to the tokens that they weigh, which they do not in training."""
    before = [(gate, gate.stops_gradient) for gate in model.gates() if isinstance(gate, TokenGate)]
    try:
        for gate, _ in before:
            gate.stops_gradient = False
        yield
    finally:
        for gate, stops in before:
            gate.stops_gradient = stops


@contextmanager
def intervene(
    model: Axon,
    kind: Intervention,
    calibration: Calibration | None = None,
    seed: int = 0,
    gate: Gate = "axis",
    layers: Sequence[int] | None = None,
) -> Iterator[None]:
    """Within the block the gates answer as the intervention says; ValueError for one that lacks its calibration."""
    if kind not in INTERVENTIONS:
        raise ValueError(f"no intervention is called {kind!r}; there are: {', '.join(INTERVENTIONS)}")
    if kind in CALIBRATED and calibration is None:
        raise ValueError(f"{kind} needs gates that were averaged over some windows first")
    chosen = {i: m for i, m in gates_of(model, gate).items() if layers is None or i in layers}
    with _replaced({i: (m, _rule(kind, i, calibration, seed)) for i, m in chosen.items()}):
        yield


@contextmanager
def force(
    model: Axon,
    weights: Sequence[float],
    gate: Gate = "axis",
    layers: Sequence[int] | None = None,
    channels: Sequence[int] | None = None,
    patches: slice | None = None,
) -> Iterator[None]:
    """Within the block the gates of some layers, channels and patches have these weights; all where none are named."""
    told = torch.tensor(list(weights), dtype=torch.float32)

    def rule(output: Tensor) -> Tensor:
        where = torch.zeros(output.shape[1:3], dtype=torch.bool, device=output.device)
        rows = list(range(where.shape[0])) if channels is None else list(channels)
        columns = torch.zeros(where.shape[1], dtype=torch.bool, device=output.device)
        columns[patches if patches is not None else slice(None)] = True
        where[rows] = columns
        return torch.where(where[None, ..., None], told.to(output), output)

    chosen = {i: (m, rule) for i, m in gates_of(model, gate).items() if layers is None or i in layers}
    with _replaced(chosen):
        yield


@contextmanager
def _replaced(rules: Mapping[int, tuple[nn.Module, Callable[[Tensor], Tensor]]]) -> Iterator[None]:
    handles = [
        module.register_forward_hook(lambda _m, _i, output, rule=rule: rule(output)) for module, rule in rules.values()
    ]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _rule(kind: Intervention, layer: int, calibration: Calibration | None, seed: int) -> Callable[[Tensor], Tensor]:
    if kind in ("temporal_only", "spatial_only"):
        return lambda output: _one(output, 0 if kind == "temporal_only" else 1)
    if kind == "hard_argmax":
        return _argmax
    if kind == "uniform":
        return lambda output: torch.full_like(output, 1.0 / output.shape[-1])
    if kind == "shuffled":
        return lambda output: _shuffled(output, layer, seed)
    assert calibration is not None
    if kind == "layer_mean":
        return lambda output: calibration.layer_mean(layer).to(output).expand_as(output)
    return lambda output: _position_mean(output, calibration.position_mean[layer])


def _one(output: Tensor, path: int) -> Tensor:
    weights = torch.zeros_like(output)
    weights[..., path] = 1.0
    return weights


def _argmax(output: Tensor) -> Tensor:
    # Of equal weights the first counts, which is time.
    best = (output == output.amax(-1, keepdim=True)).to(torch.int8).argmax(-1, keepdim=True)
    return torch.zeros_like(output).scatter_(-1, best, 1.0)


def _shuffled(output: Tensor, layer: int, seed: int) -> Tensor:
    """The same permutation of the tokens for every window, another one for every layer."""
    generator = torch.Generator().manual_seed(seed * 1009 + layer)
    flat = output.flatten(1, 2)
    order = torch.randperm(flat.shape[1], generator=generator).to(output.device)
    return flat[:, order].reshape(output.shape)


def _position_mean(output: Tensor, mean: Tensor) -> Tensor:
    if mean.shape != output.shape[1:]:
        raise ValueError(
            f"the gates were averaged on a grid of {mean.shape[0]} x {mean.shape[1]} channels and patches, "
            f"this one has {output.shape[1]} x {output.shape[2]}: calibrate on windows like this one"
        )
    return mean.to(output).expand_as(output)

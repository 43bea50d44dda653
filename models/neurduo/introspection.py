"""Which inner values of a NeurDuo-EEG have a meaning: layers, writes, recall, rates, time constants.

Letters: B items, S steps, C channels, R = B C rows, D fast width, K slots of the bank, W writes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from models.neurduo.model import Block, NeurDuo
from models.recorder import record


def layer_outputs(
    model: NeurDuo,
    chunks: Tensor,
    positions: Tensor | None = None,
    reference_ids: Tensor | None = None,
    missing: Tensor | None = None,
    keep: Callable[[Tensor], Any] | None = None,
) -> dict[str, Any]:
    """Values after each stage by name, for one sequence (B, S, C, L) from a state of zero, rows as (R, S, width).

    "channel tokens" (B, S, C, D) after the input norm, "fast 0" ... the residual stream after each layer with its
    channel attention, "fast" after the final norm; "slow 0" ... and "slow" likewise, with one entry per write. Of a
    long sequence each name has the values of its blocks joined in time, or, with `keep`, a list of what that made.
    """
    stages: dict[str, nn.Module] = {"channel tokens": model.input_norm}
    for name, stack in (("fast", model.fast), ("slow", model.slow)):
        stages |= {f"{name} {i}": module for i, module in enumerate(stack.residuals)}
        stages[name] = stack.final_norm
    with torch.no_grad(), record(stages, keep) as records:
        model.tokens(chunks, positions, reference_ids, missing)
    return {name: torch.cat(v, dim=1) if keep is None and v else v for name, v in records.items()}


def step_outputs(
    model: NeurDuo,
    chunks: Tensor,
    positions: Tensor | None = None,
    reference_ids: Tensor | None = None,
    missing: Tensor | None = None,
) -> dict[str, Tensor]:
    """What every step has, in one grid (B, C, S, width) by name, for one sequence from a state of zero.

    "channel tokens", "fast 0" ... and "fast" as in `layer_outputs`, "slow" the slow state that holds at each step, and
    "output" z.
    """
    shape = (chunks.shape[0], chunks.shape[2], chunks.shape[1])
    stages: dict[str, nn.Module] = {"channel tokens": model.input_norm}
    stages |= {f"fast {i}": module for i, module in enumerate(model.fast.residuals)}
    with torch.no_grad(), record(stages) as records:
        blocks = list(model.blocks(chunks, model.montage(chunks, positions, reference_ids, missing)))
    grids = {name: torch.cat(values, dim=1) for name, values in records.items()}
    grids["channel tokens"] = grids["channel tokens"].transpose(1, 2)
    for name, parts in (
        ("fast", [block.h for block in blocks]),
        ("slow", [block.slow_states for block in blocks]),
        ("output", [block.z for block in blocks]),
    ):
        grids[name] = torch.cat(parts, dim=1)
    return {name: values.reshape(*shape, values.shape[-1]) for name, values in grids.items()}


def slot_weights(block: Block, n_slots: int) -> Tensor:
    """Recall (R, S, K) of each slot of the bank at each step of a block, newest last; 0 where a slot is empty."""
    index = (block.plan.visible - block.plan.made)[:, None] + torch.arange(n_slots, device=block.z.device)
    return block.retrieved.weights.gather(2, index.expand(block.z.shape[0], -1, -1))


def relative_rates(states: Tensor, before: Tensor | None, step_seconds: float) -> Tensor:
    """Relative change per second of vectors (R, S, width) from one to the next (appendix E.3): (R, S), l2 norms.

    `before` (R, width) is the vector that came before the first; without it the first rate is not a number.
    """
    first = states[:, :1] * float("nan") if before is None else before[:, None]
    previous = torch.cat([first, states[:, :-1]], dim=1)
    return (states - previous).norm(dim=-1) / previous.norm(dim=-1) / step_seconds


def time_constants(model: NeurDuo) -> dict[str, Tensor]:
    """Nominal time constants in seconds, (layers, inner channels, states), of "fast" and "slow" (appendix E.3)."""
    config = model.config
    steps = {"fast": config.step_seconds, "slow": config.write_seconds}
    with torch.no_grad():
        return {
            name: torch.stack([block.nominal_time_constants(steps[name]) for block in stack.blocks])  # type: ignore[operator]
            for name, stack in (("fast", model.fast), ("slow", model.slow))
        }

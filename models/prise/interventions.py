"""What a model says without some of its priors, groups or experts; each puts everything back (spec section 10.6)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from models.prise.config import N_POOL
from models.prise.electrodes import N_DYNAMIC, N_STATIC
from models.prise.experts import Mixture
from models.prise.model import Prise
from models.recorder import record


@contextmanager
def without_static(model: Prise) -> Iterator[None]:
    """The static groups see all channels alike, but for what was learned on top."""
    with with_beta(model, 0.0):
        yield


@contextmanager
def with_beta(model: Prise, beta: float) -> Iterator[None]:
    """Another strength of the static groups."""
    with _changed(model.static_groups, beta=beta):
        yield


@contextmanager
def without_dynamic(model: Prise) -> Iterator[None]:
    """The dynamic groups see all channels alike."""
    with _zeroed(model.dynamic_groups.gamma):
        yield


@contextmanager
def without_correction(model: Prise) -> Iterator[None]:
    """The static groups as they were laid down, without what was learned on top."""
    with _zeroed(model.static_groups.delta):
        yield


@contextmanager
def without_groups(model: Prise, groups: Iterable[int]) -> Iterator[None]:
    """Some groups (0 to 41, static ones first) are taken out of every block and of the means."""
    chosen = frozenset(groups)
    if not chosen <= set(range(N_STATIC + N_DYNAMIC)):
        raise ValueError(f"groups are numbered 0 to {N_STATIC + N_DYNAMIC - 1}")
    with _changed(model, dropped=model.dropped | chosen):
        yield


@contextmanager
def with_expert(model: Prise, block: int, expert: int) -> Iterator[None]:
    """Every token of a block is sent to one expert of its pool (1 to 8); ValueError for one that is shared."""
    mixture = _mixture(model, block)
    if not mixture.n_shared < expert <= N_POOL:
        raise ValueError(f"the routed experts of block {block} are {mixture.n_shared + 1} to {N_POOL}")
    with _changed(mixture, forced=expert):
        yield


@contextmanager
def with_pinned_routing(model: Prise, run: Callable[[], Any]) -> Iterator[None]:
    """Within the block every token goes to the experts that it goes to in `run`, whatever becomes of it.

    The choice of an expert jumps where the scores of two are equal; held fixed, the model is smooth and can be
    integrated along a path. Calls in the block must have the tokens of `run`, in number and order.
    """
    mixtures = {str(i): block.ffn for i, block in enumerate(model.blocks()) if isinstance(block.ffn, Mixture)}
    with record({name: mixture.routing for name, mixture in mixtures.items()}) as records:
        run()
    try:
        for name, mixture in mixtures.items():
            mixture.pinned = records[name][-1].experts - 1 if records[name] else None
        yield
    finally:
        for mixture in mixtures.values():
            mixture.pinned = None


@contextmanager
def with_allocation(model: Prise, n_shared: Sequence[int]) -> Iterator[None]:
    """Another split of the pools into shared and routed experts, on the same weights."""
    before = [_mixture(model, i).n_shared for i in range(len(model.blocks()))]
    model.set_allocation(n_shared)
    try:
        yield
    finally:
        model.set_allocation(before)


def _mixture(model: Prise, block: int) -> Mixture:
    blocks = model.blocks()
    if not 0 <= block < len(blocks):
        raise ValueError(f"blocks are numbered 0 to {len(blocks) - 1}")
    mixture = blocks[block].ffn
    if not isinstance(mixture, Mixture):
        raise ValueError("a dense pilot has no experts")
    return mixture


@contextmanager
def _changed(owner: Any, **values: Any) -> Iterator[None]:
    before = {name: getattr(owner, name) for name in values}
    try:
        for name, value in values.items():
            setattr(owner, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(owner, name, value)


@contextmanager
def _zeroed(parameter: torch.nn.Parameter) -> Iterator[None]:
    before = parameter.detach().clone()
    try:
        with torch.no_grad():
            parameter.zero_()
        yield
    finally:
        with torch.no_grad():
            parameter.copy_(before)

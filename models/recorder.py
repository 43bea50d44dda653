"""Collects what modules give out while a model runs, by forward hooks that are always removed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from torch import nn


@contextmanager
def record(
    modules: Mapping[str, nn.Module], keep: Callable[[Any], Any] | None = None
) -> Iterator[dict[str, list[Any]]]:
    """Within the block, every output of the named modules is appended to its name's list, in the order of the calls.

    `keep` makes of an output what is stored, for instance a mean on the CPU where the output itself would be large;
    None stores the output as it is. The hooks are gone when the block is left, also by an exception.
    """
    records: dict[str, list[Any]] = {name: [] for name in modules}

    def hook_for(name: str) -> Callable[..., None]:
        def hook(_module: nn.Module, _inputs: Any, output: Any) -> None:
            records[name].append(output if keep is None else keep(output))

        return hook

    handles = [module.register_forward_hook(hook_for(name)) for name, module in modules.items()]
    try:
        yield records
    finally:
        for handle in handles:
            handle.remove()

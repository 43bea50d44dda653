"""States kept on disk: the same when they come back, thinner where there is no room."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from analysis.engine.state_trail import StateTrail


def state(number: int) -> dict[str, Tensor]:
    return {
        "a": torch.full((3, 5), float(number)).T,
        "t": torch.tensor(number),
        "d": torch.tensor([number * 1.5]).double(),
    }


def same(one: dict[str, Tensor], other: dict[str, Tensor]) -> bool:
    return set(one) == set(other) and all(torch.equal(one[n], other[n]) and one[n].dtype == other[n].dtype for n in one)


def test_what_was_put_comes_back() -> None:
    trail = StateTrail(10)
    assert trail.before(100) is None
    for step in (0, 10, 20):
        assert trail.wants(step)
        trail.put(step, state(step))
        assert not trail.wants(step)
    assert not trail.wants(15)
    for asked, kept in ((0, 0), (9, 0), (10, 10), (19, 10), (1000, 20)):
        found = trail.before(asked)
        assert found is not None
        assert found[0] == kept
        assert same(found[1], state(kept))
    assert trail.before(19, least=11) is None
    assert trail.state_bytes == 3 * 5 * 4 + 8 + 8
    trail.close()


def test_beyond_the_limit_every_second_one_is_dropped() -> None:
    trail = StateTrail(1, limit_bytes=4 * (60 + 8 + 8))
    for step in range(20):
        if trail.wants(step):
            trail.put(step, state(step))
        assert len(trail) <= 4
    assert trail.interval == 8
    kept = {trail.before(step)[0] for step in range(20)}  # type: ignore[index]
    assert kept == {0, 8, 16}
    for step in kept:
        assert same(trail.before(step)[1], state(step))  # type: ignore[index]


def test_a_full_disk_costs_states_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    trail = StateTrail(1)
    trail.put(0, state(0))

    class Full:
        def __init__(self, file: Any) -> None:
            self._file = file

        def __getattr__(self, name: str) -> Any:
            return getattr(self._file, name)

        def write(self, _: bytes) -> None:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(trail, "_file", Full(trail._file))
    trail.put(1, state(1))
    trail.put(2, state(2))
    found = trail.before(5)
    assert found is not None
    assert found[0] == 0
    assert same(found[1], state(0))

"""Which attention of a model is looked at: of a layer and head or their mean, and of which channel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

MEAN = "mean"


@dataclass(frozen=True)
class Part:
    """Which attention is drawn: of a layer and head (None: the mean), with the arcs of a channel (None: of none)."""

    layer: int | None = None
    head: int | None = None
    channel: int | None = None

    @property
    def name(self) -> str:
        """How it is asked for."""
        if self == Part():
            return MEAN
        first = f"{_word(self.layer)}/{_word(self.head)}"
        return first if self.channel is None else f"{first}:{self.channel}"

    def map_of(self, values: np.ndarray) -> np.ndarray:
        """Of values by layer and head (layers, heads, ...) those of this part, the mean where none is named."""
        by_head = values.mean(0) if self.layer is None else values[self.layer]
        return np.asarray(by_head.mean(0) if self.head is None else by_head[self.head])

    @property
    def words(self) -> str:
        """Layer and head in words."""
        layer = "mean of layers" if self.layer is None else f"layer {self.layer}"
        return f"{layer}, {'mean of heads' if self.head is None else f'head {self.head}'}"


def part_named(name: str) -> Part:
    """The part of such a name; the mean of all for any other name."""
    place, _, channel = name.partition(":")
    layer, _, head = place.partition("/")
    return Part(_number(layer), _number(head), _number(channel))


def _word(number: int | None) -> str:
    return MEAN if number is None else str(number)


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() else None

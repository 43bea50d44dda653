"""Where everything stands on a page for print, in millimetres of the paper; text is measured, never guessed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from analysis.errors import AnalysisError
from analysis.figures.layers import Heat
from analysis.figures.style import text_mm, wrapped

ROW_POINTS, OWN_POINTS, FOOT_POINTS, TICK_POINTS, LANE_POINTS = 6.5, 4.5, 5.5, 6.0, 5.0
LANE, LANE_AIR = 15.0, 5.0
_LANES_AIR = 2.2  # for what stands right under the traces
_MOST_LEFT, _LEAST_LEFT = 0.3, 10.0  # share of the width, millimetres
_RIGHT, _TOP, _BAR, _BAR_LINE = 8.0, 7.0, 12.0, 2.3
_FOOT_LINE, _FOOT_AIR, _MARGIN = 2.4, 5.5, 1.5
_LEAST_ROOM = 20.0
_BLOCK_GAP = 0.6  # of a row
_BAR_SHARE = 0.5  # of the height of the traces
NAME_MM = 2.7  # of a line of names of marks


@dataclass(frozen=True)
class Layout:
    """Of a page of `size` with rows of the given names, lanes and bars of colours; `foot` are lines to be broken."""

    size: tuple[float, float]
    row_names: tuple[str, ...]
    own_names: tuple[str, ...]
    blocks: tuple[int, ...]
    lane_words: tuple[str, ...]
    lanes: int
    bars: tuple[str, ...]
    foot: tuple[str, ...]
    head: str = ""

    @cached_property
    def left(self) -> float:
        """Room for the names of rows."""
        widths = [text_mm(name, ROW_POINTS) for name in self.row_names]
        widths += [text_mm(name, OWN_POINTS) for name in self.own_names]
        widths += [text_mm(name, LANE_POINTS) + 1.0 for name in self.lane_words]
        return min(max([_LEAST_LEFT, *(width + _MARGIN + 1.0 for width in widths)]), _MOST_LEFT * self.size[0])

    @cached_property
    def bar_lines(self) -> tuple[tuple[str, ...], ...]:
        """What stands beside each bar of colours, in lines that are no longer than the traces are high."""
        return tuple(tuple(wrapped(words, FOOT_POINTS, self.room)) for words in self.bars)

    @cached_property
    def bar_places(self) -> tuple[tuple[float, float, float, float], ...]:
        """Left, bottom, width and height of each bar."""
        places, at = [], self.left + self.width + _RIGHT
        for lines in self.bar_lines:
            places.append((at, self.below + (1 - _BAR_SHARE) / 2 * self.room, 2.5, _BAR_SHARE * self.room))
            at += _BAR + _BAR_LINE * (len(lines) - 1)
        return tuple(places)

    @cached_property
    def width(self) -> float:
        """Of the traces."""
        bars = sum(_BAR + _BAR_LINE * (len(lines) - 1) for lines in self.bar_lines)
        return self.size[0] - self.left - _RIGHT - bars

    @cached_property
    def foot_lines(self) -> tuple[str, ...]:
        """The foot, broken where the paper ends."""
        room = self.size[0] - 2 * _MARGIN
        return tuple(line for words in self.foot for line in wrapped(words, FOOT_POINTS, room))

    @cached_property
    def below(self) -> float:
        """From the foot of the paper to that of the traces."""
        lanes = LANE * self.lanes + (_LANES_AIR if self.lanes else 0.0)
        return _FOOT_AIR + _FOOT_LINE * len(self.foot_lines) + lanes

    @cached_property
    def room(self) -> float:
        """Height of the traces; AnalysisError where there is none."""
        room = self.size[1] - self.below - _TOP - (_FOOT_LINE if self.head else 0.0)
        if room < _LEAST_ROOM:
            least = self.size[1] + _LEAST_ROOM - room
            raise AnalysisError(
                f"{self.size[1]:g} mm are too low for a page with {self.lanes} lanes: choose {least:.0f} mm or more"
            )
        return room

    def lane_foot(self, number: int) -> float:
        """From the foot of the paper to that of a lane."""
        return self.below - _LANES_AIR - (number + 1) * LANE + 0.5

    def places(self, name_lines: int) -> np.ndarray:
        """Height of each row's zero above the foot of the traces, below so many lines of names of marks."""
        room = self.room - name_lines * NAME_MM
        at, y = 0.0, []
        for i, block in enumerate(self.blocks):
            at += 1.0 + (_BLOCK_GAP if i and block != self.blocks[i - 1] else 0.0)
            y.append(at)
        return room - (np.array(y) - 0.25) * (room / (at + 0.5))


def pitch_of(centres: np.ndarray) -> float:
    """Millimetres from row to row."""
    return float(np.abs(np.diff(centres)).min()) if len(centres) > 1 else 10.0


def bar_words(heat: Heat) -> str:
    """What stands beside a heat's colours."""
    return heat.title + (f" ({heat.unit})" if heat.unit not in ("", "1") else "")

"""Where the contacts of shafts, strips and grids are drawn in a room: in the columns that make them largest."""

from __future__ import annotations

from dataclasses import dataclass, field

from PyQt6.QtCore import QPointF, QRectF, QSizeF

from analysis.contact_layout import ContactBlock, ContactLayout, Slot

_WIDEST, _HIGHEST, _STRETCH = 28.0, 24.0, 1.5  # pixels of a contact, and how much wider than high it may be
_BETWEEN_COLUMNS, _AROUND_GRID = 12.0, 5.0
_MOST_COLUMNS = 4


@dataclass(frozen=True)
class Place:
    """One contact on the drawing; `line` and `column` count within all, for going from one to the next."""

    slot: Slot
    rect: QRectF
    line: int
    column: int


@dataclass(frozen=True)
class Places:
    """All contacts, the names of their lines, and how large one is."""

    contacts: list[Place] = field(default_factory=list)
    titles: list[tuple[QRectF, str]] = field(default_factory=list)
    cell: QSizeF = field(default_factory=QSizeF)

    @property
    def bottom(self) -> float:
        """Where the lowest contact ends."""
        return max((place.rect.bottom() for place in self.contacts), default=0.0)

    def at(self, point: QPointF) -> Place | None:
        """The contact under a point."""
        return next((place for place in self.contacts if place.rect.contains(point)), None)

    def of(self, name: str) -> Place | None:
        """The place of a contact by its name."""
        return next((place for place in self.contacts if place.slot.name == name), None)


@dataclass(frozen=True)
class _Line:
    title: str
    slots: tuple[Slot, ...]
    above: float  # room before it


def lay_contacts(layout: ContactLayout, room: QRectF, title_width: float, scale: float = 1.0) -> Places:
    """Places of all contacts within a room, each line's name at its left; `scale` is that of the letters."""
    best: tuple[float, list[list[_Line]], QSizeF] | None = None
    for count in range(1, _MOST_COLUMNS + 1):
        columns = _in_columns(layout.blocks, count)
        cell = _largest(columns, room, title_width, scale)
        side = min(cell.width(), cell.height())
        if best is None or side > best[0] + 0.5:
            best = side, columns, cell
    return _lay(best[1], best[2], room, title_width) if best is not None else Places()


def _in_columns(blocks: tuple[ContactBlock, ...], count: int) -> list[list[_Line]]:
    """Lines of the blocks in order, in at most `count` columns of about the same height; no block is broken."""
    total = sum(len(block.rows()) for block in blocks)
    columns: list[list[_Line]] = [[]]
    taken = 0
    for block in blocks:
        rows = len(block.rows())
        full = taken + rows / 2 > total * len(columns) / count
        if columns[-1] and full and len(columns) < count:
            columns.append([])
        taken += rows
        columns[-1] += _lines(block, columns[-1])
    return columns


def _lines(block: ContactBlock, before: list[_Line]) -> list[_Line]:
    after_grid = bool(before) and not before[-1].title
    lines = []
    for i, row in enumerate(block.rows()):
        # A line of a grid has no name: the numbers of its contacts tell it, and the first line has that of the grid.
        apart = bool(before) and i == 0 and (block.is_grid or after_grid)
        lines.append(_Line(block.title if i == 0 else "", row, _AROUND_GRID if apart else 0.0))
    return lines


def _largest(columns: list[list[_Line]], room: QRectF, title_width: float, scale: float) -> QSizeF:
    """The size of a contact with which all columns fit beside each other in the room."""
    across = sum(max((len(line.slots) for line in lines), default=1) for lines in columns)
    free = room.width() - len(columns) * title_width - (len(columns) - 1) * _BETWEEN_COLUMNS
    deep = [(len(lines), sum(line.above for line in lines)) for lines in columns]
    height = min((room.height() - above) / max(1, count) for count, above in deep)
    width = min(_WIDEST * scale, max(1.0, free / max(1, across)))
    height = min(_HIGHEST * scale, max(1.0, height))
    return QSizeF(min(width, _STRETCH * height), min(height, _STRETCH * width))


def _lay(columns: list[list[_Line]], cell: QSizeF, room: QRectF, title_width: float) -> Places:
    places = Places(cell=cell)
    widths = [title_width + cell.width() * max((len(line.slots) for line in lines), default=0) for lines in columns]
    left = room.left() + max(0.0, (room.width() - sum(widths) - _BETWEEN_COLUMNS * (len(widths) - 1)) / 2)
    first = 0
    for lines, width in zip(columns, widths, strict=True):
        y = room.top()
        for number, line in enumerate(lines):
            y += line.above
            places.titles.append((QRectF(left, y, title_width - 4, cell.height()), line.title))
            for i, slot in enumerate(line.slots):
                rect = QRectF(left + title_width + i * cell.width(), y, cell.width(), cell.height())
                places.contacts.append(Place(slot, rect, number, first + i))
            y += cell.height()
        left += width + _BETWEEN_COLUMNS
        first += max((len(line.slots) for line in lines), default=0)
    return places

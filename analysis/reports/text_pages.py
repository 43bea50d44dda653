"""Sets the text of a report on pages of A4: headings, facts, tables, each place in millimetres from the top left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap

from analysis.reports.content import HEADERS, Pairs, Report, used_columns

WIDTH, HEIGHT = 210.0, 297.0
LEFT, TOP, BOTTOM = 12.0, 14.0, 18.0
_NAME_WIDTH = 42.0
# Of each column of the table of events in millimetres; what is left of the line goes to those that hold free text.
_COLUMNS = (15.0, 15.0, 19.0, 30.0, 25.0, 21.0, 8.0, 16.0, 16.0, 16.0)
_FREE = (HEADERS.index("What"), HEADERS.index("Comment"))
_MM_PER_POINT = 25.4 / 72


@dataclass(frozen=True)
class Style:
    """How a piece of text looks; size in points."""

    size: float
    bold: bool = False
    muted: bool = False
    mono: bool = False

    @property
    def line(self) -> float:
        """From one line to the next, mm."""
        return 1.35 * self.size * _MM_PER_POINT

    def letters(self, width: float) -> int:
        """How many letters fit into a width in millimetres."""
        return max(1, int(width / ((0.6 if self.mono else 0.53) * self.size * _MM_PER_POINT)))


TITLE, HEADING = Style(16, bold=True), Style(10, bold=True)
BODY, NAME = Style(8), Style(8, muted=True)
CELL, COLUMN, MONO = Style(6.2), Style(6.2, muted=True), Style(7, mono=True)


@dataclass(frozen=True)
class Piece:
    """A line of text at a place, x and y of its top left in millimetres from the page's."""

    x: float
    y: float
    text: str
    style: Style


class TextPages:
    """Pages that fill from top to bottom; what does not fit begins the next."""

    def __init__(self) -> None:
        self.pages: list[list[Piece]] = [[]]
        self._y = TOP

    def heading(self, text: str, style: Style = HEADING) -> None:
        """A heading, which stays with the lines that follow."""
        self._y += 0 if self._y == TOP else 3.0
        self._room(style.line + 12.0)
        self._put([(LEFT, text, style)])

    def line(self, text: str, style: Style = BODY) -> None:
        """A line, or a paragraph of as many as it takes."""
        indent = " " * (len(text) - len(text.split("  ")[-1].lstrip())) if style.mono and "  " in text else ""
        width = style.letters(WIDTH - 2 * LEFT)
        for part in wrap(text, width, subsequent_indent=indent, drop_whitespace=not style.mono) or [""]:
            self._put([(LEFT, part, style)])

    def pairs(self, pairs: Pairs) -> None:
        """Names and values in two columns."""
        for name, value in pairs:
            lines = wrap(value, BODY.letters(WIDTH - 2 * LEFT - _NAME_WIDTH)) or [""]
            for i, line in enumerate(lines):
                self._put([(LEFT, name if i == 0 else "", NAME), (LEFT + _NAME_WIDTH, line, BODY)])

    def table(self, rows: Sequence[Sequence[str]]) -> None:
        """The table of events; every page of it begins with the names of the columns."""
        columns = used_columns(rows)
        widths = _widths(columns)
        names = [HEADERS[i] for i in columns]
        self._cells(names, widths, COLUMN)
        for row in rows:
            cells = [row[i] for i in columns]
            if self._room(max(len(_wrapped(t, w)) for t, w in zip(cells, widths, strict=True)) * CELL.line):
                self._cells(names, widths, COLUMN)
            self._cells(cells, widths, CELL)

    def _cells(self, cells: Sequence[str], widths: Sequence[float], style: Style) -> None:
        columns = [_wrapped(text, width) for text, width in zip(cells, widths, strict=True)]
        for i in range(max(len(lines) for lines in columns)):
            pieces, x = [], LEFT
            for lines, width in zip(columns, widths, strict=True):
                if i < len(lines):
                    pieces.append((x, lines[i], style))
                x += width
            self._put(pieces, style)

    def _room(self, height: float) -> bool:
        """Begin a new page where the height in millimetres is not left on this one; whether that was so."""
        if self._y + height <= HEIGHT - BOTTOM:
            return False
        self.pages.append([])
        self._y = TOP
        return True

    def _put(self, pieces: Sequence[tuple[float, str, Style]], style: Style = BODY) -> None:
        height = max((style.line for _, _, style in pieces), default=style.line)
        self._room(height)
        self.pages[-1] += [Piece(x, self._y, text, style) for x, text, style in pieces if text]
        self._y += height


def set_text(report: Report) -> list[list[Piece]]:
    """The text of a report, page by page."""
    out = TextPages()
    out.heading(report.title, TITLE)
    for note in report.notes:
        out.line(note)
    out.heading("Recording")
    out.pairs(report.facts)
    out.heading("Settings")
    out.pairs(report.settings)
    if report.agreement:
        out.heading("Agreement")
        for line in report.agreement:
            out.line(line, MONO)
    out.heading("Made with")
    out.pairs(report.versions)
    out.heading(f"Events ({len(report.events):,})")
    if report.events:
        out.table(report.events)
    return out.pages


def _widths(columns: Sequence[int]) -> list[float]:
    """Widths in millimetres of those columns that are shown."""
    free = [i for i in columns if i in _FREE] or [columns[-1]]
    left = WIDTH - 2 * LEFT - sum(_COLUMNS[i] for i in columns)
    return [_COLUMNS[i] + (left / len(free) if i in free else 0.0) for i in columns]


def _wrapped(text: str, width: float) -> list[str]:
    return wrap(text, CELL.letters(width - 1.5)) or [""]

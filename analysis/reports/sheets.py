"""A report on paper: a PDF of A4 pages whose traces, maps and letters are vectors and text."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from analysis.figures.page import draw_page_on
from analysis.figures.scalp import draw_topography
from analysis.figures.style import INK, MUTED, RESEARCH_ONLY, styled
from analysis.progress import Progress
from analysis.reports.content import EventPage, Report
from analysis.reports.gather import PAGE_MM
from analysis.reports.text_pages import BODY, HEADING, HEIGHT, LEFT, NAME, TOP, WIDTH, Piece, Style, set_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MM = 25.4
_HEAD_MM = 22.0  # of an event's page, above the traces
_SCALP_MM = 64.0


def write_pdf(report: Report, progress: Progress | None = None) -> bytes:
    """The report as a PDF; the same report gives the same bytes."""
    from matplotlib.backends.backend_pdf import PdfPages

    progress = progress or Progress()
    buffer = io.BytesIO()
    text = set_text(report)
    total = len(text) + len(report.pages)
    facts = {"CreationDate": None, "Title": report.title, "Subject": RESEARCH_ONLY}
    with styled(), PdfPages(buffer, metadata=facts) as pdf:
        for number, pieces in enumerate(text, 1):
            sheet = _sheet(report, number, total)
            for piece in pieces:
                _write(sheet, piece)
            pdf.savefig(sheet)
        for number, page in enumerate(report.pages, len(text) + 1):
            progress.report(number - len(text) - 1, len(report.pages), "drawing events")
            sheet = _sheet(report, number, total)
            _draw_event(sheet, page)
            pdf.savefig(sheet)
    return buffer.getvalue()


def _sheet(report: Report, number: int, total: int) -> Figure:
    """An empty page with its foot."""
    from matplotlib.figure import Figure

    sheet = Figure(figsize=(WIDTH / _MM, HEIGHT / _MM))
    _write(sheet, Piece(LEFT, HEIGHT - 11.0, f"{report.title} · {RESEARCH_ONLY}", NAME))
    sheet.text(1 - LEFT / WIDTH, 11.0 / HEIGHT, f"{number} of {total}", fontsize=8, color=MUTED, ha="right", va="top")
    return sheet


def _write(sheet: Figure, piece: Piece) -> None:
    style = piece.style
    sheet.text(
        piece.x / WIDTH, 1 - piece.y / HEIGHT, piece.text.replace("$", r"\$"), fontsize=style.size, va="top",
        fontweight="bold" if style.bold else "normal", color=MUTED if style.muted else INK,
        fontfamily="monospace" if style.mono else "sans-serif",
    )  # fmt: skip


def _draw_event(sheet: Figure, page: EventPage) -> None:
    """Heading and facts, the traces, and below them the scalp."""
    _write(sheet, Piece(LEFT, TOP, page.heading, Style(13, bold=True)))
    facts = " · ".join(f"{name} {value}" for name, value in page.facts)
    letters = BODY.letters(WIDTH - 2 * LEFT)
    _write(sheet, Piece(LEFT, TOP + 8.0, facts if len(facts) <= letters else f"{facts[: letters - 1]}…", BODY))
    width, height = PAGE_MM
    side, below = (WIDTH - width) / 2, HEIGHT - _HEAD_MM - height
    grid = sheet.add_gridspec(
        3, 3, height_ratios=(_HEAD_MM, height, below), width_ratios=(side, width, side),
        left=0, right=1, top=1, bottom=0, hspace=0, wspace=0,
    )  # fmt: skip
    draw_page_on(sheet.add_subfigure(grid[1, 1]), page.page)
    y = _HEAD_MM + height + 4.0
    _write(sheet, Piece(LEFT, y, page.scalp_heading, HEADING))
    _write(sheet, Piece(LEFT, y + 6.0, page.scalp_words, BODY))
    if page.scalp is not None:
        bottom = HEIGHT - y - 11.0 - _SCALP_MM
        ax = sheet.add_axes((LEFT / WIDTH, bottom / HEIGHT, 90.0 / WIDTH, _SCALP_MM / HEIGHT))
        if not draw_topography(ax, page.scalp, page.scalp_time):
            ax.remove()

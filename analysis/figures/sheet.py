"""A page with the panels of analyses below it, as one figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from analysis.analyses import Analysis
from analysis.figures.draw import draw_panel
from analysis.figures.page import PageFigure, draw_page_on
from analysis.figures.panes import height_mm
from analysis.figures.style import MM, styled
from analysis.progress import Progress

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_sheet(page: PageFigure, panels: Sequence[Analysis] = (), progress: Progress | None = None) -> Figure:
    """A page of its size, and below it each panel as wide as the page; AnalysisError where the paper is too small."""
    from matplotlib.figure import Figure

    progress = progress or Progress()
    width, height = page.size_mm
    heights = [height, *(height_mm(panel, width) for panel in panels)]
    with styled():
        figure = Figure(figsize=(width / MM, sum(heights) / MM))
        parts = figure.subfigures(len(heights), 1, squeeze=False, height_ratios=heights, hspace=0.0)[:, 0]
        draw_page_on(parts[0], page)
        for number, (part, result) in enumerate(zip(parts[1:], panels, strict=True), 1):
            progress.report(number - 1, len(panels), f"drawing {result.title.lower()}")
            draw_panel(part, result, (width / MM, heights[number] / MM))
    return figure

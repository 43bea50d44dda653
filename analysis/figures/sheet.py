"""A page with the panels of analyses below it, as one figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from analysis.analyses import Analysis
from analysis.figures.draw import draw_panel
from analysis.figures.page import PageFigure, draw_page_on
from analysis.figures.style import MM, styled
from analysis.progress import Progress

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PANEL_SHARE, _LEAST_PANEL_MM = 0.62, 85.0  # of the width


def panel_mm(width: float) -> float:
    """How high a panel is below a page of a width, millimetres."""
    return max(_LEAST_PANEL_MM, _PANEL_SHARE * width)


def draw_sheet(page: PageFigure, panels: Sequence[Analysis] = (), progress: Progress | None = None) -> Figure:
    """A page of its size, and below it each panel as wide as the page; AnalysisError where the paper is too small."""
    from matplotlib.figure import Figure

    progress = progress or Progress()
    width, height = page.size_mm
    heights = [height, *[panel_mm(width)] * len(panels)]
    with styled():
        figure = Figure(figsize=(width / MM, sum(heights) / MM))
        parts = figure.subfigures(len(heights), 1, squeeze=False, height_ratios=heights, hspace=0.0)[:, 0]
        draw_page_on(parts[0], page)
        for number, (part, result) in enumerate(zip(parts[1:], panels, strict=True)):
            progress.report(number, len(panels), f"drawing {result.title.lower()}")
            draw_panel(part, result, (width / MM, panel_mm(width) / MM))
    return figure

"""How the panels of a figure stand on paper of a width, and how high the figure is then."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from analysis.figures.style import MM

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure

    from analysis.analyses import Analysis

Shape = tuple[int, int]  # rows and columns

NARROW_MM, MIDDLE_MM = 100.0, 150.0  # below: one column of a journal, and one and a half
# Of the kinds whose panels stand otherwise on narrow paper: one column of a journal, one and a half, two.
SHAPES: Mapping[str, tuple[Shape, Shape, Shape]] = {
    "gates": ((3, 2), (3, 2), (2, 3)),
    "gate-interventions": ((2, 1), (1, 2), (1, 2)),
    "lesion": ((2, 1), (1, 2), (1, 2)),
    "sanity-checks": ((4, 2), (3, 2), (2, 3)),
    "cka": ((2, 1), (1, 2), (1, 2)),
    "channel-map": ((6, 2), (4, 3), (3, 4)),
    "group-attribution": ((3, 2), (3, 2), (2, 3)),
    "experts": ((2, 2), (2, 2), (2, 2)),
    "dynamic-groups": ((2, 1), (1, 2), (1, 2)),
    "memory": ((4, 1), (2, 2), (2, 2)),
    "attention": ((4, 1), (2, 2), (2, 2)),
    "prediction": ((3, 1), (2, 2), (2, 2)),
    "gradient-geometry": ((2, 2), (2, 2), (2, 2)),
    "timescales": ((2, 1), (1, 2), (1, 2)),
    "integrated-gradients": ((3, 2), (2, 2), (2, 2)),
    "occlusion": ((3, 2), (2, 2), (2, 2)),
    "grad-cam": ((3, 2), (2, 2), (2, 2)),
}
# Rows that arrays add which not every figure of their kind has.
_MORE_ROWS: Mapping[str, tuple[int, int, int]] = {
    "balanced_accuracy": (1, 1, 0),
    "deletion_by_map": (1, 1, 0),
    "within": (1, 1, 0),
    "agreement": (1, 0, 0),
}
_SHARE, _LEAST_MM = 0.62, 85.0  # of the width, and of a figure's height
_ROW_MM, _AROUND_MM = 42.0, 28.0  # of a row, and of what stands above and below all


def paper_mm(figure: Figure | SubFigure) -> float:
    """The width of a figure, or of a part of one."""
    root = figure.get_figure(root=True)
    assert root is not None
    return float(figure.bbox.width) / root.dpi * MM


def shape_of(kind: str, width: float) -> Shape:
    """Rows and columns of a kind's panels on paper of a width, millimetres."""
    return SHAPES.get(kind, ((2, 2),) * 3)[_paper(width)]


def height_mm(result: Analysis, width: float) -> float:
    """How high a figure of an analysis is on paper of a width, millimetres."""
    rows, _columns = shape_of(result.kind, width)
    rows += sum(more[_paper(width)] for name, more in _MORE_ROWS.items() if name in result.arrays)
    return max(_LEAST_MM, _SHARE * width, _AROUND_MM + rows * _ROW_MM)


def _paper(width: float) -> int:
    return 0 if width < NARROW_MM else 1 if width < MIDDLE_MM else 2

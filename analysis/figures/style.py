"""How every figure looks: fonts, lines, colours safe for colour-blind readers, and the line that says what it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from analysis.provenance import RESEARCH_ONLY as RESEARCH_ONLY

TEAL, BROWN, VIOLET, INK, MUTED, GRID = "#1b8a8a", "#b5712a", "#7a3db8", "#1c2430", "#667080", "#d9dee4"
CYCLE = (VIOLET, TEAL, BROWN, "#3566b0", "#8a8f3a", "#c2487a")
DIVERGING = "BrBG"  # brown to teal, white in the middle
SEQUENTIAL = "viridis"
_SETTINGS: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "cerebroscope",
    "pdf.fonttype": 42,
    "font.family": "sans-serif",
    "font.size": 8,
    "axes.titlesize": 9,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 8,
    "axes.edgecolor": MUTED,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "lines.linewidth": 1.2,
    "legend.frameon": False,
    "legend.fontsize": 7,
    "figure.dpi": 100,
    "savefig.dpi": 300,
}


MAY_GO = "may-go"  # the mark of texts that are left out where they meet others
MM = 25.4  # of an inch
_PIXEL_AIR = 0.95  # letters made of pixels are a little wider than those of vectors


def text_mm(words: str, points: float) -> float:
    """Millimetres that a line of text of a size takes from left to right."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    width, _height, _descent = text_to_path.get_text_width_height_descent(words, FontProperties(size=points), False)
    return float(width) / 72 * MM


def wrapped(words: str, points: float, width: float) -> list[str]:
    """Lines of at most `width` millimetres, broken at blanks; a word that is longer stands alone."""
    lines: list[str] = []
    width *= _PIXEL_AIR
    for word in words.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_mm(longer, points) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


_LETTERS = ("font.size", "axes.titlesize", "axes.labelsize", "legend.fontsize")


@contextmanager
def styled(letters: float = 1.0) -> Iterator[None]:
    """Within the block matplotlib draws as this program's figures look, letters so much larger."""
    import matplotlib as mpl

    settings: Any = {**_SETTINGS, "axes.prop_cycle": f"cycler('color', {list(CYCLE)})"}
    settings |= {name: letters * _SETTINGS[name] for name in _LETTERS}
    with mpl.rc_context(settings):
        yield

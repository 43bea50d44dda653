"""Any figure as the bytes of a file."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from analysis.figures.fonts import embed_fonts
from analysis.figures.style import styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def saved(figure: Figure, form: str, dpi: int = 300) -> bytes:
    """The bytes of an .svg, .pdf or .png file; equal figures give equal bytes, and the fonts of text come along."""
    buffer = io.BytesIO()
    stamp: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(form, {})
    with styled():
        figure.savefig(buffer, format=form, dpi=dpi, metadata=stamp)
    return embed_fonts(buffer.getvalue()) if form == "svg" else buffer.getvalue()

"""Puts the letters that a figure uses into its .svg file, so that text stays text and looks the same everywhere."""

from __future__ import annotations

import base64
import html
import io
import re

_TEXT = re.compile(r"<(?:text|tspan)\b[^>]*>([^<]+)")
_BOLD = re.compile(r"font(?:-weight)?:\s*(?:bold|700)")
_FAMILY = "DejaVu Sans"


def embed_fonts(svg: bytes) -> bytes:
    """The same figure with the letters of its text in a style sheet at its beginning."""
    text = svg.decode()
    letters = "".join(sorted(set(html.unescape("".join(_TEXT.findall(text))))))
    if not letters:
        return svg
    weights = [("normal", 400), *([("bold", 700)] if _BOLD.search(text) else [])]
    faces = "".join(_face(weight, number, letters) for weight, number in weights)
    start = text.index(">", text.index("<svg")) + 1
    return f'{text[:start]}\n <style type="text/css">{faces}</style>{text[start:]}'.encode()


def _face(weight: str, number: int, letters: str) -> str:
    from fontTools import subset  # type: ignore[import-untyped]
    from matplotlib.font_manager import FontProperties, findfont

    path = findfont(FontProperties(family=_FAMILY, weight=weight))
    options = subset.Options(flavor=None, layout_features=[], hinting=False, notdef_outline=True)
    options.drop_tables += ["FFTM"]  # when the font was made: nothing that is drawn
    font = subset.load_font(path, options)
    chooser = subset.Subsetter(options)
    chooser.populate(text=letters)
    chooser.subset(font)
    buffer = io.BytesIO()
    subset.save_font(font, buffer, options)
    data = base64.b64encode(buffer.getvalue()).decode()
    source = f"url(data:font/ttf;base64,{data}) format('truetype')"
    return f"@font-face{{font-family:'{_FAMILY}';font-weight:{number};src:{source};}}"

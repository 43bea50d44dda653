"""Numbers as tables and people write them."""

from __future__ import annotations


def number(value: float) -> str:
    """A number as text, to a millionth and without needless zeros."""
    text = f"{value:.6f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text

"""Colours of things that are told apart but not ordered: experts, groups, recordings; as text says the same again.

Eight hues after Okabe and Ito, moved apart in lightness for common kinds of colour blindness and for either ground.
"""

from __future__ import annotations

from functools import lru_cache

from PyQt6.QtGui import QColor

from viewers.theme import Theme

_LIGHT = ("#0067a5", "#d95f02", "#00916a", "#c8589a", "#8c6b00", "#4fb0e8", "#5846b5", "#6e7680")
_DARK = ("#4aa8ef", "#ff9440", "#35cf9f", "#f08cc4", "#d9b93a", "#a8dcff", "#a99bff", "#aab3bd")


@lru_cache(maxsize=64)
def category(theme: Theme, number: int) -> QColor:
    """The colour of the thing of a number; after eight they come again. Shared, so not to be changed."""
    table = _DARK if theme.is_dark else _LIGHT
    return QColor(table[number % len(table)])

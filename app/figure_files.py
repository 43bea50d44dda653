"""The page of a figure as JSON and arrays, from which the same figure can be drawn again."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from analysis.analyses import Analysis, NamedArray
from analysis.annotation import Annotation, Review
from analysis.errors import AnalysisError
from analysis.figures.layers import Arcs, Heat, Lane, RowLook, Shares
from analysis.filtering import DisplayFilter, FilterBank
from analysis.montage import Derivation, Montage
from analysis.recording import Window
from analysis.results import AnalysisRequest
from app.figure_request import ShownPage

FORMAT = "cerebroscope-figure/1"
_KINDS: Mapping[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        *(ShownPage, Window, Montage, Derivation, DisplayFilter, FilterBank, Annotation, Review, Heat, Lane),
        *(Shares, Arcs, RowLook, Analysis, NamedArray, AnalysisRequest),
    )
}
_KIND, _ARRAY, _NUMBER = "is", "array", "number"


def packed(page: ShownPage) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """A page as JSON knows it, and its arrays by the names that it calls them."""
    arrays: dict[str, np.ndarray] = {}
    made: dict[str, Any] = _pack(page, "page", arrays)
    return made, arrays


def _pack(value: Any, place: str, arrays: dict[str, np.ndarray]) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        parts = {f.name: _pack(getattr(value, f.name), f"{place}/{f.name}", arrays) for f in fields(value) if f.init}
        return {_KIND: type(value).__name__, **parts}
    if isinstance(value, np.ndarray):
        arrays[place] = value
        return {_ARRAY: place}
    if isinstance(value, Mapping):
        return {str(key): _pack(item, f"{place}/{key}", arrays) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_pack(item, f"{place}/{i}", arrays) for i, item in enumerate(value)]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {_NUMBER: str(value)}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)


def read_page(path: Path) -> ShownPage:
    """The page of a figure, from the .json beside it and the .npz next to that.

    AnalysisError where either is missing, or is not what a figure has beside it.
    """
    try:
        document = json.loads(path.read_bytes())
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise AnalysisError(f"this is not what lies beside a figure ({path}): name the .json of a figure")
        numbers = path.with_suffix(".npz")
        with np.load(numbers, allow_pickle=False) if numbers.exists() else _Nothing() as arrays:
            page = _unpack(document["page"], arrays)
    except OSError as error:
        raise AnalysisError(f"{error.strerror or error} ({path}): name the .json beside a figure") from None
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise AnalysisError(f"this page of a figure is damaged ({path}; {error}): export the figure again") from None
    if not isinstance(page, ShownPage):
        raise AnalysisError(f"this holds no page of a figure ({path}): name the .json of a figure")
    return page


class _Nothing(dict[str, np.ndarray]):
    """No arrays."""

    def __enter__(self) -> _Nothing:
        return self

    def __exit__(self, *_: object) -> None:
        return


def _unpack(value: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    if isinstance(value, list):
        return tuple(_unpack(item, arrays) for item in value)
    if not isinstance(value, dict):
        return value
    if set(value) == {_ARRAY}:
        return arrays[value[_ARRAY]]
    if set(value) == {_NUMBER}:
        return float(value[_NUMBER])
    parts = {key: _unpack(item, arrays) for key, item in value.items() if key != _KIND}
    return _KINDS[value[_KIND]](**parts) if _KIND in value else parts

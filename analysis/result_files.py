"""Results on disk: one array file with everything else as JSON beside it."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

from analysis.analyses import Analysis, NamedArray
from analysis.annotation import Annotation, Review
from analysis.errors import AnalysisError
from analysis.recording import Window
from analysis.results import AnalysisRequest, AnalysisResult, SeizurePrediction
from analysis.trends.result import Trends
from models.whole_files import whole_file

FORMAT = "cerebroscope-result/1"
ARRAYS, FACTS = ".npz", ".json"
_TYPES: dict[str, type[AnalysisResult]] = {kind.__name__: kind for kind in (SeizurePrediction, Trends, Analysis)}
_OBJECTS: dict[str, Callable[..., Any]] = {kind.__name__: kind for kind in (Window, AnalysisRequest)}
_VALUES = "values of "  # before the name of an array, which may be any
_TUPLE, _TABLE = "tuple", "table"  # what JSON has no word for; each is the only key of its object


def save_result(result: AnalysisResult, stem: Path) -> None:
    """Write `stem.npz` and `stem.json`, each whole or not at all, the JSON last. OSError when that fails."""
    values = {field.name: getattr(result, field.name) for field in fields(result)}
    facts = {"format": FORMAT, "type": type(result).__name__}
    is_exact = isinstance(result, Analysis)
    if isinstance(result, Analysis):
        arrays = {_VALUES + name: array.values for name, array in result.arrays.items()}
        described = {name: (a.axes, a.unit, a.meaning, a.source) for name, a in result.arrays.items()}
        facts |= {name: _exact(value) for name, value in {**values, "arrays": described}.items()}
    else:
        arrays = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
        facts |= {name: _plain(value) for name, value in values.items() if name not in arrays}
    text = json.dumps(facts, ensure_ascii=False, allow_nan=is_exact, indent=None if is_exact else 1)
    with whole_file(stem.with_name(stem.name + ARRAYS)) as file:
        np.savez(file, allow_pickle=False, **arrays)
    with whole_file(stem.with_name(stem.name + FACTS)) as file:
        file.write(text.encode())


def load_result(stem: Path) -> AnalysisResult:
    """The result that `save_result` wrote; AnalysisError when a file is missing or damaged."""
    path = stem.with_name(stem.name + FACTS)
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
        if facts.pop("format") != FORMAT:
            raise ValueError("another format")
        kind = _TYPES[facts.pop("type")]
        with np.load(stem.with_name(stem.name + ARRAYS), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        for array in arrays.values():
            array.setflags(write=False)
        if kind is Analysis:
            return _analysis(facts, arrays)
        return kind(**{name: _restore(name, value) for name, value in facts.items()}, **arrays)
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as error:
        raise AnalysisError(f"not a whole result of this program ({path}): run the analysis again") from error


def _analysis(facts: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Analysis:
    values = {name: _back(value) for name, value in facts.items()}
    named = {name: NamedArray(arrays[_VALUES + name], *described) for name, described in values.pop("arrays").items()}
    return Analysis(arrays=named, **values)


def _exact(value: Any) -> Any:
    """A value as JSON from which `_back` makes an equal one, of the same types but for numpy's numbers."""
    if isinstance(value, Window | AnalysisRequest):
        return {type(value).__name__: _exact({field.name: getattr(value, field.name) for field in fields(value)})}
    if isinstance(value, tuple):
        return {_TUPLE: [_exact(item) for item in value]}
    if isinstance(value, Mapping):
        return {_TABLE: [[_exact(key), _exact(item)] for key, item in value.items()]}
    if isinstance(value, list):
        return [_exact(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value


def _back(value: Any) -> Any:
    if isinstance(value, list):
        return [_back(item) for item in value]
    if not isinstance(value, dict):
        return value
    ((name, inner),) = value.items()
    if name == _TUPLE:
        return tuple(_back(item) for item in inner)
    if name == _TABLE:
        return {_back(key): _back(item) for key, item in inner}
    return _OBJECTS[name](**_back(inner))


def _plain(value: Any) -> Any:
    """A value as JSON knows it: dataclasses as dicts, tuples as lists."""
    if isinstance(value, Annotation | AnalysisRequest | Window):
        return _plain(asdict(value))
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value


def _restore(name: str, value: Any) -> Any:
    if name == "request":
        window = Window(**value["window"]) if value["window"] else None
        return AnalysisRequest(**{**value, "checkpoints": tuple(value["checkpoints"]), "window": window})
    if name == "events":
        return tuple(_annotation(item) for item in value)
    if isinstance(value, list):
        return tuple(tuple(item) if isinstance(item, list) else item for item in value)
    return value


def _annotation(item: Mapping[str, Any]) -> Annotation:
    extras = tuple((str(key), str(text)) for key, text in item["extras"])
    review = Review(**item.get("review", {}))
    return Annotation(**{**item, "ch_names": tuple(item["ch_names"]), "extras": extras, "review": review})

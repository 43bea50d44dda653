"""An analysis as three files: its numbers, what they are and where they come from, and a figure."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from analysis.analyses import Analysis
from analysis.provenance import RESEARCH_ONLY

FORMAT = "cerebroscope-analysis/1"


def analysis_contents(result: Analysis) -> dict[str, bytes]:
    """The contents of KIND.npz, KIND.json and KIND.svg, by name."""
    from analysis.figures.draw import figure_bytes

    return {
        f"{result.kind}.npz": _numbers(result),
        f"{result.kind}.json": (json.dumps(describe_analysis(result), ensure_ascii=False, indent=1) + "\n").encode(),
        f"{result.kind}.svg": figure_bytes(result, "svg"),
    }


def describe_analysis(result: Analysis) -> dict[str, Any]:
    """What KIND.json says: each array with axes, unit and meaning, the facts, and the provenance."""
    described: dict[str, Any] = _plain(
        {
            "format": FORMAT,
            "kind": result.kind,
            "title": result.title,
            "intended_use": RESEARCH_ONLY,
            "models": list(result.models),
            "random_weights": result.random_weights,
            "notes": list(result.notes),
            "arrays": {
                name: {
                    "axes": list(array.axes),
                    "shape": list(array.values.shape),
                    "unit": array.unit,
                    "meaning": array.meaning,
                    **({"defined_by": array.source} if array.source else {}),
                }
                for name, array in result.arrays.items()
            },
            "labels": {name: list(entries) for name, entries in result.labels.items()},
            "facts": dict(result.facts),
            "provenance": dict(result.provenance),
            "request": {"key": result.request.key(), "options": dict(result.request.options)},
            "created": result.created,
        }
    )
    return described


def _numbers(result: Analysis) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **{name: array.values for name, array in result.arrays.items()})
    return buffer.getvalue()


def _plain(value: Any) -> Any:
    """A value as JSON knows it; what is not a finite number becomes null."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value

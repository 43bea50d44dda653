"""Arrays of an analysis as tab-separated text for a spreadsheet, headed by what they were made from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analysis.analyses import Analysis, NamedArray
from analysis.annotation import RANDOM_WEIGHTS


def heading(result: Analysis) -> list[str]:
    """Lines that say which kind, models, recording, span and options the numbers are of."""
    start, stop = span_of(result)
    options = ", ".join(f"{name} {value}" for name, value in options_of(result).items())
    models = " and ".join(result.models) + (f" ({RANDOM_WEIGHTS})" if result.random_weights else "")
    bad = ", ".join(result.request.options.get("bad_channels", ()))
    left_out = f"; marked bad and left out: {bad}" if bad else ""
    lines = [f"# {result.kind}: {models}; span {start:.3f} to {stop:.3f} s; {options or 'no options'}{left_out}"]
    return [*lines, f"# recording {result.request.recording_id}; cerebroscope {result.software_version}"]


def span_of(result: Analysis) -> tuple[float, float]:
    """Begin and end in seconds of what was analysed."""
    window = result.request.window
    if window is not None:
        return window.start, window.stop
    start, stop = result.provenance.get("span", (0.0, 0.0))
    return float(start), float(stop)


def options_of(result: Analysis) -> dict[str, object]:
    """The options that were chosen, without what the program adds to tell its versions and channels apart."""
    return {name: value for name, value in result.request.options.items() if name not in ("code", "bad_channels")}


def column_table(result: Analysis, names: Sequence[str]) -> str:
    """Arrays of one axis side by side, a line for each of its entries."""
    arrays = [result.arrays[name] for name in names]
    (axis,) = arrays[0].axes
    lines = [*heading(result), *(_meaning(name, array) for name, array in zip(names, arrays, strict=True))]
    lines.append(_line([axis, *names]))
    entries = entries_of(result, axis, arrays[0].values.shape[0])
    for i, entry in enumerate(entries):
        lines.append(_line([entry, *(_text(array.values[i]) for array in arrays)]))
    return "\n".join(lines) + "\n"


def array_table(result: Analysis, name: str) -> str:
    """One array: a column for each entry of the last axis, a line for the others together."""
    array = result.arrays[name]
    if len(array.axes) == 1:
        return column_table(result, [name])
    lines = [*heading(result), _meaning(name, array)]
    names = [entries_of(result, axis, n) for axis, n in zip(array.axes, array.values.shape, strict=True)]
    lines.append(_line([*array.axes[:-1], *names[-1]]))
    for index in np.ndindex(*array.values.shape[:-1]):
        head = [names[axis][i] for axis, i in enumerate(index)]
        lines.append(_line([*head, *map(_text, array.values[index])]))
    return "\n".join(lines) + "\n"


def entries_of(result: Analysis, axis: str, count: int) -> tuple[str, ...]:
    """What the entries of an axis are called: their labels, or their numbers."""
    labels = result.labels.get(axis, ())
    return tuple(labels) if len(labels) == count else tuple(str(i) for i in range(count))


def _meaning(name: str, array: NamedArray) -> str:
    unit = f", {array.unit}" if array.unit != "1" else ""
    mark = f" [{array.source}]" if array.source else ""
    return f"# {name}: {array.meaning}{unit}{mark}"


def _text(value: np.ndarray) -> str:
    return f"{float(value):.7g}" if np.isfinite(value) else ""


def _line(cells: Sequence[object]) -> str:
    return "\t".join(str(cell).replace("\t", " ") for cell in cells)

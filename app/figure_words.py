"""The lines at the foot of a figure that tell of its layers: method, model and options. Knows no Qt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from app.figure_layers import arcs_of, heats_of, lanes_of

if TYPE_CHECKING:
    from analysis.analyses import Analysis
    from analysis.results import SeizurePrediction


def layer_words(analysis: Analysis, part: str, stop: float, options: Mapping[str, Any]) -> str:
    """Where an analysis is drawn, what it is, of which models, and with which options; `stop` is the page's end."""
    heats, lanes, arcs = heats_of(analysis, part), lanes_of(analysis, part), arcs_of(analysis, part)
    until = ""
    if heats:
        heat = heats[0]
        end = float(heat.onsets[-1]) + heat.step if heat.stops is None else float(heat.stops[-1])
        short = end < stop - heat.step / 2
        until = f", up to {end:.1f} s in whole windows" if short and analysis.kind != "memory" else ""
    place = "Heat" if heats else "Arcs" if arcs else "Lanes" if len(lanes) > 1 else "Lane"
    return f"{place}: {analysis.title}, {model_words(analysis)}{until}{options_words(analysis, options)}"


def model_words(analysis: Analysis) -> str:
    """The models by name, with the files that they come from."""
    files = [str(table.get("path", "")) for table in analysis.provenance.get("checkpoints", ())]
    named = [file.replace("\\", "/").rsplit("/", 1)[-1] for file in files] + [""] * len(analysis.models)
    pairs = zip(analysis.models, named, strict=False)
    return " and ".join(f"{title} ({name})" if name and name != title else title for title, name in pairs)


def chosen_options(analysis: Analysis) -> dict[str, Any]:
    """The options of an analysis that are not the usual ones."""
    from analysis.kinds import KINDS

    given = analysis.request.options
    known = KINDS[analysis.kind].options if analysis.kind in KINDS else ()
    return {o.name: given[o.name] for o in known if o.name in given and given[o.name] != o.default}


def options_words(analysis: Analysis, options: Mapping[str, Any]) -> str:
    """Those options that a kind takes among those that were given."""
    taken = [f"{name} {value}" for name, value in options.items() if name in analysis.request.options]
    return f" ({', '.join(taken)})" if taken else ""


def prediction_words(prediction: SeizurePrediction) -> str:
    """Whose the lane and the violet spans are."""
    return f"Lane and violet spans: {prediction.model_title}, threshold {prediction.threshold:g}"


def bad_words(names: Iterable[str]) -> list[str]:
    """Which channels were left out; empty for none."""
    bad = ", ".join(names)
    return [f"Marked bad, and left out of averages and models: {bad}"] if bad else []


def patient_words(recording: object) -> str:
    """Who was recorded, as the header of an EDF file says it; empty where it names nobody."""
    words = str(getattr(getattr(recording, "header", None), "patient", "")).strip()
    return words if words.replace("X", "").strip() else ""

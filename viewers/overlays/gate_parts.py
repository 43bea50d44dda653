"""What of AXON's gates can be shown on the traces: either gate, of one layer or the mean of all; a name for each."""

from __future__ import annotations

from analysis.analyses import Analysis
from viewers.overlays.heat import MEAN

TEMPORAL, SHORT = "temporal", "short"  # the arrays of an analysis: the axis gate, the scale gate
ENDS = {TEMPORAL: ("spatial", "temporal"), SHORT: ("long", "short")}
TITLES = {TEMPORAL: "Gates", SHORT: "Scale gate"}
QUANTITIES = {TEMPORAL: "temporal weight", SHORT: "weight of the short window"}


def gates_in(result: Analysis) -> list[str]:
    """The gates that an analysis tells of; a scale gate only where there are two scales."""
    return [name for name in (TEMPORAL, SHORT) if name in result.arrays]


def part_name(gate: str, layer: str) -> str:
    """The name of a part: a layer's number or MEAN, after the gate where it is not that of the axes."""
    return layer if gate == TEMPORAL else f"{gate} {layer}"


def split_part(part: str) -> tuple[str, str]:
    """Gate and layer of a part."""
    gate, _, layer = part.rpartition(" ")
    return gate or TEMPORAL, layer


def parts_of(result: Analysis) -> list[str]:
    """Every part that an analysis has."""
    layers = [MEAN, *(str(i) for i in range(result.values(TEMPORAL).shape[0]))]
    return [part_name(gate, layer) for gate in gates_in(result) for layer in layers]


def mark_of(result: Analysis, gate: str) -> str:
    """Who defined a gate, as it stands after its name: " [paper]"."""
    source = result.arrays[gate].source
    return f" [{source}]" if source else ""

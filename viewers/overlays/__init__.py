"""The overlays, in the order in which they are painted, and those of analyses, which are made when first needed."""

from collections.abc import Mapping

from viewers.overlays.annotations import AnnotationsOverlay
from viewers.overlays.base import Overlay
from viewers.overlays.seizure_prediction import SeizurePredictionOverlay

OVERLAYS: tuple[type[Overlay], ...] = (AnnotationsOverlay, SeizurePredictionOverlay)

# By kind of analysis: what the list of overlays calls it, and the AnalysisHeat that draws it, "module:class".
ANALYSIS_OVERLAYS: Mapping[str, tuple[str, str]] = {
    "gates": ("AXON gates", "viewers.overlays.gate_profile:GateOverlay"),
    "streams": ("NeurDuo streams", "viewers.overlays.stream_rates:StreamOverlay"),
    "memory": ("NeurDuo recall", "viewers.overlays.bank_recall:RecallOverlay"),
    "stages": ("NeurDuo stages", "viewers.overlays.unit_classes:ClassesOverlay"),
    "experts": ("PRiSE experts", "viewers.overlays.experts:ExpertsOverlay"),
    "cka": ("Token maps of layers", "viewers.overlays.token_maps:TokenMaps"),
    "channel-map": ("MVPFormer map", "viewers.overlays.channel_flow:ChannelFlow"),
    "prediction": ("MVPFormer prediction", "viewers.overlays.next_state:NextState"),
    "integrated-gradients": ("Attribution", "viewers.overlays.attribution:AttributionOverlay"),
    "occlusion": ("Occlusion", "viewers.overlays.attribution:OcclusionOverlay"),
    "grad-cam": ("Grad-CAM", "viewers.overlays.attribution:TokenOverlay"),
    "dynamic-groups": ("PRiSE lag correlations", "viewers.overlays.lag_arcs:LagArcs"),
}
LANES_ALONE = frozenset({"experts", "streams", "stages", "prediction"})  # drawn under the traces only
IN_FRONT = frozenset({"dynamic-groups", "channel-map"})

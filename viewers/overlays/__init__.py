"""The overlays, in the order in which they are painted."""

from viewers.overlays.annotations import AnnotationsOverlay
from viewers.overlays.base import Overlay
from viewers.overlays.seizure_prediction import SeizurePredictionOverlay

OVERLAYS: tuple[type[Overlay], ...] = (AnnotationsOverlay, SeizurePredictionOverlay)

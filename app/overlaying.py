"""Wires of the list of overlays: what is chosen there is drawn and remembered, and keys of the page stand there too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PyQt6.QtCore import QObject

from app.analysing import Analysing
from app.analysis_drawing import lane_strength
from app.overlay_look import USUAL_OPACITY
from app.overlay_panel import OverlayPanel
from app.overlay_row import Swatch
from app.settings import Settings
from viewers.analysis_lane import LaneCurve
from viewers.colour_key import ColourKey
from viewers.overlays import ANALYSIS_OVERLAYS, IN_FRONT, LANES_ALONE
from viewers.recording_view import RecordingView
from viewers.theme import Theme


def _place_of(kind: str) -> str:
    """Where what is found is drawn, as the list of overlays says it."""
    return "lane" if kind in LANES_ALONE else "in front" if kind in IN_FRONT else "behind"


OVERLAYS = (
    ("seizure", "Seizure probability", "lane"),
    ("model-events", "Model events", "behind"),
    ("annotations", "Human marks", "behind"),
    *((kind, title, _place_of(kind)) for kind, (title, _class) in ANALYSIS_OVERLAYS.items()),
)
# What colours say that cannot be chosen, since they tell whose something is.
SWATCHES: Mapping[str, Sequence[Swatch]] = {
    "seizure": (("accent", "0 to 1"), ("caution", "threshold")),
    "model-events": (("accent", "event of a model"),),
    "annotations": (("human", "from the file"), ("reader", "yours")),
}
_DRAWN = {"model-events": "Model events", "annotations": "Annotations"}


class Overlaying(QObject):
    """Keeps overlays as the list says, the list as the settings say, and its legends as the page says."""

    def __init__(
        self,
        panel: OverlayPanel,
        view: RecordingView,
        analysing: Analysing,
        settings: Settings,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._panel, self._view, self._analysing, self._settings = panel, view, analysing, settings
        for name in panel.names():
            opacity = min(1.0, max(0.0, settings.overlay_opacity.get(name, USUAL_OPACITY)))
            colours = settings.overlay_amounts.get(name, ""), settings.overlay_balances.get(name, "")
            panel.set_look(name, opacity, *colours)
            self.apply(name)
        panel.visibility_changed.connect(self.apply)
        panel.look_changed.connect(self._on_look)
        panel.asked.connect(analysing.ask_overlay)
        analysing.overlay_requested.connect(panel.set_visible)
        analysing.drawing.changed.connect(self.show_keys)
        view.trace_view.canvas.keys_changed.connect(self.show_keys)

    def apply(self, name: str, *_: object) -> None:
        """Draw an overlay as the list says."""
        state = self._panel.state(name)
        if name == "seizure":
            self._view.set_lane_collapsed("p(seizure)", not state.visible)
            self._view.probability_lane.set_strength(lane_strength(state.opacity))
        elif name in _DRAWN:
            self._view.set_overlay_state(_DRAWN[name], state)
        else:
            self._analysing.set_overlay(name, state)

    def set_theme(self, theme: Theme) -> None:
        """Take the colours."""
        self._panel.set_theme(theme)

    def show_keys(self, *_: object) -> None:
        """Show in the list what stands at the foot of the page, and what the lanes mean; all as before while hidden."""
        if self._view.hides_overlays:
            return
        told = self._view.trace_view.canvas.furniture.keys
        keys: dict[str, list[ColourKey]] = {}
        for kind, overlay, lane in self._analysing.drawing.drawn():
            title = overlay.title
            found = [key for owner, key in told.items() if owner == title or owner.startswith(f"{title} ")]
            curve = lane.curve if lane is not None else None
            if not found and isinstance(curve, LaneCurve):
                found = [ColourKey(curve.quantity, curve.scale)]
            keys[kind] = found
        self._panel.show_keys(keys)

    def _on_look(self, name: str) -> None:
        state, settings = self._panel.state(name), self._settings
        settings.overlay_opacity = _with(settings.overlay_opacity, name, state.opacity, USUAL_OPACITY)
        settings.overlay_amounts = _with(settings.overlay_amounts, name, state.sequential, "")
        settings.overlay_balances = _with(settings.overlay_balances, name, state.diverging, "")
        self.apply(name)


def _with(kept: dict, name: str, value: object, usual: object) -> dict:
    """What is remembered with one more choice; what is usual is not remembered."""
    others = {known: choice for known, choice in kept.items() if known != name}
    return others if value == usual else {**others, name: value}

"""What analyses draw on the traces and under them: one heat and one lane for each kind that has any."""

from __future__ import annotations

import importlib
from dataclasses import replace
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, pyqtSignal

from analysis.analyses import Analysis
from viewers.analysis_lane import LaneCurve
from viewers.curve_lane import CurveLane
from viewers.overlays import ANALYSIS_OVERLAYS
from viewers.overlays.base import OverlayState
from viewers.recording_view import RecordingView

if TYPE_CHECKING:
    from viewers.overlays.heat import AnalysisHeat


def lane_strength(opacity: float) -> float:
    """How strong a lane is drawn: at the usual strength of overlays, in full."""
    return min(1.0, opacity / OverlayState().opacity)


class AnalysisDrawing(QObject):
    """Makes overlays and lanes when they are first needed, and keeps both to one result, part and state."""

    changed = pyqtSignal()  # another answer, part or state is drawn
    described = pyqtSignal(str)  # what the heat behind the traces says under the mouse

    def __init__(self, view: RecordingView, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._view = view
        self._overlays: dict[str, AnalysisHeat] = {}
        self._lanes: dict[str, CurveLane] = {}
        self._states: dict[str, OverlayState] = {}
        view.hovered.connect(self._on_hovered)
        view.unhovered.connect(self._on_unhovered)

    @staticmethod
    def draws(kind: str) -> bool:
        """Whether a kind is drawn on the traces at all."""
        return kind in ANALYSIS_OVERLAYS

    def visible(self) -> list[str]:
        """The kinds that the reader wants to see on the traces."""
        return [kind for kind, state in self._states.items() if state.visible]

    def drawn(self) -> list[tuple[str, AnalysisHeat, CurveLane | None]]:
        """What is on the traces now: kind, overlay, and the lane that goes with it."""
        on = [(kind, overlay) for kind, overlay in self._overlays.items() if overlay.state.visible and overlay.result]
        return [(kind, overlay, self._lanes.get(kind)) for kind, overlay in on]

    def set_state(self, kind: str, state: OverlayState) -> None:
        """Show, hide or fade what is drawn of a kind."""
        self._states[kind] = state
        if kind in self._overlays:
            self._overlays[kind].set_state(state)
            self._follow(kind)

    def show(self, kind: str, result: Analysis | None) -> None:
        """Draw the answer of a kind, or no more."""
        if self.draws(kind) and (result is not None or kind in self._overlays):
            overlay = self.overlay(kind)
            if overlay.result is not result:
                overlay.set_result(result)
                self._follow(kind)

    def set_stale(self, kind: str, why: str) -> None:
        """Fade what is drawn, and say why; empty: it is what was asked for."""
        if kind in self._overlays:
            self._overlays[kind].set_stale(why)
            self.lane(kind).set_stale(why)

    def choose(self, kind: str, part: str) -> None:
        """Draw another part of a kind, such as a layer."""
        self.overlay(kind).choose(part)
        self._follow(kind)

    def part(self, kind: str) -> str | None:
        """The part that is drawn of a kind; None where nothing is."""
        return self._overlays[kind].part if kind in self._overlays else None

    def overlay(self, kind: str) -> AnalysisHeat:
        """The heat of a kind."""
        if kind not in self._overlays:
            module, _, name = ANALYSIS_OVERLAYS[kind][1].partition(":")
            overlay: AnalysisHeat = getattr(importlib.import_module(module), name)()
            if kind in self._states:
                overlay.set_state(self._states[kind])
            self._view.trace_view.add_overlay(overlay)
            self._overlays[kind] = overlay
        return self._overlays[kind]

    def lane(self, kind: str) -> CurveLane:
        """The lane of a kind."""
        if kind not in self._lanes:
            lane = self.overlay(kind).make_lane()
            lane.hide()  # a layout would show what was never hidden
            self._view.add_lane(lane)
            self._lanes[kind] = lane
        return self._lanes[kind]

    def _follow(self, kind: str) -> None:
        overlay = self.overlay(kind)
        curve = overlay.curve()
        if isinstance(curve, LaneCurve):
            curve = replace(curve, scale=overlay.coloured(curve.scale))
        self.lane(kind).set_curve(curve)
        self.lane(kind).set_strength(lane_strength(overlay.state.opacity))
        self._show_lane(kind)
        self.changed.emit()

    def _show_lane(self, kind: str) -> None:
        lane, state = self.lane(kind), self._states.get(kind)
        self._view.show_lane(lane.title, lane.curve is not None and state is not None and state.visible)

    def _on_hovered(self, time: float, row: str, _value: float, _unit: str) -> None:
        shown = [overlay for overlay in self._overlays.values() if overlay.state.visible]
        for overlay in shown:
            overlay.set_time(time)
        self.described.emit("   ".join(filter(None, (overlay.describe(time, row) for overlay in shown))))

    def _on_unhovered(self) -> None:
        self.described.emit("")

"""Why a class was told: attribution by electrode and channel at a moment, over a page or an event, and its checks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from PyQt6.QtWidgets import QPushButton, QWidget

from analysis.analyses import Analysis
from analysis.analysis_tables import heading, span_of
from analysis.annotation import Annotation
from analysis.attribution_maps import (
    ABSOLUTE,
    ROW_RULE,
    SIGNED,
    AttributionMap,
    attribution_map,
    layer_words,
    ordered,
    round_up,
)
from analysis.recording import Recording, Window
from analysis.simulation.truth import Seizure
from viewers.heat_scales import balance_words
from viewers.overlays.attribution import subject_of
from viewers.panels.attribution_checks import AttributionChecks
from viewers.panels.base import Chooser, as_sentence, focus_words, line_of, note
from viewers.panels.electrode_map import ElectrodeMap
from viewers.panels.kind_panel import Heading, KindPanel
from viewers.panels.row_bars import RowBars, digits_for
from viewers.panels.value_scale import Scale
from viewers.steady_reach import SteadyReach
from viewers.theme import Theme
from viewers.time_scale import time_text

AT_CURSOR, PAGE, EVENT, ALL = "cursor", "page", "event", "all"
_PLACES = [
    (PAGE, "Over the page"),
    (AT_CURSOR, "At the cursor"),
    (EVENT, "Over the selection or the event at the cursor"),
    (ALL, "Over all that was explained"),
]
_MOST_BARS = 24
_NO_SPAN = "Select a span, or rest the cursor on an event"
_NO_VALUE = "Nothing was explained here"
_NO_CHANNELS = "Whole seconds were taken out, which tells nothing of channels: set the option by to both"
_GAP, _LEAST_TOLD = 0.01, 1e-4


class Attribution(KindPanel):
    """Integrated Gradients: a map with a sign, sorted channels, the completeness gap, and what checks say."""

    title = "Attribution"
    tip = "Which channels speak for a class"
    said = ("Baseline:", "The completeness gap")
    is_signed = True
    arrays: tuple[str, ...] = ("attribution",)  # of which the first that is there says what a value is

    def make_body(self) -> None:
        """What was asked and how well it adds up, the map, the channels, the checks."""
        self.facts = note()
        self.part = Chooser("Sign on the traces", [(SIGNED, "Traces: signed"), (ABSOLUTE, "Traces: size alone")])
        self.place = Chooser("Where in time", _PLACES, "The time that map and bars are of")
        self.when = note()
        self.map_heading, self.bars_heading = Heading("Where"), Heading("By channel")
        self.map = ElectrodeMap()
        self._no_map = note()
        self.focus = note()
        self.focus.hide()
        self.bars = RowBars("Attribution by channel, sorted", signed=self.is_signed)
        self._more = note()
        self.rule = note(f"On the traces {ROW_RULE}, one of an average that of its first electrode.")
        self.checks = AttributionChecks()
        self.check = QPushButton("Check this map…")
        self.check.setToolTip("Check how far this map can be trusted, over the same span with the same options")
        self.column.addWidget(self.facts)
        self.column.addWidget(self.check)
        self.column.addLayout(line_of(self.part))
        self.column.addWidget(self.map_heading)
        self.column.addLayout(line_of(self.place))
        for widget in (self.when, self.map, self._no_map, self.focus, self.bars_heading, self.bars, self._more):
            self.column.addWidget(widget)
        self.column.addWidget(self.checks)
        self.column.addWidget(self.rule)
        self._map: AttributionMap | None = None
        self._recording: Recording | None = None
        self._window: Window | None = None
        self._selection: Window | None = None
        self._event: Annotation | None = None
        self._time: float | None = None
        self._seizure: Seizure | None = None
        self._values: np.ndarray | None = None
        self._reaches = SteadyReach()
        self.part.chosen.connect(self.part_chosen)
        self.place.chosen.connect(self._on_place)
        self.check.clicked.connect(self._on_check)

    def body(self) -> Sequence[QWidget]:
        """All there is; checks are shown where they were made."""
        parts = [self.part] if self.is_signed else []
        headings = [self.map_heading, self.bars_heading]
        return [self.facts, self.check, *parts, self.place, self.when, *headings, self.bars, self._more, self.rule]

    def warnings(self, result: Analysis) -> Iterable[str]:
        """A gap that is too large to be overlooked."""
        gap = float(result.facts.get("completeness_gap", 0.0))
        return (
            [f"The completeness gap is up to {gap:.1%}, above 1 %: the map does not add up to the score"]
            if gap >= _GAP
            else []
        )

    def show_result(self, result: Analysis) -> None:
        """Fill everything."""
        self._map = attribution_map(result)
        self.part.setVisible(self.is_signed)
        self.facts.setText("\n".join(self.describe_facts(result)))
        array = next(result.arrays[name] for name in self.arrays if name in result.arrays)
        there = self.map.set_channels(self._recording, result.labels["channel"])
        low, high = balance_words(self.theme.balances)
        words = f"{high} speaks for the class, {low} against it" if there and self.is_signed else ""
        self.map_heading.set_array(array, words)
        self.bars_heading.set_array(array, "largest first")
        self.checks.set_result(result)
        self._show()

    def set_result(self, result: Analysis | None) -> None:
        """Show a result, or none."""
        if result is None:
            self._map = self._values = None
            for widget in (self.map, self._no_map, self.focus, self.checks):
                widget.hide()
            if not self.is_signed:
                self.part.hide()
        super().set_result(result)

    def describe_facts(self, result: Analysis) -> list[str]:
        """Class, method and nodes, gap, and what it was compared with."""
        facts = result.facts
        windows: Sequence[dict[str, Any]] = facts.get("windows", ())
        changes = [float(each["change"]) for each in windows]
        nodes = sorted({int(each["nodes"]) for each in windows})
        count = f" (largest of {len(windows)} windows)" if len(windows) > 1 else ""
        baselines = "; ".join(dict.fromkeys(str(each["baseline"]) for each in windows))
        lines = [f"Class {facts['target']} · {facts['method']} · {_range(nodes, 'd')} nodes"]
        lines.append(f"Score {_range(changes, '+.3g')} against the baseline")
        gap = float(facts["completeness_gap"])
        lines.append(f"Completeness gap {f'{gap:.2%}' if gap >= _LEAST_TOLD else 'below 0.01%'}{count}")
        return [*lines, f"Baseline: {baselines}"]

    def _on_check(self) -> None:
        self.kind_wished.emit("sanity-checks")

    # What the reader points at

    def set_recording(self, recording: Recording | None) -> None:
        """Take the places of its channels."""
        self._recording, self._selection, self._event, self._time = recording, None, None, None

    def set_window(self, window: Window) -> None:
        """Follow the page."""
        self._window = window
        self._follow(PAGE)

    def set_selection(self, window: Window | None) -> None:
        """Follow the selection."""
        self._selection = window
        self._follow(EVENT)

    def set_event(self, event: Annotation | None) -> None:
        """Follow the cursor from event to event; the last one stays."""
        if event is not None and event != self._event:
            self._event = event
            self._follow(EVENT)

    def set_time(self, time: float | None) -> None:
        """Follow the cursor."""
        if time is not None:
            self._time = time
            self._follow(AT_CURSOR)

    def set_focus(self, seizure: Seizure | None) -> None:
        """Mark on map and bars where a simulated seizure begins."""
        if seizure != self._seizure:
            self._seizure = seizure
            self.map.set_focus(seizure.focus_channel if seizure is not None else "")
            self._show()

    def set_part(self, part: str) -> None:
        """Point out what is on the traces."""
        if part in (SIGNED, ABSOLUTE):
            self.part.choose(part)

    def _on_place(self, _value: str) -> None:
        self._show()

    def _follow(self, place: str) -> None:
        if self.place.value() == place and self.isVisible():
            self._show()

    # What is shown

    def _span(self) -> tuple[Window | None, str]:
        """The span that is asked for, and what it is called."""
        place, result = self.place.value(), self.result
        if place == PAGE:
            return self._window, "Page"
        if place == EVENT:
            if self._selection is not None:
                return self._selection, "Selection"
            event = self._event
            return (Window(event.onset, event.stop), event.title or "Mark") if event is not None else (None, "")
        assert result is not None
        return Window(*span_of(result)), "All that was explained"

    def _show(self) -> None:
        found, result = self._map, self.result
        if result is None:
            return
        self.focus.setText(focus_words(self._seizure))
        self.focus.setVisible(self._seizure is not None)
        if found is None:
            self._show_none()
            return
        if self.place.value() == AT_CURSOR:
            values = found.at(self._time) if self._time is not None else None
            reach = self._reaches.of(subject_of(result), found.values)
            unit, text = found.unit, "" if self._time is None else f"At {time_text(self._time, 0.01)}"
            missing = "Move the cursor over the traces" if self._time is None else _NO_VALUE
        else:
            span, name = self._span()
            values = found.over(span.start, span.stop) if span is not None else None
            values = None if values is None or np.isnan(values).all() else values
            reach = round_up(float(np.abs(values).max())) if values is not None and np.abs(values).max() > 0 else 1.0
            amount = "sum" if found.is_signed else "mean"
            text = f"{name}, {_span_text(span, found)}: {amount} by channel" if span is not None else ""
            unit, missing = found.sum_unit, _NO_SPAN if span is None else _NO_VALUE
        self._values = values
        self.when.setText(text)
        self._show_map(found, values, Scale(-reach if found.is_signed else 0.0, reach, unit, True), missing)
        self._show_bars(found, values, unit, missing)

    def _show_none(self) -> None:
        """What was asked for tells nothing of channels."""
        self._values = None
        self.map.hide()
        self.when.setText(_NO_CHANNELS)
        self.bars.set_bars((), np.empty(0))
        self.bars.set_message(_NO_CHANNELS)
        self._more.hide()

    def _show_map(self, found: AttributionMap, values: np.ndarray | None, scale: Scale, missing: str) -> None:
        there = self.map.set_channels(self._recording, found.ch_names)
        self.map.setVisible(there)
        self._no_map.setVisible(not there)
        self._no_map.setText(as_sentence(self.map.why))
        if there:
            self.map.set_values(values, scale)
            self.map.set_message("" if values is not None else missing)

    def _show_bars(self, found: AttributionMap, values: np.ndarray | None, unit: str, missing: str) -> None:
        self.bars.set_message("" if values is not None else missing)
        order = ordered(found.ch_names, values) if values is not None else []
        shown = order[:_MOST_BARS]
        focus = self._seizure.focus_channel if self._seizure is not None else ""
        names = [f"{name} ◆" if name == focus else name for name in (found.ch_names[i] for i in shown)]
        sizes = np.array([values[i] for i in shown]) if values is not None else np.empty(0)
        self.bars.set_bars(names, sizes, digits=digits_for(sizes))
        left = len(order) - len(shown)
        rest = float(np.sum([values[i] for i in order[_MOST_BARS:]])) if left and values is not None else 0.0
        told = [f"in {unit}"] if unit else []
        if left:
            told.append(f"{left} more channels" + (f", together {rest:+.3g}" if found.is_signed else ""))
        self._more.setText(" · ".join(told))
        self._more.setVisible(bool(told))

    def set_stale(self, why: str) -> None:
        """Fade what is shown, and say why."""
        super().set_stale(why)
        self.map.set_stale(bool(why))

    def set_theme(self, theme: Theme) -> None:
        """Take the colours."""
        super().set_theme(theme)
        self.map.set_theme(theme)

    def table(self) -> str:
        """The channels as they are sorted."""
        if self.result is None or self._map is None or self._values is None:
            return ""
        names, unit = self._map.ch_names, self.bars_heading.toolTip().splitlines()[0]
        lines = [*heading(self.result), f"# {self.when.text()}; {unit}", "channel\tattribution"]
        lines += [f"{names[i]}\t{float(self._values[i]):.7g}" for i in ordered(names, self._values)]
        return "\n".join(lines) + "\n"


class TokenEvidence(Attribution):
    """Grad-CAM: evidence without a sign, averaged."""

    title = "Grad-CAM"
    said = ()
    is_signed = False
    arrays = ("evidence",)

    def describe_facts(self, result: Analysis) -> list[str]:
        """Class, layer, and how long a token is."""
        facts = result.facts
        tokens = f"tokens of {float(facts['patch_seconds']):g} s"
        told = f"Class {facts['target']} · {facts['method']} · {layer_words(result)} · {tokens}"
        return [told, "Evidence for the class alone"]


class Occluded(Attribution):
    """Occlusion: what the score loses without a channel's second, and what one channel alone brings."""

    title = "Occlusion"
    said = ("Replaced by:",)
    arrays = ("by_second", "by_channel", "whole_second")

    def describe_facts(self, result: Analysis) -> list[str]:
        """Class and what the signal was replaced by."""
        facts = result.facts
        baselines = "; ".join(dict.fromkeys(map(str, facts.get("baselines", ()))))
        falls = "Falls of single parts do not add up to that of all"
        return [f"Class {facts['target']} · {facts['method']}", f"Replaced by: {baselines}", falls]


def _span_text(span: Window, found: AttributionMap) -> str:
    """Begin and end of a span, or of what was explained of it."""
    start = max(span.start, float(found.times[0]))
    stop = min(span.stop, float((found.times + found.widths).max()))
    if stop <= start:
        start, stop = span.start, span.stop
    part = ", the part that was explained" if stop - start < span.duration - 0.05 else ""
    return f"{time_text(start, 0.1)} to {time_text(stop, 0.1)}{part}"


def _range(values: Sequence[float], form: str) -> str:
    """One value, or the least and the greatest."""
    if not values:
        return "—"
    low, high = f"{min(values):{form}}", f"{max(values):{form}}"
    return (low if low == high else f"{low} to {high}").replace("-", "−")

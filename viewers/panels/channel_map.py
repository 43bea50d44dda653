"""What MVPFormer's attention says of pairs of channels: three maps, what training made of them, and their codes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PyQt6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from analysis.analyses import Analysis
from analysis.analysis_tables import array_table
from analysis.attention_maps import (
    CODE,
    FLOW,
    PRIOR,
    TERM,
    against_even,
    asymmetry,
    distance,
    row_entropy,
    softmax_rows,
    strength_in,
)
from analysis.attention_parts import Part, part_named
from viewers.heat_scales import below
from viewers.panels.base import Chooser, line_of, note
from viewers.panels.channel_codes import CodeDistances
from viewers.panels.kind_panel import MEAN, Heading, KindPanel
from viewers.panels.layer_plot import LayerPlot, Series, accent
from viewers.panels.matrix_plot import MatrixPlot, limits_of
from viewers.panels.small_map import SmallMap

# What each map is called, and the quantity and unit of its colours.
_MAPS = {
    FLOW: ("Realised map: attention that flows", "share of attention, rows sum to 1"),
    TERM: ("Channel term: alone", "share of the channel term, rows sum to 1"),
    PRIOR: ("Prior map: without a signal", "score before the softmax"),
    CODE: ("Implied distance of channels", "distance in code space"),
}
_AGAINST, _EVEN = "even", "% above even attention"
_COLOURS = [(_AGAINST, "Colours: against even attention"), ("share", "Colours: shares")]
_COVERED = 99.0  # per cent of the cells off the diagonal that a scale of both signs covers
_TIP = "Prior: without a signal. Channel term: alone, after its softmax. Realised: what flows in the end"
_HINT = "Click a row, or move to it with the arrow keys, to see on the traces which channels it attends to most."
_CHOSEN = "On the traces: what {0} attends to most, of the realised map. Click its row again to take the arcs away."
_TOEPLITZ = (
    "The published code knows a pair of channels by the distance of their numbers alone, without its sign: what it "
    "knows without a signal is a symmetric Toeplitz map, so the order of the channels matters."
)
_NO_PRIOR = "The prior map is zero: the channel bias starts at zero, and without training it prefers no channel."
_NUMBERED = ("entropy", "random_entropy", "asymmetry", "random_asymmetry", "from_random")
_SHOWN_HUBS = 4


class ChannelMap(KindPanel):
    """Draws an analysis of kind `channel-map`; a row of a map chooses the channel whose arcs are on the traces."""

    title = "Channel map"
    tip = "What an MVPFormer's attention says of pairs of channels"
    said = ("The published code",)

    def make_body(self) -> None:
        """Choosers, three maps, their numbers by layer, and the codes."""
        self.map = Chooser("Which map", [(name, words[0]) for name, words in _MAPS.items()], _TIP)
        self.colours = Chooser("Colours", _COLOURS, "What the colours of maps whose rows sum to 1 stand for")
        self.layer = Chooser("Layer", [(MEAN, "Mean of layers")], "The layer of the maps, and of what is on the traces")
        self.head = Chooser("Head", [(MEAN, "Mean of heads")], "The head of the maps, and of what is on the traces")
        self.heading = Heading("")
        self.matrix = MatrixPlot("Map of pairs of channels", height=330, square=True)
        self._numbers, self._toeplitz, self._hint = note(), note(_TOEPLITZ), note(_HINT)
        self.random_heading, self.difference_heading = Heading("Initial"), Heading("Loaded − initial")
        self.random = SmallMap("The same map of random weights")
        self.difference = SmallMap("The map less that of random weights")
        self.entropy_heading = Heading("Row entropy by layer")
        self.entropy = LayerPlot("Row entropy by layer, of loaded and of random weights", 110)
        self.codes = CodeDistances()
        self._part = Part()
        self._drawn: tuple[object, ...] = ()
        self._beside = QWidget()
        self._lay_out()
        for chooser in (self.map, self.colours, self.layer, self.head):
            chooser.chosen.connect(self._on_chosen)
        for matrix in (self.matrix, self.random, self.difference):
            matrix.cell_clicked.connect(self._on_cell)
        self.entropy.layer_clicked.connect(self._on_layer)

    def _lay_out(self) -> None:
        pair = QHBoxLayout(self._beside)
        pair.setContentsMargins(0, 0, 0, 0)
        for heading, matrix in ((self.random_heading, self.random), (self.difference_heading, self.difference)):
            column = QVBoxLayout()
            column.addWidget(heading)
            column.addWidget(matrix)
            column.addStretch(1)
            pair.addLayout(column, 1)
        self.column.addLayout(line_of(self.map))
        self.column.addLayout(line_of(self.colours))
        self.column.addLayout(line_of(self.layer, self.head))
        for widget in self._pictures():
            self.column.addWidget(widget)

    def _pictures(self) -> list[QWidget]:
        first = [self.heading, self.matrix, self._hint, self._numbers, self._toeplitz]
        return [*first, self._beside, self.entropy_heading, self.entropy, self.codes]

    def body(self) -> Sequence[QWidget]:
        """All there is."""
        return [self.map, self.colours, self.layer, self.head, *self._pictures()]

    def show_result(self, result: Analysis) -> None:
        """Offer its layers and heads, and fill everything."""
        deep, wide = result.values(FLOW).shape[:2]
        self.layer.set_choices([(MEAN, "Mean of layers"), *((str(i), f"Layer {i}") for i in range(deep))])
        self.head.set_choices([(MEAN, "Mean of heads"), *((str(i), f"Head {i}") for i in range(wide))])
        self.codes.show_curve(result)
        self._drawn = ()
        self._show(result)

    # The maps

    def _map_of(self, result: Analysis, name: str) -> np.ndarray:
        """A map (C, C) of the layer and head on show; the codes have neither."""
        values = result.values(name)
        return values if name in (CODE, f"random_{CODE}") else self._part.map_of(values)

    def _show(self, result: Analysis) -> None:
        wanted = (id(result), self._part, self.map.value(), self.colours.value())
        if wanted != self._drawn:  # what is asked for here comes back from the traces
            self._drawn = wanted
            self._draw(result)

    def _draw(self, result: Analysis) -> None:
        which, names = self.map.value(), result.labels["channel"]
        shares = which in (FLOW, TERM)
        even = shares and self.colours.value() == _AGAINST
        quantity = _EVEN if even else _MAPS[which][1]
        own, random = (self._map_of(result, name) for name in (which, f"random_{which}"))
        drawn = [against_even(own), against_even(random)] if even else [own, random]
        # Both on one scale, so that they can be compared.
        limits, titles = _limits(np.stack(drawn)), ("from", "to")
        self.matrix.set_values(drawn[0], names, names, limits, titles, quantity)
        self.random.set_values(drawn[1], names, names, limits, titles, quantity)
        difference = drawn[0] - drawn[1]
        told = f"difference, in {'% of even attention' if even else quantity}"
        self.difference.set_values(difference, names, names, _limits(difference[None]), titles, told)
        self.colours.setEnabled(shares)
        whose = "of all layers" if which == CODE else self._part.words
        self.heading.set_array(result.arrays[which], f"{quantity} · {whose}", _MAPS[which][0].partition(":")[0])
        self.random_heading.set_array(None, f"seed {result.facts['initial_seed']}")
        self.difference_heading.set_array(None)
        for chooser in (self.layer, self.head):
            chooser.setEnabled(which != CODE)
        self._numbers.setText("\n".join(self._number_lines(result, which, own, random)))
        self._show_entropy(result, which)
        self.codes.show_map(result, which, drawn[0], quantity.partition(",")[0])
        self._show_channel(result)

    def _number_lines(self, result: Analysis, which: str, own: np.ndarray, random: np.ndarray) -> list[str]:
        """Entropy, asymmetry and distance of the map on show; of the realised map also who receives most."""
        lines = [f"Distance from the initial map {distance(own, random):.3g}"]
        if which != CODE:
            entropies = [row_entropy(softmax_rows(m) if which == PRIOR else m) for m in (own, random)]
            lines = [
                f"Row entropy / log C {entropies[0]:.4f} (initial {entropies[1]:.4f})",
                f"Asymmetry ‖M − Mᵀ‖ / ‖M‖ {_text(asymmetry(own))} (initial {_text(asymmetry(random))})",
                f"Distance from the initial map, Frobenius {distance(own, random):.3g}",
            ]
        if which == PRIOR and not own.any():
            lines.append(_NO_PRIOR)
        if which == FLOW and len(own) > 1:
            received, names = strength_in(own), result.labels["channel"]
            best = np.argsort(-received, kind="stable")[:_SHOWN_HUBS]
            hubs = ", ".join(f"{names[i]} {received[i]:.2f}×" for i in best)
            lines.append(f"Receive most, 1× is even attention: {hubs}")
        return lines

    def _show_entropy(self, result: Analysis, which: str) -> None:
        there = which in result.labels["map"]
        for widget in (self.entropy_heading, self.entropy):
            widget.setVisible(there)
        if not there:
            return
        place, head = result.labels["map"].index(which), self._part.head
        series = []
        for name, array, ink in (("loaded", "entropy", accent), ("initial", "random_entropy", below)):
            values = result.values(array)[place]
            series.append(Series(name, values.mean(1) if head is None else values[:, head], ink))
        lowest = min(float(s.values.min()) for s in series)
        floor = 0.0 if lowest < 0.5 else np.floor(20 * lowest) / 20 - 0.05  # of nearly even maps the difference shows
        self.entropy.set_series(series, y_range=(float(floor), 1.0 + 0.05 * (1.0 - float(floor))))
        self.entropy.choose(self._part.layer)
        self.entropy_heading.set_array(
            result.arrays["entropy"], "over log C, " + ("mean of heads" if head is None else f"head {head}")
        )

    def _show_channel(self, result: Analysis) -> None:
        channel = self._part.channel
        for matrix in (self.matrix, self.random, self.difference):
            matrix.choose_cell(None if channel is None else (channel, channel))
        names = result.labels["channel"]
        self._hint.setText(_HINT if channel is None else _CHOSEN.format(names[channel]))

    # What is chosen

    def set_part(self, part: str) -> None:
        """Show the layer and head that are on the traces, and point out the channel."""
        self._part = part_named(part)
        for chooser, number in ((self.layer, self._part.layer), (self.head, self._part.head)):
            chooser.choose(MEAN if number is None else str(number))
        if self.result is not None:
            if self._part.channel is not None and self._part.channel >= len(self.result.labels["channel"]):
                self._part = Part(self._part.layer, self._part.head)
            self._show(self.result)

    def table(self) -> str:
        """The map on show of every layer and head, and its numbers."""
        if self.result is None:
            return ""
        texts = [array_table(self.result, name) for name in (self.map.value(), "strength_in", "strength_out")]
        return "\n".join([*texts, *(array_table(self.result, name) for name in _NUMBERED)])

    def _on_chosen(self, _value: str) -> None:
        layer, head = (None if c.value() in ("", MEAN) else int(c.value()) for c in (self.layer, self.head))
        self._ask(Part(layer, head, self._part.channel))

    def _on_cell(self, row: int, _column: int) -> None:
        # The channel that is shown gives way to none again.
        self._ask(Part(self._part.layer, self._part.head, None if self._part.channel == row else row))

    def _on_layer(self, layer: int) -> None:
        self._ask(Part(None if self._part.layer == layer else layer, self._part.head, self._part.channel))

    def _ask(self, part: Part) -> None:
        self.set_part(part.name)
        self.part_chosen.emit(part.name)


def _limits(maps: np.ndarray) -> tuple[float, float]:
    """Limits of maps (n, C, C); of both signs, as far as nearly all pairs reach, since the diagonal may stand out."""
    low, high = limits_of(maps)
    apart = np.abs(maps[:, ~np.eye(maps.shape[-1], dtype=bool)])
    if low >= 0 or not apart.size or not (reach := float(np.percentile(apart, _COVERED))):
        return low, high
    return -reach, reach


def _text(value: np.ndarray) -> str:
    return f"{float(value):.3f}" if np.isfinite(value) else "not defined"

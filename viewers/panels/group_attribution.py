"""Which groups of electrodes decide what a PRiSE-EEG says: shares by group, by time and lag, and on the scalp."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from PyQt6.QtWidgets import QWidget

from analysis.analyses import Analysis
from analysis.analysis_tables import array_table, column_table
from analysis.errors import AnalysisError
from analysis.topography import HeadMap, build_head_map, site_layout
from viewers.panels.base import Chooser, as_sentence, line_of, note
from viewers.panels.head_view import HeadView
from viewers.panels.kind_panel import Heading, KindPanel
from viewers.panels.matrix_plot import MatrixPlot
from viewers.panels.row_bars import RowBars
from viewers.panels.value_scale import Scale
from viewers.theme import Theme

ALL, STATIC, DYNAMIC = "all", "static", "dynamic"
_GRID = 34  # points across the head: quick to make, drawn finer where it is large
_PLACES = [(ALL, "Scalp: all groups"), (STATIC, "Scalp: static groups"), (DYNAMIC, "Scalp: dynamic groups")]
_FEW_PER_CENT = 1.0  # residual of the score's change that must be warned of


class GroupAttribution(KindPanel):
    """Draws an analysis of kind `group-attribution`; a group that is clicked is the one on the scalp."""

    title = "Groups"
    tip = "Which groups of electrodes decide what the model says"
    said = ("Completeness",)

    def make_body(self) -> None:
        """Bars, the table of time and lag, the scalp, and what training left of the priors."""
        self._score = note()
        self.regions = RowBars("Share of attribution by region", can_choose=True)
        self.networks = RowBars("Share of attribution by network", can_choose=True)
        self.dynamic = MatrixPlot("Share of attribution of the dynamic groups by time and lag", height=120)
        self.place = Chooser("Groups on the scalp", _PLACES, "Which groups are projected to their electrodes")
        self.head = HeadView()
        self.head.setAccessibleName("Attribution on the scalp")
        self.head.setMinimumHeight(240)
        self._no_head = note()
        self.prior = RowBars("What training left of the static groups", signed=True)
        self.headings: Mapping[QWidget, Heading] = {
            self.regions: Heading("Static groups: regions"),
            self.networks: Heading("Static groups: networks"),
            self.dynamic: Heading("Dynamic groups"),
            self.head: Heading("On the scalp"),
            self.prior: Heading("Prior preservation"),
        }
        self.column.addWidget(self._score)
        for widget, heading in self.headings.items():
            self.column.addWidget(heading)
            if widget is self.head:
                self.column.addLayout(line_of(self.place))
            self.column.addWidget(widget)
            if widget is self.head:
                self.column.addWidget(self._no_head)
        self._map: tuple[tuple[str, ...], HeadMap | None, str] | None = None
        self.regions.row_clicked.connect(self._on_region)
        self.networks.row_clicked.connect(self._on_network)
        self.dynamic.cell_clicked.connect(self._on_dynamic)
        self.place.chosen.connect(self._on_place)

    def body(self) -> Sequence[QWidget]:
        """All there is."""
        return [self._score, self.place, self._no_head, *self.headings, *self.headings.values()]

    def warnings(self, result: Analysis) -> Sequence[str]:
        """A residual that is too large to be overlooked."""
        relative = 100 * float(result.facts.get("completeness_relative", 0.0))
        return (
            [f"The attributions miss {relative:.2g} % of the change of the score"] if relative > _FEW_PER_CENT else []
        )

    def show_result(self, result: Analysis) -> None:
        """Fill everything."""
        facts = result.facts
        self._score.setText(
            f"Score of {facts['target']}: {facts['score_change']:+.4g} from no bias to all; "
            f"completeness residual {facts['completeness_residual']:+.2g} ({facts['completeness_relative']:.2%})"
        )
        for plot, name, axis in ((self.regions, "by_region", "region"), (self.networks, "by_network", "network")):
            plot.set_bars(result.labels[axis], 100 * result.values(name), digits=2)
            self.headings[plot].set_array(result.arrays[name], "% of all")
        self.headings[self.networks].setToolTip(
            f"{self.headings[self.networks].toolTip()}\nNetworks are rough projections onto the scalp."
        )
        titles, quarters, lags = ("", "lag"), result.labels["quarter"], result.labels["lag"]
        share = result.arrays["by_window_and_lag"]
        self.dynamic.set_values(100 * share.values, quarters, lags, None, titles, "% of all:")
        total = 100 * float(share.values.sum())
        self.headings[self.dynamic].set_array(share, f"{total:.3g} % of all, by time in the second and lag")
        self._show_head(result)
        self._show_prior(result)

    def _show_prior(self, result: Analysis) -> None:
        prior = result.arrays["prior"]
        self.prior.set_bars(result.labels["preservation"], prior.values)
        self.headings[self.prior].set_array(prior, "before training: ratio 0, gap β")

    # The scalp

    def _show_head(self, result: Analysis) -> None:
        head, why = self._head_map(result)
        self.head.set_head(head)
        self.head.setVisible(head is not None)
        self._no_head.setVisible(head is None)
        self._no_head.setText(as_sentence(why))
        values, text = self._on_scalp(result)
        self.headings[self.head].set_array(result.arrays["by_channel"], text)
        if head is not None:
            names = result.labels["channel"]
            shown = 100 * values[[names.index(name) for name in head.layout.ch_names]]
            self.head.set_values(shown, Scale(0.0, float(shown.max()) or 1.0, "%"))

    def _head_map(self, result: Analysis) -> tuple[HeadMap | None, str]:
        sites = result.labels["site"]
        if self._map is None or self._map[0] != sites:
            pairs = dict(zip(result.labels["channel"], sites, strict=True))
            try:
                self._map = sites, build_head_map(site_layout(pairs), _GRID), ""
            except AnalysisError as error:
                self._map = sites, None, str(error)
        return self._map[1], self._map[2]

    def _on_scalp(self, result: Analysis) -> tuple[np.ndarray, str]:
        """Share by channel of what is chosen, and what that is."""
        by_channel, names = result.values("by_channel"), result.labels["group"]
        n_static = len(result.labels["region"]) + len(result.labels["network"])
        chosen = self.place.value()
        rows = {ALL: slice(None), STATIC: slice(0, n_static), DYNAMIC: slice(n_static, None)}.get(chosen)
        if rows is None:
            return by_channel[int(chosen)], f"{names[int(chosen)]}, % of all"
        return by_channel[rows].sum(0), f"{chosen} groups through their electrodes, % of all"

    def _choose(self, group: int) -> None:
        """Put one group on the scalp; the one that is there gives way to all again."""
        if self.result is None:
            return
        name = self.result.labels["group"][group]
        again = self.place.value() == str(group)
        self.place.set_choices([*_PLACES, (str(group), f"Scalp: {name}")])
        self.place.choose(ALL if again else str(group))
        self._mark_chosen()
        self._show_head(self.result)

    def _mark_chosen(self) -> None:
        group = int(self.place.value()) if self.place.value().isdigit() else -1
        regions, networks, lags = len(self.regions.names), len(self.networks.names), len(self.dynamic.columns)
        rest = group - regions - networks
        self.regions.choose(group if 0 <= group < regions else None)
        self.networks.choose(group - regions if regions <= group < regions + networks else None)
        self.dynamic.choose_cell(divmod(rest, lags) if rest >= 0 and lags else None)

    def _on_region(self, row: int) -> None:
        self._choose(row)

    def _on_network(self, row: int) -> None:
        self._choose(len(self.regions.names) + row)

    def _on_dynamic(self, row: int, column: int) -> None:
        first = len(self.regions.names) + len(self.networks.names)
        self._choose(first + row * len(self.dynamic.columns) + column)

    def _on_place(self, _value: str) -> None:
        self._mark_chosen()
        if self.result is not None:
            self._show_head(self.result)

    # As all panels

    def set_stale(self, why: str) -> None:
        """Fade what is shown, and say why."""
        super().set_stale(why)
        self.head.set_stale(bool(why))

    def set_theme(self, theme: Theme) -> None:
        """Take the colours."""
        super().set_theme(theme)
        self.head.set_theme(theme)

    def table(self) -> str:
        """Share by group, by channel, and what training left of the priors."""
        if self.result is None:
            return ""
        parts = [column_table(self.result, [name]) for name in ("share", "channel", "prior")]
        return "\n".join([*parts, array_table(self.result, "by_window_and_lag")])

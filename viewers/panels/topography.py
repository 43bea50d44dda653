"""The scalp from above, or contacts by shaft: voltage under the cursor or mean over a span, or power of a band."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analysis.contact_layout import ContactLayout
from analysis.measured_tables import topography_table
from analysis.measuring import duration_text
from analysis.scalp_maps import AS_RECORDED, CONTACTS, SCALP, Topography
from analysis.simulation.truth import Seizure
from analysis.spectra import BANDS, Band
from viewers.panels.base import Chooser, Panel, as_sentence, check_box, focus_words, line_of, note
from viewers.panels.contact_view import ContactView
from viewers.panels.head_view import HeadView
from viewers.panels.value_scale import Scale
from viewers.theme import Theme
from viewers.time_scale import time_text

VOLTAGE, AT_CURSOR, PINNED, SPAN, OF_MOMENT = "voltage", "cursor", "pinned", "span", "moment"
_RANGES = (10, 20, 50, 100, 200, 500)


class TopographyPanel(Panel):
    """Follows the cursor; away from the traces it stays where its owner says."""

    title = "Topography"
    tip = "Voltage or band power over the scalp, or by contact in the brain"
    draws = Topography

    def __init__(self) -> None:
        super().__init__()
        bands = [(band.name, f"{band.name.capitalize()} power") for band in BANDS]
        self.where = Chooser("Which electrodes", [(SCALP, "Scalp"), (CONTACTS, "Contacts")], "The scalp, or the brain")
        self.quantity = Chooser("What the map shows", [(VOLTAGE, "Voltage"), *bands])
        moments = [(AT_CURSOR, "At the cursor"), (PINNED, "At the pinned cursor")]
        self.place = Chooser("Where in time", [*moments, (SPAN, "Selection or page")])
        fixed = [(str(r), f"± {r} µV") for r in _RANGES]
        ranges = [("", "± of the page"), (OF_MOMENT, "± of the moment"), *fixed]
        tip = "Range of the colours: what 98 % of the page stays within, what is on show, or a fixed one"
        self.range = Chooser("Range of the colours of a voltage", ranges, tip)
        self.contours = check_box("Lines", "Lines of equal value")
        self.names = check_box("Names", "Names of the electrodes, or numbers of the contacts", on=True)
        self._caption = note()
        self._foot = note()
        self._focus = note()
        self._focus.hide()
        self._left_out = note(role="warning")
        self.head = HeadView()
        self.contacts = ContactView()
        self.contacts.hide()
        self.where.hide()
        self.column.addLayout(line_of(self.where))
        self.column.addLayout(line_of(self.quantity, self.place))
        self.column.addWidget(self._caption)
        self.column.addWidget(self.head, 1)
        self.column.addWidget(self.contacts, 1)
        self.column.addWidget(self._focus)
        self.column.addWidget(self._foot)
        self.column.addWidget(self._left_out)
        self.column.addLayout(line_of(self.range, self.contours, self.names))
        self._result: Topography | None = None
        self._time: float | None = None
        self._busy = self._has_pinned = False
        self._left_out.hide()
        self.place.set_offered(PINNED, False)
        self._connect()

    def _connect(self) -> None:
        self.where.chosen.connect(self._on_where)
        self.quantity.chosen.connect(self._on_quantity)
        self.place.chosen.connect(self.wanted)
        self.range.chosen.connect(self._show)
        for box in (self.contours, self.names):
            box.toggled.connect(self._on_options)

    # What is chosen

    @property
    def band(self) -> Band | None:
        """The band whose power is asked for; None for voltage."""
        return next((band for band in BANDS if band.name == self.quantity.value()), None)

    @property
    def map_kind(self) -> str:
        """Which map is asked for: SCALP or CONTACTS."""
        return self.where.value()

    def offer_maps(self, kinds: Sequence[str]) -> None:
        """Take which maps a recording may have, and show the first; where there is but one, nothing is to choose."""
        self.where.choose(kinds[0])
        self.where.setVisible(len(kinds) > 1)
        self._show_map()

    @property
    def _view(self) -> HeadView | ContactView:
        """The drawing in view."""
        return self.contacts if self.map_kind == CONTACTS else self.head

    @property
    def follows_cursor(self) -> bool:
        """Whether the map is that of a moment."""
        return self.band is None and self.place.value() in (AT_CURSOR, PINNED)

    @property
    def stays_pinned(self) -> bool:
        """Whether that moment is the one of the pinned cursor, wherever the mouse is."""
        return self.follows_cursor and self.place.value() == PINNED

    def offer_pinned(self, has_pinned: bool) -> None:
        """Offer the time of the pinned cursor while there is one."""
        if has_pinned == self._has_pinned:
            return
        self._has_pinned = has_pinned
        self.place.set_offered(PINNED, has_pinned and self.band is None)
        if not has_pinned and self.place.value() == PINNED:
            self.place.choose(AT_CURSOR)
            self.wanted.emit()

    # What is shown

    def set_result(self, result: Topography | None) -> None:
        """Show a map, at the time that was last spoken of where it holds that."""
        self._result, self._busy = result, False
        self.head.set_head(result.head if result is not None else None)
        self.contacts.set_contacts(result.contacts if result is not None else None)
        self._say_source()
        self._show()

    def set_time(self, time: float | None) -> None:
        """Follow the cursor."""
        self._time = time
        if self._result is not None and self._result.samples is not None:
            self._show()

    def set_focus(self, seizure: Seizure | None) -> None:
        """Mark where the simulated seizure on the page begins; None where there is none."""
        for view in (self.head, self.contacts):
            view.set_focus(seizure.focus_channel if seizure is not None else "")
        self._focus.setText(focus_words(seizure))
        self._focus.setVisible(seizure is not None)

    def set_busy(self) -> None:
        """Fade what is shown until it is renewed."""
        self._busy = True
        self._view.set_message("")
        self._view.set_stale(True)

    def refuse(self, sentence: str) -> None:
        """Say why there is no map."""
        self._result, self._busy = None, False
        self.head.set_head(None)
        self.contacts.set_contacts(None)
        self._view.set_message(as_sentence(sentence))
        for text in (self._caption, self._foot):
            text.setText("")
        self._left_out.hide()

    def set_theme(self, theme: Theme) -> None:
        """Take the colours."""
        super().set_theme(theme)
        self.head.set_theme(theme)
        self.contacts.set_theme(theme)

    def table(self) -> str:
        """Values and places of the electrodes."""
        values = self._view.values
        if self._result is None or values is None:
            return ""
        return topography_table(self._result, self._time, values)

    @property
    def scale(self) -> Scale:
        """What the colours stand for."""
        result = self._result
        if result is None:
            return Scale(-1.0, 1.0, "µV")
        if result.band is not None:
            return Scale(0.0, result.peak or 1.0, result.unit)
        range_ = self.range.value()
        if range_ and range_ != OF_MOMENT:
            return Scale(-float(range_), float(range_), result.unit)
        reach = result.usual if not range_ else self._greatest()
        return Scale(-reach or -1.0, reach or 1.0, result.unit)

    def _greatest(self) -> float:
        values = self._result.at(self._time) if self._result is not None else None
        return 0.0 if values is None else float(np.abs(values).max())

    # Inside

    def _on_where(self, _value: str) -> None:
        self._show_map()
        self.wanted.emit()

    def _show_map(self) -> None:
        by_contact = self.map_kind == CONTACTS
        self.head.setVisible(not by_contact)
        self.contacts.setVisible(by_contact)
        self.contours.setVisible(not by_contact)

    def _on_quantity(self, _value: str) -> None:
        self.place.set_offered(AT_CURSOR, self.band is None)
        self.place.set_offered(PINNED, self.band is None and self._has_pinned)
        self.range.setEnabled(self.band is None)
        if self.band is not None:
            self.place.choose(SPAN)
        self.wanted.emit()

    def _on_options(self, _on: bool) -> None:
        self.head.set_options(self.contours.isChecked(), self.names.isChecked())
        self.contacts.set_options(self.names.isChecked())

    def _show(self) -> None:
        result = self._result
        values = result.at(self._time) if result is not None else None
        if self._busy and values is None:
            # What is on its way may hold this time: until it is there nothing can be said of it.
            return
        view = self._view
        view.set_values(None if values is None else np.asarray(values), self.scale)
        view.set_stale(self._busy)
        if result is None:
            view.set_message("")
            for text in (self._caption, self._foot):
                text.setText("")
            return
        missing = result.samples is not None and values is None and self._time is not None
        view.set_message("no signal at this time" if missing else "")
        reference = AS_RECORDED if result.request.options["reference"] == AS_RECORDED else "average reference"
        self._caption.setText(f"{self._what()} {self._when(result)}, {reference}")

    def _what(self) -> str:
        band = self.band
        return "Voltage" if band is None else f"Power of {band.name}, {band.low:g}–{band.high:g} Hz,"

    def _when(self, result: Topography) -> str:
        if result.samples is not None:
            return "" if self._time is None else f"at {time_text(self._time, 0.001)}"
        window = result.request.window
        assert window is not None
        of = f", mean of {duration_text(window.duration)}" if result.band is None else ""
        return f"from {time_text(window.start, 0.1)} to {time_text(window.stop, 0.1)}{of}"

    def _say_source(self) -> None:
        result = self._result
        layout = result.layout if result is not None else None
        if result is None or layout is None:
            return
        filters = str(result.request.options["filter"])
        through = "unfiltered" if filters == "none" else filters
        made = f"{result.count} windows, {through}" if result.band is not None else through
        kind = "contacts" if isinstance(layout, ContactLayout) else "electrodes"
        self._foot.setText(f"{len(layout.ch_names)} {kind}, {layout.source} · {made}")
        self._left_out.setText(f"Left out: {', '.join(f'{name} ({why})' for name, why in layout.left_out)}")
        self._left_out.setVisible(bool(layout.left_out))

"""One value for each channel where it lies: the scalp from above, or contacts by shaft."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PyQt6.QtWidgets import QStackedLayout, QWidget

from analysis.contact_layout import ContactLayout, contact_layout
from analysis.errors import AnalysisError
from analysis.recording import SCALP_TYPES, Recording
from analysis.topography import HeadMap, build_head_map, scalp_layout
from viewers.panels.contact_view import ContactView
from viewers.panels.head_view import HeadView
from viewers.panels.value_scale import Scale
from viewers.theme import Theme

GRID = 48
NO_VALUE = "not given to the model"


class ElectrodeMap(QWidget):
    """Shows the head where most of the channels are on the scalp, else the contacts, where their places are known."""

    def __init__(self) -> None:
        super().__init__()
        self.head, self.contacts = HeadView(), ContactView()
        self.why = ""  # there is no map
        self._known: tuple[Recording | None, tuple[str, ...]] = (None, ())
        self._names: tuple[str, ...] = ()  # of the channels that are drawn
        self._pages = QStackedLayout(self)
        for page in (self.head, self.contacts):
            self._pages.addWidget(page)

    def set_channels(self, recording: Recording | None, names: Sequence[str]) -> bool:
        """Take the channels that have values, by name; whether there is a map of them, else `why` says why not."""
        if self._known[0] is not recording or self._known[1] != tuple(names):
            self._known = recording, tuple(names)
            self._names, self.why = (), "the recording is not open"
            if recording is not None:
                self._lay_out(recording, set(names))
        return bool(self._names)

    def set_values(self, values: np.ndarray | None, scale: Scale) -> None:
        """Show a value for each of the channels (n,); None where there are none at this time."""
        shown = None
        if values is not None:
            places = dict(zip(self._known[1], values, strict=True))
            shown = np.array([places[name] for name in self._names])
        view = self.head if self._pages.currentWidget() is self.head else self.contacts
        view.set_values(shown, scale)

    def set_focus(self, name: str) -> None:
        """Mark where a simulated seizure begins."""
        self.head.set_focus(name)
        self.contacts.set_focus(name)

    def set_message(self, text: str) -> None:
        """Say something in the middle."""
        self.head.set_message(text)
        self.contacts.set_message(text)

    def set_stale(self, stale: bool) -> None:
        """Fade what is shown."""
        self.head.set_stale(stale)
        self.contacts.set_stale(stale)

    def set_theme(self, theme: Theme) -> None:
        """Take the colours."""
        self.head.set_theme(theme)
        self.contacts.set_theme(theme)

    def _lay_out(self, recording: Recording, names: set[str]) -> None:
        shown = [channel for channel in recording.channels if channel.name in names]
        on_scalp = 2 * sum(channel.type in SCALP_TYPES for channel in shown) >= len(shown)
        left_out = {name: NO_VALUE for name in recording.ch_names if name not in names}
        try:
            if on_scalp:
                self._use_head(build_head_map(scalp_layout(recording, left_out), GRID))
            else:
                self._use_contacts(contact_layout(recording, left_out))
        except AnalysisError as error:
            self.why = str(error)

    def _use_head(self, head: HeadMap) -> None:
        self._names, self.why = head.layout.ch_names, ""
        self.head.set_head(head)
        self._pages.setCurrentWidget(self.head)

    def _use_contacts(self, layout: ContactLayout) -> None:
        self._names, self.why = layout.ch_names, ""
        self.contacts.set_contacts(layout)
        self._pages.setCurrentWidget(self.contacts)

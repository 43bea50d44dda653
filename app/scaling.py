"""What the reader does to scales: of single rows, of kinds of channels, of time; polarity, clipping and colours."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial

from PyQt6.QtCore import QObject, pyqtSignal
from PyQt6.QtGui import QAction
from PyQt6.QtWidgets import QWidget

from app.dialogs.ask import ask_text
from app.dialogs.channel_types import ChannelTypesDialog
from app.page_length import TimeBase, page_text, parse_length
from app.session import Session
from app.view import PAGE_SPEEDS, SENSITIVITIES, View, step
from viewers.recording_view import RecordingView
from viewers.rows import unit_text
from viewers.trace_colours import PRESETS

# Units a millimetre of rows that are no voltage.
_LADDER = tuple(sorted(m * 10.0**e for e in range(-6, 7) for m in (1, 2, 5)))


class Scaling(QObject):
    """Turns gestures and actions into changes of the session's view; says what it did with `told`."""

    told = pyqtSignal(str)

    def __init__(self, session: Session, view: RecordingView, time_base: TimeBase, window: QWidget) -> None:
        super().__init__(window)
        self._session = session
        self._view = view
        self._time_base = time_base
        self._window = window
        self._dialog: ChannelTypesDialog | None = None
        self._actions: Mapping[str, QAction] = {}
        view.row_scale_requested.connect(self.step_row)
        session.view_changed.connect(self._on_view)
        session.opened.connect(self._check_actions)

    def handlers(self) -> dict[str, Callable[[], None]]:
        """What the actions do, by their identifiers in app.actions."""
        colours = {f"colours_{name.replace('-', '_')}": partial(self.set_colours, name) for name in PRESETS}
        speeds = {f"speed_{speed:g}": partial(self._time_base.choose, 0.0, speed) for speed in PAGE_SPEEDS}
        return {
            "row_taller": partial(self.step_chosen_row, 1),
            "row_flatter": partial(self.step_chosen_row, -1),
            "row_usual": partial(self.step_chosen_row, 0),
            "rows_usual": self.reset_rows,
            "next_row": partial(self.choose_row, 1),
            "previous_row": partial(self.choose_row, -1),
            "channel_types": self.show_channel_types,
            "positive_up": self.toggle_polarity,
            "clip_rows": self.toggle_clipping,
            "page_length": self.ask_length,
            "whole_recording": self.show_all,
            **colours,
            **speeds,
        }

    def set_actions(self, actions: Mapping[str, QAction]) -> None:
        """Keep the check marks of these actions true."""
        self._actions = actions
        self._check_actions()

    # Rows

    def step_row(self, name: str, steps: int) -> None:
        """Make a row taller by steps of the scale (negative: flatter), or as the page has it (0)."""
        rows, view = self._view.trace_view.rows, self._session.view
        if rows is None or name not in rows.names:
            return
        row = rows.index(name)
        value = None
        if steps:
            value = _next_scale(rows.scale_of(row), rows.units[row], steps)
        self._session.change_view(gains=view.with_gain(name, value))
        unit = unit_text(rows.units[row])
        self.told.emit(f"{name}: {value:g} {unit}/mm" if value is not None else f"{name}: as the page")

    def step_chosen_row(self, steps: int) -> None:
        """The same for the row that was chosen, or else the one under the cursor."""
        traces = self._view.trace_view
        row = traces.gutter.chosen if traces.gutter.chosen is not None else traces.gutter.hovered
        if traces.rows is None or row is None or row >= len(traces.rows):
            self.told.emit("choose a row first: point at it, click its name, or press Alt+Down")
            return
        self.step_row(traces.rows.names[row], steps)

    def choose_row(self, direction: int) -> None:
        """Choose the next row (or the one before, -1) for the keys."""
        traces = self._view.trace_view
        if traces.rows is None or not len(traces.rows):
            return
        count, chosen = len(traces.rows), traces.gutter.chosen
        first = 0 if direction > 0 else count - 1
        row = first if chosen is None else min(max(chosen + direction, 0), count - 1)
        traces.gutter.set_chosen(row)
        self.told.emit(f"{traces.rows.names[row]} chosen: Shift+Up and Shift+Down change its scale")

    def reset_rows(self) -> None:
        """Draw every row as the page has it."""
        self._session.change_view(gains=())

    # Kinds, polarity, clipping, colours

    def show_channel_types(self) -> None:
        """Show the panel of scales and filters by kind of channel."""
        if self._dialog is None:
            self._dialog = ChannelTypesDialog(self._session, self._window)
        self._dialog.show()
        self._dialog.raise_()
        self._dialog.activateWindow()

    def toggle_polarity(self) -> None:
        """Draw positive up, or negative up again."""
        self._session.change_view(positive_up=not self._session.view.positive_up)

    def toggle_clipping(self) -> None:
        """Cut rows off where their neighbours begin, or let them overlap again."""
        self._session.change_view(clipped=not self._session.view.clipped)

    def set_colours(self, preset: str) -> None:
        """Colour the traces by a preset."""
        self._session.change_view(colours=preset)
        self._check_actions()

    # Time

    def show_all(self) -> None:
        """Show the whole recording on one page."""
        if self._session.recording is not None:
            self._session.change_view(page_seconds=self._session.duration, start=0.0)

    def ask_length(self) -> None:
        """Ask how much time a page shows."""
        session = self._session
        now = page_text(session.view.page_seconds)
        prompt = f"Time on a page, such as 0.5, 90, 1:30, 2 min, 4 h, all, or a speed such as 30 mm/s (now {now})"
        text = ask_text(self._window, "Length of a page", prompt)
        if text is None:
            return
        found = parse_length(text, session.duration)
        if found is None:
            self.told.emit(f"no length of a page: {text}")
        else:
            self._time_base.choose(*found)

    # Inside

    def _on_view(self, view: View, before: View) -> None:
        if (view.positive_up, view.clipped, view.colours) != (before.positive_up, before.clipped, before.colours):
            self._check_actions()

    def _check_actions(self, _recording: object = None) -> None:
        view = self._session.view
        checked = {"positive_up": view.positive_up, "clip_rows": view.clipped}
        checked |= {f"colours_{name.replace('-', '_')}": name == view.colours for name in PRESETS}
        for name, on in checked.items():
            if name in self._actions:
                self._actions[name].setChecked(on)


def _next_scale(units_per_mm: float, unit: str, steps: int) -> float:
    """The scale that lies some steps from one; from between two of them, the first step goes to the one beside it."""
    ladder = SENSITIVITIES if unit == "uV" else _LADDER
    nearest = step(ladder, units_per_mm, 0)
    if not math.isclose(nearest, units_per_mm, rel_tol=1e-3) and (nearest < units_per_mm) == (steps > 0):
        steps -= 1 if steps > 0 else -1
    return float(step(ladder, nearest, -steps))

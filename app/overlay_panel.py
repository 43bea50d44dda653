"""Which overlays are drawn, where, how strongly, in which colours, and what those stand for: one list for all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.overlay_look import USUAL_OPACITY
from app.overlay_row import OverlayRow, Swatch
from app.panel import ArrowSlider, label
from viewers.colour_key import ColourKey
from viewers.overlays.base import OverlayState
from viewers.theme import Theme


class OverlayPanel(QWidget):
    """One row per overlay; emits `visibility_changed(name, on)` and, for strength and colours, `look_changed(name)`.

    `asked` tells that the reader, and not the program, has switched one on.
    """

    visibility_changed = pyqtSignal(str, bool)
    look_changed = pyqtSignal(str)
    asked = pyqtSignal(str)

    def __init__(
        self,
        overlays: Sequence[tuple[str, str, str]],
        off: Iterable[str] = (),
        swatches: Mapping[str, Sequence[Swatch]] | None = None,
    ) -> None:
        """`overlays` are (name, title, place) in the order shown; those named in `off` are not on from the start.

        `swatches` say of some what their colours mean, which then cannot be chosen.
        """
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(3)
        self._off = frozenset(off)
        self.rows: dict[str, OverlayRow] = {}
        swatches = swatches or {}
        for name, title, place in overlays:
            row = OverlayRow(name, title, place, name not in self._off, name not in swatches, swatches.get(name, ()))
            row.toggled.connect(self.visibility_changed)
            row.asked.connect(self.asked)
            row.looked.connect(self.look_changed)
            column.addWidget(row)
            self.rows[name] = row
        column.addLayout(self._line_of_all())

    def _line_of_all(self) -> QHBoxLayout:
        line = QHBoxLayout()
        line.addWidget(label("Strength of all", "muted"))
        self.all = ArrowSlider(Qt.Orientation.Horizontal)
        self.all.setRange(0, 100)
        self.all.setValue(round(100 * USUAL_OPACITY))
        self.all.setAccessibleName("Strength of all overlays")
        self.all.setToolTip("How strong all overlays are drawn (arrow keys)")
        self.all.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.all.valueChanged.connect(self._on_all)
        line.addWidget(self.all, 1)
        return line

    def _on_all(self, value: int) -> None:
        for row in self.rows.values():
            row.set_opacity(value)

    def set_visible(self, name: str, on: bool) -> None:
        """Switch an overlay on or off; KeyError for a name that is not listed."""
        self.rows[name].box.setChecked(on)

    def set_look(self, name: str, opacity: float, sequential: str, diverging: str) -> None:
        """Take strength and colours of an overlay without telling of it; KeyError for a name that is not listed."""
        self.rows[name].set_look(opacity, sequential, diverging)

    def reset(self) -> None:
        """Switch and draw every overlay as at the first start."""
        for name, row in self.rows.items():
            row.set_look(USUAL_OPACITY, "", "")
            row.box.setChecked(name not in self._off)
            self.look_changed.emit(name)

    def names(self) -> list[str]:
        """The names of all overlays."""
        return list(self.rows)

    def states(self) -> dict[str, bool]:
        """Which overlays are on."""
        return {name: row.box.isChecked() for name, row in self.rows.items()}

    def state(self, name: str) -> OverlayState:
        """All that is chosen of an overlay."""
        return self.rows[name].state()

    def show_keys(self, keys: Mapping[str, Sequence[ColourKey]]) -> None:
        """Show the keys at the foot of the page again at the overlays, by name, that they belong to."""
        for name, row in self.rows.items():
            row.show_keys(keys.get(name, ()))

    def set_theme(self, theme: Theme) -> None:
        """Take the colours."""
        for row in self.rows.values():
            row.set_theme(theme)

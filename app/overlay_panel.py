"""Which overlays are drawn, where, and how strongly."""

from __future__ import annotations

from collections.abc import Iterable

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QCheckBox, QHBoxLayout, QVBoxLayout, QWidget

from app.panel import ArrowSlider, ElidedLabel, label

_PLACES = {"lane": "in a lane below the traces", "behind": "behind the traces"}


class OverlayPanel(QWidget):
    """One line per overlay; emits `visibility_changed(name, on)` and `opacity_changed(value)`.

    `asked` tells that the reader, and not the program, has switched one on.
    """

    visibility_changed = pyqtSignal(str, bool)
    opacity_changed = pyqtSignal(float)
    asked = pyqtSignal(str)

    def __init__(self, overlays: list[tuple[str, str, str]], off: Iterable[str] = ()) -> None:
        """`overlays` are (name, title, place) in the order shown; those named in `off` are not on from the start."""
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        self._off = frozenset(off)
        self._boxes: dict[str, QCheckBox] = {}
        for name, title, place in overlays:
            box = QCheckBox(title)
            box.setChecked(name not in self._off)
            box.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            box.setToolTip(f"{title}: {_PLACES.get(place, place)} (O brings this list into view)")
            box.setMinimumWidth(1)  # cut short rather than wider than the dock
            box.toggled.connect(lambda on, which=name: self.visibility_changed.emit(which, on))
            box.clicked.connect(lambda on, which=name: self.asked.emit(which) if on else None)
            row = QHBoxLayout()
            row.addWidget(box)
            where = ElidedLabel(place, "muted", Qt.TextElideMode.ElideRight)
            where.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            row.addWidget(where, 1)
            column.addLayout(row)
            self._boxes[name] = box
        row = QHBoxLayout()
        row.addWidget(label("Strength", "muted"))
        slider = ArrowSlider(Qt.Orientation.Horizontal)
        slider.setRange(0, 100)
        slider.setValue(60)
        slider.setAccessibleName("Strength of the shading behind the traces")
        slider.setToolTip("How strong the shading behind the traces is (arrow keys)")
        slider.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        slider.valueChanged.connect(lambda value: self.opacity_changed.emit(value / 100))
        row.addWidget(slider, 1)
        column.addLayout(row)

    def set_visible(self, name: str, on: bool) -> None:
        """Switch an overlay on or off; KeyError for a name that is not listed."""
        self._boxes[name].setChecked(on)

    def reset(self) -> None:
        """Switch every overlay as it is at the first start."""
        for name, box in self._boxes.items():
            box.setChecked(name not in self._off)

    def names(self) -> list[str]:
        """The names of all overlays."""
        return list(self._boxes)

    def states(self) -> dict[str, bool]:
        """Which overlays are on."""
        return {name: box.isChecked() for name, box in self._boxes.items()}

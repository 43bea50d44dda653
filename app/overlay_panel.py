"""Which overlays are drawn, where, and how strongly."""

from __future__ import annotations

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QCheckBox, QHBoxLayout, QSlider, QVBoxLayout, QWidget

from app.panel import label


class OverlayPanel(QWidget):
    """One line per overlay; emits `visibility_changed(name, on)` and `opacity_changed(value)`."""

    visibility_changed = pyqtSignal(str, bool)
    opacity_changed = pyqtSignal(float)

    def __init__(self, overlays: list[tuple[str, str, str]]) -> None:
        """`overlays` are (name, title, place) in the order shown."""
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        self._boxes: dict[str, QCheckBox] = {}
        for name, title, place in overlays:
            box = QCheckBox(title)
            box.setChecked(True)
            box.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            box.toggled.connect(lambda on, which=name: self.visibility_changed.emit(which, on))
            row = QHBoxLayout()
            row.addWidget(box, 1)
            row.addWidget(label(place, "muted"))
            column.addLayout(row)
            self._boxes[name] = box
        row = QHBoxLayout()
        row.addWidget(label("Strength", "muted"))
        slider = QSlider(Qt.Orientation.Horizontal)
        slider.setRange(0, 100)
        slider.setValue(60)
        slider.setAccessibleName("Strength of the shading behind the traces")
        slider.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        slider.valueChanged.connect(lambda value: self.opacity_changed.emit(value / 100))
        row.addWidget(slider, 1)
        column.addLayout(row)

    def set_visible(self, name: str, on: bool) -> None:
        """Switch an overlay on or off; KeyError for a name that is not listed."""
        self._boxes[name].setChecked(on)

    def names(self) -> list[str]:
        """The names of all overlays."""
        return list(self._boxes)

    def states(self) -> dict[str, bool]:
        """Which overlays are on."""
        return {name: box.isChecked() for name, box in self._boxes.items()}

"""Any array of any analysis: a line for one axis, colours for two, and a slider for each axis before those."""

from __future__ import annotations

from collections.abc import Sequence

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QHBoxLayout, QLabel, QSlider, QVBoxLayout, QWidget

from analysis.analyses import Analysis, NamedArray
from analysis.analysis_tables import array_table, entries_of
from viewers.panels.base import Chooser, line_of, note
from viewers.panels.kind_panel import Heading, KindPanel, meaning_of
from viewers.panels.layer_plot import LayerPlot, Series, accent
from viewers.panels.matrix_plot import MatrixPlot, limits_of


class AxisSlider(QWidget):
    """Walks along one axis; says its name and entry."""

    def __init__(self, axis: str, entries: Sequence[str], start: int) -> None:
        super().__init__()
        self.axis, self._entries = axis, tuple(entries)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        self._words = QLabel()
        self._words.setMinimumWidth(96)
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setRange(0, max(0, len(self._entries) - 1))
        self.slider.setAccessibleName(f"Entry of the axis {axis}")
        self.slider.setToolTip(f"Entry of the axis {axis} (arrow keys)")
        self.slider.setValue(min(start, self.slider.maximum()))
        self.slider.valueChanged.connect(self._say)
        row.addWidget(self._words)
        row.addWidget(self.slider, 1)
        self._say()

    @property
    def value(self) -> int:
        """The entry that is shown."""
        return self.slider.value()

    def _say(self, _value: int = 0) -> None:
        self._words.setText(f"{self.axis} {self._entries[self.value] if self._entries else ''}")


class ArrayTable(KindPanel):
    """Lets one look at every array of an analysis, whatever its kind."""

    title = "Arrays"
    tip = "Every array of an analysis, as it is"

    def make_body(self) -> None:
        """A list of arrays, sliders, and both ways of drawing."""
        self.array = Chooser("Array")
        self.heading = Heading("")
        self._meaning = note()
        self._place = QWidget()
        self._sliders_column = QVBoxLayout(self._place)
        self._sliders_column.setContentsMargins(0, 0, 0, 0)
        self.sliders: list[AxisSlider] = []
        self.line = LayerPlot("Values of the array", 220)
        self.matrix = MatrixPlot("Values of the array", height=300)
        self.column.addLayout(line_of(self.array))
        for widget in (self._meaning, self._place, self.line, self.matrix):
            self.column.addWidget(widget)
        self.array.chosen.connect(self._on_array)

    def body(self) -> Sequence[QWidget]:
        """All there is."""
        return [self.array, self._meaning, self._place, self.line, self.matrix]

    def show_result(self, result: Analysis) -> None:
        """List the arrays, and show the one that was shown, or the first."""
        self.array.set_choices([(name, name.replace("_", " ")) for name in result.arrays])
        self._make_sliders(result)
        self._show(result)

    def chosen(self) -> NamedArray | None:
        """The array on show."""
        return self.result.arrays.get(self.array.value()) if self.result is not None else None

    def index(self) -> tuple[int, ...]:
        """Where the sliders stand on the leading axes."""
        return tuple(slider.value for slider in self.sliders)

    def _make_sliders(self, result: Analysis) -> None:
        kept = {slider.axis: slider.value for slider in self.sliders}
        for slider in self.sliders:
            self._sliders_column.removeWidget(slider)
            slider.deleteLater()
        array = result.arrays[self.array.value()]
        self.sliders = []
        for axis, count in list(zip(array.axes, array.values.shape, strict=True))[:-2]:
            slider = AxisSlider(axis, entries_of(result, axis, count), kept.get(axis, 0))
            slider.slider.valueChanged.connect(self._on_slider)
            self._sliders_column.addWidget(slider)
            self.sliders.append(slider)
        self._place.setVisible(bool(self.sliders))

    def _show(self, result: Analysis) -> None:
        name = self.array.value()
        array = result.arrays[name]
        part = array.values[self.index()]
        shape = " × ".join(f"{n} {axis}" for n, axis in zip(array.values.shape, array.axes, strict=True))
        self._meaning.setText(f"{meaning_of(array)}\n{shape}")
        self.line.setVisible(part.ndim == 1)
        self.matrix.setVisible(part.ndim == 2)
        if part.ndim == 1:
            self.line.x_title = array.axes[-1]
            self.line.set_series([Series(name, part, accent)], entries_of(result, array.axes[-1], part.size))
        else:
            rows, columns = (entries_of(result, axis, n) for axis, n in zip(array.axes[-2:], part.shape, strict=True))
            # The scale is that of the whole array, so that slices can be compared.
            titles = (array.axes[-2], array.axes[-1])
            self.matrix.set_values(part, rows, columns, limits_of(array.values), titles, _unit(array))

    def table(self) -> str:
        """The array on show, whole."""
        return array_table(self.result, self.array.value()) if self.result is not None and self.array.value() else ""

    def _on_array(self, _name: str) -> None:
        if self.result is not None:
            self._make_sliders(self.result)
            self._show(self.result)

    def _on_slider(self, _value: int) -> None:
        if self.result is not None:
            self._show(self.result)


def _unit(array: NamedArray) -> str:
    return "" if array.unit == "1" else array.unit

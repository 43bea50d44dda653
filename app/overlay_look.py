"""How an overlay is drawn: a slider for its strength and two lists of colours, made when a line of the list unfolds."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from PyQt6.QtCore import QPointF, QRectF, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QIcon, QImage, QPainter, QPixmap
from PyQt6.QtWidgets import QGridLayout, QWidget

from app.panel import ArrowSlider, label
from viewers.heat_scales import DIVERGING, SEQUENTIAL, HeatScale, tints
from viewers.overlays.base import OverlayState
from viewers.panels.base import Chooser
from viewers.theme import Theme

USUAL_OPACITY = OverlayState().opacity
USUAL_AMOUNTS, USUAL_BALANCES = "orange", "brown to teal"
_ICON = QSize(46, 10)


def known_look(opacity: float, sequential: str, diverging: str) -> tuple[float, str, str]:
    """The same in whole per cent; without a name for the usual colours and for those that there are not."""
    amounts = sequential if sequential in SEQUENTIAL and sequential != USUAL_AMOUNTS else ""
    balances = diverging if diverging in DIVERGING and diverging != USUAL_BALANCES else ""
    return min(100, max(0, round(100 * opacity))) / 100, amounts, balances


class LookControls(QWidget):
    """Strength, colours of amounts and colours about a balance; `changed` tells that the reader chose one."""

    changed = pyqtSignal()

    def __init__(self, title: str, coloured: bool, inset: int) -> None:
        """`coloured` overlays have colours to choose."""
        super().__init__()
        self.opacity = ArrowSlider(Qt.Orientation.Horizontal)
        self.opacity.setRange(0, 100)
        self.opacity.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.opacity.setAccessibleName(f"Strength of {title}")
        self.opacity.setToolTip(f"How strong {title} is drawn (arrow keys)")
        self.opacity.valueChanged.connect(self._on_changed)
        self.sequential = _chooser(f"Colours of amounts in {title}", USUAL_AMOUNTS, SEQUENTIAL)
        self.diverging = _chooser(f"Colours about a balance in {title}", USUAL_BALANCES, DIVERGING)
        for chooser in (self.sequential, self.diverging):
            chooser.chosen.connect(self._on_changed)
        grid = QGridLayout(self)
        grid.setContentsMargins(inset, 0, 0, 2)
        grid.setSpacing(4)
        lines = [("Strength", self.opacity)]
        lines += [("Amounts", self.sequential), ("Balances", self.diverging)] if coloured else []
        for i, (text, widget) in enumerate(lines):
            grid.addWidget(label(text, "muted"), i, 0)
            grid.addWidget(widget, i, 1)
        grid.setColumnStretch(1, 1)

    def look(self) -> tuple[float, str, str]:
        """Strength 0-1, colours of amounts and colours about a balance."""
        return self.opacity.value() / 100, self.sequential.value(), self.diverging.value()

    def set_look(self, opacity: float, sequential: str, diverging: str) -> None:
        """Take them without telling of it."""
        self.opacity.blockSignals(True)
        self.opacity.setValue(round(100 * opacity))
        self.opacity.blockSignals(False)
        self.sequential.choose(sequential)
        self.diverging.choose(diverging)

    def set_theme(self, theme: Theme) -> None:
        """Draw what can be chosen in the theme's colours."""
        for chooser, palettes in ((self.sequential, SEQUENTIAL), (self.diverging, DIVERGING)):
            for i, name in enumerate(palettes):
                chooser.setItemIcon(i, _icon(theme, name, palettes is DIVERGING))

    def _on_changed(self, _value: object) -> None:
        self.changed.emit()


def _chooser(name: str, usual: str, palettes: Mapping[str, object]) -> Chooser:
    choices = [("" if palette == usual else palette, palette) for palette in palettes]
    chooser = Chooser(name, choices, f"{name}: all can be told apart by colour-blind eyes")
    chooser.setIconSize(_ICON)
    return chooser


def _icon(theme: Theme, colours: str, balanced: bool) -> QIcon:
    line = np.ascontiguousarray(tints(theme, HeatScale(0.0, 1.0, 0.5 if balanced else None, colours=colours)))
    image = QImage(line.data, line.size, 1, 4 * line.size, QImage.Format.Format_ARGB32_Premultiplied)
    pixmap = QPixmap(_ICON)
    pixmap.fill(theme.colour("canvas"))
    painter = QPainter(pixmap)
    painter.drawImage(QRectF(QPointF(0, 0), QRectF(pixmap.rect()).size()), image)
    painter.end()
    return QIcon(pixmap)

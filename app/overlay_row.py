"""One line of the list of overlays: on or off, and unfolded how strong, in which colours, and what they stand for."""

from __future__ import annotations

from collections.abc import Sequence

from PyQt6.QtCore import QRectF, Qt, pyqtSignal
from PyQt6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PyQt6.QtWidgets import QCheckBox, QHBoxLayout, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from app.overlay_look import USUAL_OPACITY, LookControls, known_look
from app.panel import ElidedLabel
from viewers.colour_key import ColourKey, paint_bar
from viewers.overlays.base import OverlayState
from viewers.theme import LIGHT, Theme, font, px

Swatch = tuple[str, str]  # colour of the theme, and what it stands for
_PLACES = {"lane": "in a lane below the traces", "behind": "behind the traces", "in front": "in front of the traces"}
_BAR_HEIGHT, _LINE, _INDENT, _SIZE = 8.0, 14.0, 20, 10


class Legend(QWidget):
    """What the colours of an overlay stand for: its key at the foot of the page again, or swatches with words."""

    def __init__(self) -> None:
        super().__init__()
        self.theme = LIGHT
        self.keys: list[ColourKey] = []
        self.swatches: Sequence[Swatch] = ()
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def show_keys(self, keys: Sequence[ColourKey], swatches: Sequence[Swatch] = ()) -> None:
        """Show keys, or swatches where there are none."""
        self.keys, self.swatches = list(keys), swatches if not keys else ()
        self.setFixedHeight(round(px(_LINE)) * (sum(map(_lines, self.keys)) + bool(self.swatches)))
        texts = [" ".join(filter(None, (key.title, key.warning, " to ".join(key.ends())))) for key in self.keys]
        texts += [text for _, text in self.swatches]
        self.setToolTip("\n".join(texts))
        self.setAccessibleName(f"Legend: {'; '.join(texts)}" if texts else "Legend")
        self.update()

    def set_theme(self, theme: Theme) -> None:
        """Take the colours."""
        self.theme = theme
        self.show_keys(self.keys, self.swatches)

    def paintEvent(self, _event: QPaintEvent | None) -> None:
        """Draw a title and a bar for each key, all swatches on one line."""
        painter = QPainter(self)
        painter.setFont(font(_SIZE))
        y, line = 0.0, round(px(_LINE))
        for key in self.keys:
            self._paint_key(painter, key, y, line)
            y += _lines(key) * line
        x = 0.0
        for colour, text in self.swatches:
            box = QRectF(x, (line - px(_BAR_HEIGHT)) / 2, px(12), px(_BAR_HEIGHT))
            painter.fillRect(box, self.theme.colour(colour))
            painter.setPen(self.theme.colour("muted"))
            painter.drawText(QRectF(x + px(16), 0, self.width(), line), Qt.AlignmentFlag.AlignVCenter, text)
            x += px(16) + QFontMetricsF(painter.font()).horizontalAdvance(text) + px(10)

    def _paint_key(self, painter: QPainter, key: ColourKey, top: float, line: int) -> None:
        metrics = QFontMetricsF(painter.font())
        middle = Qt.AlignmentFlag.AlignVCenter
        room = float(self.width())
        warning = f"  {key.warning}" if key.warning else ""
        title = metrics.elidedText(key.title, Qt.TextElideMode.ElideRight, room - metrics.horizontalAdvance(warning))
        painter.setPen(self.theme.colour("muted"))
        painter.drawText(QRectF(0, top, room, line), middle, title)
        painter.setPen(self.theme.colour("caution"))
        painter.drawText(QRectF(metrics.horizontalAdvance(title), top, room, line), middle, warning)
        ends = self.ends(key, metrics)
        painter.setPen(self.theme.colour("text"))
        if _lines(key) == 3:
            bar = QRectF(0.5, top + line + (line - px(_BAR_HEIGHT)) / 2, room - 1, px(_BAR_HEIGHT))
            below = QRectF(0, top + 2 * line, room, line)
            painter.drawText(below, middle, ends[0])
            painter.drawText(below, middle | Qt.AlignmentFlag.AlignRight, ends[1])
        else:
            before, after = (metrics.horizontalAdvance(end) for end in ends)
            width = max(px(24), min(px(72), room - before - after - 12))
            bar = QRectF(before + 5, top + line + (line - px(_BAR_HEIGHT)) / 2, width, px(_BAR_HEIGHT))
            painter.drawText(QRectF(0, top + line, room, line), middle, ends[0])
            painter.drawText(QRectF(bar.right() + 5, top + line, room, line), middle, ends[1])
        paint_bar(painter, bar, key, self.theme)

    def ends(self, key: ColourKey, metrics: QFontMetricsF) -> tuple[str, str]:
        """What stands at the ends of a bar; its unit at one end only, or in the tip alone, where there is no room."""
        low, high = key.ends()
        unit = f" {key.scale.unit}" if key.scale.unit else ""
        bar = px(24) + 12 if _lines(key) == 2 else 0.0
        for ends in ((low, high), (low.replace(unit, "", 1), high)):
            if metrics.horizontalAdvance("  ".join(ends)) + bar <= self.width():
                return ends
        return low.replace(unit, "", 1), high.replace(unit, "", 1)


def _lines(key: ColourKey) -> int:
    """How many lines a key takes: words at the ends of its bar stand below it, since both rarely fit beside it."""
    return 3 if key.scale.low_word or key.scale.high_word else 2


class OverlayRow(QWidget):
    """A check box with what unfolds below it; `looked` tells that the reader chose strength or colours."""

    toggled = pyqtSignal(str, bool)
    asked = pyqtSignal(str)
    looked = pyqtSignal(str)

    def __init__(
        self, name: str, title: str, place: str, on: bool, coloured: bool, swatches: Sequence[Swatch] = ()
    ) -> None:
        """`coloured` overlays have colours to choose; `swatches` say what colours mean that cannot be chosen."""
        super().__init__()
        self.name = name
        self._swatches = swatches
        self._keys: list[ColourKey] = []
        self._theme: Theme | None = None
        self._title, self._coloured = title, coloured
        self._look = (USUAL_OPACITY, "", "")
        self._controls: LookControls | None = None
        self.box = QCheckBox(title)
        self.box.setChecked(on)
        self.box.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.box.setToolTip(f"{title}: {_PLACES.get(place, place)} (O brings this list into view)")
        self.box.setMinimumWidth(1)  # cut short rather than wider than the dock
        self.box.toggled.connect(self._on_toggled)
        self.box.clicked.connect(self._on_clicked)
        self.more = QToolButton()
        self.more.setArrowType(Qt.ArrowType.RightArrow)
        self.more.setAutoRaise(True)
        self.more.setFixedSize(round(px(18)), round(px(16)))
        self.more.setCheckable(True)
        self.more.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.more.setAccessibleName(f"Strength and colours of {title}")
        self.more.setToolTip(f"Strength and colours of {title} (Space)")
        self.more.toggled.connect(self._on_more)
        where = ElidedLabel(place, "muted", Qt.TextElideMode.ElideRight)
        where.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        head = QHBoxLayout()
        head.setSpacing(4)
        head.addWidget(self.box)
        head.addWidget(where, 1)
        head.addWidget(self.more)
        self.legend = Legend()
        inset = QHBoxLayout()
        inset.setContentsMargins(_INDENT, 0, 0, 0)
        inset.addWidget(self.legend)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addLayout(head)
        column.addLayout(inset)
        self._column = column
        self.show_keys([])

    def controls(self) -> LookControls:
        """What unfolds below the line; made at its first use, since all lines together hold a third of all widgets."""
        if self._controls is None:
            self._controls = LookControls(self._title, self._coloured, _INDENT)
            self._controls.set_look(*self._look)
            self._controls.changed.connect(self._on_looked)
            if self._theme is not None:
                self._controls.set_theme(self._theme)
            self._controls.hide()
            self._column.insertWidget(1, self._controls)
        return self._controls

    def state(self) -> OverlayState:
        """What is chosen."""
        return OverlayState(self.box.isChecked(), *self._look)

    def set_look(self, opacity: float, sequential: str, diverging: str) -> None:
        """Take strength and colours without telling of it; those of the first start for names that there are not."""
        self._look = known_look(opacity, sequential, diverging)
        if self._controls is not None:
            self._controls.set_look(*self._look)

    def set_opacity(self, percent: int) -> None:
        """Take a strength as if the reader had chosen it here."""
        before = self._look
        self.set_look(percent / 100, *before[1:])
        if self._look != before:
            self.looked.emit(self.name)

    def show_keys(self, keys: Sequence[ColourKey]) -> None:
        """Show what stands at the foot of the page; nothing for what is switched off."""
        self._keys = list(keys)
        on = self.box.isChecked()
        self.legend.show_keys(self._keys if on else [], self._swatches if on else ())
        self.legend.setVisible(bool(on and (self._keys or self._swatches)))

    def set_theme(self, theme: Theme) -> None:
        """Take the colours."""
        self._theme = theme
        self.legend.set_theme(theme)
        if self._controls is not None:
            self._controls.set_theme(theme)

    def _on_toggled(self, on: bool) -> None:
        self.show_keys(self._keys)
        self.toggled.emit(self.name, on)

    def _on_clicked(self, on: bool) -> None:
        if on:
            self.asked.emit(self.name)

    def _on_more(self, on: bool) -> None:
        self.more.setArrowType(Qt.ArrowType.DownArrow if on else Qt.ArrowType.RightArrow)
        if on or self._controls is not None:
            self.controls().setVisible(on)

    def _on_looked(self) -> None:
        self._look = self.controls().look()
        self.looked.emit(self.name)

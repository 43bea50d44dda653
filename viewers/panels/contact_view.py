"""The contacts of an intracranial recording by shaft, each in the colour of its value, a scale below."""

from __future__ import annotations

import math

import numpy as np
from PyQt6.QtCore import QEvent, QLineF, QPointF, QRectF, Qt, pyqtSignal
from PyQt6.QtGui import QColor, QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen

from analysis.contact_layout import NOT_RECORDED, ContactLayout
from viewers.glyphs import paint_focus
from viewers.panels.contact_places import Place, Places, lay_contacts
from viewers.panels.plot import BUSY, paint_message
from viewers.panels.value_scale import ScaleBar, colours_of, value_text
from viewers.panels.value_view import ValueView
from viewers.theme import font, px

_EDGE, _GAP = 4.0, 1.0
_FOCUS = 5.0
_BAR_ROOM, _BAR_SHARE = 26.0, 0.5
_TITLE, _NUMBER = 11, 9  # pixels of letters
_WIDEST_TITLE = 54.0
_DEEP, _PALE = QColor("#12161b"), QColor("#f4f6f8")  # letters on pale and on deep colours
_STEPS = {
    Qt.Key.Key_Left: (0, -1),
    Qt.Key.Key_Right: (0, 1),
    Qt.Key.Key_Up: (-1, 0),
    Qt.Key.Key_Down: (1, 0),
}


class ContactView(ValueView):
    """Draws one value for each contact of a ContactLayout, hollow where there is none; or a message.

    A click, or the arrow keys, choose a contact, which is outlined: `contact_chosen` tells its name.
    """

    contact_chosen = pyqtSignal(str)

    def __init__(self) -> None:
        super().__init__("Map of the contacts by shaft (arrow keys go from contact to contact)")
        self._layout: ContactLayout | None = None
        self._names = True
        self._chosen = ""
        self._laid: tuple[object, Places] | None = None
        self._bar = ScaleBar()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    # What is shown

    def set_contacts(self, layout: ContactLayout | None) -> None:
        """Take the contacts."""
        if layout is not self._layout:
            self._layout, self._values, self._laid = layout, None, None
            if layout is not None and self._chosen not in layout.ch_names:
                self._chosen = ""
            self.update()

    def set_options(self, names: bool) -> None:
        """Write the numbers of contacts, where there is room for them."""
        self._names = names
        self.update()

    def set_chosen(self, name: str) -> None:
        """Outline a contact by its name; empty: none."""
        if name != self._chosen:
            self._chosen = name
            self.update()

    @property
    def chosen(self) -> str:
        """The name of the outlined contact; empty for none."""
        return self._chosen

    # Places

    def places(self) -> Places:
        """Where contacts are drawn, worked out once for a size of the picture."""
        if self._layout is None:
            return Places()
        key = self._layout, self.width(), self.height(), px(1.0)
        if self._laid is None or self._laid[0] != key:
            metrics = QFontMetricsF(font(_TITLE, True))
            widest = max(metrics.horizontalAdvance(block.title) for block in self._layout.blocks)
            room = QRectF(self.rect()).adjusted(_EDGE, _EDGE, -_EDGE, -_EDGE - px(_BAR_ROOM))
            self._laid = key, lay_contacts(self._layout, room, min(px(_WIDEST_TITLE), widest + 8), px(1.0))
        return self._laid[1]

    # Painting

    def paintEvent(self, _event: QPaintEvent | None) -> None:
        """Draw everything."""
        painter = QPainter(self)
        if self._layout is not None:
            self._paint_contacts(painter, self.places())
        text = self._message or (BUSY if self._stale else "")
        if text:
            paint_message(painter, QRectF(self.rect()), text, self.theme)

    def _paint_contacts(self, painter: QPainter, places: Places) -> None:
        painter.save()
        painter.setOpacity(0.45 if self._stale else 1.0)
        painter.setFont(font(_TITLE, True))
        painter.setPen(self.theme.colour("text"))
        metrics = painter.fontMetrics()
        side = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
        for rect, title in places.titles:
            shown = metrics.elidedText(title, Qt.TextElideMode.ElideRight, int(rect.width()))
            painter.drawText(rect.adjusted(0, -6, 0, 6), side, shown)
        fills = colours_of(self._values, self._scale, self.theme) if self._values is not None else None
        for place in places.contacts:
            self._paint_contact(painter, place, fills)
        if self._names:
            self._paint_numbers(painter, places, fills)
        self._paint_chosen(painter, places)
        painter.restore()
        if self._values is not None:
            room = QRectF(0, math.ceil(places.bottom + _EDGE), self.width(), math.ceil(px(_BAR_ROOM)))
            self._bar.paint(painter, self._scale, room, self.width() * _BAR_SHARE, self.theme)

    def _fill(self, place: Place, fills: list[QColor] | None) -> QColor | None:
        """The colour of a contact; None where it is hollow."""
        i = place.slot.index
        if i is None or fills is None or self._values is None or not np.isfinite(self._values[i]):
            return None
        return fills[i]

    def _paint_contact(self, painter: QPainter, place: Place, fills: list[QColor] | None) -> None:
        rect = place.rect.adjusted(_GAP, _GAP, -_GAP, -_GAP)
        fill = self._fill(place, fills)
        if fill is not None:
            painter.fillRect(rect, fill)
        absent = place.slot.why == NOT_RECORDED
        style = Qt.PenStyle.DotLine if absent else Qt.PenStyle.SolidLine
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(self.theme.colour("muted", 0.55 if absent or fill is not None else 1.0), 1, style))
        painter.drawRect(rect)
        if place.slot.why and not absent:
            painter.setPen(QPen(self.theme.colour("caution"), 1))
            painter.drawLine(QLineF(rect.bottomLeft(), rect.topRight()))

    def _paint_numbers(self, painter: QPainter, places: Places, fills: list[QColor] | None) -> None:
        painter.setFont(font(_NUMBER))
        metrics = QFontMetricsF(painter.font())
        if places.cell.height() < metrics.capHeight() + 3 or places.cell.width() < metrics.horizontalAdvance("00") + 3:
            return
        for place in places.contacts:
            if place.slot.why or metrics.horizontalAdvance(place.slot.label) > place.rect.width() - 2:
                continue
            fill = self._fill(place, fills)
            dark = self.theme.is_dark if fill is None else _is_dark(fill)
            painter.setPen(_PALE if dark else _DEEP)
            painter.drawText(place.rect, Qt.AlignmentFlag.AlignCenter, place.slot.label)

    def _paint_chosen(self, painter: QPainter, places: Places) -> None:
        place = places.of(self._chosen) if self._chosen else None
        if place is not None:
            painter.setPen(QPen(self.theme.colour("canvas"), 4))
            painter.drawRect(place.rect)
            painter.setPen(QPen(self.theme.colour("text"), 2))
            painter.drawRect(place.rect)
        focus = places.of(self._focus) if self._focus else None
        if focus is not None:
            paint_focus(painter, focus.rect.topRight(), px(_FOCUS), self.theme)
        if self.hasFocus():
            painter.setPen(QPen(self.theme.colour("accent"), 1))
            painter.drawRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5))

    # Mouse and keys

    def mousePressEvent(self, event: QMouseEvent | None) -> None:
        """Choose the contact under the mouse."""
        if event is not None and event.button() == Qt.MouseButton.LeftButton:
            place = self.places().at(event.position())
            if place is not None:
                self._choose(place)

    def event(self, event: QEvent | None) -> bool:
        """Take the arrow keys before the actions of the window do."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride:
            event.setAccepted(event.key() in _STEPS and not event.modifiers())
            if event.isAccepted():
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent | None) -> None:
        """Go to the nearest contact in the direction of an arrow."""
        if event is None or event.key() not in _STEPS or event.modifiers():
            super().keyPressEvent(event)
            return
        lines, columns = _STEPS[Qt.Key(event.key())]
        place = self._beside(lines, columns)
        if place is not None:
            self._choose(place)

    def _beside(self, lines: int, columns: int) -> Place | None:
        """The next contact that was recorded, from the chosen one on; the first where none is."""
        there = [place for place in self.places().contacts if place.slot.why != NOT_RECORDED]
        now = self.places().of(self._chosen)
        if now is None:
            return there[0] if there else None
        if columns:
            row = [p for p in there if p.line == now.line and (p.column - now.column) * columns > 0]
            return min(row, key=lambda p: abs(p.column - now.column), default=None)
        ahead = [p for p in there if (p.line - now.line) * lines > 0]
        return min(ahead, key=lambda p: (abs(p.column - now.column), abs(p.line - now.line)), default=None)

    def _choose(self, place: Place) -> None:
        if place.slot.why == NOT_RECORDED or place.slot.name == self._chosen:
            return
        self.set_chosen(place.slot.name)
        self._describe()
        self.contact_chosen.emit(place.slot.name)

    def describe(self, at: QPointF) -> str:
        """The contact at a point of the widget and its value, or why it has none."""
        place = self.places().at(at)
        return self._words(place) if place is not None and not self._stale else ""

    # Inside

    def _words(self, place: Place) -> str:
        if place.slot.index is None:
            return f"{place.slot.name}  {place.slot.why}"
        if self._values is None:
            return place.slot.name
        value = float(self._values[place.slot.index])
        return f"{place.slot.name}  {value_text(value, self._scale) if np.isfinite(value) else 'no value'}"

    def _describe(self) -> None:
        """Say to a screen reader what is chosen, and then all values."""
        if self._layout is None or self._values is None:
            self.setAccessibleDescription(self._message)
            return
        place = self.places().of(self._chosen) if self._chosen else None
        first = [f"chosen: {self._words(place)}"] if place is not None else []
        pairs = zip(self._layout.ch_names, self._values, strict=True)
        texts = (f"{name} {value_text(float(v), self._scale) if np.isfinite(v) else 'no value'}" for name, v in pairs)
        self.setAccessibleDescription(", ".join([*first, *texts]))


def _is_dark(colour: QColor) -> bool:
    return 0.299 * colour.red() + 0.587 * colour.green() + 0.114 * colour.blue() < 128

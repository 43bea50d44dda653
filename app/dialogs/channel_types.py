"""Scale and filters of each kind of channel, beside those of the page; every choice takes effect at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QComboBox, QDialog, QDialogButtonBox, QGridLayout, QVBoxLayout, QWidget

from analysis.channel_kinds import BODY_KINDS, KIND_TITLES, KINDS, kind_of
from app.panel import label
from app.session import Session
from app.view import (
    FITTED,
    HIGHPASSES,
    LOWPASSES,
    NOTCHES,
    USUAL_SENSITIVITIES,
    KindSettings,
)
from app.view_toolbar import hertz, low_text, notch_text

_AS_PAGE = "as the page"
_COLUMNS = ("Sensitivity", "Low", "High", "Notch")


class ChannelTypesDialog(QDialog):
    """A line for each kind of channel; the first is the page itself. Stays open beside the traces."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Tool)
        self.setWindowTitle("Scale and filters per channel type")
        self._session = session
        self.boxes: dict[tuple[str, str], QComboBox] = {}
        self._titles: dict[str, QWidget] = {}
        column = QVBoxLayout(self)
        column.setSpacing(10)
        column.addLayout(self._make_table())
        self._note = label("", "muted", wrap=True)
        column.addWidget(self._note)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        usual = buttons.addButton("Usual values", QDialogButtonBox.ButtonRole.ResetRole)
        assert usual is not None
        usual.clicked.connect(self.restore)
        buttons.rejected.connect(self.hide)
        column.addWidget(buttons)
        session.view_changed.connect(self._show)
        session.opened.connect(self._show)
        self._show()

    def _make_table(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(6)
        for i, title in enumerate(_COLUMNS, 1):
            grid.addWidget(label(title, "title"), 0, i)
        for line, kind in enumerate(KINDS, 1):
            self._titles[kind] = title = label(KIND_TITLES[kind])
            grid.addWidget(title, line, 0)
            for i, (name, choices) in enumerate(_choices(kind), 1):
                self.boxes[kind, name] = box = _box(f"{KIND_TITLES[kind]}: {_COLUMNS[i - 1]}", choices)
                box.activated.connect(partial(self._take, kind, name))
                grid.addWidget(box, line, i)
        return grid

    def _take(self, kind: str, name: str, index: int) -> None:
        value = self.boxes[kind, name].itemData(index)
        changes: dict[str, Any] = {name: value}
        if name == "notch":
            changes = {"notch": None, "harmonics": None}
            if value is not None:
                changes = {"notch": value[0], "harmonics": value[1]}
        view = self._session.view
        if kind == view.page_kind:
            self._session.change_view(**changes)
        else:
            self._session.change_view(kinds=view.with_kind(kind, replace(view.settings_of(kind), **changes)))

    def restore(self) -> None:
        """Give every kind but the page's the settings that are usual for it."""
        self._session.change_view(kinds=())

    def _show(self, *_what: object) -> None:
        view, recording = self._session.view, self._session.recording
        there = {kind_of(channel) for channel in recording.channels} if recording is not None else set(KINDS)
        for kind in KINDS:
            settings = view.page_settings if kind == view.page_kind else view.settings_of(kind)
            is_there = kind in there or kind == view.page_kind
            self._titles[kind].setEnabled(is_there)
            for name in ("uv_per_mm", "highpass", "lowpass", "notch"):
                box = self.boxes[kind, name]
                box.setEnabled(is_there)
                _choose(box, _value(settings, name), without_page=kind == view.page_kind)
        self._note.setText(
            f"{KIND_TITLES[view.page_kind]} is what the toolbar sets. Types that this recording lacks are grey. "
            "Respiration and other voltages are drawn unfiltered on a fitted scale, positive up, unless chosen here."
        )


def _choices(kind: str) -> list[tuple[str, Sequence[tuple[str, object]]]]:
    """The choices of each column, by the name of the setting."""
    page: list[tuple[str, object]] = [(_AS_PAGE, None)]
    fitted: list[tuple[str, object]] = [] if kind in BODY_KINDS else [("fitted", FITTED)]
    return [
        ("uv_per_mm", [*page, *fitted, *((f"{s} µV/mm", float(s)) for s in USUAL_SENSITIVITIES)]),
        ("highpass", [*page, *((low_text(f), f) for f in HIGHPASSES)]),
        ("lowpass", [*page, *((hertz(f), f) for f in LOWPASSES)]),
        ("notch", [*page, *((notch_text(*n), n) for n in NOTCHES)]),
    ]


def _box(name: str, choices: Sequence[tuple[str, object]]) -> QComboBox:
    box = QComboBox()
    box.setAccessibleName(name)
    box.setToolTip(name)
    for text, data in choices:
        box.addItem(text, data)
    return box


def _value(settings: KindSettings, name: str) -> object:
    if name == "notch":
        return None if settings.notch is None else (settings.notch, bool(settings.harmonics) and settings.notch > 0)
    return getattr(settings, name)


def _choose(box: QComboBox, value: object, without_page: bool) -> None:
    """Show a value, which is put among the choices where it is none of them."""
    items = [box.itemData(i) for i in range(box.count())]
    if value not in items:
        text = f"{value:g}" if isinstance(value, float) else str(value)
        box.addItem(text, value)
        items.append(value)
    box.setCurrentIndex(items.index(value))
    model = box.model()
    first = model.item(0) if hasattr(model, "item") else None
    if first is not None:
        first.setEnabled(not without_page)

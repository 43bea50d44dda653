"""Which channels the reader takes for bad: a list to be ticked."""

from __future__ import annotations

from collections.abc import Mapping

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QDialog, QDialogButtonBox, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from analysis.channel_quality import OK
from analysis.recording import Channel
from app.panel import label

_NAME_ROLE = Qt.ItemDataRole.UserRole
_WIDTH, _HEIGHT = 320, 460


class BadChannelsDialog(QDialog):
    """Lists channels with a box each and what the survey found of them; `bad()` is what is ticked."""

    def __init__(
        self,
        channels: tuple[Channel, ...],
        bad: frozenset[str],
        states: Mapping[str, str],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Bad channels")
        self.resize(_WIDTH, _HEIGHT)
        column = QVBoxLayout(self)
        text = "Ticked channels stay out of averages and neighbours. Their rows are shown in grey."
        column.addWidget(label(text, "muted", wrap=True))
        self.list = QListWidget()
        self.list.setAccessibleName("Channels, ticked where bad")
        for channel in channels:
            state = states.get(channel.name, OK)
            item = QListWidgetItem(channel.name if state == OK else f"{channel.name}   {state}")
            item.setData(_NAME_ROLE, channel.name)
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(Qt.CheckState.Checked if channel.name in bad else Qt.CheckState.Unchecked)
            self.list.addItem(item)
        column.addWidget(self.list)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        none = buttons.addButton("All are good", QDialogButtonBox.ButtonRole.ResetRole)
        assert none is not None
        none.clicked.connect(self.untick_all)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        column.addWidget(buttons)
        self.list.setCurrentRow(0)

    def untick_all(self) -> None:
        """Take no channel for bad."""
        for i in range(self.list.count()):
            self._item(i).setCheckState(Qt.CheckState.Unchecked)

    def bad(self) -> frozenset[str]:
        """Names of the channels that are ticked."""
        items = (self._item(i) for i in range(self.list.count()))
        return frozenset(item.data(_NAME_ROLE) for item in items if item.checkState() == Qt.CheckState.Checked)

    def _item(self, i: int) -> QListWidgetItem:
        item = self.list.item(i)
        assert item is not None
        return item

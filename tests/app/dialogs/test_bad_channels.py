"""The list of channels to tick."""

from __future__ import annotations

import pytest

from analysis.recording import Channel
from app.dialogs.bad_channels import BadChannelsDialog


@pytest.fixture
def dialog(qtbot) -> BadChannelsDialog:
    channels = tuple(Channel(name, name, "eeg", "uV", 100.0) for name in ("Cz", "Pz", "Oz"))
    dialog = BadChannelsDialog(channels, frozenset({"Pz"}), {"Oz": "flat", "Cz": "ok"})
    qtbot.addWidget(dialog)
    return dialog


def test_channels_stand_in_the_order_of_the_file_with_what_was_found_of_them(dialog):
    assert [dialog.list.item(i).text() for i in range(3)] == ["Cz", "Pz", "Oz   flat"]


def test_what_is_ticked_is_bad(dialog, qtbot):
    assert dialog.bad() == {"Pz"}
    dialog.list.item(2).setCheckState(dialog.list.item(1).checkState())
    assert dialog.bad() == {"Pz", "Oz"}
    dialog.untick_all()
    assert dialog.bad() == frozenset()

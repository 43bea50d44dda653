"""What tests of panels share."""

from __future__ import annotations

import pytest


@pytest.fixture
def shown(qtbot):
    """Shows a panel of a kind with a result."""

    def show(kind, result=None):
        panel = kind()
        qtbot.addWidget(panel)
        panel.resize(320, 760)
        panel.show()
        if result is not None:
            panel.set_result(result)
        return panel

    return show

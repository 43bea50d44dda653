"""No part of the window keeps a widget that Qt made: PyQt does not hear when that goes, and crashes much later."""

import gc
from pathlib import Path

from PyQt6 import sip
from PyQt6.QtWidgets import QGraphicsItem, QLayout, QWidget

from app.testing import open_window


def _made_by_qt() -> list[object]:
    """Wrappers of two bases, whose second address stays in PyQt's map when the widget goes unheard."""
    found = [one for one in gc.get_objects() if isinstance(one, sip.wrapper) and not sip.ispycreated(one)]
    return [one for one in found if isinstance(one, QWidget | QLayout | QGraphicsItem) and not sip.isdeleted(one)]


def test_attributes_hold_no_widget_that_qt_made(shared: Path, qapp: object) -> None:
    before = {id(one) for one in _made_by_qt()}
    window = open_window(shared / "recordings/scalp-seizure-46ch/demo_edf.edf", (1400, 900))
    try:
        window.wait()
        window.main.model_panel._list_random()
        names = []
        for widget in _made_by_qt():
            if id(widget) not in before:
                holders = [one for one in gc.get_referrers(widget) if isinstance(one, dict)]
                names += [
                    name for one in holders for name, value in one.items() if value is widget and name != "widget"
                ]
        assert names == []
    finally:
        window.close()

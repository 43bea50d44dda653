"""Measuring the screen: the bar is as long as it says, and what is typed becomes pixels a millimetre."""

from __future__ import annotations

import numpy as np
import pytest
from PyQt6.QtGui import QImage
from PyQt6.QtWidgets import QLabel, QPushButton

from app.dialogs.calibration import Bar, CalibrationDialog


@pytest.mark.parametrize("length", [400.0, 196.9])
def test_the_bar_is_exactly_as_long_as_stated(qtbot, length):
    bar = Bar(length, "bar")
    qtbot.addWidget(bar)
    bar.resize(bar.sizeHint())
    image = bar.grab().toImage().convertToFormat(QImage.Format.Format_Grayscale8)
    raw = np.frombuffer(image.constBits().asarray(image.sizeInBytes()), np.uint8).reshape(image.height(), -1)
    ground = int(raw[0, 0])
    drawn = np.flatnonzero(raw[19, : image.width()] != ground)
    assert drawn[-1] - drawn[0] + 1 == pytest.approx(length, abs=1.0)
    assert drawn.size == drawn[-1] - drawn[0] + 1


def test_the_length_typed_becomes_pixels_a_millimetre(qtbot):
    dialog = CalibrationDialog(4.0)
    qtbot.addWidget(dialog)
    assert dialog.px_per_mm == pytest.approx(4.0)
    dialog._length.setValue(80.0)
    assert dialog.px_per_mm == pytest.approx(5.0)
    # The bar for checking is 50 mm long by then.
    assert dialog._check.sizeHint().width() >= 250
    assert "5 pixels" in dialog._check_text.text()


@pytest.mark.parametrize("measured", [False, True])
def test_it_says_whether_the_screen_was_measured_and_forgets_on_request(qtbot, measured):
    dialog = CalibrationDialog(4.0, None, "Some Screen", measured)
    qtbot.addWidget(dialog)
    texts = " ".join(label.text() for label in dialog.findChildren(QLabel))
    assert "Some Screen" in texts
    assert ("not calibrated" in texts) is not measured
    forget = [button for button in dialog.findChildren(QPushButton) if button.text() == "Forget it"]
    assert len(forget) == measured
    if forget:
        forget[0].click()
        assert dialog.result() == CalibrationDialog.DialogCode.Accepted
        assert dialog.px_per_mm is None

"""Options as widgets: each type has its own, limits hold, and what is set is told by name."""

from __future__ import annotations

import pytest
from PyQt6.QtCore import QPoint, QPointF, Qt
from PyQt6.QtGui import QWheelEvent
from PyQt6.QtWidgets import QCheckBox, QDoubleSpinBox, QFileDialog, QLineEdit, QSpinBox, QToolButton

from analysis.kinds import KINDS, Option
from app.analysis_form import OptionForm
from viewers.panels.base import Chooser

OPTIONS = (
    Option("seconds", 10.0, "how long", least=1.0),
    Option("count", 5, "how many", least=2),
    Option("which", "first", "what is taken", ("first", "second")),
    Option("deep", False, "whether all of it"),
    Option("name", "", "what it is called"),
)


@pytest.fixture
def form(qtbot) -> OptionForm:
    made = OptionForm()
    qtbot.addWidget(made)
    made.show_options(OPTIONS, {"count": 7})
    made.show()
    return made


def test_every_type_has_a_widget_of_its_own(form):
    kinds = [type(widget).__mro__ for widget in form.widgets.values()]
    for mro, kind in zip(kinds, (QDoubleSpinBox, QSpinBox, Chooser, QCheckBox, QLineEdit), strict=True):
        assert kind in mro
    assert form.widgets["seconds"].value() == 10.0
    assert form.widgets["count"].value() == 7
    assert form.widgets["which"].value() == "first"
    assert all("usually" in widget.toolTip() and widget.accessibleName() for widget in form.widgets.values())


def test_what_the_reader_sets_is_told_by_name(form, qtbot):
    told = []
    form.changed.connect(lambda name, value: told.append((name, value)))
    form.widgets["seconds"].setValue(4.5)
    form.widgets["count"].setValue(9)
    form.widgets["which"].choose("second")
    form.widgets["which"].activated.emit(1)
    qtbot.mouseClick(form.widgets["deep"], Qt.MouseButton.LeftButton, pos=QPoint(6, 8))
    form.widgets["name"].setText("  night ")
    form.widgets["name"].editingFinished.emit()
    assert told == [("seconds", 4.5), ("count", 9), ("which", "second"), ("deep", True), ("name", "night")]


def test_showing_values_tells_nothing(form, qtbot):
    with qtbot.assertNotEmitted(form.changed):
        form.show_options(OPTIONS, {"count": 3, "seconds": 2.0, "deep": True, "which": "second", "name": "x"})
    assert form.widgets["deep"].isChecked()


def test_limits_hold(form):
    form.widgets["count"].setValue(1)
    assert form.widgets["count"].value() == 2
    form.widgets["seconds"].setValue(0.0)
    assert form.widgets["seconds"].value() == 1.0


def test_numbers_are_written_without_empty_zeros(form):
    assert form.widgets["seconds"].text() in ("10", "10,", "10.")
    form.widgets["seconds"].setValue(2.5)
    assert form.widgets["seconds"].text().replace(",", ".") == "2.5"


def test_the_wheel_scrolls_the_panel_and_changes_no_number(form):
    box = form.widgets["count"]
    none = QPoint()
    wheel = QWheelEvent(
        QPointF(5, 5), QPointF(5, 5), none, QPoint(0, 120), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    form.setFocus()
    box.wheelEvent(wheel)
    assert box.value() == 7


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_the_table_can_be_shown(qtbot, kind):
    form = OptionForm()
    qtbot.addWidget(form)
    form.show_options(KINDS[kind].options, {})
    assert list(form.widgets) == [option.name for option in KINDS[kind].options]


def test_lines_are_made_anew_for_another_kind_only(form):
    before = form.widgets["count"]
    form.show_options(OPTIONS, {})
    assert form.widgets["count"] is before
    form.show_options(OPTIONS[:1], {})
    assert list(form.widgets) == ["seconds"]


def test_files_are_named_by_hand_or_picked(qtbot, monkeypatch):
    made = OptionForm()
    qtbot.addWidget(made)
    made.show_options((Option("other", "", "another recording", is_file=True),), {"other": "a.edf"})
    field, told = made.widgets["other"], []
    made.changed.connect(lambda name, value: told.append((name, value)))
    assert field.line.text() == "a.edf"
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_: (["b.edf", "c.edf"], ""))
    qtbot.mouseClick(field.findChild(QToolButton), Qt.MouseButton.LeftButton)
    assert told == [("other", "b.edf, c.edf")]
    assert field.line.text() == "b.edf, c.edf"

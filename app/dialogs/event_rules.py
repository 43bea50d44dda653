"""The constants by which probabilities become events."""

from __future__ import annotations

from dataclasses import fields, replace

from PyQt6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QDoubleSpinBox,
    QFormLayout,
    QSpinBox,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from analysis.postprocessing import AUTO, LONG_RECORDING, RULES, Rule, choose_rule
from app.panel import label

_LABELS = {
    ("E.1", "merge_gap"): ("Join events at most this far apart", " s"),
    ("E.1", "min_duration"): ("Drop events shorter than", " s"),
    ("E.1", "min_positive"): ("Drop events with fewer positive responses than", ""),
    ("E.2", "min_positive"): ("Positive time needed", " s"),
    ("E.2", "window"): ("within", " s"),
}
_TITLES = {"E.1": "Episodes (appendix E.1 of the MVPFormer paper)", "E.2": "Online (appendix E.2)"}


def rule_text(rule: Rule) -> str:
    """A rule with its constants in one line."""
    if rule.name == "E.1":
        return (
            f"E.1: join within {rule.merge_gap:g} s, at least {rule.min_duration:g} s "
            f"and {rule.min_positive} positive response{'s' if rule.min_positive != 1 else ''}"
        )
    return f"E.2: {rule.min_positive:g} positive s in {rule.window:g} s"


class EventRulesDialog(QDialog):
    """Chooses a rule and its constants; `rule()` is None where the model's own is wanted.

    That is `own`, or where the model states none (None) the one that suits the length of the recording.
    """

    def __init__(
        self, rule: Rule | None, duration: float, parent: QWidget | None = None, own: Rule | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("How events are made")
        self._rules: list[Rule] = [rule if rule is not None and rule.name == name else RULES[name]() for name in RULES]
        self._boxes: list[dict[str, QSpinBox | QDoubleSpinBox]] = []
        suited = choose_rule(AUTO, duration).name
        self._choice = QComboBox()
        self._choice.setAccessibleName("Rule for events")
        self._choice.setToolTip("By which rule probabilities become events")
        if own is None:
            self._choice.addItem(f"By length: E.1 from {LONG_RECORDING / 60:g} min on, else E.2 (here {suited})")
        else:
            self._choice.addItem(f"The model's own ({own.name})")
        self._pages = QStackedWidget()
        self._pages.addWidget(label("The paper's constants." if own is None else rule_text(own), "muted"))
        for each in self._rules:
            self._choice.addItem(_TITLES[each.name])
            self._pages.addWidget(self._make_page(each))
        self._choice.currentIndexChanged.connect(self._pages.setCurrentIndex)
        self._choice.setCurrentIndex(0 if rule in (None, own) else 1 + list(RULES).index(rule.name))
        column = QVBoxLayout(self)
        column.addWidget(self._choice)
        column.addWidget(self._pages)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        column.addWidget(buttons)

    def _make_page(self, rule: Rule) -> QWidget:
        page = QWidget()
        form = QFormLayout(page)
        boxes: dict[str, QSpinBox | QDoubleSpinBox] = {}
        for field in fields(rule):
            value = getattr(rule, field.name)
            box: QSpinBox | QDoubleSpinBox = QSpinBox() if isinstance(value, int) else QDoubleSpinBox()
            text, unit = _LABELS[rule.name, field.name]
            box.setRange(0, 3600)
            box.setSuffix(unit)
            box.setValue(value)
            box.setAccessibleName(text)
            boxes[field.name] = box
            form.addRow(text, box)
        self._boxes.append(boxes)
        return page

    def rule(self) -> Rule | None:
        """The rule as it is set; None for the model's own."""
        index = self._choice.currentIndex()
        if index == 0:
            return None
        values = {name: box.value() for name, box in self._boxes[index - 1].items()}
        return replace(self._rules[index - 1], **values)

"""The models that can be run: the packaged detector and the checkpoints the reader has loaded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import (
    QButtonGroup,
    QHBoxLayout,
    QMenu,
    QRadioButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from app.event_making import making_of_card
from app.packaged import PACKAGED, packaged_model
from app.panel import ButtonRow, ElidedButton, label
from app.session import ModelChoice


class ModelPanel(QWidget):
    """One radio button per model, the stated limits of the chosen one, and its window length where it has one."""

    chosen = pyqtSignal(object)
    load_requested = pyqtSignal()
    head_requested = pyqtSignal(object)
    random_requested = pyqtSignal(str)  # name of a model with random weights

    def __init__(self) -> None:
        super().__init__()
        self._models: list[tuple[ModelChoice, QRadioButton, Mapping[str, Any]]] = []
        self._group = QButtonGroup(self)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        self._list = QVBoxLayout()
        self._list.setSpacing(2)
        column.addLayout(self._list)
        self._state = label("", "warning", wrap=True)
        self._limits = label("", "muted", wrap=True)
        column.addWidget(self._state)
        column.addWidget(self._limits)
        column.addLayout(self._make_segments_row())
        self._head = ElidedButton("Choose a head file…")
        self._head.setToolTip("The file with the head that turns this checkpoint into a seizure detector")
        self._head.clicked.connect(lambda: self.head_requested.emit(self.current()))
        self._load = ElidedButton("Load checkpoint…")
        self._load.setToolTip("List a checkpoint from a file, and choose it (Ctrl+L)")
        self._load.clicked.connect(self.load_requested)
        self._random = ElidedButton("Random weights…")
        self._random.setToolTip("List a model that was never trained, to try an analysis out or to compare with")
        menu = QMenu(self._random)
        menu.aboutToShow.connect(self._list_random)
        self._random.setMenu(menu)
        column.addWidget(self._head)
        column.addWidget(ButtonRow(self._load, self._random))
        for model in PACKAGED:
            self.add(ModelChoice(model.title, model.name), {"limits": model.limits})
        self._models[0][1].setChecked(True)

    def _make_segments_row(self) -> QHBoxLayout:
        row = QHBoxLayout()
        self._segments_label = label("", "muted")
        self._segments = QSpinBox()
        # The keys belong to the traces again as soon as a number has been entered.
        self._segments.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self._segments.editingFinished.connect(self._segments.clearFocus)
        self._segments.setMinimum(1)
        self._segments.setAccessibleName("Segments in the window of the model")
        self._segments.setToolTip(
            "MVPFormer's position rows mean something else at another window length: keep the T it was trained with."
        )
        self._segments.valueChanged.connect(self._on_segments)
        row.addWidget(self._segments_label, 1)
        row.addWidget(self._segments)
        return row

    def add(self, model: ModelChoice, facts: Mapping[str, Any]) -> None:
        """List a model with what `inspect` says of it, and choose it."""
        button = QRadioButton(model.title)
        button.setToolTip("\n".join(filter(None, (model.checkpoint, model.head, model.config))))
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._group.addButton(button)
        self._list.addWidget(button)
        entry = (model, button, facts)
        self._models.append(entry)
        row = len(self._models) - 1
        button.toggled.connect(lambda on: self._on_toggled(row) if on else None)
        button.setChecked(True)

    def current(self) -> ModelChoice:
        """The chosen model."""
        return self._models[self._row()][0]

    def _list_random(self) -> None:
        """Families and sizes, worked out when they are asked for the first time."""
        menu = self._random.menu()
        assert menu is not None
        if menu.actions():
            return
        from models.families import MODELS
        from models.random_checkpoints import PREFIX, SIZES

        for family, sizes in SIZES.items():
            submenu = QMenu(MODELS[family].title, menu)
            menu.addMenu(submenu)
            for size in sizes:
                name = f"{PREFIX}{family}:{size}"
                submenu.addAction(size, lambda chosen=name: self.random_requested.emit(chosen))

    def choose(self, checkpoint: str | ModelChoice) -> None:
        """Choose a listed model, or by its checkpoint or packaged name; KeyError when none has it."""
        if isinstance(checkpoint, ModelChoice):
            checkpoint = checkpoint.checkpoint
        packaged = packaged_model(checkpoint)
        wanted = packaged.name if packaged is not None else checkpoint
        found = [button for model, button, _ in self._models if model.checkpoint == wanted]
        if not found:
            raise KeyError(checkpoint)
        found[-1].setChecked(True)

    def choices(self) -> list[ModelChoice]:
        """All listed models."""
        return [model for model, _, _ in self._models]

    def _row(self) -> int:
        return next(i for i, (_, button, _) in enumerate(self._models) if button.isChecked())

    def _on_toggled(self, row: int) -> None:
        model, _, facts = self._models[row]
        self._limits.setText(facts["limits"] if "limits" in facts else _summary(facts))
        self._show_state(model, facts)
        needs_head = "limits" not in facts and not _has_seizure_head(facts)
        self._head.setVisible(needs_head)
        trained = _trained_segments(facts)
        for widget in (self._segments, self._segments_label):
            widget.setVisible(trained is not None)
        if trained is not None:
            seconds = facts["preprocessing"]["segment_seconds"]
            self._segments_label.setText(f"Window, segments of {seconds:g} s")
            self._segments.blockSignals(True)
            self._segments.setMaximum(facts["config"]["n_positions"])
            self._segments.setValue(model.segments or int(trained))
            self._segments.blockSignals(False)
        self.chosen.emit(model)

    def _on_segments(self, value: int) -> None:
        row = self._row()
        model, button, facts = self._models[row]
        changed = replace(model, segments=None if value == _trained_segments(facts) else value)
        self._models[row] = (changed, button, facts)
        self._show_state(changed, facts)
        self.chosen.emit(changed)

    def _show_state(self, model: ModelChoice, facts: Mapping[str, Any]) -> None:
        """Say what must be known before the model's output is believed."""
        lines = []
        if facts.get("random_weights"):
            lines.append("Random weights: the output means nothing")
        if model.segments is not None:
            trained = _trained_segments(facts)
            lines.append(f"Trained with T = {trained}: at T = {model.segments} its position rows mean other distances")
        self._state.setText("\n".join(lines))
        self._state.setVisible(bool(lines))


def _summary(facts: Mapping[str, Any]) -> str:
    from models.families import MODELS

    text = f"{facts['title']} ({facts['size']}), {facts['n_params']:,} parameters"
    family = MODELS.get(facts.get("family", ""))
    if not _has_seizure_head(facts):
        others = ", ".join(facts["labels"])
        text += f". Its head tells {others}, no seizures" if others else ". No seizure head"
        text += ": it predicts the next state, not seizures." if family and "prediction" in family.capabilities else "."
    return text


def _has_seizure_head(facts: Mapping[str, Any]) -> bool:
    return "seizure" in facts["labels"]


def _trained_segments(facts: Mapping[str, Any]) -> int | None:
    """Segments in the window a checkpoint was trained with; None for a model that has no such window."""
    return facts.get("preprocessing", {}).get("n_segments")


def listed_model(model: ModelChoice, facts: Mapping[str, Any]) -> ModelChoice:
    """A model as it is listed once its checkpoint has been read."""
    title = model.title
    if model.checkpoint.startswith("random:"):
        title = f"{facts['title']}-{facts['size']}, random weights {facts['card']['seed']}"
    return replace(
        model,
        title=title,
        family=facts.get("family", ""),
        random_weights=facts.get("random_weights", False),
        making=making_of_card(facts.get("card", {})),
    )


def title_for(path: str, head: str | None = None) -> str:
    """What a loaded checkpoint is called in lists."""
    name = Path(path).stem
    return f"{name} + {Path(head).stem}" if head else name
